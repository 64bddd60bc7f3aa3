/**
 * The operations of a store on leases, inbox, outbox, hand-offs and pending items. They convert arguments and run the
 * functions of the `*-rows.ts` files.
 */
import { lazy } from "../../base/async.ts";
import { faultPoint } from "../../base/faults.ts";
import { currentProcess, processState } from "../../base/processes.ts";
import type { PendingQueues } from "../pending.ts";
import type { AcquireOptions, Inbox, Lease, LeaseAttempt, Leases, Outbox, OutboxDraft, OutboxItem } from "../queues.ts";
import { payloadNotJson } from "../store-errors.ts";
import { checkListQuery, handoffFromJson, handoffToJson } from "../store-rules.ts";
import type { HandoffUpdateOptions, Handoffs } from "../store.ts";
import type { PutEntry } from "./entry-rows.ts";
import type { StoreContext } from "./executor.ts";
import { type LeaseWithItem, readGivenUp, readInboxItem, readPending } from "./inbox-rows.ts";
import { type StoredLease, type TakeLease, assertLease, listLeases, readLease } from "./lease-rows.ts";
import { type PackedDraft, readDue, readFailures, readOutboxItem, readRoutes } from "./outbox-rows.ts";
import { hasWindow, readHandoff, readPendingQueue } from "./session-rows.ts";
import type { Prepared, ReadModifyWrite, UpdateEntry } from "./update.ts";

export function createInbox({ database, executor, gate, clock }: StoreContext, update: UpdateEntry): Inbox {
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
    givenUp: (limit) => gate.run(() => readGivenUp(database, limit)),
    claim: (lease, { limit, ids, turn } = {}) =>
      gate.withLease(lease, async () => await executor.write("claimItems", { lease, limit, ids, turn })),
    requeue: (lease, { ids, excuse, apart } = {}) =>
      gate.withLease(lease, async () => await executor.write("requeueItems", { lease, ids, excuse, apart })),
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

export function createOutbox({ database, executor, gate, clock }: StoreContext): Outbox {
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

/** In small batches, so that other writers wait for one batch only. */
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

/** A free lease is taken only if it is still exactly the lease that was seen, so one of several takers wins. */
export function createLeases({ database, executor, gate, clock, ids }: StoreContext): Leases {
  const tryAcquire = async (key: string, { ttlMs, claim }: AcquireOptions): Promise<LeaseAttempt> => {
    for (;;) {
      const seen = readLease(database, key);
      faultPoint("lease.read");
      if (seen !== undefined && isInForce(seen, clock.now())) return { acquired: false, held: withoutState(seen) };
      const lease: Lease = {
        key,
        epoch: (seen?.epoch ?? 0) + 1,
        holder: ids.uuid(),
        process: currentProcess(),
        expiresAt: clock.now() + ttlMs,
      };
      const { taken, claimed } = await take({ lease, seen }, claim === true).catch(async (error: unknown) => {
        // The lease may have been written all the same, and then no one would release it.
        await executor.write("releaseLease", lease).catch(() => undefined);
        throw error;
      });
      if (!taken) continue;
      faultPoint("lease.taken");
      return { acquired: true, lease, claimed };
    }
  };
  const take = async (given: TakeLease, claim: boolean): Promise<LeaseWithItem> =>
    claim
      ? await executor.write("takeLeaseAndItem", given)
      : { taken: await executor.write("takeLease", given), claimed: undefined };

  return {
    acquire: (leased, options) => gate.withLeased(leased, async (key) => await tryAcquire(key, options)),
    renew: (lease, { ttlMs }) =>
      gate.withLease(lease, async () => {
        const renewed = { ...lease, expiresAt: clock.now() + ttlMs };
        return (await executor.write("renewLease", renewed)) ? renewed : undefined;
      }),
    release: (lease) => gate.withLease(lease, async () => await executor.write("releaseLease", lease)),
    current: (leased) =>
      gate.withLeased(leased, (key) => {
        const stored = readLease(database, key);
        return stored !== undefined && isInForce(stored, clock.now()) ? withoutState(stored) : undefined;
      }),
    list: () => gate.run(() => listLeases(database)),
    assertCurrent: (lease) => gate.withLease(lease, () => assertLease(database, lease, lease.key)),
  };
}

/** The lease of a process that has ended is free at once; one on another host is free when it expires. */
function isInForce(lease: StoredLease, now: number): boolean {
  return !lease.released && lease.expiresAt > now && processState(lease.process) !== "dead";
}

function withoutState({ released: _released, ...lease }: StoredLease): Lease {
  return lease;
}

export function createHandoffs(context: StoreContext): Handoffs {
  const { database, executor, gate, clock } = context;
  // Loaded with the first update, because many commands only read.
  const change = lazy(async (): Promise<ReadModifyWrite<"putHandoff">> => {
    const { createReadModifyWrite } = await import("./update.ts");
    return createReadModifyWrite("putHandoff", context);
  });
  const prepare = (
    key: string,
    mutate: (state: unknown) => unknown,
    { ofWindow }: HandoffUpdateOptions,
  ): Prepared<"putHandoff", unknown> => {
    const before = readHandoff(database, key);
    const isGone = ofWindow !== undefined && !hasWindow(database, key, ofWindow);
    const returned = isGone ? undefined : mutate(before && handoffFromJson(before.state));
    if (returned === undefined) return { value: before && handoffFromJson(before.state), put: undefined };
    const state = handoffToJson(returned);
    return {
      value: JSON.parse(state),
      put: { key, expectedVersion: before?.version, state, ofWindow, now: clock.now() },
    };
  };

  return {
    get: (key) =>
      gate.withKey(key, (own) => {
        const stored = readHandoff(database, own);
        return stored && handoffFromJson(stored.state);
      }),
    list: ({ limit } = {}) =>
      gate.run(async () => {
        checkListQuery(limit === undefined ? {} : { limit });
        return await executor.listHandoffs(limit);
      }),
    update: (key, mutate, choice = {}) =>
      gate.withKey(key, async (own) => await (await change.get())(own, () => prepare(own, mutate, choice))),
    delete: (key) => gate.withKey(key, async (own) => await executor.write("deleteHandoff", { key: own })),
  };
}

export function createPendingQueues({ database, executor, gate }: StoreContext): PendingQueues {
  return {
    read: (kind, key) => gate.withKey(key, (own) => readPendingQueue(database, kind, own)),
    change: (kind, key, change) =>
      gate.withKey(key, async (own) => await executor.write("changePending", { kind, key: own, change })),
  };
}
