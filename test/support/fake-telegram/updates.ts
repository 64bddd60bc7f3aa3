/** Messages in Telegram's format; a test gives only the relevant parts. */
import type { Chat, Message, User } from "grammy/types";

export const BOT: User & { username: string } = {
  id: 777_000_777,
  is_bot: true,
  first_name: "Holdfast",
  username: "holdfast_bot",
};

export const ADA: User = { id: 1001, is_bot: false, first_name: "Ada", last_name: "Lovelace", username: "AdaL" };
export const BOB: User = { id: 1002, is_bot: false, first_name: "Bob" };

export const GROUP: Chat.SupergroupChat = { id: -1_001_234_567_890, type: "supergroup", title: "Engine room" };
export const FORUM: Chat.SupergroupChat & { is_forum: true } = {
  id: -1_009_876_543_210,
  type: "supergroup",
  title: "Forum",
  is_forum: true,
};

export type MessageParts = Partial<Omit<Message, "from" | "chat">> & { from?: User; chat?: Chat };

let lastMessageId = 0;

/** Default: from Ada in her private chat. */
export function message(parts: MessageParts = {}): Message {
  const { from = ADA, chat = privateChat(from), ...rest } = parts;
  lastMessageId += 1;
  return { message_id: lastMessageId, date: 1_794_744_000, from, chat, ...rest };
}

function privateChat(user: User): Chat.PrivateChat {
  const { id, first_name, last_name, username } = user;
  return {
    id,
    type: "private",
    first_name,
    ...(last_name === undefined ? {} : { last_name }),
    ...(username === undefined ? {} : { username }),
  };
}
