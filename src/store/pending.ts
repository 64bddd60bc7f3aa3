/**
 * Group history and system events: items that wait for the next turn of a key. A store keeps one `PendingQueue` per
 * kind and key; this file decides how it changes. Invariants:
 * - A turn takes the waiting items and settles them once its message is written. If it is repeated after a crash, it
 *   takes exactly the same items; later ones wait for the next turn.
 * - Another turn takes over the items of a turn that was given up.
 * - Turns are ordered by the epoch of the session's lease. A process that lost the lease is refused, and settles only
 *   the items that its own turn took.
 * - At most `limit` items per key wait untaken. The oldest are dropped and counted.
 */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import type { GroupHistory, HistoryEntry, SystemEvents, TurnClaim } from "./store.ts";

export type PendingKind = "history" | "systemEvents";

export interface PendingItem {
  at: number;
  /** JSON. */
  value: unknown;
  /** Two items with the same mark are the same item. Optional. */
  mark?: string | undefined;
}

export interface PendingQueue {
  items: readonly PendingItem[];
  /** How many items were dropped and not yet reported to a settled turn. */
  dropped: number;
  /** The turn that took the first `taken` items and was informed of `dropped` dropped ones. */
  claim?: { turn: string; epoch: number; taken: number; dropped: number } | undefined;
}

/** Plain data, so that it can be sent to a store's thread. */
export type PendingChange =
  | { do: "add"; item: PendingItem; limit: number; skipRepeated: boolean; maxKeys?: number | undefined }
  | { do: "take"; turn: TurnClaim }
  | { do: "settle"; turnId: string }
  | { do: "merge"; queue: PendingQueue }
  | { do: "forget" };

export interface PendingResult {
  /** False if nothing changed. */
  done: boolean;
  /** The items of a turn, oldest first. */
  items: readonly PendingItem[];
  /** How many items were dropped before these. */
  dropped: number;
}

/** What a store implements. Keys are made canonical by it. */
export interface PendingQueues {
  read(kind: PendingKind, key: string): Promise<PendingQueue | undefined>;
  change(kind: PendingKind, key: string, change: PendingChange): Promise<PendingResult>;
}

/** Longer than any message of Telegram or Discord. */
const MAX_TEXT = 4096;
const HISTORY_LIMIT = 50;
const MAX_HISTORY_KEYS = 1000;
const EVENT_LIMIT = 20;

export interface HistoryOptions {
  /** Entries per key; 0 keeps none. Default: 50. */
  historyLimit?: number | undefined;
}

export function createGroupHistory(
  queues: PendingQueues,
  clock: Clock,
  { historyLimit: limit = HISTORY_LIMIT }: HistoryOptions,
): GroupHistory {
  return {
    append: async (key, entry) => {
      if (limit <= 0) return false;
      const value = { ...entry, body: shortBody(entry.body) };
      const item = { at: entry.timestamp ?? clock.now(), value, mark: entry.messageId };
      const change = { do: "add", item, limit, skipRepeated: false, maxKeys: MAX_HISTORY_KEYS } as const;
      return (await queues.change("history", key, change)).done;
    },
    take: async (key, turn) => {
      const { items } = await takeItems(queues, "history", key, turn);
      return items.map(({ value }) => value).filter(isHistoryEntry);
    },
    waiting: async (key) => {
      const { items } = (await queues.read("history", key)) ?? EMPTY;
      return items.map(({ value }) => value).filter(isHistoryEntry);
    },
    clear: async (key, turnId) => await settleItems(queues, "history", key, turnId),
    forget: async (key) => void (await queues.change("history", key, { do: "forget" })),
  };
}

function shortBody(body: string): string {
  if (body.length <= MAX_TEXT) return body;
  return `${body.slice(0, MAX_TEXT).toWellFormed()}… (${body.length - MAX_TEXT} more characters)`;
}

function isHistoryEntry(value: unknown): value is HistoryEntry {
  return isRecord(value) && typeof value["body"] === "string";
}

export function createSystemEvents(queues: PendingQueues, clock: Clock): SystemEvents {
  return {
    enqueueSystemEvent: async (key, text) => {
      const whole = text.trim();
      if (whole === "") return false;
      const value = whole.length <= MAX_TEXT ? whole : `${whole.slice(0, MAX_TEXT).toWellFormed()}…`;
      const item = { at: clock.now(), value };
      const { done } = await queues.change("systemEvents", key, {
        do: "add",
        item,
        limit: EVENT_LIMIT,
        skipRepeated: true,
      });
      return done;
    },
    drainSystemEvents: async (key, turn) => {
      const { items, dropped } = await takeItems(queues, "systemEvents", key, turn);
      return { id: turn.id, events: items.map(({ at, value }) => ({ at, text: String(value) })), dropped };
    },
    waitingSystemEvents: async (key) => {
      const { items } = (await queues.read("systemEvents", key)) ?? EMPTY;
      return items.map(({ value }) => String(value));
    },
    acknowledgeSystemEvents: async (key, batchId) => await settleItems(queues, "systemEvents", key, batchId),
    forgetSystemEvents: async (key) => void (await queues.change("systemEvents", key, { do: "forget" })),
  };
}

