/** The rows of a `json` store: its entries, and everything else in the sidecar. */
import { leaseInForce } from "../operations.ts";
import type { PendingQueue } from "../pending.ts";
import { type DeliveryRoute, type InboxItem, type OutboxItem, GIVEN_UP_NOTE } from "../queues.ts";
import type { QueueName, StoreRows } from "../rows.ts";
import { type KeyOwner, isAccountLease, transcriptName } from "../store-rules.ts";
import type { Window } from "../store.ts";
import { copyJson } from "./json-document.ts";
import type { Sidecar } from "./sidecar.ts";
import { type StoreDraft, type StoreState, isOwnKey, keysWithWindows, moveWindows, windowsOf } from "./store-state.ts";

/** The file may be shared with other agents, whose keys are skipped. */
export function jsonRows(state: StoreState | StoreDraft, owner: KeyOwner): StoreRows {
  const { entries, sidecar } = state;
  const owns = ({ key }: { key: string }): boolean => isOwnKey(key, owner);
  return {
    ...windowRows(state, owner),
    ...inboxRows(sidecar, owns),
    ...outboxRows(sidecar, owns),
    ...endedRows(sidecar, owner),
    ...pendingRows(sidecar),

    entry: (key) => {
      const entry = entries.current(key);
      return entry && { entry, version: undefined };
    },
    entryHead: (key) => {
      const entry = entries.current(key);
      return entry && { sessionId: entry.sessionId, version: undefined };
    },
    keyWithLabel: (label, except) =>
      [...entries.keys()].find((key) => key !== except && entries.current(key)?.label === label),
    putEntry: ({ key, entry, from, leaving, windowReason: reason, now }) => {
      const windows = windowsOf(key, entries, sidecar);
      // The only step that may throw, so it comes first.
      entries.put(key, entry);
      const move = { key, from, to: entry.sessionId, leaving, transcript: transcriptName(entry), reason, now };
      sidecar.windows[key] = moveWindows(move, windows);
    },

    lease: (key) => sidecar.leases[key],
    heldLease: (key, now) => leaseInForce(sidecar.leases[key], now),
    leases: () =>
      Object.entries(sidecar.leases).flatMap(([key, { held }]) => {
        const isOwn = isOwnKey(key, owner) || isAccountLease(owner.agentId, key);
        return held !== undefined && isOwn ? [held] : [];
      }),
    putLease: (key, lease) => {
      sidecar.leases[key] = lease;
    },

    handoff: (key) => {
      const record = sidecar.handoffs[key];
      // As text, so that raw numbers become ordinary numbers.
      return record && { state: JSON.stringify(record.state), version: undefined };
    },
    putHandoff: ({ key, state, now }) => {
      delete sidecar.handoffs[key];
      sidecar.handoffs[key] = { updatedAt: now, state: JSON.parse(state) };
    },
    deleteHandoff: (key) => remove(sidecar.handoffs, key),

    // Listeners compare states.
    recordChange: () => undefined,
  };
}

type WindowRows = Pick<StoreRows, "deleteEntry" | "windows" | "findWindows" | "putWindow" | "removeWindow">;

function windowRows(state: StoreState | StoreDraft, owner: KeyOwner): WindowRows {
  const { entries, sidecar } = state;
  return {
    deleteEntry: (key) => {
      if ("removedWindows" in state) state.removedWindows.push(...windowsOf(key, entries, sidecar));
      entries.remove(key);
      delete sidecar.windows[key];
    },
    windows: (key) => windowsOf(key, entries, sidecar),
    findWindows: (prefix, limit) =>
      [...keysWithWindows(entries, sidecar, owner)]
        .flatMap((key) => windowsOf(key, entries, sidecar))
        .filter(({ sessionId }) => sessionId.startsWith(prefix))
        .toSorted((a, b) => b.openedAt - a.openedAt)
        .slice(0, limit),
    putWindow: (window) => {
      const others = without(sidecar.windows[window.key] ?? [], window.sessionId);
      sidecar.windows[window.key] = [...others, window].toSorted((a, b) => a.openedAt - b.openedAt);
    },
    removeWindow: (key, sessionId) => {
      const known = windowsOf(key, entries, sidecar);
      const left = without(known, sessionId);
      if (left.length === known.length) return false;
      sidecar.windows[key] = left;
      entries.removeOlder(key, sessionId);
      return true;
    },
  };
}

function without(windows: readonly Window[], sessionId: string): Window[] {
  return windows.filter((window) => window.sessionId !== sessionId);
}

type InboxRows = Pick<
  StoreRows,
  "inboxItem" | "inboxItemAt" | "pendingItems" | "givenUp" | "addInboxItem" | "putInboxItem"
>;

/** Items are in order of arrival: JavaScript sorts integer keys. */
function inboxRows(sidecar: Sidecar, owns: (item: InboxItem) => boolean): InboxRows {
  const { inbox } = sidecar;
  return {
    inboxItem: (id) => {
      const item = inbox[id];
      return item !== undefined && owns(item) ? item : undefined;
    },
    inboxItemAt: ({ channel, accountId, chatId, messageId }) =>
      Object.values(inbox).find(
        ({ address }) =>
          address.messageId === messageId &&
          address.chatId === chatId &&
          address.accountId === accountId &&
          address.channel === channel,
      ),
    pendingItems: (key) =>
      Object.values(inbox).filter((item) => !isEnded(item) && (key === undefined ? owns(item) : item.key === key)),
    givenUp: (limit) =>
      Object.values(inbox)
        .filter((item) => item.note === GIVEN_UP_NOTE && owns(item))
        .toReversed()
        .slice(0, limit),
    addInboxItem: ({ payload, ...message }) => {
      const id = sidecar.nextId++;
      const item: InboxItem = { id, ...message, payload: JSON.parse(payload), state: "queued", attempts: 0 };
      inbox[id] = item;
      return item;
    },
    putInboxItem: (item) => {
      inbox[item.id] = copyJson(item);
      // Given-up messages are counted until they are pruned.
      forgetOldest(inbox, (one) => isEnded(one) && one.note !== GIVEN_UP_NOTE);
    },
  };
}

