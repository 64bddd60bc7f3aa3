/**
 * Fetches the file of a message before the message is admitted. What cannot be fetched does not hold up
 * the message: the agent is told about it instead.
 */
import type { Message } from "grammy/types";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import type { ReceivedFiles } from "../received-files.ts";
import { telegramError } from "./api-errors.ts";
import { type TelegramApi, requestSignal } from "./api.ts";
import { type InboundMedia, findMedia } from "./media.ts";

export interface DownloadOptions {
  telegram: TelegramApi;
  /** Left out: files are not fetched, and the agent is told so. */
  files: ReceivedFiles | undefined;
  clock: Clock;
  logger: Logger;
  /** The channel stops: Telegram keeps the message, and the next start fetches its file. */
  signal?: AbortSignal | undefined;
}

const ATTEMPTS = 3;
const GET_FILE_TIMEOUT_MS = 20_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;

/** What to add to the message's context: the file's path and type, or a note about why there is none. */
export async function fetchMedia(message: Message, options: DownloadOptions): Promise<MessageContext> {
  const media = findMedia(message);
  if (media === undefined) return {};
  const { files } = options;
  if (files === undefined) return missing(media, "files are not kept here");
  if ((media.bytes ?? 0) > files.maxBytes) return missing(media, `it is larger than ${files.maxBytes} bytes`);
  try {
    const id = `${message.chat.id}/${message.message_id}`;
    const path = await downloadWithRetries(media, id, { ...options, files });
    return { MediaPaths: [path], MediaTypes: [media.mimeType] };
  } catch (error) {
    const known = telegramError(error, "fetch a file from Telegram");
    // A full disk is no reason to go on without the file: the message would not be kept either.
    if (known.code === "disk-full" || options.signal?.aborted === true) throw known;
    options.logger.warn("a file that came with a Telegram message could not be fetched", { error: known });
    return missing(media, "it could not be fetched");
  }
}

function missing({ placeholder }: InboundMedia, reason: string): MessageContext {
  return { UntrustedContext: [`A file came with this message (${placeholder}), but ${reason}.`] };
}

type Download = DownloadOptions & { files: ReceivedFiles };

async function downloadWithRetries(media: InboundMedia, id: string, options: Download): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await download(media, id, options);
    } catch (error) {
      const known = telegramError(error, "fetch a file from Telegram");
      if (options.signal?.aborted === true) throw known;
      if (attempt >= ATTEMPTS || !known.code.startsWith("telegram-") || known.kind !== "unavailable") throw known;
      await options.clock.sleep(attempt * 500);
    }
  }
}

async function download(
  media: InboundMedia,
  id: string,
  { telegram, files, signal: stopped }: Download,
): Promise<string> {
  const { file_path: filePath } = await telegram.api.getFile(media.fileId, requestSignal(GET_FILE_TIMEOUT_MS, stopped));
  if (filePath === undefined) throw fileGone();
  const timeout = AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS);
  const signal = stopped === undefined ? timeout : AbortSignal.any([stopped, timeout]);
  const response = await fetch(telegram.fileUrl(filePath), { signal, redirect: "error" });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw response.status >= 500 ? new Error("the server failed") : fileGone();
  }
  return await files.save(response.body, { id, name: media.extension });
}

function fileGone(): HoldfastError {
  return new HoldfastError("not-found", "telegram-file-gone", "Telegram no longer has the file", {
    hint: "Ask the person to send it again; Telegram hands out files up to 20 MB only.",
  });
}
