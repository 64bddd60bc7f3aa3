/**
 * What happens to one update, however it came: who wrote it, which file belongs to it, then admission.
 * Resolves when nothing of it can be lost any more; rejects when Telegram has to keep it.
 * Updates of one chat are handled in the order in which they came.
 */
import type { Message, Update, User } from "grammy/types";
import { createKeyedMutex } from "../../base/mutex.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { type AccessOptions, checkAccess } from "../access.ts";
import type { ChannelHost } from "../channel.ts";
import { telegramError } from "./api-errors.ts";
import { type DownloadOptions, fetchMedia } from "./media-download.ts";
import { buildContext, senderOf } from "./message-context.ts";

export interface InboundOptions extends DownloadOptions {
  accountId: string;
  bot: User;
  host: ChannelHost;
  access: AccessOptions;
}

export interface InboundHandler {
  handle(update: Update): Promise<void>;
}

/**
 * The only kind of update that is asked for and looked at. An edit is none: what was said has been
 * admitted, perhaps answered, and a changed wording is not a new request.
 */
export const ALLOWED_UPDATES = ["message"] as const;

export function createInboundHandler(options: InboundOptions): InboundHandler {
  const lanes = createKeyedMutex();
  return {
    handle: async (update) => {
      const { message } = update;
      const ctx = message === undefined ? undefined : readMessage(message, options);
      if (message === undefined || ctx === undefined) return;
      await lanes.run(String(message.chat.id), async () => await admit(message, ctx, options));
    },
  };
}

/** A message that cannot be understood will not be understood the second time: it is reported, not kept waiting. */
function readMessage(message: Message, { bot, accountId, logger }: InboundOptions): MessageContext | undefined {
  try {
    return buildContext(message, { bot, accountId });
  } catch (error) {
    logger.error("a Telegram message could not be understood and was left out", { error });
    return undefined;
  }
}

async function admit(message: Message, ctx: MessageContext, options: InboundOptions): Promise<void> {
  const { host, access, accountId, clock, logger } = options;
  const sender = senderOf(message);
  if (sender === undefined) return;
  const isDirect = ctx.ChatType === "direct";
  const chatId = String(message.chat.id);
  const verdict = await checkAccess(
    { channel: "telegram", sender, chatType: isDirect ? "direct" : "group", groupIds: isDirect ? [] : [chatId] },
    access,
  );
  if (verdict.kind === "ignored") {
    logger.debug("a Telegram message was ignored", { reason: verdict.reason, chatId, senderId: sender.ids[0] });
    return;
  }
  if (verdict.kind === "offered") {
    await tellStranger(message, verdict.text, options);
    return;
  }
  const media = await fetchMedia(message, options);
  const untrusted = [...(ctx.UntrustedContext ?? []), ...(media.UntrustedContext ?? [])];
  await host.admit({
    address: { channel: "telegram", accountId, chatId, messageId: String(message.message_id) },
    ctx: {
      ...ctx,
      ...media,
      ...(untrusted.length === 0 ? {} : { UntrustedContext: untrusted }),
      CommandAuthorized: verdict.commandAuthorized,
    },
    receivedAt: clock.now(),
  });
}

/** A stranger who was not reached can write again; nothing waits for it. */
async function tellStranger(message: Message, text: string, { telegram, logger }: InboundOptions): Promise<void> {
  const topic = message.is_topic_message === true ? message.message_thread_id : undefined;
  try {
    await telegram.api.sendMessage(message.chat.id, text, topic === undefined ? {} : { message_thread_id: topic });
  } catch (error) {
    logger.warn("a stranger could not be told the pairing code", {
      error: telegramError(error, "send to Telegram"),
    });
  }
}
