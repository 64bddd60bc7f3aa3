/**
 * All writes of a store, as functions of plain data, so that a call can run in this thread or be sent to another one. A
 * store runs each in a transaction or under its lock. Operations check before they change anything: a refused one
 * leaves everything as it was.
 */
import { processState } from "../base/processes.ts";
import { type PendingChange, type PendingKind, type PendingResult, applyPendingChange } from "./pending.ts";
import {
  type AcquireOptions,
  type ClaimOptions,
  type FinishOptions,
  type InboxItem,
  type Lease,
  type LeaseAttempt,
  type OutboxItem,
  type RequeueOptions,
  type WriteOptions,
  apartTurn,
} from "./queues.ts";
import type { AdmittedMessage, PackedDraft, PutEntry, PutHandoff, QueueName, StoreRows, StoredLease } from "./rows.ts";
import {
  alreadyDelivered,
  inboxItemNotRunning,
  labelInUse,
  leaseLost,
  leaseOfAnotherKey,
  outboxItemNotFound,
  windowIsCurrent,
} from "./store-errors.ts";
import type { DeleteOptions, DeletedSession, Window } from "./store.ts";

/** Returns false and changes nothing if the entry has another version. */
function putEntry(rows: StoreRows, put: PutEntry): boolean {
  const { key, entry } = put;
  assertLease(rows, key, put.lease);
  if (rows.entryHead(key)?.version !== put.expectedVersion) return false;
  if (put.labelChanged && entry.label !== undefined) {
    const other = rows.keyWithLabel(entry.label, key);
    if (other !== undefined) throw labelInUse(entry.label, other);
  }
  rows.putEntry(put);
  return true;
}

function deleteEntry(
  rows: StoreRows,
  { key, lease, withHandoff }: DeleteOptions & { key: string },
): DeletedSession | undefined {
  assertLease(rows, key, lease);
  const stored = rows.entry(key);
  if (stored === undefined) return undefined;
  const windows = [...rows.windows(key)];
  rows.deleteEntry(key);
  if (withHandoff === true) deleteHandoff(rows, { key });
  rows.recordChange({ what: "entry", key });
  return { key, entry: stored.entry, windows };
}

function putWindow(rows: StoreRows, window: Window): void {
  assertNotCurrent(rows, window);
  rows.putWindow(window);
  rows.recordChange({ what: "entry", key: window.key });
}

function removeWindow(rows: StoreRows, window: Pick<Window, "key" | "sessionId">): boolean {
  assertNotCurrent(rows, window);
  const isRemoved = rows.removeWindow(window.key, window.sessionId);
  if (isRemoved) rows.recordChange({ what: "entry", key: window.key });
  return isRemoved;
}

function assertNotCurrent(rows: StoreRows, window: Pick<Window, "key" | "sessionId">): void {
  if (rows.entryHead(window.key)?.sessionId === window.sessionId) throw windowIsCurrent(window);
}

/** Throws if the lease is not the newest of the key. Without a lease, the write is not fenced. */
function assertLease(rows: StoreRows, key: string, lease: Lease | undefined): void {
  if (lease === undefined) return;
  if (lease.key !== key) throw leaseOfAnotherKey(lease, key);
  if (!isNewest(rows.lease(key), lease)) throw leaseLost(lease);
}

export function isNewest(stored: StoredLease | undefined, { epoch, holder }: Lease): boolean {
  return stored?.held?.epoch === epoch && stored.held.holder === holder;
}

interface AcquireLease extends Pick<Lease, "key" | "holder" | "process">, AcquireOptions {
  now: number;
}

function acquireLease(rows: StoreRows, { key, holder, process, ttlMs, claim, now }: AcquireLease): LeaseAttempt {
  const held = rows.heldLease(key, now);
  if (held !== undefined) return { acquired: false, held };
  const lease = { key, epoch: (rows.lease(key)?.epoch ?? 0) + 1, holder, process, expiresAt: now + ttlMs };
  rows.putLease(key, { epoch: lease.epoch, held: lease });
  rows.recordChange({ what: "lease", key });
  return { acquired: true, lease, claimed: claim === true ? claimOnlyItem(rows, key) : undefined };
}

/** The lease of a process that has ended is free at once; one on another host is free when it expires. */
export function leaseInForce(stored: StoredLease | undefined, now: number): Lease | undefined {
  const held = stored?.held;
  const isFree = held === undefined || held.expiresAt <= now || processState(held.process) === "dead";
  return isFree ? undefined : held;
}

function claimOnlyItem(rows: StoreRows, key: string): InboxItem | undefined {
  const [item, another] = rows.pendingItems(key);
  const isFresh = item?.state === "queued" && item.attempts === 0 && item.note === undefined;
  if (another !== undefined || !isFresh) return undefined;
  return moveItems(rows, [{ ...item, state: "running", attempts: 1 }])[0];
}

