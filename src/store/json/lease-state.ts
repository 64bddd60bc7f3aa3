/** Which lease of a key counts, as the sidecar tells it. */
import { leaseLost, leaseOfAnotherKey } from "../store-errors.ts";
import type { Lease } from "../store.ts";
import type { Sidecar } from "./sidecar.ts";

/** Refuses a write under a lease that is not the newest of the key. Without a lease: not fenced. */
export function assertLease(sidecar: Sidecar, key: string, lease: Lease | undefined): void {
  if (lease === undefined) return;
  if (lease.key !== key) throw leaseOfAnotherKey(lease, key);
  if (!isNewest(sidecar, lease)) throw leaseLost(lease);
}

/** An expired lease that nobody took is still the newest. */
export function isNewest(sidecar: Sidecar, lease: Lease): boolean {
  const held = sidecar.leases[lease.key]?.held;
  return held?.epoch === lease.epoch && held.holder === lease.holder;
}
