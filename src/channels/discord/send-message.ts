/**
 * One chunk to Discord. The nonce is made from the idempotency key, and Discord is asked to enforce it:
 * for some minutes a second message with the same nonce gives the first one back instead of a new one.
 */
import type { APIMessage, REST } from "discord.js";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import type { DeliveryTarget } from "../../store/store.ts";
import type { OutboundMessage, SentMessage } from "../channel.ts";
import { type OutgoingFile, loadOutgoingFile } from "../outgoing-files.ts";
import { discordError, isReferenceRefused } from "./discord-errors.ts";
import { isSnowflake } from "./snowflake.ts";
import { parseDiscordTarget } from "./target.ts";

export const DISCORD_TEXT_LIMIT = 2000;
const MOST_FILES = 10;
/** What Discord takes from bots in servers without boosts. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

export interface DiscordSender {
  send: (message: OutboundMessage) => Promise<SentMessage>;
  showTyping: (target: DeliveryTarget) => Promise<void>;
}

export interface DiscordSenderOptions {
  rest: () => REST;
  allowsAddress?: ((address: string) => boolean) | undefined;
}

export function createDiscordSender({ rest, allowsAddress }: DiscordSenderOptions): DiscordSender {
  const privateChats = new Map<string, string>();

  const channelOf = async (target: DeliveryTarget): Promise<string> => {
    const { kind, id } = parseDiscordTarget(target);
    if (kind === "channel") return id;
    const known = privateChats.get(id);
    if (known !== undefined) return known;
    const opened = (await rest().post("/users/@me/channels", { body: { recipient_id: id } })) as { id: string };
    privateChats.set(id, opened.id);
    return opened.id;
  };

  return {
    send: async (message) => {
      checkMessage(message);
      const media = message.media ?? [];
      const files = await Promise.all(
        media.map(async (item) => await loadOutgoingFile(item, { maxBytes: MAX_FILE_BYTES, allowsAddress })),
      );
      try {
        const channelId = await channelOf(message.target);
        const sent = await post(rest(), channelId, message, files);
        return { messageId: sent.id };
      } catch (error) {
        throw discordError(error, "take the message");
      }
    },
    showTyping: async (target) => {
      try {
        await rest().post(`/channels/${await channelOf(target)}/typing`);
      } catch (error) {
        throw discordError(error, "show that somebody is typing");
      }
    },
  };
}

function checkMessage({ text = "", media = [] }: OutboundMessage): void {
  if (text.length > DISCORD_TEXT_LIMIT) {
    throw new HoldfastError("usage", "text-too-long", `Discord takes ${DISCORD_TEXT_LIMIT} characters a message.`, {
      hint: "Split the text first.",
      data: { length: text.length },
    });
  }
  if (media.length > MOST_FILES) {
    throw new HoldfastError("usage", "too-many-files", `Discord takes ${MOST_FILES} files a message.`, {
      hint: "Send the others in a message of their own.",
    });
  }
  if (text.trim() === "" && media.length === 0) {
    throw new HoldfastError("usage", "empty-message", "There is nothing to send: no text and no file.", {
      hint: "Give the message a text or a file.",
    });
  }
}

async function post(
  rest: REST,
  channelId: string,
  message: OutboundMessage,
  files: readonly OutgoingFile[],
): Promise<APIMessage> {
  const route = `/channels/${channelId}/messages` as const;
  const attachments = files.map(({ name, content, type }) => ({ name, data: content, contentType: type }));
  const request = { body: messageBody(message), files: attachments };
  try {
    return (await rest.post(route, request)) as APIMessage;
  } catch (error) {
    // Refused as a whole: without the reference it is still the first delivery.
    if (request.body.message_reference === undefined || !isReferenceRefused(error)) throw error;
    const { message_reference: _, ...body } = request.body;
    return (await rest.post(route, { ...request, body })) as APIMessage;
  }
}

interface MessageBody {
  content?: string;
  nonce: string;
  enforce_nonce: true;
  allowed_mentions: { parse: string[]; replied_user: boolean };
  message_reference?: { message_id: string; fail_if_not_exists: false };
}

function messageBody({ text = "", idempotencyKey, replyToId }: OutboundMessage): MessageBody {
  const isReply = replyToId !== undefined && isSnowflake(replyToId);
  return {
    ...(text.trim() === "" ? {} : { content: text }),
    nonce: nonceOf(idempotencyKey),
    enforce_nonce: true,
    // An answer may name a person; it never rings at everybody.
    allowed_mentions: { parse: ["users"], replied_user: true },
    ...(isReply ? { message_reference: { message_id: replyToId, fail_if_not_exists: false } } : {}),
  };
}

/** Discord's nonces have 25 characters at most. */
function nonceOf(idempotencyKey: string): string {
  return nodeCrypto().createHash("sha256").update(idempotencyKey).digest("base64url").slice(0, 25);
}
