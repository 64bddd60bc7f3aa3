/**
 * The operations of a child, as data for the journal, and the seeded random choices behind them. Everything that an
 * operation writes follows from its number.
 */
import { createHash } from "node:crypto";
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

export type OperationName = (typeof OPERATION_NAMES)[number];

export interface Operation {
  /** Increases by one per operation, across all children of a home. */
  number: number;
  /** `open` and `restore` replace an operation on a session that does not exist. */
  name: OperationName | "open" | "restore";
  key: string;
}

/** Results that the parent cannot derive from the number. */
export interface OperationResult {
  sessionId?: string | undefined;
  itemId?: number | undefined;
  /** How many texts were appended. Default: all. */
  appended?: number | undefined;
  answered?: Answered[] | undefined;
  delivered?: number[] | undefined;
}

/** A finished inbox item and the outbox item that answers it. */
export interface Answered {
  itemId: number;
  replyId: number;
}

export const SESSION_KEYS = ["agent:main:test:dm:ada", "agent:main:test:dm:ben", "agent:main:test:dm:cyd"] as const;

/** Every store keeps unknown fields, so the counter is stored in one. */
export type CountedEntry = SessionEntry & { selftest?: Counter | undefined };

/** Counts operations; `lastNumber` is the number of the last one. */
export interface Counter {
  count: number;
  lastNumber: number;
}

const MAX_PADDING = 3000;

/** One to three messages, together often longer than a file system page. */
export function textsOf({ number }: Operation): string[] {
  const count = 1 + (number % 3);
  return Array.from({ length: count }, (_, index) => {
    const padding = "abcdefghijklmno".repeat(((number * 31 + index * 17) % MAX_PADDING) / 15);
    return `${number}.${index} ${padding}`;
  });
}

/** Increases with every text. */
export function placeOfText(text: string): number {
  const [, number = 0, index = 0] = /^(\d+)\.(\d+) /.exec(text) ?? [];
  return Number(number) * 10 + Number(index) + 1;
}

export function addressOf({ number, key }: Operation) {
  return { channel: "test", accountId: "default", chatId: key, messageId: String(number) };
}

export function replyKeyOf(itemId: number): string {
  return `reply-to-${itemId}`;
}

export type Random = ReturnType<typeof createRandom>;

/** Random choices that a seed repeats. The same parts always give the same sequence. */
export function createRandom(...parts: readonly (string | number)[]) {
  let drawn = 0;
  const fraction = (): number => {
    const text = [...parts, drawn++].join("/");
    return createHash("sha256").update(text).digest().readUInt32LE() / 2 ** 32;
  };
  /** Both bounds are included. */
  const whole = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    whole,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[whole(0, choices.length - 1)] ?? choices[0],
    chance: (probability: number): boolean => fraction() < probability,
  };
}
