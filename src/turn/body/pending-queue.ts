/**
 * Items that wait for the next turn of a key, on disk. Invariants:
 * - A turn takes what is there and settles it once its message is written. Until then the items stay:
 *   the same turn, begun again after a crash, takes exactly the same ones, and whatever comes in
 *   meanwhile waits for the turn after.
 * - Another turn takes over what an earlier one took and never settled, because that one was given up.
 * - Turns are ordered by the epoch of the session's lease: a process that lost the lease and woke up
 *   again is refused, and what it settles late is what its own turn took, or nothing.
 * - Items that no turn has taken yet are at most `limit` per key: the oldest go first and are counted.
 */
import type { SQLInputValue } from "node:sqlite";
import { HoldfastError } from "../../base/errors.ts";
import type { PendingDatabase, PendingDurability } from "./pending-database.ts";

/** Who takes: a turn that keeps its id when it is repeated, under a lease. */
export interface TurnClaim {
  /** Unique within the key; the same when the turn is begun again. */
  id: string;
  /** The epoch of the lease under which the turn runs. */
  epoch: number;
}

export interface PendingItem {
  at: number;
  value: string;
  /** The same mark twice is the same item. Left out: every item is a new one. */
  mark?: string | undefined;
}

export interface PendingQueue {
  /** False when the item was there already. */
  add(key: string, item: PendingItem): Promise<boolean>;
  /** Oldest first; `dropped` counts the items that were let go before these. */
  take(key: string, turn: TurnClaim): Promise<{ items: PendingItem[]; dropped: number }>;
  /** Forgets what the turn took. False when it took nothing, or another turn took it over. */
  settle(key: string, turnId: string): Promise<boolean>;
  forget(key: string): Promise<void>;
}

export interface PendingQueueOptions {
  database: PendingDatabase;
  kind: string;
  durability: PendingDurability;
  limit: number;
  /** How many keys; those that got nothing for longest go first. Left out: any number. */
  maxKeys?: number;
  /** Whether an item equal to the one before it is the same item. Left out: it is another. */
  skipRepeated?: boolean;
}

export function createPendingQueue(options: PendingQueueOptions): PendingQueue {
  const { database, kind, durability, limit, maxKeys, skipRepeated = false } = options;
  const write = async <T>(task: () => T): Promise<T> => await database.transaction(durability, task);
  const queueOf = (key: string): QueueRow | undefined =>
    database.get<QueueRow>("SELECT * FROM queues WHERE kind = ? AND key = ?", kind, key);

  return {
    add: async (key, { at, value, mark }) =>
      await write(() => {
        const queue = queueOf(key);
        if (skipRepeated && queue !== undefined && lastWaiting(database, queue) === value) return false;
        const sql = "INSERT OR IGNORE INTO items (kind, key, mark, at, value) VALUES (?, ?, ?, ?, ?)";
        const { changed, id } = database.run(sql, kind, key, mark ?? null, at, value);
        if (changed === 0) return false;
        const dropped = queue === undefined ? 0 : dropOldest(database, queue, limit);
        database.run(UPSERT, kind, key, id, dropped);
        if (queue === undefined && maxKeys !== undefined) evictKeys(database, kind, maxKeys);
        return true;
      }),
    take: async (key, turn) => {
      // Most turns find nothing, and then nothing is written.
      if (queueOf(key) === undefined) return { items: [], dropped: 0 };
      return await write(() => {
        const queue = queueOf(key);
        if (queue === undefined) return { items: [], dropped: 0 };
        if (queue.turn !== null && queue.epoch > turn.epoch) throw lostLease(key, turn, queue.epoch);
        const isRepeated = queue.turn === turn.id;
        const upTo = isRepeated ? queue.up_to : queue.last_id;
        const dropped = isRepeated ? queue.told : queue.dropped;
        const sql = "UPDATE queues SET turn = ?, epoch = ?, up_to = ?, told = ? WHERE kind = ? AND key = ?";
        database.run(sql, turn.id, turn.epoch, upTo, dropped, kind, key);
        return { items: database.all<PendingItem>(ITEMS, kind, key, upTo), dropped };
      });
    },
    settle: async (key, turnId) => {
      if (queueOf(key)?.turn !== turnId) return false;
      return await write(() => {
        const queue = queueOf(key);
        if (queue?.turn !== turnId) return false;
        database.run("DELETE FROM items WHERE kind = ? AND key = ? AND id <= ?", kind, key, queue.up_to);
        const isEmpty = queue.last_id <= queue.up_to;
        database.run(isEmpty ? REMOVE : RELEASE, kind, key);
        return true;
      });
    },
    forget: async (key) =>
      await write(() => {
        database.run("DELETE FROM items WHERE kind = ? AND key = ?", kind, key);
        database.run(REMOVE, kind, key);
      }),
  };
}

interface QueueRow {
  kind: string;
  key: string;
  last_id: number;
  dropped: number;
  turn: string | null;
  epoch: number;
  up_to: number;
  told: number;
}

const ITEMS = "SELECT at, value FROM items WHERE kind = ? AND key = ? AND id <= ? ORDER BY id";
const REMOVE = "DELETE FROM queues WHERE kind = ? AND key = ?";
const RELEASE =
  "UPDATE queues SET turn = NULL, up_to = 0, dropped = dropped - told, told = 0 WHERE kind = ? AND key = ?";
const UPSERT = `
  INSERT INTO queues (kind, key, last_id, dropped) VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET last_id = excluded.last_id, dropped = dropped + excluded.dropped
`;

/** The newest item that no turn has taken. */
function lastWaiting(database: PendingDatabase, { kind, key, up_to }: QueueRow): string | undefined {
  const sql = "SELECT value FROM items WHERE kind = ? AND key = ? AND id > ? ORDER BY id DESC LIMIT 1";
  return database.get<{ value: string }>(sql, kind, key, up_to)?.value;
}

/** What a turn has taken stays until it is settled: a repetition needs the same. */
function dropOldest(database: PendingDatabase, { kind, key, up_to }: QueueRow, limit: number): number {
  const place: SQLInputValue[] = [kind, key, up_to];
  const sql = `
    DELETE FROM items WHERE kind = ? AND key = ? AND id > ? AND id <= (
      SELECT id FROM items WHERE kind = ? AND key = ? AND id > ? ORDER BY id DESC LIMIT 1 OFFSET ?
    )
  `;
  return database.run(sql, ...place, ...place, limit).changed;
}

function evictKeys(database: PendingDatabase, kind: string, maxKeys: number): void {
  const sql = "SELECT key FROM queues WHERE kind = ? ORDER BY last_id DESC LIMIT -1 OFFSET ?";
  for (const { key } of database.all<{ key: string }>(sql, kind, maxKeys)) {
    database.run("DELETE FROM items WHERE kind = ? AND key = ?", kind, key);
    database.run(REMOVE, kind, key);
  }
}

function lostLease(key: string, turn: TurnClaim, newest: number): HoldfastError {
  return new HoldfastError("fenced", "turn-fenced", `A newer process has taken over ${key}`, {
    hint: "This turn is being answered elsewhere; nothing was changed.",
    data: { key, epoch: turn.epoch, newest },
  });
}
