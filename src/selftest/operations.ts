/**
 * What a child does to an agent, as data: it travels through the journal, so that the parent knows
 * what was promised. Everything that an operation writes can be told from its number alone.
 */
import type { SessionEntry } from "../store/session-entry.ts";

export const OPERATION_NAMES = [
  "count",
  "append",
  "reset",
  "compact",
  "archive",
  "admit",
  "answer",
  "deliver",
  "hand-over",
  "reopen",
] as const;

/** What the mix chooses from. */
export type OperationName = (typeof OPERATION_NAMES)[number];

export interface Operation {
  /** Rises by one from operation to operation, over all children that work on one home. */
  number: number;
  /** `open` and `restore` come in the place of an operation on a session that is not there. */
  name: OperationName | "open" | "restore";
  key: string;
}

/** What an operation has made, as far as the parent cannot know it beforehand. */
export interface OperationResult {
  /** The window that the session is at. */
  sessionId?: string;
  /** The inbox item that was admitted. */
  itemId?: number;
  answered?: Answered[];
  /** Outbox items that were delivered. */
  delivered?: number[];
}

/** An inbox item that was ended, and the outbox item that answers it. */
export interface Answered {
  itemId: number;
  replyId: number;
}

export const SESSION_KEYS = ["agent:main:test:dm:ada", "agent:main:test:dm:ben", "agent:main:test:dm:cyd"] as const;

/** Fields of other programs are kept by every store, so the counter travels as one. */
export type CountedEntry = SessionEntry & { selftest?: { count: number; lastNumber: number } };

/** The state of a hand-off, counted up by every operation on it. */
export interface HandedOver {
  count: number;
  lastNumber: number;
}

const LONGEST_PADDING = 3000;

/** One to three messages, the longer ones longer than a page of most file systems when taken together. */
export function textsOf({ number }: Operation): string[] {
  const count = 1 + (number % 3);
  return Array.from({ length: count }, (_, index) => {
    const padding = "abcdefghijklmno".repeat(((number * 31 + index * 17) % LONGEST_PADDING) / 15);
    return `${number}.${index} ${padding}`;
  });
}

/** The address under which the operation's message arrives. */
export function addressOf({ number, key }: Operation) {
  return { channel: "test", accountId: "default", chatId: key, messageId: String(number) };
}

export function replyKeyOf(itemId: number): string {
  return `reply-to-${itemId}`;
}
