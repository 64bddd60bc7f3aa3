/** Inbox and outbox of a `json` store, in the sidecar. Ending an item and enqueueing its replies is one write. */
import type { Clock } from "../../base/clock.ts";
import {
  type Inbox,
  type InboxItem,
  type MessageAddress,
  type Outbox,
  type OutboxDraft,
  type OutboxItem,
  GIVEN_UP_NOTE,
  apartTurn,
} from "../queues.ts";
import { alreadyDelivered, inboxItemNotRunning, outboxItemNotFound, payloadNotJson } from "../store-errors.ts";
import type { Store } from "../store.ts";
import { copyJson } from "./json-document.ts";
import { type Sidecar, assertLease } from "./sidecar.ts";
import type { StoreAccess } from "./store-access.ts";

export function createInbox(access: StoreAccess, clock: Clock, update: Store["update"]): Inbox {
  return {
    async admit(message) {
      const key = access.ownKey(message.key);
      const { address, payload, receivedAt } = storable(message);
      return await access.change(({ sidecar }) => {
        const known = Object.values(sidecar.inbox).find((item) => sameAddress(item.address, address));
        if (known !== undefined) return { admitted: false, item: copyJson(known) };
        const id = sidecar.nextId++;
        const item: InboxItem = { id, key, address, payload, receivedAt, state: "queued", attempts: 0 };
        sidecar.inbox[id] = item;
        return { admitted: true, item: copyJson(item) };
      });
    },
    async pending(sessionKey) {
      const key = sessionKey === undefined ? undefined : access.ownKey(sessionKey);
      const isWanted = (item: InboxItem): boolean =>
        !isEnded(item) && (key === undefined ? access.owns(item.key) : item.key === key);
      return Object.values(access.read().sidecar.inbox).filter(isWanted).map(copyJson);
    },
    async get(id) {
      const item = access.read().sidecar.inbox[id];
      return item === undefined || !access.owns(item.key) ? undefined : copyJson(item);
    },
    async givenUp(limit) {
      const isGivenUp = ({ note, key }: InboxItem): boolean => note === GIVEN_UP_NOTE && access.owns(key);
      const all = Object.values(access.read().sidecar.inbox).filter(isGivenUp);
      return all.toReversed().slice(0, limit).map(copyJson);
    },
    async claim(lease, options = {}) {
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const queued = itemsOf(sidecar, lease.key, "queued", options.ids).slice(0, options.limit);
        const named = options.turn === undefined ? {} : { turn: options.turn };
        return queued.map((item) =>
          replace(sidecar, { ...item, ...named, state: "running", attempts: item.attempts + 1 }),
        );
      });
    },
    async requeue(lease, { ids, excuse, apart } = {}) {
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const running = itemsOf(sidecar, lease.key, "running", ids);
        return running.map((item) => {
          const excused = excuse === undefined ? {} : { attempts: item.attempts - 1, note: excuse };
          const named = apart === true ? { turn: apartTurn(item.id) } : {};
          return replace(sidecar, { ...item, ...excused, ...named, state: "queued" });
        });
      });
    },
    async finish(lease, ids, replies, { release = false, entry, ...options } = {}) {
      const drafts = storable(replies);
      const ended = storable(options);
      if (entry !== undefined) await update(lease.key, entry, { lease });
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const running = new Map(itemsOf(sidecar, lease.key, "running").map((item) => [item.id, item]));
        const items = ids.map((id) => running.get(id) ?? id);
        const missing = items.find((item) => typeof item === "number");
        if (missing !== undefined) throw inboxItemNotRunning(missing, lease.key);
        for (const item of items) if (typeof item === "object") replace(sidecar, { ...item, ...ended, state: "done" });
        forgetOldest(sidecar.inbox, isForgettable);
        if (release) sidecar.leases[lease.key] = { epoch: lease.epoch };
        return enqueueDrafts(sidecar, lease.key, drafts, clock.now());
      });
    },
    async drop(sessionKey, ids, note, replies = []) {
      const key = access.ownKey(sessionKey);
      const stored = storable(replies);
      return await access.change(({ sidecar }) => {
        const dropped = itemsOf(sidecar, key, "queued", ids);
        const results = dropped.map((item) => replace(sidecar, { ...item, state: "dropped", note }));
        const isDropped = new Set(results.map(({ id }) => id));
        const drafts = stored.filter(({ itemId }) => isDropped.has(itemId)).map(({ draft }) => draft);
        enqueueDrafts(sidecar, key, drafts, clock.now());
        forgetOldest(sidecar.inbox, isForgettable);
        return results;
      });
    },
    async prune(receivedBefore) {
      return await access.change(({ sidecar }) =>
        forget(sidecar.inbox, (item) => isEnded(item) && access.owns(item.key) && item.receivedAt < receivedBefore),
      );
    },
  };
}

