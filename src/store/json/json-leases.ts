/** Leases in the sidecar. Taking one over is a change like any other, so exactly one taker wins. */
import type { Clock } from "../../base/clock.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Ids } from "../../base/ids.ts";
import { currentProcess, processState } from "../../base/processes.ts";
import type { Lease, Leases } from "../store.ts";
import { leaseLost } from "../store-errors.ts";
import { claimOnlyItem } from "./json-inbox.ts";
import { isNewest } from "./lease-state.ts";
import type { StoreAccess } from "./store-access.ts";
import type { Sidecar } from "./sidecar.ts";

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
        return { acquired: true, lease: structuredClone(lease), ...(claimed === undefined ? {} : { claimed }) };
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
