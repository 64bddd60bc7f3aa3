/**
 * The contract of every store. A store belongs to one agent and cannot name another agent's
 * sessions: a foreign key is refused with kind `forbidden`. Keys are made canonical on the way in,
 * so that `main` and `agent:main:main` are one session.
 *
 * What holds for every implementation, and is tested for every one by `test/contract`:
 * - A promise that resolved is durable. A promise that was rejected changed nothing.
 * - `update` is one atomic read-modify-write; `mutate` is synchronous, has no effects of its own
 *   and may be called again when another process was faster.
 * - Every session id that a key has ever pointed at stays among its windows.
 * - A write that carries a lease is refused with kind `fenced` when the lease's epoch is no longer
 *   the newest of its key, or when the lease was given back.
 * - What goes in and out are copies. Only the fields that an update changes are validated, so what
 *   another tool left in an entry blocks nothing.
 * - An unreadable store is an error, never an empty store.
 */
import type { ProcessIdentity } from "../base/processes.ts";
import type { ChatType } from "../keys/chat-type.ts";
import type { SessionKind } from "../keys/session-kind.ts";
import type { SessionEntry, WindowState } from "./session-entry.ts";

export type StoreKind = "sqlite" | "json";

export interface Store {
  readonly kind: StoreKind;
  readonly agentId: string;
  /** The file that holds the entries. */
  readonly path: string;

  get(key: string): Promise<SessionEntry | undefined>;
  list(query?: ListQuery): Promise<ListPage>;
  /** The same as text: for whoever passes a long list on without looking inside. */
  listJson(query?: Omit<ListQuery, "fields">): Promise<JsonPage>;
  /**
   * Gives `mutate` the current entry, or undefined for a new key, and stores what it returns.
   * Returning undefined leaves everything as it is. Resolves to the entry as it is afterwards.
   */
  update(key: string, mutate: Mutate, options?: UpdateOptions): Promise<SessionEntry | undefined>;
  /** Removes the entry and its windows; resolves to what was removed. Transcripts are not touched. */
  delete(key: string, options?: WriteOptions): Promise<DeletedSession | undefined>;

  /** The stretches of a session, oldest first. The last one is open while the key exists. */
  windows(key: string): Promise<Window[]>;
  /** Windows of any key whose session id starts with this, newest first. The whole id is a prefix too. */
  findWindows(sessionIdPrefix: string, limit: number): Promise<Window[]>;
  /** Adds or replaces a closed window, for restored archives and imported sessions. Never the current one. */
  putWindow(window: Window): Promise<void>;
  /** Whether there was such a window. The current one is refused with kind `conflict`. */
  removeWindow(key: string, sessionId: string): Promise<boolean>;

  readonly leases: Leases;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly handoffs: Handoffs;

  /**
   * Calls the listener after each change, also those of other processes (within a second or so).
   * At least once per change; several changes of one key may be told as one. Returns the way to stop.
   */
  onChange(listener: (change: StoreChange) => void): () => void;

  /**
   * Finishes what was begun, brings derived files up to date and lets go of every resource. Whatever
   * is asked of the store afterwards is refused with kind `unavailable`, code `store-closed`.
   */
  close(): Promise<void>;
}

export type Mutate = (entry: SessionEntry | undefined) => SessionEntry | undefined;

export interface WriteOptions {
  /** Refuse the write when this is no longer the newest lease of the key. Left out: not fenced. */
  lease?: Lease;
}

export interface UpdateOptions extends WriteOptions {
  /** Why a window opens, if one does. Left out: `initial` for a new key, `switch` for another session id. */
  windowReason?: WindowReason;
}

export interface ListQuery {
  /** Only sessions changed at or after this instant (ms). */
  activeSince?: number;
  kind?: SessionKind;
  /** The entry's channel, else the one last used. */
  channel?: string;
  label?: string;
  /** Words that must all occur in key, label, display name, subject or group, whatever their case. */
  text?: string;
  /** `updatedAt`: newest first. `key`: alphabetical. Left out: `updatedAt`. */
  sort?: "updatedAt" | "key";
  limit?: number;
  offset?: number;
  /** Only these fields of each entry, beside `sessionId` and `updatedAt`. Left out: all of them. Null counts as missing. */
  fields?: readonly (keyof SessionEntry)[];
}

