/** What a message says: its text, whom it calls, and words for what is no text. */
import type { Message, MessageEntity, User } from "grammy/types";

/** The person's own words: text or caption, as written. */
export function ownText(message: Message): string {
  return message.text ?? message.caption ?? "";
}

/** The same with the addresses of links that stand behind other words. */
export function textWithLinks(message: Message): string {
  let text = ownText(message);
  for (const entity of entitiesOf(message).toReversed()) {
    if (entity.type !== "text_link") continue;
    const label = rangeOf(text, entity);
    text = `${text.slice(0, entity.offset)}[${label}](${entity.url})${text.slice(entity.offset + entity.length)}`;
  }
  return text;
}

/** `/new@holdfast_bot gpt` as `/new gpt`; a command for another bot stays as it is. */
export function commandText(message: Message, bot: User): string {
  const text = ownText(message);
  const command = entitiesOf(message).find((entity) => entity.type === "bot_command" && entity.offset === 0);
  const suffix = `@${bot.username ?? ""}`;
  const word = command === undefined ? "" : rangeOf(text, command);
  if (bot.username === undefined || !word.toLowerCase().endsWith(suffix.toLowerCase())) return text;
  return word.slice(0, -suffix.length) + text.slice(word.length);
}

/** By what Telegram marked as a mention or a command for the agent, or by answering its message. */
export function callsAgent(message: Message, bot: User): boolean {
  if (replyOf(message)?.from?.id === bot.id) return true;
  const text = ownText(message);
  const name = `@${bot.username ?? ""}`.toLowerCase();
  return entitiesOf(message).some((entity) => {
    if (entity.type === "text_mention") return entity.user.id === bot.id;
    const word = rangeOf(text, entity).toLowerCase();
    return (entity.type === "mention" && word === name) || (entity.type === "bot_command" && word.endsWith(name));
  });
}

/** The message that this one answers. In a topic every message seems to answer the one that opened it. */
export function replyOf(message: Message): Message | undefined {
  const reply = message.reply_to_message;
  if (reply === undefined || reply.forum_topic_created !== undefined) return undefined;
  return message.is_topic_message === true && reply.message_id === message.message_thread_id ? undefined : reply;
}

/** Words for a message that is neither text nor a file; undefined for what nobody said (joins, pins, …). */
export function describeContent(message: Message): string | undefined {
  const { sticker, venue, location, contact, poll, dice } = message;
  if (sticker !== undefined) return `<sticker ${sticker.emoji ?? ""}>`.replace(" >", ">");
  if (venue !== undefined) return `<location ${place(venue.location)}> ${venue.title}, ${venue.address}`;
  if (location !== undefined) return `<location ${place(location)}>`;
  if (contact !== undefined) return `<contact> ${fullName(contact)} ${contact.phone_number}`;
  if (poll !== undefined) return `<poll> ${poll.question}\n${poll.options.map(({ text }) => `- ${text}`).join("\n")}`;
  return dice === undefined ? undefined : `<dice ${dice.emoji} ${dice.value}>`;
}

export function fullName(person: { first_name: string; last_name?: string | undefined }): string {
  return [person.first_name, person.last_name].filter(Boolean).join(" ");
}

function place({ latitude, longitude }: { latitude: number; longitude: number }): string {
  return `${latitude}, ${longitude}`;
}

function entitiesOf(message: Message): readonly MessageEntity[] {
  return message.entities ?? message.caption_entities ?? [];
}

/** Telegram counts in UTF-16 units, as JavaScript does. */
function rangeOf(text: string, { offset, length }: MessageEntity): string {
  return text.slice(offset, offset + length);
}
