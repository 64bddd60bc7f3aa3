/**
 * Leases, hand-offs and pending items of a `json` store, in the sidecar. Taking a lease is an ordinary change, so
 * exactly one process wins.
 */
import { type PendingQueue, type PendingQueues, applyPendingChange } from "../pending.ts";
import { copyJson } from "./json-document.ts";
import { storable, claimOnlyItem } from "./json-queues.ts";
import type { Clock } from "../../base/clock.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Ids } from "../../base/ids.ts";
import { currentProcess, processState } from "../../base/processes.ts";
import { leaseLost } from "../store-errors.ts";
import type { Handoffs, KeptHandoff, Window } from "../store.ts";
import { type Sidecar, isNewest } from "./sidecar.ts";
import { windowsOf } from "./store-state.ts";
import type { StoreAccess } from "./store-access.ts";
import { checkListQuery, handoffToJson } from "../store-rules.ts";
import type { Lease, Leases } from "../queues.ts";

export function createLeases(access: StoreAccess, clock: Clock, ids: Ids): Leases {
  const heldNow = (sidecar: Sidecar, key: string): Lease | undefined => {
    const held = sidecar.leases[key]?.held;
    const isFree = held === undefined || held.expiresAt <= clock.now() || processState(held.process) === "dead";
    return isFree ? undefined : held;
  };

  return {
    async acquire(leased, { ttlMs, claim = false }) {
      const key = access.leaseKey(leased);
      return await access.change(({ sidecar }) => {
        const held = heldNow(sidecar, key);
        faultPoint("lease.read");
        if (held !== undefined) return { acquired: false, held: structuredClone(held) };
        const epoch = (sidecar.leases[key]?.epoch ?? 0) + 1;
        const lease = { key, epoch, holder: ids.uuid(), process: currentProcess(), expiresAt: clock.now() + ttlMs };
        sidecar.leases[key] = { epoch, held: lease };
        faultPoint("lease.taken");
        const claimed = claim ? claimOnlyItem(sidecar, key) : undefined;
        return { acquired: true, lease: structuredClone(lease), claimed };
      });
    },
    async renew(lease, { ttlMs }) {
      return await access.change(({ sidecar }) => {
        if (!isNewest(sidecar, lease)) return undefined;
        const renewed = { ...lease, expiresAt: clock.now() + ttlMs };
        sidecar.leases[lease.key] = { epoch: lease.epoch, held: structuredClone(renewed) };
        return renewed;
      });
    },
    async release(lease) {
      await access.change(({ sidecar }) => {
        if (isNewest(sidecar, lease)) sidecar.leases[lease.key] = { epoch: lease.epoch };
      });
    },
    async current(leased) {
      const key = access.leaseKey(leased);
      return structuredClone(heldNow(access.read().sidecar, key));
    },
    async list() {
      const records = Object.entries(access.read().sidecar.leases);
      return records.flatMap(([key, { held }]) => (held && access.ownsLease(key) ? [structuredClone(held)] : []));
    },
    async assertCurrent(lease) {
      if (!isNewest(access.read({ fresh: true }).sidecar, lease)) throw leaseLost(lease);
    },
  };
}

export function createHandoffs(access: StoreAccess, clock: Clock): Handoffs {
  return {
    async get(sessionKey) {
      const key = access.ownKey(sessionKey);
      return copyState(access.read().sidecar.handoffs[key]?.state);
    },
    async list({ limit } = {}) {
      checkListQuery(limit === undefined ? {} : { limit });
      const own = Object.entries(access.read().sidecar.handoffs).filter(([key]) => access.owns(key));
      // Sorting is stable: with equal times, the later change comes first.
      const newest = own.toReversed().toSorted(([, a], [, b]) => b.updatedAt - a.updatedAt);
      return newest
        .slice(0, limit)
        .map(([key, { updatedAt, state }]): KeptHandoff => ({ key, updatedAt, state: copyState(state) }));
    },
    async update(sessionKey, mutate, { ofWindow } = {}) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ entries, sidecar }) => {
        const before = sidecar.handoffs[key]?.state;
        const isThere = ({ sessionId }: Window): boolean => sessionId === ofWindow;
        const isGone = ofWindow !== undefined && !windowsOf(key, entries, sidecar).some(isThere);
        const returned = isGone ? undefined : mutate(copyState(before));
        if (returned === undefined) return copyState(before);
        const json = handoffToJson(returned);
        delete sidecar.handoffs[key];
        sidecar.handoffs[key] = { updatedAt: clock.now(), state: JSON.parse(json) };
        return JSON.parse(json) as unknown;
      });
    },
    async delete(sessionKey) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ sidecar }) => {
        const isThere = sidecar.handoffs[key] !== undefined;
        delete sidecar.handoffs[key];
        return isThere;
      });
    },
  };
}

/** Through text, so that raw numbers become ordinary numbers. */
function copyState(state: unknown): unknown {
  return state === undefined ? undefined : JSON.parse(JSON.stringify(state));
}

export function createPendingQueues(access: StoreAccess): PendingQueues {
  return {
    async read(kind, sessionKey) {
      const key = access.ownKey(sessionKey);
      return access.read().sidecar[kind][key];
    },
    async change(kind, sessionKey, change) {
      const key = access.ownKey(sessionKey);
      return await access.change(({ sidecar }) => {
        const queues = sidecar[kind];
        const before = queues[key];
        const { queue, result } = applyPendingChange(key, before, storable(change));
        if (queue === before) return result;
        if (change.do === "add" || queue === undefined) delete queues[key];
        if (queue !== undefined) queues[key] = queue;
        if (change.do === "add" && change.maxKeys !== undefined) dropOldestKeys(queues, change.maxKeys);
        return copyJson(result);
      });
    },
  };
}

function dropOldestKeys(queues: Record<string, PendingQueue>, maxKeys: number): void {
  const keys = Object.keys(queues);
  for (const key of keys.slice(0, Math.max(0, keys.length - maxKeys))) delete queues[key];
}
