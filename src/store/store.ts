/**
 * The contract of every store. A store belongs to one agent; keys of other agents are refused with kind `forbidden`.
 * Keys are made canonical, so `main` and `agent:main:main` are one session.
 *
 * `test/contract` checks for every implementation:
 * - A resolved promise is durable. A rejected promise changed nothing.
 * - `update` is one atomic read-modify-write. `mutate` is synchronous, has no side effects and may run more than once.
 * - Every session id that a key has ever pointed to stays among its windows.
 * - A write with a lease is refused with kind `fenced` if the lease was released or is not the newest of its key.
 * - Values go in and out as copies. Only changed fields are validated, so data of other tools never blocks an update.
 * - An unreadable store is an error, never an empty store.
 */
import type { Cluster } from "./cluster.ts";
import type { Media } from "./media.ts";
import type { DeliveryRoute, Inbox, Leases, Outbox, WriteOptions } from "./queues.ts";
import type { Mutate, SessionEntry, WindowState } from "./session-entry.ts";
import type { Transcripts } from "./transcripts.ts";
import type { SessionKind } from "../keys/session-key.ts";

export type StoreKind = "sqlite" | "json" | "postgres";

export interface Store {
  readonly kind: StoreKind;
  readonly agentId: string;
  /** The file that holds the entries, or the URL of the database without its password. */
  readonly location: string;

  get(key: string): Promise<SessionEntry | undefined>;
  list(query?: ListQuery): Promise<ListPage>;
  /** The same page as JSON text, for callers that only pass it on. */
  listJson(query?: Omit<ListQuery, "fields">): Promise<JsonPage>;
  /**
   * Passes the current entry, or undefined for a new key, to `mutate` and stores the result. If `mutate` returns
   * undefined, nothing changes. Resolves to the entry afterwards.
   */
  update(key: string, mutate: Mutate, options?: UpdateOptions): Promise<SessionEntry | undefined>;
  /** Removes the entry and its windows, and resolves to them. Transcripts are not touched. */
  delete(key: string, options?: DeleteOptions): Promise<DeletedSession | undefined>;

  /** The windows of a session, oldest first. The last one is open while the key exists. */
  windows(key: string): Promise<Window[]>;
  /** Windows of any key whose session id starts with this prefix, newest first. */
  findWindows(sessionIdPrefix: string, limit: number): Promise<Window[]>;
  /** Adds or replaces a closed window, for restored archives and imported sessions. Never the current one. */
  putWindow(window: Window): Promise<void>;
  /** Resolves to false if there is no such window. The current one is refused with kind `conflict`. */
  removeWindow(key: string, sessionId: string): Promise<boolean>;

  readonly transcripts: Transcripts;
  readonly media: Media;
  readonly leases: Leases;
  readonly inbox: Inbox;
  readonly outbox: Outbox;
  readonly handoffs: Handoffs;
  readonly history: GroupHistory;
  readonly systemEvents: SystemEvents;
  /** Undefined in a store of one machine. */
  readonly cluster?: Cluster | undefined;

  /**
   * Calls the listener after each change of this and other processes (those within about a second). Several changes
   * of one key may come as one. Returns a function that stops it.
   */
  onChange(listener: (change: StoreChange) => void): () => void;

  /**
   * Finishes running operations, updates derived files and frees all resources. Later calls are refused with kind
   * `unavailable`, code `store-closed`.
   */
  close(): Promise<void>;
}

export interface UpdateOptions extends WriteOptions {
  /** Why a window opens, if one does. Default: `initial` for a new key, `switch` for another session id. */
  windowReason?: WindowReason | undefined;
  /** When that window opened (ms), for imported sessions. Default: now. */
  openedAt?: number | undefined;
}

export interface DeleteOptions extends WriteOptions {
  /** Also deletes the session's hand-off, in the same commit. Default: false. */
  withHandoff?: boolean | undefined;
}

export interface DeletedSession {
  key: string;
  entry: SessionEntry;
  windows: Window[];
}

export interface StoreChange {
  what: "entry" | "lease" | "inbox" | "outbox" | "handoff";
  key: string;
  /** The route of an outbox change, if known. */
  route?: DeliveryRoute | undefined;
}

