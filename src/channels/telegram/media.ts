/** Which file came with a message. */
import { extname } from "node:path";
import type { Message } from "grammy/types";

export interface InboundMedia {
  fileId: string;
  /** As the sender's program claims. */
  mimeType: string;
  bytes: number | undefined;
  /** With the dot; letters and digits only. */
  extension: string;
  /** Stands for the file where there is no text, in OpenClaw's form. */
  placeholder: string;
}

export function findMedia(message: Message): InboundMedia | undefined {
  const { photo, voice, audio, video, video_note: note, animation, document } = message;
  const largest = photo?.at(-1);
  if (largest !== undefined) return describe("image", largest, "image/jpeg", ".jpg");
  if (voice !== undefined) return describe("audio", voice, "audio/ogg", ".ogg");
  if (audio !== undefined) return describe("audio", audio, "audio/mpeg", ".mp3");
  // An animation is also given as a document, for programs that do not know it.
  if (animation !== undefined) return describe("video", animation, "video/mp4", ".mp4");
  if (video !== undefined) return describe("video", video, "video/mp4", ".mp4");
  if (note !== undefined) return describe("video", note, "video/mp4", ".mp4");
  return document === undefined ? undefined : describe("document", document, "application/octet-stream", ".bin");
}

interface TelegramFile {
  file_id: string;
  file_size?: number;
  mime_type?: string;
  file_name?: string;
}

function describe(kind: string, file: TelegramFile, mimeType: string, extension: string): InboundMedia {
  const given = extname(file.file_name ?? "").toLowerCase();
  return {
    fileId: file.file_id,
    mimeType: /^[\w.+-]+\/[\w.+-]+$/.test(file.mime_type ?? "") ? (file.mime_type ?? mimeType) : mimeType,
    bytes: file.file_size,
    extension: /^\.[a-z0-9]{1,10}$/.test(given) ? given : extension,
    placeholder: `<media:${kind}>`,
  };
}
