/** A lease, and what a write says that depends on one. */
import type { ProcessIdentity } from "../../base/processes.ts";

/** The right to write one session, or to deliver for one account. The epoch rises with every new holder and never falls. */
export interface Lease {
  key: string;
  epoch: number;
  /** Names the holder, unique to this acquisition. */
  holder: string;
  process: ProcessIdentity;
  /** Wall-clock instant (ms) after which anybody may take the lease over. */
  expiresAt: number;
}

export interface WriteOptions {
  /** Refuse the write when this is no longer the newest lease of the key. Left out: not fenced. */
  lease?: Lease;
}
