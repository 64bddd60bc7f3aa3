/** What was said to the agent and waits for its turn. */
import type { Lease } from "./lease.ts";
import type { OutboxDraft, OutboxItem } from "./outbox.ts";
import type { Mutate } from "./sessions.ts";

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
  /** What its end left for whoever waits for it, in whatever process; opaque to the store. */
  ending?: unknown;
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

export interface Admission {
  key: string;
  address: MessageAddress;
  payload: unknown;
  receivedAt: number;
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
  /** Kept with each of them until it is forgotten. */
  ending?: unknown;
  /** Changes the entry of the key too, as `Store.update` does: before the items end, or together with that. */
  entry?: Mutate;
  /** Gives the lease back with it, for whoever has nothing more to do. Left out: it is kept. */
  release?: boolean;
}

export interface DropReply {
  itemId: number;
  draft: OutboxDraft;
}
