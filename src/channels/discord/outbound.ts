/**
 * Sends one chunk to Discord. The nonce is derived from the idempotency key, and Discord enforces it: for
 * some minutes a second message with the same nonce returns the first instead of creating a new one.
 */
import type { APIMessage, REST } from "discord.js";
import { nodeCrypto } from "../../base/builtin.ts";
import { HoldfastError } from "../../base/errors.ts";
import {
  type Channel,
  type MessageButton,
  type OutboundMessage,
  type MessageSender,
  emptyMessage,
} from "../channel.ts";
import { type OutgoingFile, loadOutgoingFiles } from "../files.ts";
import { isSnowflake } from "./cursors.ts";
import { discordError, isReferenceRefused } from "./connection.ts";
import type { DeliveryTarget } from "../../store/queues.ts";

export const DISCORD_TEXT_LIMIT = 2000;
const MAX_FILES = 10;
/** Discord's limit for bots in servers without boosts. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;

export function createDiscordSender({
  rest,
  allowsAddress,
}: {
  rest: () => REST;
  allowsAddress?: ((address: string) => boolean) | undefined;
}): MessageSender & Required<Pick<Channel, "edit" | "remove">> {
  const privateChats = new Map<string, string>();

  const channelOf = async (target: DeliveryTarget): Promise<string> => {
    const { kind, id } = parseTarget(target);
    if (kind === "channel") return id;
    const known = privateChats.get(id);
    if (known !== undefined) return known;
    const opened = (await rest().post("/users/@me/channels", { body: { recipient_id: id } })) as { id: string };
    privateChats.set(id, opened.id);
    return opened.id;
  };

  /** `action` completes "Discord did not …". */
  const ask = async <T>(
    action: string,
    target: DeliveryTarget,
    request: (channel: `/channels/${string}`) => Promise<T>,
  ): Promise<T> => {
    try {
      return await request(`/channels/${await channelOf(target)}`);
    } catch (error) {
      throw discordError(error, action);
    }
  };

  return {
    send: async (message) => {
      checkMessage(message);
      const files = await loadOutgoingFiles(message, { maxBytes: MAX_FILE_BYTES, allowsAddress });
      const { id: messageId } = await ask("accept the message", message.target, async (channel) => {
        return await post(rest(), `${channel}/messages`, message, files);
      });
      return { messageId };
    },
    edit: async (target, messageId, { text, buttons = [] }) => {
      const body = { content: text, components: componentsOf(buttons), allowed_mentions: { parse: [] } };
      await ask("edit the message", target, (channel) => rest().patch(`${channel}/messages/${messageId}`, { body }));
    },
    remove: async (target, messageId) => {
      await ask("delete the message", target, (channel) => rest().delete(`${channel}/messages/${messageId}`));
    },
    showTyping: async (target) => {
      await ask("show typing", target, (channel) => rest().post(`${channel}/typing`));
    },
  };
}

/** Accepts `channel:<id>`, `user:<id>`, and OpenClaw's `From` (`discord:<user id>`, `discord:channel:<id>`). */
export function parseTarget({ to, threadId, chatType }: DeliveryTarget): { kind: "channel" | "user"; id: string } {
  // On Discord a thread is a channel.
  if (threadId !== undefined) return { kind: "channel", id: checked(String(threadId), String(threadId)) };
  const [prefix, address] = /^discord:/i.test(to.trim())
    ? ["user", to.trim().slice("discord:".length)]
    : ["", to.trim()];
  const [, word = "", id = ""] = /^(?:([a-z]+):)?(.*)$/i.exec(address) ?? [];
  const named = word === "" ? prefix : word.toLowerCase();
  const isUser = ["user", "dm", "direct"].includes(named) || (named === "" && chatType === "direct");
  if (!isUser && !["", "channel", "group", "thread"].includes(named)) throw unknownTarget(to);
  return { kind: isUser ? "user" : "channel", id: checked(id, to) };
}

function checked(id: string, to: string): string {
  if (!isSnowflake(id)) throw unknownTarget(to);
  return id;
}

function unknownTarget(to: string): HoldfastError {
  return new HoldfastError("usage", "discord-target", `Not a Discord address: ${to}`, {
    hint: "Use channel:<id> or user:<id>. Discord shows ids in Developer Mode (Settings, Advanced).",
    data: { to },
  });
}

function checkMessage({ text = "", media = [] }: OutboundMessage): void {
  if (text.length > DISCORD_TEXT_LIMIT) {
    throw new HoldfastError("usage", "text-too-long", `A Discord message can have ${DISCORD_TEXT_LIMIT} characters.`, {
      hint: "Split the text first.",
      data: { length: text.length },
    });
  }
  if (media.length > MAX_FILES) {
    throw new HoldfastError("usage", "too-many-files", `A Discord message can have ${MAX_FILES} files.`, {
      hint: "Send the others in another message.",
    });
  }
  if (text.trim() === "" && media.length === 0) throw emptyMessage();
}

async function post(rest: REST, route: `/${string}`, message: OutboundMessage, files: readonly OutgoingFile[]) {
  const attachments = files.map(({ name, content, type }) => ({ name, data: content, contentType: type }));
  const request = { body: messageBody(message), files: attachments };
  try {
    return (await rest.post(route, request)) as APIMessage;
  } catch (error) {
    // Discord refused the whole message, so sending it without the reference is still the first delivery.
    if (request.body.message_reference === undefined || !isReferenceRefused(error)) throw error;
    const { message_reference: _, ...body } = request.body;
    return (await rest.post(route, { ...request, body })) as APIMessage;
  }
}

function messageBody({ text = "", idempotencyKey, replyToId, buttons = [] }: OutboundMessage) {
  const isReply = replyToId !== undefined && isSnowflake(replyToId);
  return {
    content: text.trim() === "" ? undefined : text,
    components: buttons.length === 0 ? undefined : componentsOf(buttons),
    // At most 25 characters.
    nonce: nodeCrypto().createHash("sha256").update(idempotencyKey).digest("base64url").slice(0, 25),
    enforce_nonce: true,
    // An answer may notify the people it names, but never everyone.
    allowed_mentions: { parse: ["users"], replied_user: true },
    message_reference: isReply ? { message_id: replyToId, fail_if_not_exists: false } : undefined,
  };
}

const ROW = 1;
const BUTTON = 2;
const SECONDARY = 2;
const BUTTONS_PER_ROW = 5;

/** Rows of buttons, in Discord's format. */
function componentsOf(buttons: readonly MessageButton[]) {
  const rows = Array.from({ length: Math.ceil(buttons.length / BUTTONS_PER_ROW) }, (_, at) =>
    buttons.slice(at * BUTTONS_PER_ROW, (at + 1) * BUTTONS_PER_ROW),
  );
  return rows.map((row) => ({
    type: ROW,
    components: row.map(({ label, command }) => ({ type: BUTTON, style: SECONDARY, label, custom_id: command })),
  }));
}
