/** Where a message goes, from any spelling that Holdfast or OpenClaw has kept of it. */
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import type { DeliveryTarget } from "../../store/store.ts";

export interface TelegramTarget {
  /** A number, or `@name` of a public group or channel. */
  chatId: number | string;
  threadId: number | undefined;
}

/** The General topic of a forum: messages are shown under 1, but must be sent without a topic. */
export const GENERAL_TOPIC = 1;

/** `123`, `telegram:123`, `telegram:group:-100`, `telegram:group:-100:topic:4`, `@name`. */
export function parseTarget(target: DeliveryTarget): TelegramTarget {
  const address = target.to
    .trim()
    .replace(/^(?:telegram|tg):/i, "")
    .replace(/^(?:group|channel|dm|direct|user):/i, "");
  const match = /^(-?\d+|@\w+)(?::(?:topic|thread):(\d+))?$/.exec(address);
  const [, chat, topic] = match ?? [];
  if (chat === undefined) throw unknownTarget(target.to);
  const threadId = readId(target.threadId) ?? readId(topic);
  return { chatId: chat.startsWith("@") ? chat : Number(chat), threadId };
}

/** A positive whole number; anything else is no id of Telegram's. */
export function readId(value: string | number | undefined): number | undefined {
  const number = Number(value ?? Number.NaN);
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

function unknownTarget(to: string): HoldfastError {
  return new HoldfastError("usage", "telegram-target-invalid", `${printableLine(to, 80)} is no Telegram chat`, {
    hint: "Give a chat id such as 123456789, telegram:123456789 or telegram:group:-1001234567890, or @name of a public group.",
    data: { to },
  });
}
