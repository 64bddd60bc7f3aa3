/**
 * From an update to admission. Resolves when the message cannot be lost any more; rejects when Telegram has to keep it.
 * Updates of one chat are handled in order.
 */
import type { CallbackQuery, Message, Update, User } from "grammy/types";
import { createKeyedMutex } from "../../base/async.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { MessageContext } from "../../keys/message-context.ts";
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
  const admit = async (message: IncomingMessage | undefined): Promise<void> => {
    if (message === undefined) return;
    await lanes.run(message.chatId, async () => {
      const inbound = await prepareInbound(message, parts);
      if (inbound !== undefined) await options.host.admit(inbound);
    });
  };
  /** A press of a button is a message of the presser with the button's command. */
  const handlePress = async ({ id, from, message, data }: CallbackQuery): Promise<void> => {
    if (message === undefined || data === undefined) return;
    const { chat, message_id, is_topic_message, message_thread_id } = message;
    const place = { chat, message_id, is_topic_message, message_thread_id };
    const pressed = { ...place, from, text: data, date: Math.floor(options.clock.now() / 1000) } as Message;
    const read = readMessage(pressed, options);
    if (read === undefined) return;
    const messageId = `press:${id}`;
    // Buttons belong to the agent's own messages, so the press is meant for it.
    const describe = async (): Promise<MessageContext> => ({ ...(await read.describe()), WasMentioned: true });
    await admit({ ...read, messageId, describe });
    await options.telegram.api.answerCallbackQuery(id).catch((error: unknown) => {
      const known = telegramError(error, "answer a button on Telegram");
      options.logger.debug("cannot acknowledge a button", { error: known });
    });
  };
  return {
    handle: async ({ message, callback_query: press }: Update): Promise<void> => {
      if (press !== undefined) await handlePress(press);
      else if (message !== undefined) await admit(readMessage(message, options));
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