interface RenewLease extends OfLease {
  ttlMs: number;
  now: number;
}

/** Undefined if it was taken over or released. Listeners do not care about renewals, so this records no change. */
function renewLease(rows: StoreRows, { lease, ttlMs, now }: RenewLease): Lease | undefined {
  const { key, epoch } = lease;
  if (!isNewest(rows.lease(key), lease)) return undefined;
  const renewed = { ...lease, expiresAt: now + ttlMs };
  rows.putLease(key, { epoch, held: renewed });
  return renewed;
}

/** A holder has its id for one acquisition only, so the epoch need not be known. */
function releaseLease(rows: StoreRows, { key, holder }: Pick<Lease, "key" | "holder">): void {
  const stored = rows.lease(key);
  if (stored?.held?.holder !== holder) return;
  rows.putLease(key, { epoch: stored.epoch });
  rows.recordChange({ what: "lease", key });
}

function admitMessage(rows: StoreRows, message: AdmittedMessage): { admitted: boolean; item: InboxItem } {
  const known = rows.inboxItemAt(message.address);
  if (known !== undefined) return { admitted: false, item: known };
  rows.recordChange({ what: "inbox", key: message.key });
  return { admitted: true, item: rows.addInboxItem(message) };
}

interface OfLease {
  lease: Lease;
}

function claimItems(rows: StoreRows, { lease, limit, ids, turn }: ClaimOptions & OfLease): InboxItem[] {
  assertLease(rows, lease.key, lease);
  const items = itemsOf(rows, lease.key, "queued", ids).slice(0, limit);
  const claimed = items.map((item): InboxItem => {
    return { ...item, turn: turn ?? item.turn, attempts: item.attempts + 1, state: "running" };
  });
  return moveItems(rows, claimed);
}

function requeueItems(rows: StoreRows, { lease, ids, excuse, apart }: RequeueOptions & OfLease): InboxItem[] {
  assertLease(rows, lease.key, lease);
  const requeued = itemsOf(rows, lease.key, "running", ids).map((item): InboxItem => {
    const excused = excuse === undefined ? {} : { attempts: item.attempts - 1, note: excuse };
    return { ...item, ...excused, turn: apart === true ? apartTurn(item.id) : item.turn, state: "queued" };
  });
  return moveItems(rows, requeued);
}

interface FinishItems extends OfLease, Omit<FinishOptions, "entry"> {
  ids: readonly number[];
  drafts: readonly PackedDraft[];
  put?: PutEntry | undefined;
  now: number;
}

/** Returns undefined and changes nothing if the entry has another version. */
function finishItems(rows: StoreRows, finish: FinishItems): OutboxItem[] | undefined {
  const { lease, ids, drafts, note, ending, put, now } = finish;
  const { key } = lease;
  assertLease(rows, key, lease);
  const ended = ids.map((id): InboxItem => {
    const item = rows.inboxItem(id);
    if (item?.key !== key || item.state !== "running") throw inboxItemNotRunning(id, key);
    return { ...item, state: "done", note: note ?? item.note, ending };
  });
  if (put !== undefined && !putEntry(rows, put)) return undefined;
  moveItems(rows, ended);
  if (finish.release === true) releaseLease(rows, lease);
  const items = enqueueDrafts(rows, { key, drafts, now });
  return finish.startSending === true ? startFirst(rows, items) : items;
}

/** Empty if an earlier reply must be sent first, or if the first one is a repeated draft: it may have been sent. */
function startFirst(rows: StoreRows, items: OutboxItem[]): OutboxItem[] {
  const [first, ...rest] = items;
  if (first?.state !== "pending" || first.attempts > 0 || rows.hasWaitingBefore(first.key, first.id)) return [];
  const started: OutboxItem = { ...first, state: "sending", attempts: 1 };
  rows.putOutboxItem(started);
  return [started, ...rest];
}

interface DropItems {
  key: string;
  ids: readonly number[];
  note: string;
  replies: readonly { itemId: number; draft: PackedDraft }[];
  now: number;
}

function dropItems(rows: StoreRows, { key, ids, note, replies, now }: DropItems): InboxItem[] {
  const dropped = itemsOf(rows, key, "queued", ids).map((item): InboxItem => ({ ...item, state: "dropped", note }));
  moveItems(rows, dropped);
  const isDropped = new Set(dropped.map(({ id }) => id));
  const drafts = replies.filter(({ itemId }) => isDropped.has(itemId)).map(({ draft }) => draft);
  enqueueDrafts(rows, { key, drafts, now });
  return dropped;
}