export interface ListQuery {
  /** Only sessions changed at or after this instant (ms). */
  activeSince?: number | undefined;
  kind?: SessionKind | undefined;
  exceptKinds?: readonly SessionKind[] | undefined;
  /** The session that spawned them. */
  spawnedBy?: string | undefined;
  /** The entry's channel, else the one last used. */
  channel?: string | undefined;
  label?: string | undefined;
  /** Words that must all occur in key, label, display name, subject or group. Case is ignored. */
  text?: string | undefined;
  /** `updatedAt`: newest first. `key`: alphabetical. Default: `updatedAt`. */
  sort?: "updatedAt" | "key" | undefined;
  limit?: number | undefined;
  offset?: number | undefined;
  /** Only these fields of each entry, with `sessionId` and `updatedAt`. Null counts as missing. Default: all fields. */
  fields?: readonly (keyof SessionEntry)[] | undefined;
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
  /** A JSON array in UTF-8: objects with `key`, `kind`, `ageMs` and the entry's `LISTED_FIELDS`. */
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
  reason: WindowReason;
  /** Missing while the window is the current one. */
  closedAt?: number | undefined;
  /** File name of the transcript inside the agent's sessions folder. */
  transcript?: string | undefined;
  /** The entry's fields for this window when it was closed. Restored when the session switches back to it. */
  state?: WindowState | undefined;
  /** File name in the archive, once the transcript was moved there. */
  archive?: string | undefined;
}

/**
 * Notes that one window leaves for the next, one state per key; opaque to the store. A hand-off needs no entry and
 * outlives it (see `DeleteOptions`). A state that is not valid JSON is returned as its text.
 */
export interface Handoffs {
  get(key: string): Promise<unknown>;
  /** Newest first. */
  list(options?: { limit?: number | undefined }): Promise<KeptHandoff[]>;
  /** One atomic read-modify-write, as `Store.update`. Resolves to the state afterwards. */
  update(key: string, mutate: (state: unknown) => unknown, options?: HandoffUpdateOptions): Promise<unknown>;
  /** Resolves to false if there was none. */
  delete(key: string): Promise<boolean>;
}

export interface HandoffUpdateOptions {
  /** Skips the update, without calling `mutate`, if the key has no such window any more. Optional. */
  ofWindow?: string | undefined;
}

export interface KeptHandoff {
  key: string;
  /** Last change (ms). */
  updatedAt: number;
  state: unknown;
}

/**
 * Group messages that were not addressed to the agent, kept until its next reply. Append the messages of one key in
 * order. See `pending.ts` for what happens when a turn is repeated.
 */
export interface GroupHistory {
  /** Keeps the newest entries per key. False if an entry with this message id is already there. */
  append(key: string, entry: HistoryEntry): Promise<boolean>;
  /** The entries for this turn, oldest first. The same turn gets the same entries again. */
  take(key: string, turn: TurnClaim): Promise<HistoryEntry[]>;
  /** All entries of a key, oldest first, without taking them. */
  waiting(key: string): Promise<HistoryEntry[]>;
  /** After the reply: forgets the entries that the turn took. Later ones stay. */
  clear(key: string, turnId: string): Promise<boolean>;
  /** Forgets all entries of a key, for a deleted session. */
  forget(key: string): Promise<void>;
}

export interface HistoryEntry {
  sender: string;
  body: string;
  timestamp?: number | undefined;
  messageId?: string | undefined;
}

/**
 * Events that the next turn of a session reports to the agent. Each event is in exactly one written turn: a turn
 * drains a batch, writes its message and acknowledges the batch.
 */
export interface SystemEvents {
  /** False if the text is empty, or equal to the newest waiting event. */
  enqueueSystemEvent(key: string, text: string): Promise<boolean>;
  /** All waiting events, oldest first. Usually there are none, and then nothing is written. */
  drainSystemEvents(key: string, turn: TurnClaim): Promise<SystemEventBatch>;
  /** All events of a key, oldest first, without draining them. */
  waitingSystemEvents(key: string): Promise<string[]>;
  /** Call it when the turn is written. False if the batch is empty, acknowledged, or taken over by another turn. */
  acknowledgeSystemEvents(key: string, batchId: string): Promise<boolean>;
  /** Forgets the waiting events of a deleted session. */
  forgetSystemEvents(key: string): Promise<void>;
}

export interface SystemEventBatch {
  /** The id of the turn that drained it. */
  id: string;
  events: { at: number; text: string }[];
  /** How many older events were dropped because too many waited. */
  dropped: number;
}

/** A turn that takes pending items under a lease. */
export interface TurnClaim {
  /** Unique within the key. A repeated turn has the same id. */
  id: string;
  epoch: number;
}
