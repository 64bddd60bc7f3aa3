/**
 * Opens a home after a kill, as the next process would, and compares sessions, hand-offs and leases with the
 * acknowledged operations. Returns problems as sentences. Results of an operation in flight are added to the expectation.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { systemErrorCode } from "../base/errors.ts";
import { fileExists } from "../base/files.ts";
import { silentLogger } from "../base/log.ts";
import { DEFAULT_CONFIG } from "../config/config.ts";
import { agentLayout } from "../config/layout.ts";
import { type AgentHandle, windowTranscriptName } from "../session/agent-handle.ts";
import { listArchives } from "../session/archive.ts";
import type { StoreKind, Window } from "../store/store.ts";
import { checkQueues, checkRedelivery } from "./check-queues.ts";
import { checkTranscript } from "./check-transcript.ts";
import { type Expectation, type ExpectedSession, expectWindow } from "./expectation.ts";
import { type Operation, type CountedEntry, type Counter, textsOf } from "./operations.ts";
import { openAgent } from "../compose/agent.ts";

export interface HomeCheck {
  home: string;
  kind: StoreKind;
  expectation: Expectation;
  inFlight: Operation | undefined;
  /** Changes nothing, so that the next process finds the locks of the killed one. */
  onlyRead: boolean;
  /** Default: the system clock. */
  clock?: Clock | undefined;
}

export async function checkHome(check: HomeCheck): Promise<string[]> {
  const { home, kind, expectation, inFlight, clock = systemClock } = check;
  const problems = await checkSessionsFile(check);
  const hasSessions = [...expectation.sessions.values()].some(({ state }) => state !== "absent");
  try {
    const config = { ...DEFAULT_CONFIG, store: { kind, view: true } };
    const agent = await openAgent({ home, config, create: !hasSessions, clock, logger: silentLogger });
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

/** `sessions.json` must be valid JSON at any moment, as a store (`json`) or as a view (`sqlite`). */
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
    const handoff = (await agent.store.handoffs.get(session.key)) as Counter | undefined;
    const found = [...(await checkSession(agent, session, own)), ...checkCounter("handedOver", session, handoff, own)];
    problems.push(...found.map((problem) => `${session.key}: ${problem}`));
  }
  const live = [...expectation.sessions.values()].filter(({ state }) => state === "live");
  const { total } = await agent.store.list();
  if (total !== live.length) problems.push(`the store lists ${total} sessions instead of ${live.length}`);
  return [...problems, ...(await checkQueues(agent, expectation, inFlight))];
}

const TTL_MS = 60_000;

/** The lease of a dead holder is free at once, and the next holder gets a higher epoch. */
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

/** `inFlight` is an operation on this session. */
async function checkSession(
  agent: AgentHandle,
  session: ExpectedSession,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const entry: CountedEntry | undefined = await agent.store.get(session.key);
  const problems: string[] = [];
  if (entry === undefined) {
    if (session.state === "live" && inFlight?.name === "archive") session.state = "archived";
    if (session.state === "live") return ["the session is gone"];
  } else {
    if (session.state === "archived" && inFlight?.name === "restore") session.state = "live";
    if (session.state === "archived") return ["the archived session is back without a restore"];
    problems.push(
      ...checkCurrent(session, entry.sessionId, inFlight),
      ...checkCounter("counted", session, entry.selftest, inFlight),
    );
  }

  const windows =
    session.state === "archived" ? await archivedWindows(agent, session) : await agent.store.windows(session.key);
  if (windows === undefined) return [...problems, "no archive holds the session"];
  problems.push(...checkWindows(session, windows, inFlight));
  for (const window of windows) problems.push(...(await checkWindowTranscript(agent, session, window, inFlight)));
  return problems;
}

function checkCurrent(session: ExpectedSession, sessionId: string, inFlight: Operation | undefined): string[] {
  if (sessionId === session.current) return [];
  const moves = inFlight?.name === "open" || inFlight?.name === "reset";
  if (!moves || session.windows.has(sessionId)) {
    return [`the key points at ${sessionId} instead of ${session.current ?? "nothing"}`];
  }
  expectWindow(session, sessionId);
  return [];
}

/** Adds the operation in flight to the expectation if it was performed. */
function checkCounter(
  name: "counted" | "handedOver",
  session: ExpectedSession,
  found: Counter | undefined,
  inFlight: Operation | undefined,
): string[] {
  const { count, lastNumber } = found ?? { count: 0, lastNumber: 0 };
  const isOwn = inFlight?.name === (name === "counted" ? "count" : "hand-over") && lastNumber === inFlight.number;
  if (isOwn && count === session[name].count + 1) session[name] = { count, lastNumber };
  const expected = session[name];
  if (count === expected.count && lastNumber === expected.lastNumber) return [];
  const acknowledged = `acknowledged ${expected.count}, last ${expected.lastNumber}`;
  return [`${name} ${count} times, last by ${lastNumber}; ${acknowledged}`];
}

async function archivedWindows(agent: AgentHandle, session: ExpectedSession): Promise<Window[] | undefined> {
  const records = await listArchives(agent);
  return records.find(({ key, entry }) => key === session.key && entry.sessionId === session.current)?.windows;
}

function checkWindows(session: ExpectedSession, windows: readonly Window[], inFlight: Operation | undefined): string[] {
  const problems: string[] = [];
  const ids = windows.map(({ sessionId }) => sessionId);
  for (const sessionId of session.windows.keys()) {
    if (!ids.includes(sessionId)) problems.push(`window ${sessionId} is no longer listed`);
  }
  if (new Set(ids).size < ids.length) problems.push("a window is listed twice");
  for (const sessionId of ids) {
    if (session.windows.has(sessionId) || session.strays.has(sessionId)) continue;
    if (inFlight?.name === "reset" || inFlight?.name === "open") session.strays.add(sessionId);
    else problems.push(`window ${sessionId} is listed but was never opened`);
  }
  const open = windows.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId);
  const expectedOpen = session.state === "absent" ? [] : [session.current];
  if (open.join() !== expectedOpen.join())
    problems.push(`open windows: ${open.join()} instead of ${expectedOpen.join()}`);
  return problems;
}

async function checkWindowTranscript(
  agent: AgentHandle,
  session: ExpectedSession,
  window: Window,
  inFlight: Operation | undefined,
): Promise<string[]> {
  const path = await locate(agent, session, window);
  if (path === undefined) return [`the transcript of window ${window.sessionId} is missing`];
  const texts = session.windows.get(window.sessionId) ?? [];
  const isAppending = inFlight?.name === "append" && window.sessionId === session.current;
  const possible = isAppending ? textsOf(inFlight) : [];
  const { found, problems } = await checkTranscript(path, agent.sessionsFolder, texts, possible);
  texts.push(...possible.slice(0, found - texts.length));
  return problems;
}

async function locate(agent: AgentHandle, session: ExpectedSession, window: Window): Promise<string | undefined> {
  const name = windowTranscriptName(window);
  const folders = session.state === "live" ? [agent.sessionsFolder] : [agent.archiveFolder, agent.sessionsFolder];
  for (const folder of folders) if (await fileExists(join(folder, name))) return join(folder, name);
  return undefined;
}
