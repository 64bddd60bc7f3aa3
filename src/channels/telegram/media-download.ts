/**
 * Brings the file of a message to disk before the message is admitted. The name comes from ids alone,
 * never from the sender, so that the same message again replaces its file. What cannot be fetched does
 * not hold up the message: the agent is told about it instead.
 */
import { open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Message } from "grammy/types";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, replaceFile, temporaryPath } from "../../base/files.ts";
import type { Logger } from "../../base/log.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { telegramError } from "./api-errors.ts";
import type { TelegramApi } from "./api.ts";
import { type InboundMedia, findMedia } from "./media.ts";

export interface DownloadOptions {
  telegram: TelegramApi;
  accountId: string;
  /** Left out: files are not fetched, and the agent is told so. */
  mediaFolder: string | undefined;
  maxBytes: number;
  clock: Clock;
  logger: Logger;
}

const ATTEMPTS = 3;
const DOWNLOAD_TIMEOUT_MS = 60_000;

/** What to add to the message's context: the file's path and type, or a note about why there is none. */
export async function fetchMedia(message: Message, options: DownloadOptions): Promise<MessageContext> {
  const media = findMedia(message);
  if (media === undefined) return {};
  const { mediaFolder, maxBytes } = options;
  if (mediaFolder === undefined) return missing(media, "files are not kept here");
  if ((media.bytes ?? 0) > maxBytes) return missing(media, `it is larger than ${maxBytes} bytes`);
  const name = [options.accountId, message.chat.id, message.message_id].map(encodeURIComponent).join("_");
  const path = join(mediaFolder, `telegram_${name}${media.extension}`);
  try {
    await ensurePrivateFolder(mediaFolder);
    await downloadWithRetries(media, path, options);
    return { MediaPaths: [path], MediaTypes: [media.mimeType] };
  } catch (error) {
    const known = telegramError(error, "fetch a file from Telegram");
    // A full disk is no reason to go on without the file: the message would not be kept either.
    if (known.code === "disk-full") throw known;
    options.logger.warn("a file that came with a Telegram message could not be fetched", { error: known });
    return missing(media, "it could not be fetched");
  }
}

function missing({ placeholder }: InboundMedia, reason: string): MessageContext {
  return { UntrustedContext: [`A file came with this message (${placeholder}), but ${reason}.`] };
}

async function downloadWithRetries(media: InboundMedia, path: string, options: DownloadOptions): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await download(media, path, options);
      return;
    } catch (error) {
      const known = telegramError(error, "fetch a file from Telegram");
      if (attempt >= ATTEMPTS || !known.code.startsWith("telegram-") || known.kind !== "unavailable") throw known;
      await options.clock.sleep(attempt * 500);
    }
  }
}

async function download(media: InboundMedia, path: string, { telegram, maxBytes }: DownloadOptions): Promise<void> {
  const { file_path: filePath } = await telegram.api.getFile(media.fileId);
  if (filePath === undefined) throw fileGone();
  const signal = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  const response = await fetch(telegram.fileUrl(filePath), { signal, redirect: "error" });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw response.status >= 500 ? new Error("the server failed") : fileGone();
  }
  const temporary = temporaryPath(path);
  try {
    await writeLimited(temporary, response.body, maxBytes);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await replaceFile(temporary, path);
}

/** What Telegram says about the size is a claim; this is the limit. */
async function writeLimited(path: string, body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  await using handle = await open(path, "wx", PRIVATE_FILE).catch((error: unknown) => {
    throw fileError(error, "write", path);
  });
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    await handle.writeFile(chunk).catch((error: unknown) => {
      throw fileError(error, "write", path);
    });
  }
  await handle.sync();
}

function fileGone(): HoldfastError {
  return new HoldfastError("not-found", "telegram-file-gone", "Telegram no longer has the file", {
    hint: "Ask the person to send it again; Telegram hands out files up to 20 MB only.",
  });
}

function tooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "telegram-file-too-large", `The file is larger than ${maxBytes} bytes`, {
    hint: "Raise the limit for files of this channel, or ask for a smaller one.",
    data: { maxBytes },
  });
}
