/**
 * The part of the store contract for messages in transit: leases decide which process may work on a session, deliver
 * for an account or be connected to its platform, the inbox holds messages that wait for their turn, the outbox holds replies that wait for
 * delivery. `store.ts` says what holds for all of them.
 */
import type { ProcessIdentity } from "../base/processes.ts";
import type { Mutate } from "./session-entry.ts";
import type { ChatType } from "../keys/message-context.ts";

/** The right to write one session, to deliver for one account, or to receive its messages. The epoch rises with every new holder and never falls. */
export interface Lease {
  key: string;
  epoch: number;
  /** Id of the holder, unique to this acquisition. */
  holder: string;
  process: ProcessIdentity;
  /** Instant (ms) by the store's clock after which anyone may take the lease over. */
  expiresAt: number;
}

export interface WriteOptions {
  /** Refuse the write unless this is still the newest lease of the key. Optional. */
  lease?: Lease | undefined;
}

export interface Leases {
  /** How long a lease should stay valid without renewal. */
  readonly defaultTtlMs: number;
  /**
   * A lease that could not be renewed counts as lost so long before its end: its holder may have lost the store while
   * others have not. Undefined: the store is on this machine, so no other process has it then.
   */
  readonly marginMs?: number | undefined;
  /**
   * Calls the listener shortly before other processes may think that this one is dead and take over its leases.
   * Returns a function that stops it. Undefined as for `marginMs`.
   */
  readonly onDoubt?: ((listener: () => void) => () => void) | undefined;
  /** Takes a free, expired or orphaned lease; otherwise `held` is the lease in force. Does not wait. */
  acquire(leased: Leased, options: AcquireOptions): Promise<LeaseAttempt>;
  /** Extends the lease. Undefined if another process has taken it over. */
  renew(lease: Lease, options: { ttlMs: number }): Promise<Lease | undefined>;
  /** Releases the lease. Does nothing if another process has taken it over. */
  release(lease: Lease): Promise<void>;
  /** The lease in force. Undefined if it is free. */
  current(leased: Leased): Promise<Lease | undefined>;
  /** Leases that were not released, including expired and orphaned ones. */
  list(): Promise<Lease[]>;
  /** Rejects with kind `fenced` unless this is still the newest lease of its key. */
  assertCurrent(lease: Lease): Promise<void>;
}

/** A session key, the deliveries of an account, its connection to the platform, or the subject of another lease. */
export type Leased = string | DeliveryRoute | { connection: DeliveryRoute } | Pick<Lease, "key">;

export interface AcquireOptions {
  ttlMs: number;
  /**
   * Also claims the key's inbox item in the same commit, if it is the only pending one and was never started.
   * Default: false.
   */
  claim?: boolean | undefined;
}

export type LeaseAttempt =
  | { acquired: true; lease: Lease; claimed?: InboxItem | undefined }
  | { acquired: false; held: Lease };

/** The address of a message on its platform. Two messages with the same address are the same message. */
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
  /** The message as its channel delivered it. Opaque to the store. */
  payload: unknown;
  receivedAt: number;
  state: "queued" | "running" | "done" | "dropped";
  /** How many turns were started for it, including the running one. */
  attempts: number;
  /** The turn that it belongs to. Default: a turn of its own, named by its id. */
  turn?: string | undefined;
  /** Why it was dropped, or how it ended. */
  note?: string | undefined;
  /** The result for callers that wait in any process. Opaque to the store. */
  ending?: unknown;
}

export interface Inbox {
  /** Durable once resolved. `admitted` is false if the address was admitted before. */
  admit(message: Admission): Promise<{ admitted: boolean; item: InboxItem }>;
  /** Items that are neither done nor dropped, in order of admission. */
  pending(key?: string): Promise<InboxItem[]>;
  /** Sessions with pending items that no living process holds, the longest waiting first. */
  unattended(limit: number): Promise<string[]>;
  get(id: number): Promise<InboxItem | undefined>;
  /** Marks the oldest queued items of the lease's key as running. */
  claim(lease: Lease, options?: ClaimOptions): Promise<InboxItem[]>;
  /** Puts running items of the lease's key back into the queue, after a crash or a postponement. */
  requeue(lease: Lease, options?: RequeueOptions): Promise<InboxItem[]>;
  /** Ends running items and puts their replies into the outbox, atomically. */
  finish(
    lease: Lease,
    ids: readonly number[],
    replies: readonly OutboxDraft[],
    options?: FinishOptions,
  ): Promise<OutboxItem[]>;
  /**
   * Drops the given items if they are still queued under the key, and resolves to them. A reply enters the outbox
   * in the same commit, but only if the item that it answers was dropped.
   */
  drop(key: string, ids: readonly number[], note: string, replies?: readonly DropReply[]): Promise<InboxItem[]>;
  /** Messages that were given up, newest first. */
  givenUp(limit: number): Promise<InboxItem[]>;
  /** Deletes ended items received before this instant. Their addresses can then be admitted again. */
  prune(receivedBefore: number): Promise<number>;
}

