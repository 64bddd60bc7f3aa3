/** The inbox in the sidecar. Ending an item and enqueueing its replies is one write, so it is atomic. */
import type { Clock } from "../../base/clock.ts";
import type { Inbox, InboxItem, MessageAddress } from "../store.ts";
import { inboxItemNotRunning } from "../store-errors.ts";
import { assertLease } from "./json-leases.ts";
import { enqueueDrafts } from "./json-outbox.ts";
import type { StoreAccess } from "./store-access.ts";
import { copyJson } from "./json-value.ts";
import { forgetOldest, storable } from "./queue-items.ts";
import type { Sidecar } from "./sidecar.ts";

export function createInbox(access: StoreAccess, clock: Clock): Inbox {
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
        const queued = itemsOf(sidecar, lease.key, "queued").slice(0, options.limit);
        return queued.map((item) => replace(sidecar, { ...item, state: "running", attempts: item.attempts + 1 }));
      });
    },
    async requeue(lease) {
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        return itemsOf(sidecar, lease.key, "running").map((item) => replace(sidecar, { ...item, state: "queued" }));
      });
    },
    async finish(lease, ids, replies) {
      const drafts = storable(replies);
      return await access.change(({ sidecar }) => {
        assertLease(sidecar, access.ownKey(lease.key), lease);
        const running = new Map(itemsOf(sidecar, lease.key, "running").map((item) => [item.id, item]));
        const items = ids.map((id) => running.get(id) ?? id);
        const missing = items.find((item) => typeof item === "number");
        if (missing !== undefined) throw inboxItemNotRunning(missing, lease.key);
        for (const item of items) if (typeof item === "object") replace(sidecar, { ...item, state: "done" });
        forgetOldest(sidecar.inbox, isEnded);
        return enqueueDrafts(sidecar, lease.key, drafts, clock.now());
      });
    },
    async drop(sessionKey, ids, note) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ sidecar }) => {
        const dropped = itemsOf(sidecar, key, "queued").filter((item) => ids.includes(item.id));
        const results = dropped.map((item) => replace(sidecar, { ...item, state: "dropped", note }));
        forgetOldest(sidecar.inbox, isEnded);
        return results;
      });
    },
  };
}

function sameAddress(a: MessageAddress, b: MessageAddress): boolean {
  return a.messageId === b.messageId && a.chatId === b.chatId && a.accountId === b.accountId && a.channel === b.channel;
}

/** In order of admission: names that are numbers come in ascending order. */
function itemsOf(sidecar: Sidecar, key: string, state: InboxItem["state"]): InboxItem[] {
  return Object.values(sidecar.inbox).filter((item) => item.key === key && item.state === state);
}

function replace(sidecar: Sidecar, item: InboxItem): InboxItem {
  sidecar.inbox[item.id] = item;
  return copyJson(item);
}

function isEnded(item: InboxItem): boolean {
  return item.state === "done" || item.state === "dropped";
}
