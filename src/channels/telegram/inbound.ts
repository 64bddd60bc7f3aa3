/**
 * From an update to admission. Resolves when the message cannot be lost any more; rejects when Telegram has to keep it.
 * Updates of one chat are handled in order.
 */
import type { Message, Update, User } from "grammy/types";
import { createKeyedMutex } from "../../base/async.ts";
import { HoldfastError } from "../../base/errors.ts";
import { type ReceivedFiles, createReceivedFiles } from "../files.ts";
import { type IncomingFile, type IncomingMessage, prepareInbound } from "../inbound.ts";
import { type TelegramRun, requestSignal, telegramError } from "./connection.ts";
import { type InboundMedia, buildContext, findMedia, senderOf } from "./context.ts";
import { sendToTelegram } from "./outbound.ts";

export interface InboundOptions extends TelegramRun {
  bot: User;
}

export type InboundHandler = ReturnType<typeof createInboundHandler>;

export function createInboundHandler(options: InboundOptions) {
  const lanes = createKeyedMutex();
  const parts = {
    ...options,
    channel: "telegram",
    files: createReceivedFiles(options),
    send: sendToTelegram.bind(undefined, options.telegram),
    repeats: true,
  };
  return {
    handle: async (update: Update): Promise<void> => {
      const message = update.message === undefined ? undefined : readMessage(update.message, options);
      if (message === undefined) return;
      await lanes.run(message.chatId, async () => {
        const inbound = await prepareInbound(message, parts);
        if (inbound !== undefined) await options.host.admit(inbound);
      });
    },
  };
}

/** A message that cannot be parsed now cannot be parsed later either: log it and skip it. */
function readMessage(message: Message, options: InboundOptions): IncomingMessage | undefined {
  try {
    const ctx = buildContext(message, options.bot);
    const sender = senderOf(message);
    if (ctx === undefined || sender === undefined) return undefined;
    const chatId = String(message.chat.id);
    const messageId = String(message.message_id);
    const media = findMedia(message);
    return {
      chatId,
      messageId,
      to: chatId,
      threadId: message.is_topic_message === true ? message.message_thread_id : undefined,
      sender,
      groupIds: ctx.ChatType === "direct" ? undefined : [chatId],
      files: media === undefined ? [] : [toFile(media, `${chatId}/${messageId}`, options)],
      describe: () => ctx,
    };
  } catch (error) {
    options.logger.error("cannot parse a Telegram message; skipped", { error });
    return undefined;
  }
}

function toFile(media: InboundMedia, id: string, run: TelegramRun): IncomingFile {
  const { placeholder: label, mimeType: type, bytes } = media;
  return { label, type, bytes, save: async (files) => await download(media, id, files, run) };
}

const ATTEMPTS = 3;
const GET_FILE_TIMEOUT_MS = 20_000;

/** Aborted when the channel stops: Telegram then keeps the message, and the next start fetches its file. */
async function download(media: InboundMedia, id: string, files: ReceivedFiles, run: TelegramRun): Promise<string> {
  const { telegram, clock, signal } = run;
  for (let attempt = 1; ; attempt++) {
    try {
      const { file_path: filePath } = await telegram.api.getFile(
        media.fileId,
        requestSignal(GET_FILE_TIMEOUT_MS, signal),
      );
      if (filePath === undefined) throw fileGone();
      return await files.fetch(telegram.fileUrl(filePath), { id, name: media.extension }, signal, (status) =>
        status >= 500 ? new Error("the server failed") : fileGone(),
      );
    } catch (error) {
      const known = telegramError(error, "fetch a file from Telegram");
      const isPassing = known.code.startsWith("telegram-") && known.kind === "unavailable";
      if (signal.aborted || attempt >= ATTEMPTS || !isPassing) throw known;
      await clock.sleep(attempt * 500);
    }
  }
}

function fileGone(): HoldfastError {
  return new HoldfastError("not-found", "telegram-file-gone", "Telegram no longer has the file", {
    hint: "Ask the person to send it again; bots can fetch files up to 20 MB.",
  });
}