function isEnded({ state }: InboxItem): boolean {
  return state === "done" || state === "dropped";
}

type OutboxRows = Pick<
  StoreRows,
  "outboxItem" | "outboxItemOf" | "hasWaitingBefore" | "due" | "routes" | "failures" | "addOutboxItem" | "putOutboxItem"
>;

function outboxRows(sidecar: Sidecar, owns: (item: OutboxItem) => boolean): OutboxRows {
  const { outbox } = sidecar;
  const waiting = (): OutboxItem[] => Object.values(outbox).filter((item) => !isSettled(item) && owns(item));
  return {
    outboxItem: (id) => {
      const item = outbox[id];
      return item !== undefined && owns(item) ? item : undefined;
    },
    outboxItemOf: (idempotencyKey) => Object.values(outbox).find((item) => item.idempotencyKey === idempotencyKey),
    hasWaitingBefore: (key, id) => waiting().some((item) => item.key === key && item.id < id),
    due: (now, limit, route) => {
      const wanted = route && routeOf({ target: route });
      const blocked = new Set<string>();
      const due: OutboxItem[] = [];
      for (const item of waiting()) {
        if (due.length >= limit) break;
        if (wanted !== undefined && routeOf(item) !== wanted) continue;
        const line = `${item.key} ${routeOf(item)}`;
        if (item.dueAt > now) blocked.add(line);
        else if (!blocked.has(line)) due.push(item);
      }
      return due;
    },
    routes: () =>
      [...Map.groupBy(waiting(), routeOf).values()].flatMap((items) => {
        const dueAt = Math.min(...items.map((item) => item.dueAt));
        return items.slice(0, 1).map(({ target: { channel, accountId } }) => {
          return { channel, accountId, waiting: items.length, dueAt };
        });
      }),
    failures: (limit) =>
      Object.values(outbox)
        .filter((item) => item.state === "failed" && owns(item))
        .toReversed()
        .slice(0, limit),
    addOutboxItem: (key, { payload, ...draft }, now) => {
      const id = sidecar.nextId++;
      const packed = { ...draft, payload: JSON.parse(payload) as unknown };
      const item: OutboxItem = { id, key, ...packed, createdAt: now, state: "pending", attempts: 0, dueAt: now };
      outbox[id] = item;
      return item;
    },
    putOutboxItem: (item) => {
      outbox[item.id] = copyJson(item);
      forgetOldest(outbox, isSettled);
    },
  };
}

function routeOf({ target: { channel, accountId } }: { target: DeliveryRoute }): string {
  return JSON.stringify([channel, accountId]);
}

function isSettled({ state }: OutboxItem): boolean {
  return state === "delivered" || state === "failed";
}

function pendingRows(sidecar: Sidecar): Pick<StoreRows, "pendingQueue" | "putPendingQueue"> {
  return {
    pendingQueue: (kind, key) => sidecar[kind][key],
    putPendingQueue: (kind, key, queue, change) => {
      const queues: Record<string, PendingQueue> = sidecar[kind];
      if (change.do === "add" || queue === undefined) delete queues[key];
      if (queue !== undefined) queues[key] = queue;
      if (change.do !== "add" || change.maxKeys === undefined) return;
      for (const oldest of Object.keys(queues).slice(0, -change.maxKeys)) delete queues[oldest];
    },
  };
}

/**
 * How many ended items stay, to recognize a repeated message or delivery. The file is rewritten for every message, so
 * it cannot keep all of them.
 */
const KEPT_WHEN_ENDED = 2000;

function forgetOldest<Item extends { id: number }>(
  items: Record<string, Item>,
  hasEnded: (item: Item) => boolean,
): void {
  const ended = Object.values(items).filter(hasEnded);
  for (const { id } of ended.slice(0, -KEPT_WHEN_ENDED)) delete items[id];
}

function endedRows(sidecar: Sidecar, owner: KeyOwner): Pick<StoreRows, "hasEndedBefore" | "prune"> {
  const idsOf = (queue: QueueName, before: number): number[] => {
    const { inbox, outbox } = sidecar;
    const ended =
      queue === "inbox"
        ? Object.values(inbox).filter((item) => isEnded(item) && item.receivedAt < before)
        : Object.values(outbox).filter((item) => isSettled(item) && item.createdAt < before);
    return ended.filter(({ key }) => isOwnKey(key, owner)).map(({ id }) => id);
  };
  return {
    hasEndedBefore: (queue, before) => idsOf(queue, before).length > 0,
    prune: (queue, before, limit) => {
      const ids = idsOf(queue, before).slice(0, limit);
      for (const id of ids) delete sidecar[queue][id];
      return ids.length;
    },
  };
}

function remove(record: Record<string, unknown>, key: string): boolean {
  const isThere = record[key] !== undefined;
  delete record[key];
  return isThere;
}