/** In order of admission. */
function itemsOf(
  rows: StoreRows,
  key: string,
  state: InboxItem["state"],
  ids: readonly number[] | undefined,
): InboxItem[] {
  const items =
    ids === undefined
      ? rows.pendingItems(key)
      : [...new Set(ids)].toSorted((a, b) => a - b).flatMap((id) => rows.inboxItem(id) ?? []);
  return items.filter((item) => item.key === key && item.state === state);
}

/** All of one key. */
function moveItems(rows: StoreRows, items: InboxItem[]): InboxItem[] {
  for (const item of items) rows.putInboxItem(item);
  const [first] = items;
  if (first !== undefined) rows.recordChange({ what: "inbox", key: first.key });
  return items;
}

interface EnqueueDrafts extends WriteOptions {
  key: string;
  drafts: readonly PackedDraft[];
  now: number;
}

/** Adds the drafts that are not there yet. */
function enqueueDrafts(rows: StoreRows, { key, drafts, lease, now }: EnqueueDrafts): OutboxItem[] {
  assertLease(rows, key, lease);
  return drafts.map((draft) => {
    const known = rows.outboxItemOf(draft.idempotencyKey);
    if (known !== undefined) return known;
    const item = rows.addOutboxItem(key, draft, now);
    recordOutboxChange(rows, item);
    return item;
  });
}

/** True for the one caller that knows the right number of attempts. */
function startSending(rows: StoreRows, { id, attempts }: { id: number; attempts: number }): boolean {
  const item = rows.outboxItem(id);
  const isWaiting = item?.state === "pending" || item?.state === "sending";
  if (!isWaiting || item.attempts !== attempts) return false;
  rows.putOutboxItem({ ...item, state: "sending", attempts: attempts + 1 });
  recordOutboxChange(rows, item);
  return true;
}

type Settlement = { id: number } & (
  | { state: "delivered"; deliveredId: string | undefined }
  | { state: "pending"; dueAt: number; note: string }
  | { state: "failed"; note: string }
);

/** Records the result of an attempt. `delivered` is final, whatever is reported later. */
function settleDelivery(rows: StoreRows, settlement: Settlement): void {
  const item = rows.outboxItem(settlement.id);
  if (item === undefined) throw outboxItemNotFound(settlement.id);
  if (item.state === "delivered") {
    if (settlement.state === "delivered") return;
    throw alreadyDelivered(item.id);
  }
  rows.putOutboxItem({ ...item, ...settlement });
  recordOutboxChange(rows, item);
}

function recordOutboxChange(rows: StoreRows, { key, target: { channel, accountId } }: OutboxItem): void {
  rows.recordChange({ what: "outbox", key, route: { channel, accountId } });
}

interface Prune {
  queue: QueueName;
  before: number;
  limit: number;
}

/** Listeners do not care about ended items, so pruning records no change. */
function prune(rows: StoreRows, { queue, before, limit }: Prune): number {
  return rows.prune(queue, before, limit);
}

/** Returns false and changes nothing if the state has another version, or the window is gone. */
function putHandoff(rows: StoreRows, put: PutHandoff): boolean {
  const { key, expectedVersion, ofWindow } = put;
  if (ofWindow !== undefined && !hasWindow(rows.windows(key), ofWindow)) return false;
  if (rows.handoff(key)?.version !== expectedVersion) return false;
  rows.putHandoff(put);
  return true;
}

export function hasWindow(windows: readonly Window[], sessionId: string): boolean {
  return windows.some((window) => window.sessionId === sessionId);
}

function deleteHandoff(rows: StoreRows, { key }: { key: string }): boolean {
  const isDeleted = rows.deleteHandoff(key);
  if (isDeleted) rows.recordChange({ what: "handoff", key });
  return isDeleted;
}

interface ChangePending {
  kind: PendingKind;
  key: string;
  change: PendingChange;
}

function changePending(rows: StoreRows, { kind, key, change }: ChangePending): PendingResult {
  const before = rows.pendingQueue(kind, key);
  const { queue, result } = applyPendingChange(key, before, change);
  // A damaged queue looks missing and is removed here.
  if (queue === undefined || queue !== before) rows.putPendingQueue(kind, key, queue, change);
  return result;
}

export const OPERATIONS = {
  putEntry,
  deleteEntry,
  putWindow,
  removeWindow,
  acquireLease,
  renewLease,
  releaseLease,
  admitMessage,
  claimItems,
  requeueItems,
  finishItems,
  dropItems,
  enqueueDrafts,
  startSending,
  settleDelivery,
  prune,
  putHandoff,
  deleteHandoff,
  changePending,
};

type Operations = typeof OPERATIONS;
export type WriteName = keyof Operations;
export type WriteArguments<Name extends WriteName> = Parameters<Operations[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<Operations[Name]>;
/** Durable once resolved. Nothing changed if it rejects. */
export type Write = <Name extends WriteName>(name: Name, given: WriteArguments<Name>) => Promise<WriteResult<Name>>;
