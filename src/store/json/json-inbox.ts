/** The inbox in the sidecar. Ending an item and enqueueing its replies is one write, so it is atomic. */
import type { Clock } from "../../base/clock.ts";
import type { Inbox, InboxItem, MessageAddress, Store } from "../store.ts";
import { inboxItemNotRunning } from "../store-errors.ts";
import { assertLease } from "./lease-state.ts";
import { enqueueDrafts } from "./json-outbox.ts";
import type { StoreAccess } from "./store-access.ts";
import { copyJson } from "./json-value.ts";
import { forget, forgetOldest, storable } from "./queue-items.ts";
import type { Sidecar } from "./sidecar.ts";

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
    async claim(lease, options = {}) {
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const queued = itemsOf(sidecar, lease.key, "queued", options.ids).slice(0, options.limit);
        return queued.map((item) => replace(sidecar, { ...item, state: "running", attempts: item.attempts + 1 }));
      });
    },
    async requeue(lease, { ids, excuse } = {}) {
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const running = itemsOf(sidecar, lease.key, "running", ids);
        return running.map((item) => {
          const excused = excuse === undefined ? {} : { attempts: item.attempts - 1, note: excuse };
          return replace(sidecar, { ...item, ...excused, state: "queued" });
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
        forgetOldest(sidecar.inbox, isEnded);
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
        forgetOldest(sidecar.inbox, isEnded);
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

/** Undefined unless it is the only one that is pending and was never begun. */
export function claimOnlyItem(sidecar: Sidecar, key: string): InboxItem | undefined {
  const [item, another] = Object.values(sidecar.inbox).filter((one) => one.key === key && !isEnded(one));
  const isFresh = item?.state === "queued" && item.attempts === 0 && item.note === undefined;
  return isFresh && another === undefined ? replace(sidecar, { ...item, state: "running", attempts: 1 }) : undefined;
}

function sameAddress(a: MessageAddress, b: MessageAddress): boolean {
  return a.messageId === b.messageId && a.chatId === b.chatId && a.accountId === b.accountId && a.channel === b.channel;
}

/** In order of admission: names that are numbers come in ascending order. */
function itemsOf(sidecar: Sidecar, key: string, state: InboxItem["state"], ids?: readonly number[]): InboxItem[] {
  const isWanted = (item: InboxItem): boolean => ids === undefined || ids.includes(item.id);
  return Object.values(sidecar.inbox).filter((item) => item.key === key && item.state === state && isWanted(item));
}

function replace(sidecar: Sidecar, item: InboxItem): InboxItem {
  sidecar.inbox[item.id] = item;
  return copyJson(item);
}

function isEnded(item: InboxItem): boolean {
  return item.state === "done" || item.state === "dropped";
}
