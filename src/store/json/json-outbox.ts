/** The outbox in the sidecar. */
import type { Clock } from "../../base/clock.ts";
import type { Outbox, OutboxDraft, OutboxItem } from "../store.ts";
import { alreadyDelivered, outboxItemNotFound } from "../store-errors.ts";
import { assertLease } from "./lease-state.ts";
import type { StoreAccess } from "./store-access.ts";
import { copyJson } from "./json-value.ts";
import { forget, forgetOldest, storable } from "./queue-items.ts";
import type { Sidecar } from "./sidecar.ts";

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

/** Adds what is not there yet; the same idempotency key twice is the same delivery. */
export function enqueueDrafts(
  sidecar: Sidecar,
  key: string,
  drafts: readonly OutboxDraft[],
  now: number,
): OutboxItem[] {
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