export interface ListPage {
  sessions: ListedSession[];
  /** How many sessions match without `limit` and `offset`. */
  total: number;
}

export interface ListedSession {
  key: string;
  kind: SessionKind;
  entry: SessionEntry;
}

export interface JsonPage {
  /**
   * A JSON array, in UTF-8, of objects with `key`, `kind`, `ageMs` and the fields of `LISTED_FIELDS`
   * that the entry has.
   */
  json: Uint8Array;
  count: number;
  total: number;
}

export type WindowReason = "initial" | "command" | "daily" | "idle" | "fork" | "switch" | "restore";

/** One stretch of a session between resets. */
export interface Window {
  key: string;
  sessionId: string;
  openedAt: number;
  /** Why this window was opened. */
  reason: WindowReason;
  /** Missing while the window is the current one. */
  closedAt?: number;
  /** File name of the transcript inside the agent's sessions folder. */
  transcript?: string;
  /** What the entry held of this window alone when it was closed, for going back to it. */
  state?: WindowState;
  /** Set when the transcript was moved to the archive; its file name there. */
  archive?: string;
}

export interface DeletedSession {
  key: string;
  entry: SessionEntry;
  windows: Window[];
}

export interface StoreChange {
  what: "entry" | "lease" | "inbox" | "outbox" | "handoff";
  key: string;
  /** Whose delivery an outbox change is about. Left out: it may be anybody's. */
  route?: DeliveryRoute;
}

// Leases

/** The right to write one session. The epoch rises with every new holder and never falls. */
export interface Lease {
  key: string;
  epoch: number;
  /** Names the holder, unique to this acquisition. */
  holder: string;
  process: ProcessIdentity;
  /** Wall-clock instant (ms) after which anybody may take the lease over. */
  expiresAt: number;
}

export interface Leases {
  /** Takes a free, expired or orphaned lease; `held` tells who has it otherwise. Does not wait. */
  acquire(key: string, options: AcquireOptions): Promise<LeaseAttempt>;
  /** Extends the lease; undefined when it was taken over meanwhile. */
  renew(lease: Lease, options: { ttlMs: number }): Promise<Lease | undefined>;
  /** Gives the lease back; does nothing when it was taken over meanwhile. */
  release(lease: Lease): Promise<void>;
  /** The lease that is in force; undefined when the session is free. */
  current(key: string): Promise<Lease | undefined>;
  /** Leases that were not given back, also expired and orphaned ones. */
  list(): Promise<Lease[]>;
  /** Rejects with kind `fenced` unless this is still the newest lease of its key. */
  assertCurrent(lease: Lease): Promise<void>;
}

export interface AcquireOptions {
  ttlMs: number;
  /**
   * Lets the key's inbox item become running in the same commit, if it is the only one that is pending and
   * was never begun. Left out: nothing is claimed.
   */
  claim?: boolean;
}

export type LeaseAttempt = { acquired: true; lease: Lease; claimed?: InboxItem } | { acquired: false; held: Lease };

// Inbox and outbox

/** The address of a message on its platform. The same address twice is the same message. */
export interface MessageAddress {
  channel: string;
  accountId: string;
  chatId: string;
  messageId: string;
}

export interface InboxItem {
  id: number;
  key: string;
  address: MessageAddress;
  /** The message as its channel delivered it; opaque to the store. */
  payload: unknown;
  receivedAt: number;
  state: "queued" | "running" | "done" | "dropped";
  /** How often a turn was begun for it. */
  attempts: number;
  /** Why it was dropped or how it ended, if anybody said so. */
  note?: string;
}

export interface Inbox {
  /** Durable once resolved. `admitted` is false for an address that was admitted before. */
  admit(message: Admission): Promise<{ admitted: boolean; item: InboxItem }>;
  /** Items that are neither done nor dropped, in order of admission. */
  pending(key?: string): Promise<InboxItem[]>;
  get(id: number): Promise<InboxItem | undefined>;
  /**
   * The oldest queued items of a key become running, under the lease of that key. No limit: all of them.
   * With `ids`, only those: for what need not wait for the messages before it.
   */
  claim(lease: Lease, options?: { limit?: number; ids?: readonly number[] }): Promise<InboxItem[]>;
  /** Running items of the lease's key back to the queue: their turn died with its process, or was put off. */
  requeue(lease: Lease, options?: RequeueOptions): Promise<InboxItem[]>;
  /** Ends running items and puts the replies into the outbox, both or neither. */
  finish(
    lease: Lease,
    ids: readonly number[],
    replies: readonly OutboxDraft[],
    options?: FinishOptions,
  ): Promise<OutboxItem[]>;
  /**
   * Gives up those items that are queued under the key, visibly; resolves to them. A reply goes into the
   * outbox together with the drop of the item it answers, and not at all when that was not dropped.
   */
  drop(key: string, ids: readonly number[], note: string, replies?: readonly DropReply[]): Promise<InboxItem[]>;
  /** Forgets items that ended and were received before this instant; their addresses can be admitted again. */
  prune(receivedBefore: number): Promise<number>;
}

