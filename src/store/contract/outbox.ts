/** What the agent said and waits to be delivered. */
import type { ChatType } from "../../keys/chat-type.ts";
import type { WriteOptions } from "./lease.ts";

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
