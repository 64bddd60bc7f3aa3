/**
 * Holds a session for writing. The lease is renewed in the background. If the process was paused and another
 * one took over, `fence` refuses the next write and `signal` stops the running task. A process that cannot reach a
 * store of several machines stops before its lease ends, so that two of them never run the same turn.
 */
import { HoldfastError, hasCode } from "../base/errors.ts";
import { leaseLost } from "../store/store-errors.ts";
import type { AgentHandle } from "./agent-handle.ts";
import type { LeaseHolder } from "../store/transcripts.ts";
import type { StoreChange } from "../store/store.ts";
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
const CHECK_MS = 20;

export async function withSessionLease<T>(
  agent: AgentHandle,
  key: string,
  options: LeaseOptions,
  task: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const ttlMs = options.ttlMs ?? agent.store.leases.defaultTtlMs;
  const taken = keepRenewed(agent, await waitForLease(agent, key, options.waitMs ?? 10_000, ttlMs));
  try {
    return await task(taken.held);
  } finally {
    // An unreleased lease expires. Its error must not hide the task's outcome.
    await taken.release({ evenIf: "refused" }).catch((error: unknown) => {
      agent.logger.warn("could not release the lease", { key, error });
    });
  }
}

export type TakenLease = ReturnType<typeof keepRenewed>;

/**
 * Holds a session, or the deliveries of one account, over several tasks. Does not wait: returns the holder if there is
 * one. With `claim`, the session's only message is claimed too; see `AcquireOptions`.
 */
export async function acquireLease(
  agent: AgentHandle,
  leased: Leased,
  { ttlMs = agent.store.leases.defaultTtlMs, claim, stopsInDoubt }: Partial<AcquireOptions> & DoubtOptions = {},
): Promise<(TakenLease & { claimed?: InboxItem | undefined }) | { heldBy: Lease }> {
  const askedAt = performance.now();
  const attempt = await agent.store.leases.acquire(leased, { ttlMs, claim });
  if (!attempt.acquired) return { heldBy: attempt.held };
  const taken = { lease: attempt.lease, askedAt, ttlMs, stopsInDoubt };
  return { ...keepRenewed(agent, taken), claimed: attempt.claimed };
}

interface DoubtOptions {
  /**
   * The lease counts as lost when other processes may think that this one is dead, which happens when the connection to
   * a shared store is lost for a moment. For work that is cheap to stop. Default: the lease is checked then.
   */
  stopsInDoubt?: boolean | undefined;
}

interface Acquired extends DoubtOptions {
  lease: Lease;
  /** When the store was asked, by the monotonic clock: the lease cannot end earlier than `ttlMs` after it. */
  askedAt: number;
  ttlMs: number;
}

function keepRenewed(agent: AgentHandle, acquired: Acquired) {
  const { lease: taken, askedAt: takenAt, ttlMs, stopsInDoubt = false } = acquired;
  const { leases } = agent.store;
  let lease = taken;
  const { key } = lease;
  const lost = new AbortController();
  let deadline: NodeJS.Timeout | undefined;
  let isOver = false;
  const stopBeforeItEnds = (askedAt: number): void => {
    if (leases.marginMs === undefined) return;
    clearTimeout(deadline);
    const remainingMs = askedAt + ttlMs - leases.marginMs - performance.now();
    deadline = setTimeout(() => lost.abort(leaseNotRenewed(lease)), Math.max(0, remainingMs)).unref();
  };
  stopBeforeItEnds(takenAt);
  const renew = (): void => {
    const askedAt = performance.now();
    leases.renew(lease, { ttlMs }).then(
      (renewed) => {
        if (renewed === undefined) return lost.abort(leaseLost(lease));
        lease = renewed;
        if (!isOver) stopBeforeItEnds(askedAt);
      },
      (error: unknown) => agent.logger.warn("could not renew the lease; retrying", { key, error }),
    );
  };
  const renewal = setInterval(renew, ttlMs / 3);
  let checking: NodeJS.Timeout | undefined;
  /** The change may be a take-over by a node that thinks that this one is dead. Usually it is a release by this one. */
  const onChange = ({ what, key: changed }: StoreChange): void => {
    if (what === "lease" && changed === key) checking ??= setTimeout(renew, CHECK_MS).unref();
  };
  renewal.unref();
  const stopListening = leases.marginMs === undefined ? undefined : agent.store.onChange(onChange);
  const stopDoubting = leases.onDoubt?.(stopsInDoubt ? () => lost.abort(leaseNotRenewed(lease)) : renew);
  const stop = (): void => {
    isOver = true;
    stopListening?.();
    stopDoubting?.();
    clearTimeout(checking);
    clearInterval(renewal);
    clearTimeout(deadline);
  };
  const held: HeldLease = {
    get lease() {
      return lease;
    },
    fence: createFence(agent, () => lease),
    signal: lost.signal,
  };
  return {
    held,
    /** Stops the renewal of a lease that was lost, or released together with something else. */
    forget: stop,
    /** Rejects if the store refuses, and keeps the lease renewed unless `evenIf` is set. */
    release: async ({ evenIf }: { evenIf?: "refused" | undefined } = {}): Promise<void> => {
      if (evenIf === "refused") stop();
      await leases.release(lease);
      stop();
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

async function waitForLease(agent: AgentHandle, key: string, waitMs: number, ttlMs: number): Promise<Acquired> {
  const startedAt = performance.now();
  for (;;) {
    const askedAt = performance.now();
    const attempt = await agent.store.leases.acquire(key, { ttlMs });
    if (attempt.acquired) return { lease: attempt.lease, askedAt, ttlMs };
    if (performance.now() - startedAt >= waitMs) throw sessionLocked(attempt.held);
    await agent.clock.sleep(POLL_MS);
  }
}

const NOT_RENEWED_CODE = "lease-not-renewed";

function leaseNotRenewed({ key, epoch }: Lease): HoldfastError {
  const message = `The lease of ${key} could not be renewed in time`;
  const hint = "The store could not be reached. The work is repeated, here or on another machine.";
  return new HoldfastError("fenced", NOT_RENEWED_CODE, message, { hint, data: { key, epoch } });
}

/** Whether this process gave the lease up because it could not reach the store. */
export function isNotRenewed({ signal }: HeldLease): boolean {
  return signal.aborted && hasCode(signal.reason, NOT_RENEWED_CODE);
}

function sessionLocked({ key, process, expiresAt }: Lease): HoldfastError {
  const message = `Session ${key} is in use by process ${process.pid} on ${process.host}`;
  const hint = "Wait until that turn is done, or stop that process; its lease then expires.";
  return new HoldfastError("locked", "session-locked", message, { hint, data: { key, ...process, expiresAt } });
}
