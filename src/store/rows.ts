/**
 * The tables of a store. `StoreRows` are read and changed synchronously on one state; a store on another machine has
 * only `StoreReads`, and its own form of the writes. `operations.ts` holds the rules; an
 * implementation only stores values. They may be shared with the store, so callers must not change them in place.
 */
import type { PendingChange, PendingKind, PendingQueue } from "./pending.ts";
import type {
  DeliveryRoute,
  DeliveryTarget,
  InboxItem,
  Lease,
  MessageAddress,
  OutboxItem,
  WaitingRoute,
} from "./queues.ts";
import type { SessionEntry, WindowState } from "./session-entry.ts";
import type { StoreChange, Window, WindowReason } from "./store.ts";

export interface StoreRows {
  entry(key: string): StoredEntry | undefined;
  /** Two fields of the entry, without reading all of it. */
  entryHead(key: string): (Pick<StoredEntry, "version"> & Pick<SessionEntry, "sessionId">) | undefined;
  /** Another session with this label. */
  keyWithLabel(label: string, except: string): string | undefined;
  /** Also moves the window and records the change. */
  putEntry(put: PutEntry): void;
  /** With its windows. */
  deleteEntry(key: string): void;

  /** Oldest first, and the open one last, even after the clock was set back. */
  windows(key: string): readonly Window[];
  findWindows(sessionIdPrefix: string, limit: number): Window[];
  putWindow(window: Window): void;
  removeWindow(key: string, sessionId: string): boolean;

  lease(key: string): StoredLease | undefined;
  /** The lease in force at this instant. Undefined if it is free. */
  heldLease(key: string, now: number): Lease | undefined;
  /** Leases that were not released. */
  leases(): Lease[];
  putLease(key: string, lease: StoredLease): void;

  inboxItem(id: number): InboxItem | undefined;
  inboxItemAt(address: MessageAddress): InboxItem | undefined;
  /** Queued and running items in order of admission. */
  pendingItems(key: string | undefined): InboxItem[];
  givenUp(limit: number): InboxItem[];
  addInboxItem(message: AdmittedMessage): InboxItem;
  putInboxItem(item: InboxItem): void;

  outboxItem(id: number): OutboxItem | undefined;
  outboxItemOf(idempotencyKey: string): OutboxItem | undefined;
  /** Whether an earlier item of the key is pending or being sent, on any route. */
  hasWaitingBefore(key: string, id: number): boolean;
  due(now: number, limit: number, route: DeliveryRoute | undefined): OutboxItem[];
  routes(): WaitingRoute[];
  failures(limit: number): OutboxItem[];
  addOutboxItem(key: string, draft: PackedDraft, now: number): OutboxItem;
  putOutboxItem(item: OutboxItem): void;

  /** Whether ended items of the queue are older than this instant. */
  hasEndedBefore(queue: QueueName, before: number): boolean;
  /** Deletes up to `limit` of them, and returns how many. */
  prune(queue: QueueName, before: number, limit: number): number;

  handoff(key: string): StoredHandoff | undefined;
  /** Also records the change. */
  putHandoff(put: PutHandoff): void;
  deleteHandoff(key: string): boolean;

  pendingQueue(kind: PendingKind, key: string): PendingQueue | undefined;
  /** `queue` is the result of `change`. Added items make their key the newest, and may evict the oldest keys. */
  putPendingQueue(kind: PendingKind, key: string, queue: PendingQueue | undefined, change: PendingChange): void;

  /** Tells listeners in every process. */
  recordChange(change: StoreChange): void;
}

/** Reads that answer at once or later. */
export type StoreReads = {
  [Name in ReadName]: (
    ...given: Parameters<StoreRows[Name]>
  ) => ReturnType<StoreRows[Name]> | Promise<ReturnType<StoreRows[Name]>>;
};

type ReadName =
  | "entry"
  | "windows"
  | "findWindows"
  | "lease"
  | "heldLease"
  | "leases"
  | "inboxItem"
  | "pendingItems"
  | "givenUp"
  | "outboxItem"
  | "outboxItemOf"
  | "due"
  | "routes"
  | "failures"
  | "hasEndedBefore"
  | "handoff"
  | "pendingQueue";

export type QueueName = "inbox" | "outbox";

export interface StoredEntry {
  entry: SessionEntry;
  /** Changes with every write. Undefined in a store that locks before it reads. */
  version: number | undefined;
}

export interface PutEntry {
  key: string;
  /** The version that the new entry is based on. Undefined for a new key. */
  expectedVersion: number | undefined;
  entry: SessionEntry;
  /** The previous session id. Undefined for a new key. */
  from: string | undefined;
  /** The fields of the window that the entry leaves. Undefined if it stays. */
  leaving: WindowState | undefined;
  /** True if the label must be checked against other sessions. */
  labelChanged: boolean;
  windowReason: WindowReason | undefined;
  lease: Lease | undefined;
  now: number;
}

/** Stays after a release and after the session is deleted, because the epoch never falls. */
export interface StoredLease {
  epoch: number;
  /** Missing after a release. An expired lease stays until another process takes it. */
  held?: Lease | undefined;
}

export interface AdmittedMessage {
  key: string;
  address: MessageAddress;
  /** JSON. */
  payload: string;
  receivedAt: number;
}

export interface PackedDraft {
  idempotencyKey: string;
  target: DeliveryTarget;
  /** JSON. */
  payload: string;
}

export interface StoredHandoff {
  /** JSON, unless damaged. */
  state: string;
  /** As of an entry. */
  version: number | undefined;
}

export interface PutHandoff {
  key: string;
  /** The version that the new state is based on. Undefined if there was none. */
  expectedVersion: number | undefined;
  /** JSON. */
  state: string;
  /** Only if the key still has this window. Undefined: always. */
  ofWindow: string | undefined;
  now: number;
}
