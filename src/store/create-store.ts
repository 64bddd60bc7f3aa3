/**
 * Everything that all stores do the same: which keys they accept, how arguments are checked and packed, how values are
 * read, changed and written again. A store implementation provides a `StoreContext`: its rows and how to write them.
 */
import { existsSync } from "node:fs";
import { createKeyedMutex, lazy } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { faultPoint } from "../base/faults.ts";
import { type Ids, randomIds } from "../base/ids.ts";
import { type Logger, silentLogger } from "../base/log.ts";
import { currentProcess } from "../base/processes.ts";
import { type Gate, createGate } from "./gate.ts";
import { type Media, createLocalMedia } from "./media.ts";
import { type Write, type WriteArguments, hasWindow, isNewest } from "./operations.ts";
import { type HistoryOptions, type PendingQueues, createGroupHistory, createSystemEvents } from "./pending.ts";
import type { AcquireOptions, Inbox, Lease, LeaseAttempt, Leases, Outbox, OutboxDraft, OutboxItem } from "./queues.ts";
import type { PackedDraft, PutEntry, QueueName, StoreReads, StoredEntry } from "./rows.ts";
import { type Mutate, type SessionEntry, windowStateOf } from "./session-entry.ts";
import { leaseLost, windowNotClosed } from "./store-errors.ts";
import { checkListQuery, handoffFromJson, handoffToJson, toJson } from "./store-rules.ts";
import type { Cluster } from "./cluster.ts";
import type { Handoffs, JsonPage, KeptHandoff, ListPage, ListQuery, Store, UpdateOptions } from "./store.ts";
import type { TranscriptFilesOptions } from "./transcript-files.ts";
import type { Transcripts } from "./transcripts.ts";

export interface FileStoreOptions extends StoreOptions, TranscriptFilesOptions {
  /** The file that holds the entries. Created with its folder if missing. */
  path: string;
}

