/**
 * The writes of `operations.ts`, each one call of a SQL function in `data/postgres`, which checks the lease and changes
 * everything or nothing.
 */
import { createKeyedMutex } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { TakeKnown } from "../create-store.ts";
import type { Write, WriteArguments, WriteName, WriteResult } from "../operations.ts";
import { applyPendingChange } from "../pending.ts";
import { type InboxItem, type Lease, APART_SUFFIX } from "../queues.ts";
import type { PackedDraft, PutEntry } from "../rows.ts";
import type { SessionEntry } from "../session-entry.ts";
import {
  alreadyDelivered,
  inboxItemNotRunning,
  labelInUse,
  leaseLost,
  leaseOfAnotherKey,
  outboxItemNotFound,
  windowIsCurrent,
} from "../store-errors.ts";
import { entryFacets, toListing, transcriptName } from "../store-rules.ts";
import type { Row, Value } from "./connection.ts";
import type { PostgresNode } from "./node.ts";
import { REFUSED, codeOf, detailOf } from "./postgres-errors.ts";
import { readPending, toInboxItem, toLease, toOutboxItem, toWindow } from "./reads.ts";

type Writes = { [Name in WriteName]: (given: WriteArguments<Name>) => Promise<WriteResult<Name>> };

export function postgresWrites(
  node: PostgresNode,
  agentId: string,
  clock: Clock,
): { write: Write; takeKnown: TakeKnown } {
  const pendingTurns = createKeyedMutex();
  const known = createKnownEntries();
  /** Calls a function whose first parameters are the agent and the key or the id. */
  const call = async (name: string, key: string | number, values: readonly Value[], isRepeatable = false) =>
    await node.write({ name, agentId, key, values: [key, ...values], isRepeatable });

  const writes: Writes = {
    putEntry: async (put) => {
      const packed = toPut(put);
      const values = [...fenceOf(put.key, put.lease), { json: packed }];
      const version = (await call("put_entry", put.key, values).catch(refuse(put))) as number | null;
      if (version === null) return false;
      if (put.lease !== undefined) known.add(put.key, { version, entry: packed.entry, isOfLease: false });
      return true;
    },
    deleteEntry: async ({ key, lease, withHandoff = false }) => {
      const values = [...fenceOf(key, lease), withHandoff];
      const gone = (await call("delete_entry", key, values).catch(refuse({ lease }))) as DeletedRow | null;
      if (gone === null) return undefined;
      return { key, entry: JSON.parse(gone.entry) as SessionEntry, windows: gone.windows.map(toWindow) };
    },
    putWindow: async (window) => {
      const { key, sessionId, openedAt, closedAt, reason, transcript, archive, state } = window;
      const values = [sessionId, openedAt, closedAt, reason, transcript, archive, JSON.stringify(state)];
      await call("put_window", key, values, true).catch(refuse({ window }));
    },
    removeWindow: async (window) =>
      (await call("remove_window", window.key, [window.sessionId]).catch(refuse({ window }))) === true,

    acquireLease: async ({ key, holder, process, ttlMs, claim = false }) => {
      const values = [holder, JSON.stringify(process), await node.id(), ttlMs, claim];
      const { acquired, lease, claimed, entry } = (await call("acquire_lease", key, values, true)) as AttemptRow;
      if (entry) known.add(key, { ...entry, isOfLease: true });
      else known.forget(key);
      if (!acquired) return { acquired, held: toLease(lease) };
      return { acquired, lease: toLease(lease), claimed: claimed ? toInboxItem(claimed) : undefined };
    },
    renewLease: async ({ lease, ttlMs }) => await node.renew({ agentId, lease, ttlMs }),
    releaseLease: async ({ key, holder }) => void (await call("release_lease", key, [holder], true)),

    admitMessage: async ({ key, address, payload, receivedAt }) => {
      const { channel, accountId, chatId, messageId } = address;
      const values = [channel, accountId, chatId, messageId, payload, receivedAt];
      const { admitted, item } = (await call("admit_message", key, values, true)) as { admitted: boolean; item: Row };
      return { admitted, item: toInboxItem(item) };
    },
    claimItems: async ({ lease, ids, limit, turn }) =>
      toInboxItems(
        await call("claim_items", lease.key, [...fencedBy(lease), ids, limit, turn]).catch(refuse({ lease })),
      ),
    requeueItems: async ({ lease, ids, apart, excuse }) => {
      const values = [...fencedBy(lease), ids, apart === true ? APART_SUFFIX : undefined, excuse];
      return toInboxItems(await call("requeue_items", lease.key, values).catch(refuse({ lease })));
    },
    finishItems: async ({ lease, ids, drafts, note, ending, put, release = false, startSending = false, now }) => {
      const values = [
        ...fencedBy(lease),
        ids,
        note,
        JSON.stringify(ending),
        { json: drafts.map(toDraft) },
        put && { json: toPut(put) },
        release,
        startSending,
        now,
      ];
      known.forget(lease.key);
      const replies = await call("finish_items", lease.key, values).catch(
        refuse({ lease, key: lease.key, entry: put?.entry }),
      );
      return replies === null ? undefined : (replies as Row[]).map(toOutboxItem);
    },
    dropItems: async ({ key, ids, note, replies, now }) => {
      const drafts = replies.map(({ itemId, draft }) => ({ ...toDraft(draft), item_id: itemId }));
      return toInboxItems(await call("drop_items", key, [ids, note, { json: drafts }, now]));
    },

    enqueueDrafts: async ({ key, drafts, lease, now }) => {
      const values = [...fenceOf(key, lease), { json: drafts.map(toDraft) }, now];
      return ((await call("enqueue_drafts", key, values, true).catch(refuse({ lease }))) as Row[]).map(toOutboxItem);
    },
    startSending: async ({ id, attempts }) => (await call("start_sending", id, [attempts])) === true,
    settleDelivery: async ({ id, ...end }) => {
      const delay = end.state === "pending" ? end.dueAt - clock.now() : undefined;
      const deliveredId = end.state === "delivered" ? end.deliveredId : undefined;
      const note = end.state === "delivered" ? undefined : end.note;
      await call("settle_delivery", id, [end.state, delay, deliveredId, note], true).catch(refuse({ id }));
    },
    prune: async ({ queue, before, limit }) => {
      const sql = `SELECT holdfast.prune_${queue}($1, $2, $3) AS pruned`;
      const [row] = await node.query(sql, [agentId, before, limit], { isRepeatable: true });
      return Number(row?.["pruned"]);
    },

    putHandoff: async ({ key, expectedVersion, state, ofWindow, now }) =>
      (await call("put_handoff", key, [expectedVersion, state, ofWindow, now])) === true,
    deleteHandoff: async ({ key }) => (await call("delete_handoff", key, [])) === true,

    // In order within this process; compared with the version that was read, because others write too.
    changePending: async ({ kind, key, change }) =>
      await pendingTurns.run(`${kind} ${key}`, async () => {
        for (;;) {
          const { queue: before, version } = await readPending(node, agentId, kind, key);
          const { queue, result } = applyPendingChange(key, before, change);
          if (queue === before && !(queue === undefined && version !== undefined)) return result;
          const isAdded = change.do === "add";
          const maxKeys = isAdded ? change.maxKeys : undefined;
          const [row] = await node.query("SELECT holdfast.put_pending($1, $2, $3, $4, $5, $6, $7) AS done", [
            agentId,
            kind,
            key,
            version,
            queue && JSON.stringify(queue),
            isAdded,
            maxKeys,
          ]);
          if (row?.["done"] === true) return result;
        }
      }),
  };
  return { write: async (name, given) => await writes[name](given), takeKnown: known.take };
}

