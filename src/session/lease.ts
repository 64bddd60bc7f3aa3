/**
 * Holds a session for writing. The lease is renewed in the background. If the process was paused and another
 * one took over, `fence` refuses the next write and `signal` stops the running task.
 */
import { HoldfastError } from "../base/errors.ts";
import { leaseLost } from "../store/store-errors.ts";
import type { AgentHandle } from "./agent-handle.ts";
import type { LeaseHolder } from "../store/transcripts.ts";
import type { AcquireOptions, InboxItem, Lease, Leased } from "../store/queues.ts";

/** `lease` is the latest state of the lease. */
export interface HeldLease extends LeaseHolder {
  /** Aborted when the lease is found lost. */
  readonly signal: AbortSignal;
}

interface LeaseOptions {
  /** How long to wait for a session that another process holds. Default: 10 s. */
  waitMs?: number | undefined;
  /** How long the lease stays valid without renewal. Default: as the store says. */
  ttlMs?: number | undefined;
}

const POLL_MS = 50;

export async function withSessionLease<T>(
  agent: AgentHandle,
  key: string,
  options: LeaseOptions,
  task: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const ttlMs = options.ttlMs ?? agent.store.leases.defaultTtlMs;
  const taken = keepRenewed(agent, await waitForLease(agent, key, options.waitMs ?? 10_000, ttlMs), ttlMs);
  try {
    return await task(taken.held);
  } finally {
    // An unreleased lease expires. Its error must not hide the task's outcome.
    await taken.release({ evenIf: "refused" }).catch((error: unknown) => {
      agent.logger.warn("could not release the lease", { key, error });
    });
  }
}

export interface TakenLease {
  held: HeldLease;
  /** Rejects if the store refuses, and keeps the lease renewed unless `evenIf` is set. */
  release(options?: { evenIf?: "refused" | undefined }): Promise<void>;
  /** Stops the renewal of a lease that was lost, or released together with something else. */
  forget(): void;
}

/**
 * Holds a session, or the deliveries of one account, over several tasks. Does not wait: returns the holder if there is
 * one. With `claim`, the session's only message is claimed too; see `AcquireOptions`.
 */
export async function acquireLease(
  agent: AgentHandle,
  leased: Leased,
  { ttlMs = agent.store.leases.defaultTtlMs, claim }: Partial<AcquireOptions> = {},
): Promise<(TakenLease & { claimed?: InboxItem | undefined }) | { heldBy: Lease }> {
  const attempt = await agent.store.leases.acquire(leased, { ttlMs, claim });
  if (!attempt.acquired) return { heldBy: attempt.held };
  return { ...keepRenewed(agent, attempt.lease, ttlMs), claimed: attempt.claimed };
}

function keepRenewed(agent: AgentHandle, taken: Lease, ttlMs: number): TakenLease {
  let lease = taken;
  const { key } = lease;
  const lost = new AbortController();
  const renewal = setInterval(() => {
    agent.store.leases.renew(lease, { ttlMs }).then(
      (renewed) => {
        if (renewed === undefined) lost.abort(leaseLost(lease));
        else lease = renewed;
      },
      (error: unknown) => agent.logger.warn("could not renew the lease; retrying", { key, error }),
    );
  }, ttlMs / 3);
  renewal.unref();
  return {
    held: {
      get lease() {
        return lease;
      },
      fence: createFence(agent, () => lease),
      signal: lost.signal,
    },
    forget: () => clearInterval(renewal),
    release: async ({ evenIf } = {}) => {
      if (evenIf === "refused") clearInterval(renewal);
      await agent.store.leases.release(lease);
      clearInterval(renewal);
    },
  };
}

/** How long the store's confirmation is trusted. */
const TRUST_MS = 20;

/**
 * Checks the lease with the store, at most every few milliseconds: no process can take over a lease that has not
 * expired. The monotonic clock shows that this process was not paused, the wall clock that it was not set forward.
 */
function createFence(agent: AgentHandle, current: () => Lease): () => Promise<void> {
  let trustedUntil = Number.NEGATIVE_INFINITY;
  return async () => {
    const asked = performance.now();
    const lease = current();
    const remainingMs = lease.expiresAt - agent.clock.now();
    if (asked < trustedUntil && remainingMs > 0) return;
    await agent.store.leases.assertCurrent(lease);
    trustedUntil = asked + Math.min(TRUST_MS, remainingMs);
  };
}

async function waitForLease(agent: AgentHandle, key: string, waitMs: number, ttlMs: number): Promise<Lease> {
  const startedAt = performance.now();
  for (;;) {
    const attempt = await agent.store.leases.acquire(key, { ttlMs });
    if (attempt.acquired) return attempt.lease;
    if (performance.now() - startedAt >= waitMs) throw sessionLocked(attempt.held);
    await agent.clock.sleep(POLL_MS);
  }
}

function sessionLocked({ key, process, expiresAt }: Lease): HoldfastError {
  const message = `Session ${key} is in use by process ${process.pid} on ${process.host}`;
  const hint = "Wait until that turn is done, or stop that process; its lease then expires.";
  return new HoldfastError("locked", "session-locked", message, { hint, data: { key, ...process, expiresAt } });
}
