/** Checks of leases, inbox and outbox. */
import { processState } from "../base/processes.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { Diagnosis } from "./finding.ts";
import { printableLine } from "../base/text.ts";
import { isAccountLease } from "../store/store-rules.ts";
import type { DeliveryRoute } from "../store/queues.ts";

const TAKEOVER_MS = 10_000;

/**
 * Leases of dead processes. They block nothing, but show that a writer crashed. The expired lease of a live process is
 * not touched: the process may only be slow, and a takeover would fence it.
 */
export async function* checkLeases({ agentId, store, clock }: AgentHandle): AsyncGenerator<Diagnosis> {
  for (const lease of await store.leases.list()) {
    const { key, process, expiresAt } = lease;
    const state = processState(process);
    const isAbandoned = state === "dead" || (state === "unknown" && expiresAt <= clock.now());
    if (!isAbandoned) continue;
    const why = state === "dead" ? "has ended" : "no longer renews it";
    const what = isAccountLease(agentId, key) ? "The lease for an account" : "The lease";
    yield {
      severity: "warning",
      message: `${what} of process ${process.pid} on ${process.host}, which ${why}`,
      key,
      fix: "take the lease over and release it",
      repair: async () => {
        const attempt = await store.leases.acquire(lease, { ttlMs: TAKEOVER_MS });
        if (attempt.acquired) await store.leases.release(attempt.lease);
      },
    };
  }
}

/** Nodes of several versions, leases of dead nodes, and settings of the server that cost durability or speed. */
export async function* checkCluster({ store }: AgentHandle): AsyncGenerator<Diagnosis> {
  const state = await store.cluster?.describe();
  for (const message of state?.problems ?? []) yield { severity: "warning", message };
}

export interface QueueFacts {
  gatewayMayRun: boolean;
  /** Whether a gateway with this configuration would deliver there. Undefined if unknown. */
  isConfigured?: ((route: DeliveryRoute) => boolean) | undefined;
}

/** A turn without a gateway is done by then. */
const LONG_WAIT_MS = 10 * 60_000;
const MAX_COUNTED = 1000;
const MAX_REASON = 200;

/**
 * Messages that wait while no gateway runs, messages that were given up, and replies that cannot be delivered. Only a
 * person can start a gateway, set up a channel or send a message again, so nothing is repaired here.
 */
export async function* checkQueues({ store, clock }: AgentHandle, facts: QueueFacts): AsyncGenerator<Diagnosis> {
  const now = clock.now();
  const pending = facts.gatewayMayRun ? [] : await store.inbox.pending();
  const waiting = pending.filter(({ receivedAt }) => now - receivedAt > LONG_WAIT_MS);
  const [first] = waiting;
  if (first !== undefined) {
    const verb = waiting.length === 1 ? "waits" : "wait";
    const since = `the oldest for ${duration(now - first.receivedAt)}`;
    const message = `${count(waiting.length, "message")} ${verb} for an answer, ${since}, and no gateway runs. Start it with \`holdfast gateway\``;
    yield { severity: "warning", message, key: first.key };
  }

  const givenUp = await store.inbox.givenUp(MAX_COUNTED);
  const [lastGivenUp] = givenUp;
  if (lastGivenUp !== undefined) {
    const verb = givenUp.length === 1 ? "was" : "were";
    const since = `the newest ${duration(now - lastGivenUp.receivedAt)} ago`;
    const message = `${countUpTo(givenUp.length, "message")} ${verb} given up, ${since}; \`holdfast history ${printableLine(lastGivenUp.key)}\` shows why`;
    yield { severity: "warning", message, key: lastGivenUp.key };
  }

  for (const route of await store.outbox.routes()) {
    if (facts.isConfigured === undefined || facts.isConfigured(route)) continue;
    const { channel, accountId, waiting: number } = route;
    const [oldest] = await store.outbox.due(Number.MAX_SAFE_INTEGER, 1, route);
    const since = oldest === undefined ? "" : `, the oldest for ${duration(now - oldest.createdAt)}`;
    const target = printableLine(`${channel} (account ${accountId})`);
    const message = `${count(number, "reply", "replies")} ${number === 1 ? "waits" : "wait"} for ${target}, which is not configured${since}`;
    yield { severity: "warning", message, key: oldest?.key };
  }

  const failures = await store.outbox.failures(MAX_COUNTED);
  const [newest] = failures;
  const oldest = failures.at(-1);
  if (newest === undefined || oldest === undefined) return;
  const reason = newest.note === undefined ? "" : `; the newest: ${printableLine(newest.note, MAX_REASON)}`;
  const since = `the oldest ${duration(now - oldest.createdAt)} ago`;
  const message = `${countUpTo(failures.length, "reply", "replies")} could not be delivered, ${since}${reason}`;
  yield { severity: "info", message, key: newest.key };
}

function countUpTo(number: number, noun: string, plural?: string): string {
  return `${number === MAX_COUNTED ? "At least " : ""}${count(number, noun, plural)}`;
}

function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ["minute", 60_000];
  return count(Math.max(1, Math.floor(ms / size)), unit);
}