export interface Admission {
  key: string;
  address: MessageAddress;
  payload: unknown;
  receivedAt: number;
}

/** The turn of a message that was separated from a turn with others. */
export function apartTurn(id: number): string {
  return `${id}${APART_SUFFIX}`;
}

export function isApart({ turn }: Pick<InboxItem, "turn">): boolean {
  return turn?.endsWith(APART_SUFFIX) === true;
}

export const APART_SUFFIX = "-apart";

export const GIVEN_UP_NOTE = "given up";

export interface ClaimOptions {
  /** Default: no limit. */
  limit?: number | undefined;
  /** Only these items, even if older ones wait. Default: all of the key. */
  ids?: readonly number[] | undefined;
  /** The turn that answers them together. Default: each keeps its turn. */
  turn?: string | undefined;
}

export interface RequeueOptions {
  /** Default: all of the key. */
  ids?: readonly number[] | undefined;
  /** True: each item gets a turn of its own. Default: false. */
  apart?: boolean | undefined;
  /** Why the attempt does not count; becomes the item's note. Default: it counts. */
  excuse?: string | undefined;
}

export interface FinishOptions {
  note?: string | undefined;
  /** Stored with each item until it is pruned. */
  ending?: unknown;
  /** Also updates the entry of the key, as `Store.update` does, in this commit or just before it. */
  entry?: Mutate | undefined;
  /** Also releases the lease. Default: false. */
  release?: boolean | undefined;
  /**
   * Also starts sending the first reply, unless an earlier reply of the session waits. The result is then what the
   * caller must send: the replies, or nothing. Default: false.
   */
  startSending?: boolean | undefined;
}

export interface DropReply {
  itemId: number;
  draft: OutboxDraft;
}

export interface OutboxDraft {
  /** Two drafts with the same key are the same delivery. */
  idempotencyKey: string;
  target: DeliveryTarget;
  payload: unknown;
}

export interface DeliveryTarget {
  channel: string;
  accountId: string;
  to: string;
  chatType?: ChatType | undefined;
  threadId?: string | number | undefined;
}

export type DeliveryRoute = Pick<DeliveryTarget, "channel" | "accountId">;

export interface WaitingRoute extends DeliveryRoute {
  waiting: number;
  /** When the first item is due (ms). */
  dueAt: number;
}

export interface OutboxItem extends OutboxDraft {
  id: number;
  key: string;
  createdAt: number;
  /** `sending` after a crash means that the platform may or may not have got it. */
  state: "pending" | "sending" | "delivered" | "failed";
  attempts: number;
  /** Not before this instant (ms). */
  dueAt: number;
  /** The platform's id of the delivered message. */
  deliveredId?: string | undefined;
  note?: string | undefined;
}

export interface Outbox {
  enqueue(key: string, drafts: readonly OutboxDraft[], options?: WriteOptions): Promise<OutboxItem[]>;
  /**
   * Pending and sending items in order. Within one key and route, an item that is not due blocks the later ones.
   * With a route, only its items count, also for the limit. An item that was never tried may be due earlier, because
   * its time comes from the clock of another machine.
   */
  due(now: number, limit: number, route?: DeliveryRoute): Promise<OutboxItem[]>;
  /** The routes of pending and sending items. */
  routes(): Promise<WaitingRoute[]>;
  /** Failed items, newest first. */
  failures(limit: number): Promise<OutboxItem[]>;
  get(id: number): Promise<OutboxItem | undefined>;
  find(idempotencyKey: string): Promise<OutboxItem | undefined>;
  /** Exactly one caller gets true for one attempt. */
  startSending(id: number, attempts: number): Promise<boolean>;
  /** Ends the delivery: from then on `retry` and `failed` are refused. */
  delivered(id: number, deliveredId?: string): Promise<void>;
  retry(id: number, dueAt: number, note: string): Promise<void>;
  failed(id: number, note: string): Promise<void>;
  /** Deletes delivered and failed items created before this instant, with their idempotency keys. */
  prune(createdBefore: number): Promise<number>;
}