export interface StoreOptions extends HistoryOptions {
  /** Normalised. */
  agentId: string;
  /** Default: `main`. */
  mainKey?: string | undefined;
  /** A `pending.sqlite` of an earlier version, whose items move into the store. Optional. */
  pendingFile?: string | undefined;
  /** For files of messages that came from a shared store. Optional. */
  mediaFolder?: string | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

const NO_FOLDER = "/dev/null";

export interface StoreContext extends Pick<Store, "kind" | "location"> {
  /** Default: 30 s. */
  leaseTtlMs?: number | undefined;
  /** See `Leases.marginMs`. */
  leaseMarginMs?: number | undefined;
  /** See `Leases.onDoubt`. */
  onDoubt?: Leases["onDoubt"];
  /** True if a refused attempt to take a lease costs no more than a read. Default: false. */
  refusesLeasesCheaply?: boolean | undefined;
  /** Resolves to a copy of the task's result. `fresh` reads the files even if they look unchanged. */
  read: <T>(task: (rows: StoreReads) => T | Promise<T>, options?: { fresh?: boolean | undefined }) => Promise<T>;
  write: Write;
  modify: Modify;
  /** The entry as it will be read from disk. Throws if JSON cannot represent it. */
  copyEntry: (entry: SessionEntry) => SessionEntry;
  list: (query: ListQuery) => Promise<ListPage>;
  listJson: (query: JsonQuery) => Promise<JsonPage>;
  listHandoffs: (limit: number | undefined) => Promise<KeptHandoff[]>;
  /** See `Inbox.unattended`. Default: from the pending items and their leases. */
  unattendedKeys?: ((limit: number) => Promise<string[]>) | undefined;
  transcripts: Transcripts;
  /** Default: files are read where they are. */
  media?: Media | undefined;
  cluster?: Cluster | undefined;
  onChange: Store["onChange"];
  /** Called when no operation is running any more. */
  close: () => Promise<void>;
}

export interface JsonQuery extends Omit<ListQuery, "fields"> {
  /** The instant from which ages are counted (ms). */
  now: number;
}

/** Writes that return false and change nothing if the value has another version. */
export type ComparingWrite = "putEntry" | "putHandoff";

export interface Prepared<Name extends ComparingWrite, Value> {
  value: Value;
  /** Undefined if there is nothing to write. */
  put: WriteArguments<Name> | undefined;
}

/**
 * Atomic read-modify-write: reads with `prepare` and writes its result; `prepare` may run several times. A store that
 * writes optimistically calls `write`, if given, instead of the plain write.
 */
export type Modify = <Name extends ComparingWrite, Value>(
  name: Name,
  key: string,
  prepare: (rows: StoreReads) => Promise<Prepared<Name, Value>>,
  write?: (put: WriteArguments<Name>) => Promise<boolean>,
) => Promise<Value>;

/** The newest entry that this process knows of a key, if it may serve the purpose. Given once. */
export type TakeKnown = (key: string, purpose: "decide" | "finish") => StoredEntry | undefined;

/**
 * For a store that compares versions: if another process was faster, everything runs again. With `takeKnown`, the first
 * attempt reads nothing: if the known entry is not the newest, the write is refused.
 */
export function modifyByVersion(reads: StoreReads, write: Write, takeKnown?: TakeKnown): Modify {
  const mutex = createKeyedMutex();
  return async (name, key, prepare, put) =>
    await mutex.run(`${name} ${key}`, async () => {
      const purpose = put === undefined ? "decide" : "finish";
      for (let known = name === "putEntry" ? takeKnown?.(key, purpose) : undefined; ; known = undefined) {
        const entry = known;
        const prepared = await prepare(entry === undefined ? reads : { ...reads, entry: () => entry });
        if (prepared.put === undefined && entry === undefined) return prepared.value;
        if (prepared.put !== undefined && (await (put?.(prepared.put) ?? write(name, prepared.put))))
          return prepared.value;
      }
    });
}

export async function createStore(options: StoreOptions, context: StoreContext): Promise<Store> {
  const { agentId, mainKey, pendingFile } = options;
  const { clock = systemClock, ids = randomIds, logger = silentLogger } = options;
  const { kind, location, read, write, transcripts } = context;
  const gate = createGate(location, { agentId, mainKey });
  const parts: Parts = { ...context, gate, clock, ids };
  const queues = createPendingQueues(parts);
  if (pendingFile !== undefined && existsSync(pendingFile)) {
    const { takeOverPendingFile } = await import("./pending-file.ts");
    await takeOverPendingFile(pendingFile, queues, logger);
  }
  const update = createUpdate(parts);
  let closing: Promise<void> | undefined;

  return {
    kind,
    agentId,
    location,
    get: (key) => gate.withKey(key, (own) => read(async (rows) => (await rows.entry(own))?.entry)),
    list: (query = {}) =>
      gate.run(async () => {
        checkListQuery(query);
        return await context.list(query);
      }),
    listJson: (query = {}) =>
      gate.run(async () => {
        checkListQuery(query);
        return await context.listJson({ ...query, now: clock.now() });
      }),
    update: (key, mutate, updateOptions = {}) => gate.withKey(key, (own) => update(own, mutate, updateOptions)),
    delete: (key, deletion = {}) => gate.withKey(key, (own) => write("deleteEntry", { ...deletion, key: own })),

    windows: (key) => gate.withKey(key, (own) => read(async (rows) => [...(await rows.windows(own))])),
    findWindows: (prefix, limit) => gate.run(() => read((rows) => rows.findWindows(prefix, limit))),
    putWindow: (window) =>
      gate.withKey(window.key, async (key) => {
        if (window.closedAt === undefined) throw windowNotClosed(window);
        await write("putWindow", { ...window, key });
      }),
    removeWindow: (key, sessionId) => gate.withKey(key, (own) => write("removeWindow", { key: own, sessionId })),

    transcripts,
    media: context.media ?? createLocalMedia(options.mediaFolder ?? NO_FOLDER),
    leases: createLeases(parts),
    inbox: createInbox(parts, update),
    outbox: createOutbox(parts),
    handoffs: createHandoffs(parts),
    history: createGroupHistory(queues, clock, options),
    systemEvents: createSystemEvents(queues, clock),
    cluster: context.cluster,
    onChange: context.onChange,
    close: async () => await (closing ??= gate.close().then(context.close)),
  };
}

interface Parts extends StoreContext {
  gate: Gate;
  clock: Clock;
  ids: Ids;
}

/** Expects a canonical key. */
type UpdateEntry = (
  key: string,
  mutate: Mutate,
  options: UpdateOptions,
  write?: (put: PutEntry) => Promise<boolean>,
) => Promise<SessionEntry | undefined>;

function createUpdate({ modify, copyEntry, clock }: Parts): UpdateEntry {
  // Loaded with the first update: it takes longer than most commands run, and many only read.
  const schema = lazy(() => import("./entry-schema.ts"));
  return async (key, mutate, { lease, windowReason, openedAt }, write) => {
    const { validateEntryChanges } = await schema.get();
    const prepare = async (rows: StoreReads): Promise<Prepared<"putEntry", SessionEntry | undefined>> => {
      const stored = await rows.entry(key);
      const before = stored?.entry;
      const returned = mutate(before && copyEntry(before));
      if (returned === undefined) return { value: before, put: undefined };
      const entry = copyEntry(returned);
      validateEntryChanges(before, entry);
      const change = entryChange(key, before, entry);
      return {
        value: entry,
        put: { ...change, expectedVersion: stored?.version, windowReason, lease, now: openedAt ?? clock.now() },
      };
    };
    return await modify("putEntry", key, prepare, write);
  };
}

export function entryChange(
  key: string,
  before: SessionEntry | undefined,
  entry: SessionEntry,
): Pick<PutEntry, "key" | "entry" | "from" | "leaving" | "labelChanged"> {
  const isMoved = before !== undefined && before.sessionId !== entry.sessionId;
  return {
    key,
    entry,
    from: before?.sessionId,
    leaving: isMoved ? windowStateOf(before) : undefined,
    labelChanged: before?.label !== entry.label,
  };
}

function createInbox(parts: Parts, update: UpdateEntry): Inbox {
  const { gate, read, write, clock } = parts;
  return {
    admit: ({ payload, ...message }) =>
      gate.withKey(message.key, (key) =>
        write("admitMessage", { ...message, key, payload: toJson(payload ?? null, "payload") }),
      ),
    pending: (key) =>
      key === undefined
        ? gate.run(() => read((rows) => rows.pendingItems(undefined)))
        : gate.withKey(key, (own) => read((rows) => rows.pendingItems(own))),
    unattended: (limit) =>
      gate.run(() => parts.unattendedKeys?.(limit) ?? read((rows) => findUnattended(rows, clock.now(), limit))),
    get: (id) => gate.run(() => read((rows) => rows.inboxItem(id))),
    givenUp: (limit) => gate.run(() => read((rows) => rows.givenUp(limit))),
    claim: (lease, options = {}) => gate.withLeased(lease, () => write("claimItems", { ...options, lease })),
    requeue: (lease, options = {}) => gate.withLeased(lease, () => write("requeueItems", { ...options, lease })),
    finish: (lease, ids, replies, { entry, ...options } = {}) =>
      gate.withLeased(lease, async () => {
        const ending = storable(options.ending);
        const given = { ...options, lease, ids, drafts: replies.map(packDraft), ending };
        let ended: OutboxItem[] | undefined;
        const end = async (put?: PutEntry): Promise<boolean> => {
          ended = await write("finishItems", { ...given, put, now: clock.now() });
          return ended !== undefined;
        };
        if (entry !== undefined) await update(lease.key, entry, { lease }, end);
        if (ended === undefined) await end();
        return ended ?? [];
      }),
    drop: (key, ids, note, replies = []) =>
      gate.withKey(key, (own) => {
        const packed = replies.map(({ itemId, draft }) => ({ itemId, draft: packDraft(draft) }));
        return write("dropItems", { key: own, ids, note, replies: packed, now: clock.now() });
      }),
    prune: (before) => gate.run(() => prune(parts, "inbox", before)),
  };
}

async function findUnattended(rows: StoreReads, now: number, limit: number): Promise<string[]> {
  const found: string[] = [];
  for (const key of new Set((await rows.pendingItems(undefined)).map((item) => item.key))) {
    if (found.length < limit && (await rows.heldLease(key, now)) === undefined) found.push(key);
  }
  return found;
}

function createOutbox(parts: Parts): Outbox {
  const { gate, read, write, clock } = parts;
  return {
    enqueue: (key, drafts, { lease } = {}) =>
      gate.withKey(key, (own) =>
        write("enqueueDrafts", { key: own, drafts: drafts.map(packDraft), lease, now: clock.now() }),
      ),
    due: (now, limit, route) => gate.run(() => read((rows) => rows.due(now, limit, route))),
    routes: () => gate.run(() => read((rows) => rows.routes())),
    failures: (limit) => gate.run(() => read((rows) => rows.failures(limit))),
    get: (id) => gate.run(() => read((rows) => rows.outboxItem(id))),
    find: (idempotencyKey) => gate.run(() => read((rows) => rows.outboxItemOf(idempotencyKey))),
    startSending: (id, attempts) => gate.run(() => write("startSending", { id, attempts })),
    delivered: (id, deliveredId) => gate.run(() => write("settleDelivery", { id, state: "delivered", deliveredId })),
    retry: (id, dueAt, note) => gate.run(() => write("settleDelivery", { id, state: "pending", dueAt, note })),
    failed: (id, note) => gate.run(() => write("settleDelivery", { id, state: "failed", note })),
    prune: (before) => gate.run(() => prune(parts, "outbox", before)),
  };
}

/** In small batches, so that other writers wait for one batch only. Usually there is nothing to write. */
async function prune({ read, write }: Parts, queue: QueueName, before: number): Promise<number> {
  let total = 0;
  while (await read((rows) => rows.hasEndedBefore(queue, before))) {
    total += await write("prune", { queue, before, limit: PRUNED_AT_ONCE });
  }
  return total;
}

const PRUNED_AT_ONCE = 500;

function packDraft({ idempotencyKey, target, payload }: OutboxDraft): PackedDraft {
  return { idempotencyKey, target: storable(target), payload: toJson(payload ?? null, "payload") };
}

/** A copy as it will be stored. Throws if JSON cannot represent it. */
function storable<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(toJson(value, "payload")) as T);
}

