/** A Telegram message in the field names that the rest of the house reads. Pure: no network, no file. */
import type { Message, MessageOrigin, User } from "grammy/types";
import type { MessageContext } from "../../keys/message-context.ts";
import type { AccessSender } from "../access.ts";
import { findMedia } from "./media.ts";
import { callsAgent, commandText, describeContent, fullName, ownText, replyOf, textWithLinks } from "./message-text.ts";
import { GENERAL_TOPIC } from "./target.ts";

/** Undefined for what is no message of a person: service messages, other bots, channel posts. */
export function buildContext(message: Message, { bot, accountId }: ContextOptions): MessageContext | undefined {
  const { chat } = message;
  const sender = senderOf(message);
  const isGroup = chat.type === "group" || chat.type === "supergroup";
  if (sender === undefined || !(isGroup || chat.type === "private")) return undefined;
  const placeholder = findMedia(message)?.placeholder ?? describeContent(message);
  if (ownText(message) === "" && placeholder === undefined) return undefined;
  const body = textWithLinks(message) || (placeholder ?? "");
  return {
    Provider: "telegram",
    Surface: "telegram",
    OriginatingChannel: "telegram",
    AccountId: accountId,
    MessageSid: String(message.message_id),
    Timestamp: message.date * 1000,
    Body: body,
    RawBody: body,
    CommandBody: commandText(message, bot),
    To: `telegram:${chat.id}`,
    OriginatingTo: `telegram:${chat.id}`,
    SenderId: sender.ids[0],
    ...optional("SenderName", sender.name),
    ...optional("SenderUsername", sender.username),
    ...optional("BotUsername", bot.username),
    BotId: String(bot.id),
    ...placeOf(message, isGroup),
    ...(isGroup ? { WasMentioned: callsAgent(message, bot) } : {}),
    ...replyFields(message),
    ...forwardFields(message),
  };
}

export interface ContextOptions {
  bot: User;
  accountId: string;
}

/** Undefined for other bots: two that answer each other never stop. */
export function senderOf(message: Message): (AccessSender & { name: string }) | undefined {
  const { sender_chat: senderChat, from } = message;
  // Somebody who writes in the name of a group or channel; `from` is then a stand-in of Telegram's.
  if (senderChat !== undefined) {
    const name = "title" in senderChat ? (senderChat.title ?? "") : "";
    return { ids: [String(senderChat.id)], username: "username" in senderChat ? senderChat.username : undefined, name };
  }
  if (from === undefined || from.is_bot) return undefined;
  return { ids: [String(from.id)], username: from.username, name: fullName(from) };
}

/** In a forum every message is in a topic; elsewhere a thread id only says what was answered. */
function topicOf(message: Message): number | undefined {
  if (message.is_topic_message === true) return message.message_thread_id;
  return "is_forum" in message.chat && message.chat.is_forum === true && message.chat.type === "supergroup"
    ? GENERAL_TOPIC
    : undefined;
}

function placeOf(message: Message, isGroup: boolean): MessageContext {
  const { chat } = message;
  const topic = topicOf(message);
  const thread = topic === undefined ? {} : { MessageThreadId: topic };
  if (!isGroup) return { From: `telegram:${chat.id}`, ChatType: "direct", ...thread };
  const title = "title" in chat ? chat.title : undefined;
  const suffix = topic === undefined ? "" : `:topic:${topic}`;
  return {
    // A topic is a conversation of its own, under the key that OpenClaw gives it.
    From: `telegram:group:${chat.id}${suffix}`,
    ChatType: "group",
    ...thread,
    ...optional("GroupSubject", title),
    ...optional("ThreadLabel", message.reply_to_message?.forum_topic_created?.name),
  };
}

function replyFields(message: Message): MessageContext {
  const quoted = message.quote?.text;
  const reply = replyOf(message);
  if (reply === undefined) return optional("ReplyToBody", quoted);
  const said = ownText(reply) || findMedia(reply)?.placeholder || describeContent(reply);
  const name = senderOf(reply)?.name ?? (reply.from === undefined ? undefined : fullName(reply.from));
  return {
    ReplyToId: String(reply.message_id),
    ...optional("ReplyToBody", quoted ?? said),
    ...optional("ReplyToSender", name),
  };
}

/** Somebody else's words in this person's message: the agent should know whose they are. */
function forwardFields({ forward_origin: origin }: Message): MessageContext {
  if (origin === undefined) return {};
  const name = originName(origin);
  return { UntrustedContext: [`This message was forwarded; it was first written by ${name}.`] };
}

function originName(origin: MessageOrigin): string {
  if (origin.type === "user") return fullName(origin.sender_user);
  if (origin.type === "hidden_user") return origin.sender_user_name;
  const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
  return chat.title ?? "a chat without a title";
}

function optional<K extends keyof MessageContext>(
  field: K,
  value: MessageContext[K] | "" | undefined,
): Partial<MessageContext> {
  return value === undefined || value === "" ? {} : { [field]: value };
}
