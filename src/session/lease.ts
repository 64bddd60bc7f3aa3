/**
 * Holding a session for writing. The lease is renewed in the background; when the process was
 * paused for too long and somebody took over, the next write is refused by `fence`, and `signal`
 * tells a running task to stop.
 */
import { HoldfastError } from "../base/errors.ts";
import { leaseLost } from "../store/store-errors.ts";
import type { DeliveryRoute, InboxItem, Lease, Leased } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";

export interface HeldLease {
  /** The newest state of the lease; pass it to fenced writes. */
  readonly lease: Lease;
  /** Rejects with kind `fenced` when the session was taken over. */
  fence(): Promise<void>;
  /** Aborted as soon as it is known that the lease is lost. */
  readonly signal: AbortSignal;
}

export interface LeaseOptions {
  /** How long to wait for a session that another process is writing. Left out: 10 s. */
  waitMs?: number;
  /** How long the lease outlives a holder that stops renewing it. Left out: 30 s. */
  ttlMs?: number;
}

const POLL_MS = 50;

export async function withSessionLease<T>(
  agent: AgentHandle,
  key: string,
  options: LeaseOptions,
  task: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const ttlMs = options.ttlMs ?? DEFAULT_TTL_MS;
  const taken = keepRenewed(agent, await waitForLease(agent, key, options.waitMs ?? 10_000, ttlMs), ttlMs);
  try {
    return await task(taken.held);
  } finally {
    // A lease that could not be given back ends by itself; the task's own outcome must not be hidden.
    await taken.release({ evenIf: "refused" }).catch((error: unknown) => {
      agent.logger.warn("could not give the lease back", { key, error });
    });
  }
}

export interface TakenLease {
  held: HeldLease;
  /**
   * Gives the lease back. When the store refuses that, it rejects and the lease is still held and renewed,
   * unless it is to be let go of even then.
   */
  release(options?: { evenIf?: "refused" }): Promise<void>;
  /** The lease was lost, or given back together with something else. */
  forget(): void;
}

/**
 * For whoever holds a session over several tasks. Does not wait: resolves to who has it otherwise. With
 * `claim`, its only message is claimed with it; see `AcquireOptions`.
 */
export async function takeSessionLease(
  agent: AgentHandle,
  key: string,
  options: TakeOptions = {},
): Promise<(TakenLease & { claimed?: InboxItem }) | { heldBy: Lease }> {
  return await take(agent, key, options);
}

/** For whoever delivers through an account. Does not wait: resolves to who delivers otherwise. */
export async function takeDeliveryLease(
  agent: AgentHandle,
  route: DeliveryRoute,
): Promise<TakenLease | { heldBy: Lease }> {
  return await take(agent, route, {});
}

interface TakeOptions extends Pick<LeaseOptions, "ttlMs"> {
  claim?: boolean;
}

async function take(
  agent: AgentHandle,
  leased: Leased,
  { ttlMs = DEFAULT_TTL_MS, claim = false }: TakeOptions,
): Promise<(TakenLease & { claimed?: InboxItem }) | { heldBy: Lease }> {
  const attempt = await agent.store.leases.acquire(leased, { ttlMs, claim });
  if (!attempt.acquired) return { heldBy: attempt.held };
  const taken = keepRenewed(agent, attempt.lease, ttlMs);
  return attempt.claimed === undefined ? taken : { ...taken, claimed: attempt.claimed };
}

const DEFAULT_TTL_MS = 30_000;

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
      (error: unknown) => agent.logger.warn("could not renew the lease; trying again", { key, error }),
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

/** How long the store's answer counts. */
const TRUST_MS = 20;

/**
 * Asks the store, but not again within some milliseconds: while the lease has not run out, nobody can
 * have taken it over. Both clocks are looked at: the steady one tells that this process was not
 * paused, the other one that it was not moved forward.
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
  return new HoldfastError(
    "locked",
    "session-locked",
    `Session ${key} is being written by process ${process.pid} on ${process.host}`,
    {
      hint: "Wait until that turn is done, or stop that process; its lease then ends by itself.",
      data: { key, ...process, expiresAt },
    },
  );
}