/** A process that waits for a lease asks several times a second, so a refused attempt must be cheap. */
function createLeases(parts: Parts): Leases {
  const { gate, read, write, clock, ids, leaseTtlMs = LEASE_TTL_MS, refusesLeasesCheaply = false } = parts;
  const heldNow = (key: string): Promise<Lease | undefined> => read((rows) => rows.heldLease(key, clock.now()));
  const tryAcquire = async (key: string, options: AcquireOptions): Promise<LeaseAttempt> => {
    const held = refusesLeasesCheaply ? undefined : await heldNow(key);
    faultPoint("lease.read");
    if (held !== undefined) return { acquired: false, held };
    const given = { ...options, key, holder: ids.uuid(), process: currentProcess(), now: clock.now() };
    const attempt = await write("acquireLease", given).catch(async (error: unknown) => {
      // The lease may have been written all the same, and then no one would release it.
      await write("releaseLease", given).catch(() => undefined);
      throw error;
    });
    if (attempt.acquired) faultPoint("lease.taken");
    return attempt;
  };

  return {
    defaultTtlMs: leaseTtlMs,
    marginMs: parts.leaseMarginMs,
    onDoubt: parts.onDoubt,
    acquire: (leased, options) => gate.withLeased(leased, (key) => tryAcquire(key, options)),
    renew: (lease, { ttlMs }) => gate.withLeased(lease, () => write("renewLease", { lease, ttlMs, now: clock.now() })),
    release: (lease) => gate.withLeased(lease, () => write("releaseLease", lease)),
    current: (leased) => gate.withLeased(leased, heldNow),
    list: () => gate.run(() => read((rows) => rows.leases())),
    assertCurrent: (lease) =>
      gate.withLeased(lease, async () => {
        const stored = await read((rows) => rows.lease(lease.key), { fresh: true });
        if (!isNewest(stored, lease)) throw leaseLost(lease);
      }),
  };
}