/** Most turns find nothing, and then nothing is written. */
async function takeItems(
  queues: PendingQueues,
  kind: PendingKind,
  key: string,
  turn: TurnClaim,
): Promise<PendingResult> {
  if ((await queues.read(kind, key)) === undefined) return NOTHING;
  return await queues.change(kind, key, { do: "take", turn });
}

async function settleItems(queues: PendingQueues, kind: PendingKind, key: string, turnId: string): Promise<boolean> {
  if ((await queues.read(kind, key))?.claim?.turn !== turnId) return false;
  return (await queues.change(kind, key, { do: "settle", turnId })).done;
}

const NOTHING: PendingResult = { done: false, items: [], dropped: 0 };
const DONE: PendingResult = { ...NOTHING, done: true };
const EMPTY: PendingQueue = { items: [], dropped: 0 };

interface Changed {
  queue: PendingQueue | undefined;
  result: PendingResult;
}

/** The queue after a change, undefined if nothing waits any more; the same object if nothing changed. */
export function applyPendingChange(key: string, queue: PendingQueue | undefined, change: PendingChange): Changed {
  if (change.do === "add") return added(queue, change);
  if (change.do === "take") return queue === undefined ? { queue, result: NOTHING } : taken(key, queue, change.turn);
  if (change.do === "settle") return settled(queue, change.turnId);
  return change.do === "merge" ? merged(queue, change.queue) : { queue: undefined, result: DONE };
}

function added(queue: PendingQueue | undefined, change: Extract<PendingChange, { do: "add" }>): Changed {
  const { item, limit, skipRepeated } = change;
  const { items, dropped, claim } = queue ?? EMPTY;
  const waiting = items.slice(claim?.taken ?? 0);
  const isKnown = item.mark !== undefined && items.some(({ mark }) => mark === item.mark);
  const isRepeated = skipRepeated && waiting.at(-1)?.value === item.value;
  if (isKnown || isRepeated) return { queue, result: NOTHING };
  // The items of a turn stay until it is settled, because a repetition needs them again.
  const held = items.slice(0, claim?.taken ?? 0);
  const kept = [...waiting, item].slice(-limit);
  const excess = waiting.length + 1 - kept.length;
  return { queue: { items: [...held, ...kept], dropped: dropped + excess, claim }, result: DONE };
}

function taken(key: string, queue: PendingQueue, turn: TurnClaim): Changed {
  const { items, claim } = queue;
  if (claim !== undefined && claim.epoch > turn.epoch) throw lostLease(key, turn, claim.epoch);
  const isRepeated = claim?.turn === turn.id;
  const count = isRepeated ? claim.taken : items.length;
  const dropped = isRepeated ? claim.dropped : queue.dropped;
  return {
    queue: { ...queue, claim: { turn: turn.id, epoch: turn.epoch, taken: count, dropped } },
    result: { done: true, items: items.slice(0, count), dropped },
  };
}

function settled(queue: PendingQueue | undefined, turnId: string): Changed {
  const claim = queue?.claim;
  if (queue === undefined || claim?.turn !== turnId) return { queue, result: NOTHING };
  const items = queue.items.slice(claim.taken);
  const dropped = queue.dropped - claim.dropped;
  return { queue: items.length === 0 ? undefined : { items, dropped }, result: DONE };
}

/** Every item of `other` has a mark, so merging it twice changes nothing. Its items are older. */
function merged(queue: PendingQueue | undefined, other: PendingQueue): Changed {
  if (queue === undefined) return { queue: other, result: DONE };
  const known = new Set(queue.items.map(({ mark }) => mark));
  const missing = other.items.filter(({ mark }) => !known.has(mark));
  if (missing.length === 0) return { queue, result: NOTHING };
  const claim = queue.claim && { ...queue.claim, taken: queue.claim.taken + missing.length };
  return { queue: { ...queue, items: [...missing, ...queue.items], claim }, result: DONE };
}

function lostLease(key: string, turn: TurnClaim, newest: number): HoldfastError {
  return new HoldfastError("fenced", "turn-fenced", `A newer process has taken over ${key}`, {
    hint: "Another process is answering this turn. Nothing was changed.",
    data: { key, epoch: turn.epoch, newest },
  });
}

/** Undefined for damaged text: pending items must not keep an agent from answering. */
export function parsePendingQueue(json: string): PendingQueue | undefined {
  const value = parseJson(json);
  return isPendingQueue(value) ? value : undefined;
}

export function isPendingQueue(value: unknown): value is PendingQueue {
  return isRecord(value) && Array.isArray(value["items"]) && typeof value["dropped"] === "number";
}
