/**
 * Messages that nobody is at: those that wait for an answer while no gateway runs, and replies that cannot
 * reach anybody. Nothing is mended here: what is missing is a gateway or a channel, and only a person knows.
 */
import { printableLine } from "../base/printable.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { DeliveryRoute } from "../store/store.ts";
import type { Diagnosis } from "./finding.ts";

export interface QueueFacts {
  gatewayMayRun: boolean;
  /** Whether a gateway of this configuration would deliver there. Left out: not known. */
  isConfigured?: ((route: DeliveryRoute) => boolean) | undefined;
}

/** Whoever runs a turn without a gateway is done by then. */
const LONG_MS = 10 * 60_000;
/** More than that are not counted. */
const MOST_FAILURES = 1000;
const LONGEST_REASON = 200;

export async function* checkQueues({ store, clock }: AgentHandle, facts: QueueFacts): AsyncGenerator<Diagnosis> {
  const now = clock.now();
  const waiting = facts.gatewayMayRun
    ? []
    : (await store.inbox.pending()).filter(({ receivedAt }) => now - receivedAt > LONG_MS);
  const [first] = waiting;
  if (first !== undefined) {
    const since = `the oldest for ${duration(now - first.receivedAt)}`;
    const message = `${count(waiting.length, "message")} ${waiting.length === 1 ? "waits" : "wait"} for an answer, ${since}, and no gateway runs: \`holdfast gateway\` starts one`;
    yield { finding: { severity: "warning", message, key: first.key } };
  }

  for (const route of await store.outbox.routes()) {
    if (facts.isConfigured === undefined || facts.isConfigured(route)) continue;
    const { channel, accountId, waiting: number } = route;
    const [oldest] = await store.outbox.due(Number.MAX_SAFE_INTEGER, 1, route);
    const since = oldest === undefined ? "" : `, the oldest for ${duration(now - oldest.createdAt)}`;
    const message = `${count(number, "reply", "replies")} ${number === 1 ? "waits" : "wait"} for ${printableLine(`${channel} (account ${accountId})`)}, which is not configured${since}`;
    yield { finding: { severity: "warning", message, ...(oldest === undefined ? {} : { key: oldest.key }) } };
  }

  const failures = await store.outbox.failures(MOST_FAILURES);
  const [newest] = failures;
  const oldest = failures.at(-1);
  if (newest !== undefined && oldest !== undefined) {
    const number =
      failures.length === MOST_FAILURES
        ? `At least ${MOST_FAILURES} replies`
        : count(failures.length, "reply", "replies");
    const reason = newest.note === undefined ? "" : `; the newest: ${printableLine(newest.note, LONGEST_REASON)}`;
    const message = `${number} could not be delivered, the oldest ${duration(now - oldest.createdAt)} ago${reason}`;
    yield { finding: { severity: "info", message, key: newest.key } };
  }
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