const LEASE_TTL_MS = 30_000;

function createHandoffs({ gate, read, write, modify, listHandoffs, clock }: Parts): Handoffs {
  return {
    get: (key) =>
      gate.withKey(key, async (own) => {
        const stored = await read((rows) => rows.handoff(own));
        return stored && handoffFromJson(stored.state);
      }),
    list: ({ limit } = {}) =>
      gate.run(async () => {
        checkListQuery({ limit });
        return await listHandoffs(limit);
      }),
    update: (given, mutate, { ofWindow } = {}) =>
      gate.withKey(given, (key) =>
        modify("putHandoff", key, async (rows): Promise<Prepared<"putHandoff", unknown>> => {
          const stored = await rows.handoff(key);
          const before = (): unknown => stored && handoffFromJson(stored.state);
          const isGone = ofWindow !== undefined && !hasWindow(await rows.windows(key), ofWindow);
          const returned = isGone ? undefined : mutate(before());
          if (returned === undefined) return { value: before(), put: undefined };
          const state = handoffToJson(returned);
          const put = { key, expectedVersion: stored?.version, state, ofWindow, now: clock.now() };
          return { value: JSON.parse(state), put };
        }),
      ),
    delete: (key) => gate.withKey(key, (own) => write("deleteHandoff", { key: own })),
  };
}

function createPendingQueues({ gate, read, write }: Parts): PendingQueues {
  return {
    read: (kind, key) => gate.withKey(key, (own) => read((rows) => rows.pendingQueue(kind, own))),
    change: (kind, key, change) => gate.withKey(key, (own) => write("changePending", { kind, key: own, change })),
  };
}
