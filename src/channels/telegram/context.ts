/** Reads a Telegram message into OpenClaw's field names. Pure: no network, no file. */
import { extname } from "node:path";
import type { Document, Message, MessageOrigin, User, MessageEntity } from "grammy/types";
import type { MessageContext } from "../../keys/message-context.ts";
import type { AccessSender } from "../access.ts";

export function buildContext(message: Message, bot: User): MessageContext | undefined {
  const { chat } = message;
  const sender = senderOf(message);
  const isGroup = chat.type === "group" || chat.type === "supergroup";
  if (sender === undefined || !(isGroup || chat.type === "private")) return undefined;
  const placeholder = findMedia(message)?.placeholder ?? describeContent(message);
  if (ownText(message) === "" && placeholder === undefined) return undefined;
  const { forward_origin: forwarded } = message;
  return {
    Timestamp: message.date * 1000,
    Body: textWithLinks(message) || (placeholder ?? ""),
    CommandBody: commandText(message, bot),
    To: `telegram:${chat.id}`,
    OriginatingTo: `telegram:${chat.id}`,
    SenderId: sender.ids[0],
    SenderName: sender.name || undefined,
    SenderUsername: sender.username,
    BotUsername: bot.username,
    BotId: String(bot.id),
    ...placeOf(message, isGroup),
    WasMentioned: isGroup ? mentionsBot(message, bot) : undefined,
    ...replyFields(message, bot),
    // Tells the agent who wrote a forwarded message.
    UntrustedContext: forwarded && [`This message was forwarded; it was first written by ${originName(forwarded)}.`],
  };
}

/** Undefined for other bots: two bots would answer each other for ever. */
export function senderOf(message: Message): (AccessSender & { name: string }) | undefined {
  const { sender_chat: senderChat, from } = message;
  // A person writes on behalf of a group or channel; `from` is then Telegram's placeholder.
  if (senderChat !== undefined) {
    const name = "title" in senderChat ? (senderChat.title ?? "") : "";
    return { ids: [String(senderChat.id)], username: "username" in senderChat ? senderChat.username : undefined, name };
  }
  if (from === undefined || from.is_bot) return undefined;
  return { ids: [String(from.id)], username: from.username, name: fullName(from) };
}

/** The General topic of a forum: messages carry 1, but must be sent without a topic. */
export const GENERAL_TOPIC = 1;

/** In a forum every message has a topic; elsewhere a thread id only marks a reply. */
function topicOf(message: Message): number | undefined {
  if (message.is_topic_message === true) return message.message_thread_id;
  return "is_forum" in message.chat && message.chat.is_forum === true && message.chat.type === "supergroup"
    ? GENERAL_TOPIC
    : undefined;
}

function placeOf(message: Message, isGroup: boolean): MessageContext {
  const { chat } = message;
  const topic = topicOf(message);
  if (!isGroup) return { From: `telegram:${chat.id}`, ChatType: "direct", MessageThreadId: topic };
  return {
    // A topic is a separate conversation, with OpenClaw's key for it.
    From: `telegram:group:${chat.id}${topic === undefined ? "" : `:topic:${topic}`}`,
    ChatType: "group",
    MessageThreadId: topic,
    GroupSubject: ("title" in chat ? chat.title : undefined) || undefined,
    ThreadLabel: message.reply_to_message?.forum_topic_created?.name,
  };
}

function replyFields(message: Message, bot: User): MessageContext {
  const quoted = message.quote?.text;
  const reply = repliedTo(message);
  if (reply === undefined) return { ReplyToBody: quoted };
  const said = ownText(reply) || findMedia(reply)?.placeholder || describeContent(reply);
  const name = senderOf(reply)?.name ?? (reply.from === undefined ? undefined : fullName(reply.from));
  return {
    ReplyToId: String(reply.message_id),
    ReplyToBody: (quoted ?? said) || undefined,
    ReplyToSender: name || undefined,
    ReplyToIsOwn: reply.from?.id === bot.id,
  };
}

function originName(origin: MessageOrigin): string {
  if (origin.type === "user") return fullName(origin.sender_user);
  if (origin.type === "hidden_user") return origin.sender_user_name;
  const chat = origin.type === "chat" ? origin.sender_chat : origin.chat;
  return chat.title ?? "a chat without a title";
}

function ownText(message: Message): string {
  return message.text ?? message.caption ?? "";
}