/** Claims the pending item, if it is the only one and was never started. */
export function claimOnlyItem(sidecar: Sidecar, key: string): InboxItem | undefined {
  const [item, another] = Object.values(sidecar.inbox).filter((one) => one.key === key && !isEnded(one));
  const isFresh = item?.state === "queued" && item.attempts === 0 && item.note === undefined;
  return isFresh && another === undefined ? replace(sidecar, { ...item, state: "running", attempts: 1 }) : undefined;
}

function sameAddress(a: MessageAddress, b: MessageAddress): boolean {
  return a.messageId === b.messageId && a.chatId === b.chatId && a.accountId === b.accountId && a.channel === b.channel;
}

/** In order of admission: JavaScript sorts integer keys. */
function itemsOf(sidecar: Sidecar, key: string, state: InboxItem["state"], ids?: readonly number[]): InboxItem[] {
  const isWanted = (item: InboxItem): boolean => ids === undefined || ids.includes(item.id);
  return Object.values(sidecar.inbox).filter((item) => item.key === key && item.state === state && isWanted(item));
}

function replace(sidecar: Sidecar, item: InboxItem): InboxItem {
  sidecar.inbox[item.id] = item;
  return copyJson(item);
}

/** Given-up messages are counted until they are pruned. */
function isForgettable(item: InboxItem): boolean {
  return isEnded(item) && item.note !== GIVEN_UP_NOTE;
}

function isEnded(item: InboxItem): boolean {
  return item.state === "done" || item.state === "dropped";
}

