/**
 * Leases. Whether a lease is free to take is judged here, where clock and processes can be seen; it
 * is then taken by comparing with exactly the lease that was judged, so that of several that see the
 * same free lease one wins.
 */
import type { Clock } from "../../base/clock.ts";
import { faultPoint } from "../../base/faults.ts";
import type { Ids } from "../../base/ids.ts";
import { currentProcess, processState } from "../../base/processes.ts";
import type { AcquireOptions, Lease, LeaseAttempt, Leases } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import type { Executor } from "./executor.ts";
import type { Gate } from "./gate.ts";
import type { LeaseWithItem } from "./inbox-rows.ts";
import { type StoredLease, type TakeLease, assertLease, listLeases, readLease } from "./lease-rows.ts";

export interface LeaseParts {
  database: SqliteDatabase;
  executor: Executor;
  gate: Gate;
  clock: Clock;
  ids: Ids;
}

export function createLeases({ database, executor, gate, clock, ids }: LeaseParts): Leases {
  const tryAcquire = async (key: string, { ttlMs, claim }: AcquireOptions): Promise<LeaseAttempt> => {
    for (;;) {
      const seen = readLease(database, key);
      faultPoint("lease.read");
      if (seen !== undefined && isInForce(seen, clock.now())) return { acquired: false, held: withoutState(seen) };
      const lease: Lease = {
        key,
        epoch: (seen?.epoch ?? 0) + 1,
        holder: ids.uuid(),
        process: currentProcess(),
        expiresAt: clock.now() + ttlMs,
      };
      const { taken, claimed } = await take({ lease, seen }, claim === true).catch(async (error: unknown) => {
        // It may have been written all the same, and nobody would give it back.
        await executor.write("releaseLease", lease).catch(() => undefined);
        throw error;
      });
      if (!taken) continue;
      faultPoint("lease.taken");
      return { acquired: true, lease, ...(claimed === undefined ? {} : { claimed }) };
    }
  };
  const take = async (given: TakeLease, claim: boolean): Promise<LeaseWithItem> =>
    claim
      ? await executor.write("takeLeaseAndItem", given)
      : { taken: await executor.write("takeLease", given), claimed: undefined };

  return {
    acquire: (leased, options) => gate.withLeased(leased, async (key) => await tryAcquire(key, options)),
    renew: (lease, { ttlMs }) =>
      gate.withLease(lease, async () => {
        const renewed = { ...lease, expiresAt: clock.now() + ttlMs };
        return (await executor.write("renewLease", renewed)) ? renewed : undefined;
      }),
    release: (lease) => gate.withLease(lease, async () => await executor.write("releaseLease", lease)),
    current: (leased) =>
      gate.withLeased(leased, (key) => {
        const stored = readLease(database, key);
        return stored !== undefined && isInForce(stored, clock.now()) ? withoutState(stored) : undefined;
      }),
    list: () => gate.run(() => listLeases(database)),
    assertCurrent: (lease) => gate.withLease(lease, () => assertLease(database, lease, lease.key)),
  };
}

/** The lease of a process that has ended is free at once; one on another host only by its time. */
function isInForce(lease: StoredLease, now: number): boolean {
  return !lease.released && lease.expiresAt > now && processState(lease.process) !== "dead";
}

function withoutState({ released: _released, ...lease }: StoredLease): Lease {
  return lease;
}