export interface RequeueOptions {
  /** Left out: all of the key. */
  ids?: readonly number[];
  /** Why the attempt does not count; stays as the item's note. Left out: it counts. */
  excuse?: string;
}

export interface FinishOptions {
  /** How they ended. */
  note?: string;
  /** Changes the entry of the key too, as `Store.update` does: before the items end, or together with that. */
  entry?: Mutate;
  /** Gives the lease back with it, for whoever has nothing more to do. Left out: it is kept. */
  release?: boolean;
}

export interface DropReply {
  itemId: number;
  draft: OutboxDraft;
}

export interface Admission {
  key: string;
  address: MessageAddress;
  payload: unknown;
  receivedAt: number;
}

export interface OutboxDraft {
  /** The same key twice is the same delivery. */
  idempotencyKey: string;
  target: DeliveryTarget;
  payload: unknown;
}

export interface DeliveryTarget {
  channel: string;
  accountId: string;
  to: string;
  chatType?: ChatType;
  threadId?: string | number;
}

/** Which account on which channel delivers. */
export type DeliveryRoute = Pick<DeliveryTarget, "channel" | "accountId">;

export interface WaitingRoute extends DeliveryRoute {
  waiting: number;
  /** When the first of them is due (ms). */
  dueAt: number;
}

export interface OutboxItem extends OutboxDraft {
  id: number;
  key: string;
  createdAt: number;
  /** `sending` after a crash means that nobody knows whether the platform got it. */
  state: "pending" | "sending" | "delivered" | "failed";
  attempts: number;
  /** Not before this instant (ms). */
  dueAt: number;
  /** The platform's id of the delivered message. */
  deliveredId?: string;
  note?: string;
}

export interface Outbox {
  enqueue(key: string, drafts: readonly OutboxDraft[], options?: WriteOptions): Promise<OutboxItem[]>;
  /**
   * Pending and sending items in order; of one key and route only those before the first that is not due.
   * With a route, only its items: those of other routes neither block nor fill the limit.
   */
  due(now: number, limit: number, route?: DeliveryRoute): Promise<OutboxItem[]>;
  /** Where pending and sending items wait to go. */
  routes(): Promise<WaitingRoute[]>;
  /** What was given up, newest first. */
  failures(limit: number): Promise<OutboxItem[]>;
  get(id: number): Promise<OutboxItem | undefined>;
  /** Exactly one caller gets true for one attempt. */
  startSending(id: number, attempts: number): Promise<boolean>;
  /** The end of a delivery: `retry` and `failed` are refused from then on. */
  delivered(id: number, deliveredId?: string): Promise<void>;
  /** Back to pending, to be tried again at `dueAt`. */
  retry(id: number, dueAt: number, note: string): Promise<void>;
  failed(id: number, note: string): Promise<void>;
  /** Forgets delivered and failed items made before this instant, with their idempotency keys. */
  prune(createdBefore: number): Promise<number>;
}

// Hand-off

/** What a session leaves for the next, one state per key; opaque to the store. It outlives the session's entry. */
export interface Handoffs {
  get(key: string): Promise<unknown>;
  /** Newest first. */
  list(options?: { limit?: number }): Promise<KeptHandoff[]>;
  /**
   * One atomic read-modify-write, as `Store.update`: gives `mutate` the state, or undefined when there is
   * none, and keeps what it returns; undefined leaves everything as it is. Resolves to the state afterwards.
   */
  update(key: string, mutate: (state: unknown) => unknown): Promise<unknown>;
  /** Whether there was one. */
  delete(key: string): Promise<boolean>;
}

export interface KeptHandoff {
  key: string;
  /** Last change (ms). */
  updatedAt: number;
  state: unknown;
}