interface KnownEntry {
  version: number;
  /** JSON. */
  entry: string;
  /** Read together with the lease. */
  isOfLease: boolean;
}

/** A turn decides by what it read with its lease, but not when others had time to change it. */
const DECIDE_MS = 250;
const MAX_KNOWN = 500;

/** Entries of the running turns. */
function createKnownEntries() {
  const known = new Map<string, KnownEntry & { at: number }>();
  const take: TakeKnown = (key, purpose) => {
    const found = known.get(key);
    if (found === undefined) return undefined;
    known.delete(key);
    const isFresh = found.isOfLease && performance.now() - found.at < DECIDE_MS;
    if (purpose === "decide" && !isFresh) return undefined;
    return { version: found.version, entry: JSON.parse(found.entry) as SessionEntry };
  };
  return {
    take,
    add: (key: string, entry: KnownEntry): void => {
      known.delete(key);
      known.set(key, { ...entry, at: performance.now() });
      const [oldest = ""] = known.keys();
      if (known.size > MAX_KNOWN) known.delete(oldest);
    },
    forget: (key: string): void => void known.delete(key),
  };
}

interface DeletedRow {
  entry: string;
  windows: Row[];
}

interface AttemptRow {
  acquired: boolean;
  lease: Row;
  claimed?: Row | null;
  entry?: { version: number; entry: string } | null;
}

/** The parameters of a fenced write: the epoch and the holder, or nothing. */
function fenceOf(key: string, lease: Lease | undefined): Value[] {
  if (lease === undefined) return [null, null];
  if (lease.key !== key) throw leaseOfAnotherKey(lease, key);
  return [lease.epoch, lease.holder];
}

function fencedBy(lease: Lease): Value[] {
  return [lease.epoch, lease.holder];
}

function toPut({ key, entry, expectedVersion, from, leaving, labelChanged, windowReason, now }: PutEntry) {
  const { kind, channel, label, search } = entryFacets(key, entry);
  return {
    expected_version: expectedVersion,
    session_id: entry.sessionId,
    updated_at: entry.updatedAt,
    kind,
    channel,
    label,
    spawned_by: entry.spawnedBy,
    search,
    listing: toListing(key, kind, entry),
    entry: JSON.stringify(entry),
    label_changed: labelChanged,
    previous_session: from,
    leaving: JSON.stringify(leaving),
    transcript: transcriptName(entry),
    window_reason: windowReason,
    now,
  };
}

function toDraft({ idempotencyKey, target, payload }: PackedDraft) {
  const { channel, accountId } = target;
  return { idempotency_key: idempotencyKey, channel, account_id: accountId, target: JSON.stringify(target), payload };
}

function toInboxItems(rows: unknown): InboxItem[] {
  return (rows as Row[]).map(toInboxItem);
}

interface RefusedWrite {
  lease?: Lease | undefined;
  key?: string | undefined;
  entry?: SessionEntry | undefined;
  window?: { key: string; sessionId: string } | undefined;
  id?: number | undefined;
}

/** Throws the error of the contract for a refusal by a SQL function. */
function refuse({ lease, key = "", entry, window, id = 0 }: RefusedWrite): (error: unknown) => never {
  return (error) => {
    const code = codeOf(error);
    if (code === REFUSED.leaseLost && lease !== undefined) throw leaseLost(lease);
    if (code === REFUSED.itemNotRunning) throw inboxItemNotRunning(Number(detailOf(error)), key);
    if (code === REFUSED.noOutboxItem) throw outboxItemNotFound(id);
    if (code === REFUSED.alreadyDelivered) throw alreadyDelivered(id);
    if (code === REFUSED.windowIsCurrent && window !== undefined) throw windowIsCurrent(window);
    if (code === REFUSED.labelInUse) throw labelInUse(entry?.label ?? "", detailOf(error));
    throw error;
  };
}
