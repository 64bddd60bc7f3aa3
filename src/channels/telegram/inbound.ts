/**
 * From an update to admission: check the sender, fetch the file, admit. Resolves when the message cannot be
 * lost any more; rejects when Telegram has to keep it. Updates of one chat are handled in order.
 */
import type { CallbackQuery, Message, Update, User } from "grammy/types";
import { HoldfastError } from "../../base/errors.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { screenSender } from "../access.ts";
import type { ReceivedFiles } from "../files.ts";
import { type TelegramRun, requestSignal, telegramError } from "./connection.ts";
import { type InboundMedia, buildContext, findMedia, senderOf } from "./context.ts";
import { createKeyedMutex } from "../../base/async.ts";

export interface InboundOptions extends TelegramRun {
  bot: User;
  files: ReceivedFiles | undefined;
}

export type InboundHandler = ReturnType<typeof createInboundHandler>;

export function createInboundHandler(options: InboundOptions) {
  const lanes = createKeyedMutex();
  /** A press of a button is a message of the presser with the button's command. */
  const handlePress = async ({ id, from, message, data }: CallbackQuery): Promise<void> => {
    if (message === undefined || data === undefined) return;
    const { chat, message_id, is_topic_message, message_thread_id } = message;
    const place = { chat, message_id, is_topic_message, message_thread_id };
    const pressed = { ...place, from, text: data, date: Math.floor(options.clock.now() / 1000) } as Message;
    const ctx = readMessage(pressed, options);
    if (ctx === undefined) return;
    // Buttons belong to the agent's own messages, so the press is meant for it.
    const meant = { ...ctx, MessageSid: `press:${id}`, WasMentioned: true };
    await lanes.run(String(chat.id), async () => await admit(pressed, meant, options, `press:${id}`));
    await options.telegram.api.answerCallbackQuery(id).catch((error: unknown) => {
      options.logger.debug("cannot acknowledge a button", {
        error: telegramError(error, "answer a button on Telegram"),
      });
    });
  };
  return {
    handle: async (update: Update): Promise<void> => {
      const { message, callback_query: press } = update;
      if (press !== undefined) return await handlePress(press);
      const ctx = message === undefined ? undefined : readMessage(message, options);
      if (message === undefined || ctx === undefined) return;
      await lanes.run(String(message.chat.id), async () => await admit(message, ctx, options));
    },
  };
}

/** A message that cannot be parsed now cannot be parsed later either: log it and skip it. */
function readMessage(message: Message, { bot, accountId, logger }: InboundOptions): MessageContext | undefined {
  try {
    return buildContext(message, { bot, accountId });
  } catch (error) {
    logger.error("cannot parse a Telegram message; skipped", { error });
    return undefined;
  }
}

async function admit(
  message: Message,
  ctx: MessageContext,
  options: InboundOptions,
  messageId = String(message.message_id),
): Promise<void> {
  const { host, accountId, clock } = options;
  const sender = senderOf(message);
  if (sender === undefined) return;
  const isDirect = ctx.ChatType === "direct";
  const chatId = String(message.chat.id);
  const allowed = await screenSender(
    { channel: "telegram", sender, chatType: isDirect ? "direct" : "group", groupIds: isDirect ? [] : [chatId] },
    options,
    async (text) => await reply(message, text, options),
  );
  if (allowed === undefined) return;
  const media = await fetchMedia(message, options);
  const notes = [...(ctx.UntrustedContext ?? []), ...(media.UntrustedContext ?? [])];
  const UntrustedContext = notes.length === 0 ? undefined : notes;
  await host.admit({
    address: { channel: "telegram", accountId, chatId, messageId },
    ctx: { ...ctx, ...media, CommandAuthorized: allowed.commandAuthorized, UntrustedContext },
    receivedAt: clock.now(),
  });
}

async function reply(message: Message, text: string, { telegram }: InboundOptions): Promise<void> {
  const topic = message.is_topic_message === true ? message.message_thread_id : undefined;
  try {
    await telegram.api.sendMessage(message.chat.id, text, topic === undefined ? {} : { message_thread_id: topic });
  } catch (error) {
    throw telegramError(error, "send to Telegram");
  }
}

async function fetchMedia(message: Message, options: InboundOptions): Promise<MessageContext> {
  const media = findMedia(message);
  if (media === undefined) return {};
  const { files, logger, signal } = options;
  if (files === undefined) return missing(media, "this channel does not store files");
  if ((media.bytes ?? 0) > files.maxBytes) return missing(media, `it is larger than ${files.maxBytes} bytes`);
  try {
    const id = `${message.chat.id}/${message.message_id}`;
    const path = await download(media, id, files, options);
    return { MediaPaths: [path], MediaTypes: [media.mimeType] };
  } catch (error) {
    const known = telegramError(error, "fetch a file from Telegram");
    // With a full disk the message could not be stored either, so Telegram keeps it.
    if (known.code === "disk-full" || signal.aborted) throw known;
    logger.warn("cannot fetch the file of a Telegram message", { error: known });
    return missing(media, "it could not be fetched");
  }
}

function missing({ placeholder }: InboundMedia, reason: string): MessageContext {
  return { UntrustedContext: [`A file came with this message (${placeholder}), but ${reason}.`] };
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
