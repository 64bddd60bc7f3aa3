/**
 * Leases that nobody will give back. They hold nobody up, but tell of a writer that is gone. The
 * expired lease of a live process is left alone: it may only be slow, and taking it would fence it.
 */
import { processState } from "../base/processes.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import { isDeliveryLease } from "../store/lease-key.ts";
import type { Diagnosis } from "./finding.ts";

const MOMENT_MS = 10_000;

export async function* checkLeases({ agentId, store, clock }: AgentHandle): AsyncGenerator<Diagnosis> {
  for (const lease of await store.leases.list()) {
    const { key, process, expiresAt } = lease;
    const state = processState(process);
    const isLeft = state === "dead" || (state === "unknown" && expiresAt <= clock.now());
    if (!isLeft) continue;
    const why = state === "dead" ? "has ended" : "no longer renews it";
    const what = isDeliveryLease(agentId, key) ? "The lease for deliveries" : "The lease";
    yield {
      finding: {
        severity: "warning",
        message: `${what} of process ${process.pid} on ${process.host}, which ${why}`,
        key,
        fix: "take the lease over and give it back",
      },
      mend: async () => {
        const attempt = await store.leases.acquire(lease, { ttlMs: MOMENT_MS });
        if (attempt.acquired) await store.leases.release(attempt.lease);
      },
    };
  }
}
