/** Who gets the right to write, and for how long. */
import type { InboxItem } from "./inbox.ts";
import type { Lease } from "./lease.ts";
import type { DeliveryRoute } from "./outbox.ts";

export interface Leases {
  /** Takes a free, expired or orphaned lease; `held` tells who has it otherwise. Does not wait. */
  acquire(leased: Leased, options: AcquireOptions): Promise<LeaseAttempt>;
  /** Extends the lease; undefined when it was taken over meanwhile. */
  renew(lease: Lease, options: { ttlMs: number }): Promise<Lease | undefined>;
  /** Gives the lease back; does nothing when it was taken over meanwhile. */
  release(lease: Lease): Promise<void>;
  /** The lease that is in force; undefined when it is free. */
  current(leased: Leased): Promise<Lease | undefined>;
  /** Leases that were not given back, also expired and orphaned ones. */
  list(): Promise<Lease[]>;
  /** Rejects with kind `fenced` unless this is still the newest lease of its key. */
  assertCurrent(lease: Lease): Promise<void>;
}

/** A session, by its key; the deliveries of an account; or whatever another lease is for. Each is apart from all others. */
export type Leased = string | DeliveryRoute | Pick<Lease, "key">;

export interface AcquireOptions {
  ttlMs: number;
  /**
   * Lets the key's inbox item become running in the same commit, if it is the only one that is pending and
   * was never begun. Left out: nothing is claimed.
   */
  claim?: boolean;
}

export type LeaseAttempt = { acquired: true; lease: Lease; claimed?: InboxItem } | { acquired: false; held: Lease };
