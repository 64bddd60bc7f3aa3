/** Inbox and outbox: messages on their way in and replies on their way out. */
import type { Clock } from "../../base/clock.ts";
import { payloadNotJson } from "../store-errors.ts";
import type { Inbox, Outbox, OutboxDraft, OutboxItem } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import type { UpdateEntry } from "./entries.ts";
import type { PutEntry } from "./entry-rows.ts";
import type { Executor } from "./executor.ts";
import type { Gate } from "./gate.ts";
import { readInboxItem, readPending } from "./inbox-rows.ts";
import { type PackedDraft, readDue, readFailures, readOutboxItem, readRoutes } from "./outbox-rows.ts";

export interface QueueParts {
  database: SqliteDatabase;
  executor: Executor;
  gate: Gate;
  clock: Clock;
}

export function createInbox({ database, executor, gate, clock, update }: QueueParts & { update: UpdateEntry }): Inbox {
  return {
    admit: (message) =>
      gate.withKey(message.key, async (key) => {
        const payload = toJson(message.payload);
        return await executor.write("admitMessage", { ...message, key, payload });
      }),
    pending: (key) =>
      key === undefined
        ? gate.run(() => readPending(database, undefined))
        : gate.withKey(key, (own) => readPending(database, own)),
    get: (id) => gate.run(() => readInboxItem(database, id)),
    claim: (lease, { limit, ids } = {}) =>
      gate.withLease(lease, async () => await executor.write("claimItems", { lease, limit, ids })),
    requeue: (lease, { ids, excuse } = {}) =>
      gate.withLease(lease, async () => await executor.write("requeueItems", { lease, ids, excuse })),
    finish: (lease, ids, replies, { note, ending, release = false, entry } = {}) =>
      gate.withLease(lease, async () => {
        const drafts = replies.map(packDraft);
        const packed = ending === undefined ? undefined : toJson(ending);
        const end = async (put?: PutEntry): Promise<OutboxItem[] | undefined> => {
          const given = { lease, ids, drafts, note, ending: packed, release, put, now: clock.now() };
          return await executor.write("finishItems", given);
        };
        const ended: OutboxItem[][] = [];
        const endWith = async (put: PutEntry): Promise<boolean> => {
          const items = await end(put);
          if (items !== undefined) ended.push(items);
          return items !== undefined;
        };
        if (entry !== undefined) await update(lease.key, entry, { lease }, endWith);
        return ended[0] ?? (await end()) ?? [];
      }),
    drop: (key, ids, note, replies = []) =>
      gate.withKey(key, async (own) => {
        const packed = replies.map(({ itemId, draft }) => ({ itemId, draft: packDraft(draft) }));
        return await executor.write("dropItems", { key: own, ids, note, replies: packed, now: clock.now() });
      }),
    prune: (before) => gate.run(() => pruneAll((limit) => executor.write("pruneInbox", { before, limit }))),
  };
}

export function createOutbox({ database, executor, gate, clock }: QueueParts): Outbox {
  return {
    enqueue: (key, drafts, { lease } = {}) =>
      gate.withKey(key, async (own) => {
        const packed = drafts.map(packDraft);
        return await executor.write("enqueueDrafts", { key: own, drafts: packed, lease, now: clock.now() });
      }),
    due: (now, limit, route) => gate.run(() => readDue(database, now, limit, route)),
    routes: () => gate.run(() => readRoutes(database)),
    failures: (limit) => gate.run(() => readFailures(database, limit)),
    get: (id) => gate.run(() => readOutboxItem(database, id)),
    startSending: (id, attempts) => gate.run(async () => await executor.write("startSending", { id, attempts })),
    delivered: (id, deliveredId) =>
      gate.run(async () => await executor.write("settleDelivery", { id, state: "delivered", deliveredId })),
    retry: (id, dueAt, note) =>
      gate.run(async () => await executor.write("settleDelivery", { id, state: "pending", dueAt, note })),
    failed: (id, note) => gate.run(async () => await executor.write("settleDelivery", { id, state: "failed", note })),
    prune: (before) => gate.run(() => pruneAll((limit) => executor.write("pruneOutbox", { before, limit }))),
  };
}

/** Few at a time: whoever writes meanwhile waits for one batch and not for all. */
async function pruneAll(prune: (limit: number) => Promise<number>): Promise<number> {
  for (let total = 0; ;) {
    const pruned = await prune(PRUNED_AT_ONCE);
    total += pruned;
    if (pruned < PRUNED_AT_ONCE) return total;
  }
}

const PRUNED_AT_ONCE = 500;

function packDraft({ idempotencyKey, target, payload }: OutboxDraft): PackedDraft {
  return { idempotencyKey, target: toJson(target), payload: toJson(payload) };
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw payloadNotJson(error);
  }
}
