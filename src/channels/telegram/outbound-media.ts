/** How a file is sent: Telegram has a call for every kind. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { HoldfastError, fileError } from "../../base/errors.ts";
import type { OutboundMedia } from "../channel.ts";
import type { TelegramApi } from "./api.ts";

/** The method is `send` + this; the parameter is this in lower case. */
export type MediaMethod = "Photo" | "Animation" | "Video" | "Audio" | "Voice" | "Document";

const METHODS: Record<string, MediaMethod> = {
  ".jpg": "Photo",
  ".jpeg": "Photo",
  ".png": "Photo",
  ".webp": "Photo",
  ".gif": "Animation",
  ".mp4": "Video",
  ".mov": "Video",
  ".mp3": "Audio",
  ".m4a": "Audio",
  ".ogg": "Audio",
  ".oga": "Audio",
  ".opus": "Audio",
};

const LARGEST_PHOTO_BYTES = 10 * 1024 * 1024;
const LARGEST_FILE_BYTES = 50 * 1024 * 1024;

/** In the order in which they are tried: Telegram may refuse a picture or a voice message, but take the file. */
export async function mediaMethods(media: OutboundMedia, asVoice: boolean): Promise<MediaMethod[]> {
  const name = media.kind === "file" ? media.path : new URL(media.url).pathname;
  const method = METHODS[extname(name).toLowerCase()] ?? "Document";
  const bytes = media.kind === "file" ? await sizeOf(media.path) : 0;
  if (bytes > LARGEST_FILE_BYTES) throw tooLarge(bytes);
  if (method === "Audio" && asVoice) return ["Voice", "Audio"];
  if (method === "Photo") return bytes > LARGEST_PHOTO_BYTES ? ["Document"] : ["Photo", "Document"];
  return method === "Document" ? ["Document"] : [method, "Document"];
}

/** A new one for every attempt: a stream can be read once. A URL is fetched by Telegram, not from here. */
export function mediaInput(media: OutboundMedia, { InputFile }: TelegramApi): string | InstanceType<typeof InputFile> {
  if (media.kind === "url") return media.url;
  return new InputFile(createReadStream(media.path), basename(media.path));
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    throw fileError(error, "send", path);
  }
}

function tooLarge(bytes: number): HoldfastError {
  return new HoldfastError("usage", "telegram-file-too-large", `A file of ${bytes} bytes is too large for Telegram`, {
    hint: "Telegram takes files up to 50 MB; send a link instead.",
    data: { bytes },
  });
}
