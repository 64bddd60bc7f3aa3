/**
 * Opens everything again after a kill, as the next process would, and compares it with what was
 * acknowledged. Each problem is a sentence; none means that every promise held.
 */
import { readFile } from "node:fs/promises";
import { type Clock, systemClock } from "../base/clock.ts";
import { systemErrorCode } from "../base/errors.ts";
import { silentLogger } from "../base/log.ts";
import { openAgent } from "../compose.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { agentLayout } from "../config/layout.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreKind } from "../store/store.ts";
import { checkHandoff } from "./check-handoff.ts";
import { checkQueues, checkRedelivery } from "./check-queues.ts";
import { checkSession } from "./check-session.ts";
import type { Expectation } from "./expectation.ts";
import type { Operation } from "./operations.ts";

export interface HomeCheck {
  home: string;
  kind: StoreKind;
  expectation: Expectation;
  inFlight: Operation | undefined;
  /** Change nothing, so that the next process finds the locks that the killed one left. */
  onlyRead: boolean;
  /** Left out: the clock of the system. */
  clock?: Clock;
}

export async function checkHome(check: HomeCheck): Promise<string[]> {
  const { home, kind, expectation, inFlight, clock = systemClock } = check;
  const problems = await checkSessionsFile(check);
  const isFounded = [...expectation.sessions.values()].some(({ state }) => state !== "absent");
  try {
    const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
    const agent = await openAgent({ home, config, create: !isFounded, clock, logger: silentLogger });
    try {
      problems.push(...(await checkAgent(agent, check)));
      if (!check.onlyRead) {
        problems.push(...(await checkLeases(agent, expectation)));
        problems.push(...(await checkRedelivery(agent, expectation, inFlight)));
      }
    } finally {
      await agent.store.close();
    }
  } catch (error) {
    problems.push(
      `the home cannot be used: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  return problems;
}

/** The store itself (`json`) or the view for other tools (`sqlite`): whole JSON at every instant. */
async function checkSessionsFile({ home, kind, expectation }: HomeCheck): Promise<string[]> {
  try {
    const sessions = JSON.parse(await readFile(agentLayout(home, "main").sessionsFile, "utf8")) as object;
    const strangers = Object.keys(sessions).filter((key) => !expectation.sessions.has(key));
    return strangers.map((key) => `sessions.json names the unknown session ${key}`);
  } catch (error) {
    const mayBeMissing =
      kind === "sqlite" || [...expectation.sessions.values()].every(({ windows }) => windows.size === 0);
    if (systemErrorCode(error) === "ENOENT" && mayBeMissing) return [];
    return [`sessions.json is not whole: ${String(error)}`];
  }
}

async function checkAgent(agent: AgentHandle, { expectation, inFlight }: HomeCheck): Promise<string[]> {
  const problems: string[] = [];
  for (const session of expectation.sessions.values()) {
    const own = inFlight?.key === session.key ? inFlight : undefined;
    const found = [...(await checkSession(agent, session, own)), ...(await checkHandoff(agent, session, own))];
    problems.push(...found.map((problem) => `${session.key}: ${problem}`));
  }
  const live = [...expectation.sessions.values()].filter(({ state }) => state === "live");
  const { total } = await agent.store.list();
  if (total !== live.length) problems.push(`the store lists ${total} sessions instead of ${live.length}`);
  return [...problems, ...(await checkQueues(agent, expectation, inFlight))];
}

const TTL_MS = 60_000;

/** A dead holder's lease is free at once, and whoever takes it gets a higher epoch. */
async function checkLeases({ store }: AgentHandle, expectation: Expectation): Promise<string[]> {
  const problems: string[] = [];
  for (const session of expectation.sessions.values()) {
    const attempt = await store.leases.acquire(session.key, { ttlMs: TTL_MS });
    if (!attempt.acquired) {
      problems.push(`${session.key}: the lease of the dead process ${attempt.held.process.pid} is still in force`);
      continue;
    }
    const { epoch } = attempt.lease;
    if (epoch <= session.epoch) problems.push(`${session.key}: epoch ${epoch} was given after ${session.epoch}`);
    session.epoch = Math.max(session.epoch, epoch);
    await store.leases.release(attempt.lease);
  }
  return problems;
}