/** The text with links on other words written out as Markdown. */
function textWithLinks(message: Message): string {
  let text = ownText(message);
  for (const entity of entitiesOf(message).toReversed()) {
    if (entity.type !== "text_link") continue;
    const label = textOf(text, entity);
    text = `${text.slice(0, entity.offset)}[${label}](${entity.url})${text.slice(entity.offset + entity.length)}`;
  }
  return text;
}

/** `/new@holdfast_bot gpt` as `/new gpt`; a command for another bot stays as it is. */
function commandText(message: Message, bot: User): string {
  const text = ownText(message);
  const command = entitiesOf(message).find((entity) => entity.type === "bot_command" && entity.offset === 0);
  const suffix = `@${bot.username ?? ""}`;
  const word = command === undefined ? "" : textOf(text, command);
  if (bot.username === undefined || !word.toLowerCase().endsWith(suffix.toLowerCase())) return text;
  return word.slice(0, -suffix.length) + text.slice(word.length);
}

function mentionsBot(message: Message, bot: User): boolean {
  if (repliedTo(message)?.from?.id === bot.id) return true;
  const text = ownText(message);
  const name = `@${bot.username ?? ""}`.toLowerCase();
  return entitiesOf(message).some((entity) => {
    if (entity.type === "text_mention") return entity.user.id === bot.id;
    const word = textOf(text, entity).toLowerCase();
    return (entity.type === "mention" && word === name) || (entity.type === "bot_command" && word.endsWith(name));
  });
}

/** The message that this one answers. In a topic, Telegram sets the opening message as a reply; ignore it. */
function repliedTo(message: Message): Message | undefined {
  const reply = message.reply_to_message;
  if (reply === undefined || reply.forum_topic_created !== undefined) return undefined;
  return message.is_topic_message === true && reply.message_id === message.message_thread_id ? undefined : reply;
}

/** Describes a message that is neither text nor a file; undefined for service messages (joins, pins, …). */
function describeContent(message: Message): string | undefined {
  const { sticker, venue, location, contact, poll, dice } = message;
  if (sticker !== undefined) return `<sticker ${sticker.emoji ?? ""}>`.replace(" >", ">");
  if (venue !== undefined) return `<location ${place(venue.location)}> ${venue.title}, ${venue.address}`;
  if (location !== undefined) return `<location ${place(location)}>`;
  if (contact !== undefined) return `<contact> ${fullName(contact)} ${contact.phone_number}`;
  if (poll !== undefined) return `<poll> ${poll.question}\n${poll.options.map(({ text }) => `- ${text}`).join("\n")}`;
  return dice === undefined ? undefined : `<dice ${dice.emoji} ${dice.value}>`;
}

function fullName(person: { first_name: string; last_name?: string | undefined }): string {
  return [person.first_name, person.last_name].filter(Boolean).join(" ");
}

function place({ latitude, longitude }: { latitude: number; longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

function entitiesOf(message: Message): readonly MessageEntity[] {
  return message.entities ?? message.caption_entities ?? [];
}

/** Telegram counts in UTF-16 units, as JavaScript does. */
function textOf(text: string, { offset, length }: MessageEntity): string {
  return text.slice(offset, offset + length);
}

export type InboundMedia = ReturnType<typeof describe>;

export function findMedia(message: Message): InboundMedia | undefined {
  const { photo, voice, audio, video, video_note: note, animation, document } = message;
  const largest = photo?.at(-1);
  // Telegram sends an animation as a document too.
  const film = animation ?? video ?? note;
  if (largest !== undefined) return describe("image", largest, "image/jpeg", ".jpg");
  if (voice !== undefined) return describe("audio", voice, "audio/ogg", ".ogg");
  if (audio !== undefined) return describe("audio", audio, "audio/mpeg", ".mp3");
  if (film !== undefined) return describe("video", film, "video/mp4", ".mp4");
  return document === undefined ? undefined : describe("document", document, "application/octet-stream", ".bin");
}

type TelegramFile = Pick<Document, "file_id" | "file_size" | "mime_type" | "file_name">;

function describe(kind: string, file: TelegramFile, mimeType: string, extension: string) {
  const given = extname(file.file_name ?? "").toLowerCase();
  return {
    fileId: file.file_id,
    /** As announced by the sender's app. */
    mimeType: /^[\w.+-]+\/[\w.+-]+$/.test(file.mime_type ?? "") ? (file.mime_type ?? mimeType) : mimeType,
    bytes: file.file_size,
    extension: /^\.[a-z0-9]{1,10}$/.test(given) ? given : extension,
    /** Replaces missing text, in OpenClaw's form. */
    placeholder: `<media:${kind}>`,
  };
}