export function createOutbox(access: StoreAccess, clock: Clock): Outbox {
  const settle = async (id: number, change: (item: OutboxItem) => OutboxItem): Promise<void> => {
    await access.change(({ sidecar }) => {
      const item = ownItem(access, sidecar, id);
      if (item === undefined) throw outboxItemNotFound(id);
      sidecar.outbox[id] = change(item);
      forgetOldest(sidecar.outbox, isSettled);
    });
  };

  return {
    async enqueue(sessionKey, drafts, options = {}) {
      const key = access.ownKey(sessionKey);
      const stored = storable(drafts);
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, key, options.lease);
        return enqueueDrafts(sidecar, key, stored, clock.now());
      });
    },
    async due(now, limit, route) {
      const blocked = new Set<string>();
      const isWanted = ({ target }: OutboxItem): boolean =>
        route === undefined || (target.channel === route.channel && target.accountId === route.accountId);
      const due: OutboxItem[] = [];
      for (const item of Object.values(access.read().sidecar.outbox)) {
        if (due.length >= limit) break;
        if (isSettled(item) || !isWanted(item) || !access.owns(item.key)) continue;
        const line = JSON.stringify([item.key, item.target.channel, item.target.accountId]);
        if (item.dueAt > now) blocked.add(line);
        else if (!blocked.has(line)) due.push(copyJson(item));
      }
      return due;
    },
    async routes() {
      const items = Object.values(access.read().sidecar.outbox);
      const waiting = items.filter((item) => !isSettled(item) && access.owns(item.key));
      const byRoute = Map.groupBy(waiting, ({ target }) => JSON.stringify([target.channel, target.accountId]));
      return [...byRoute.values()].flatMap(([first, ...rest]) => {
        if (first === undefined) return [];
        const { channel, accountId } = first.target;
        const dueAt = Math.min(first.dueAt, ...rest.map((item) => item.dueAt));
        return [{ channel, accountId, waiting: rest.length + 1, dueAt }];
      });
    },
    async failures(limit) {
      const failed = Object.values(access.read().sidecar.outbox).filter(
        ({ state, key }) => state === "failed" && access.owns(key),
      );
      return failed.slice(-limit).reverse().map(copyJson);
    },
    async get(id) {
      return copyJson(ownItem(access, access.read().sidecar, id));
    },
    async startSending(id, attempts) {
      return await access.change(({ sidecar }) => {
        const item = ownItem(access, sidecar, id);
        if (item === undefined || isSettled(item) || item.attempts !== attempts) return false;
        sidecar.outbox[id] = { ...item, state: "sending", attempts: attempts + 1 };
        return true;
      });
    },
    async delivered(id, deliveredId) {
      const named = deliveredId === undefined ? {} : { deliveredId };
      await settle(id, (item) => (item.state === "delivered" ? item : { ...item, state: "delivered", ...named }));
    },
    async retry(id, dueAt, note) {
      await settle(id, (item) => ({ ...undelivered(item), state: "pending", dueAt, note }));
    },
    async failed(id, note) {
      await settle(id, (item) => ({ ...undelivered(item), state: "failed", note }));
    },
    async prune(createdBefore) {
      return await access.change(({ sidecar }) =>
        forget(sidecar.outbox, (item) => isSettled(item) && access.owns(item.key) && item.createdAt < createdBefore),
      );
    },
  };
}

/** Adds the drafts that are not there yet. */
function enqueueDrafts(sidecar: Sidecar, key: string, drafts: readonly OutboxDraft[], now: number): OutboxItem[] {
  return drafts.map(({ idempotencyKey, target, payload }) => {
    const known = Object.values(sidecar.outbox).find((item) => item.idempotencyKey === idempotencyKey);
    if (known !== undefined) return copyJson(known);
    const id = sidecar.nextId++;
    const draft = { idempotencyKey, target, payload };
    const item: OutboxItem = { id, key, ...draft, createdAt: now, state: "pending", attempts: 0, dueAt: now };
    sidecar.outbox[id] = item;
    return copyJson(item);
  });
}

function ownItem(access: StoreAccess, sidecar: Sidecar, id: number): OutboxItem | undefined {
  const item = sidecar.outbox[id];
  return item !== undefined && access.owns(item.key) ? item : undefined;
}

function isSettled({ state }: OutboxItem): boolean {
  return state === "delivered" || state === "failed";
}

function undelivered(item: OutboxItem): OutboxItem {
  if (item.state === "delivered") throw alreadyDelivered(item.id);
  return item;
}

/**
 * How many ended items stay, to recognize a repeated message or delivery. The file is rewritten for every message, so
 * it cannot keep all of them.
 */
const KEPT_WHEN_ENDED = 2000;

/** Deletes the oldest ended items beyond that number. */
function forgetOldest<Item extends { id: number }>(
  items: Record<string, Item>,
  hasEnded: (item: Item) => boolean,
): void {
  const ended = Object.values(items).filter(hasEnded);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_WHEN_ENDED))) delete items[id];
}

/** Deletes these items. Returns their number. */
function forget<Item extends { id: number }>(
  items: Record<string, Item>,
  isForgotten: (item: Item) => boolean,
): number {
  const forgotten = Object.values(items).filter(isForgotten);
  for (const { id } of forgotten) delete items[id];
  return forgotten.length;
}

/** A copy as it will be stored. Throws if JSON cannot represent it. */
export function storable<T>(value: T): T {
  try {
    return JSON.parse(JSON.stringify(value)) as T;
  } catch (error) {
    throw payloadNotJson(error);
  }
}
