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
 *
 * Its parts are in `contract/`; everybody knows them from here.
 */
import type { Handoffs } from "./contract/handoffs.ts";
import type { Inbox } from "./contract/inbox.ts";
import type { Leases } from "./contract/leases.ts";
import type { DeliveryRoute, Outbox } from "./contract/outbox.ts";
import type {
  DeleteOptions,
  DeletedSession,
  JsonPage,
  ListPage,
  ListQuery,
  Mutate,
  UpdateOptions,
} from "./contract/sessions.ts";
import type { Window } from "./contract/windows.ts";
import type { SessionEntry } from "./session-entry.ts";

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
  delete(key: string, options?: DeleteOptions): Promise<DeletedSession | undefined>;

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

export interface StoreChange {
  what: "entry" | "lease" | "inbox" | "outbox" | "handoff";
  key: string;
  /** Whose delivery an outbox change is about. Left out: it may be anybody's. */
  route?: DeliveryRoute;
}

export type { HandoffUpdateOptions, Handoffs, KeptHandoff } from "./contract/handoffs.ts";
export type { Admission, DropReply, FinishOptions, Inbox, InboxItem, MessageAddress } from "./contract/inbox.ts";
export type { Lease } from "./contract/lease.ts";
export type { AcquireOptions, LeaseAttempt, Leased, Leases } from "./contract/leases.ts";
export type {
  DeliveryRoute,
  DeliveryTarget,
  Outbox,
  OutboxDraft,
  OutboxItem,
  WaitingRoute,
} from "./contract/outbox.ts";
export type {
  DeleteOptions,
  DeletedSession,
  JsonPage,
  ListPage,
  ListQuery,
  ListedSession,
  Mutate,
  UpdateOptions,
} from "./contract/sessions.ts";
export type { Window, WindowReason } from "./contract/windows.ts";
