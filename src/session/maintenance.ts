/** Archives old, excess or large sessions. Off by default; nothing is deleted. */
import { stat } from "node:fs/promises";
import { DAY_MS } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import type { MaintenanceConfig } from "../config/config.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { ListedSession, Window } from "../store/store.ts";
import { type AgentHandle, locateWindowTranscript } from "./agent-handle.ts";
import { archiveSession, archiveWindow } from "./archive.ts";
import { withSessionLease } from "./lease.ts";
import type { Lease } from "../store/queues.ts";

interface MaintenanceAction {
  what: "session" | "window";
  key: string;
  sessionId: string;
  reason: "age" | "count" | "size";
}

const PAGE = 500;

export async function maintainSessions(
  agent: AgentHandle,
  limits: MaintenanceConfig,
  options: { dryRun?: boolean | undefined } = {},
): Promise<MaintenanceAction[]> {
  const plan = [...(await sessionsToArchive(agent, limits)), ...(await windowsToArchive(agent, limits))];
  if (options.dryRun === true) return plan.map(({ action }) => action);
  const done: MaintenanceAction[] = [];
  for (const step of plan) if (await takeStep(agent, step)) done.push(step.action);
  return done;
}

interface Step {
  action: MaintenanceAction;
  /** Returns false if the session was used since the plan was made. */
  archive: (lease: Lease) => Promise<boolean>;
}

async function sessionsToArchive(agent: AgentHandle, limits: MaintenanceConfig): Promise<Step[]> {
  const { archiveAfterDays, maxSessions } = limits;
  if (archiveAfterDays === undefined && maxSessions === undefined) return [];
  const oldest = archiveAfterDays === undefined ? 0 : agent.clock.now() - archiveAfterDays * DAY_MS;
  const steps: Step[] = [];
  let position = 0;
  for await (const { key, entry } of allSessions(agent)) {
    const isMain = key === buildAgentMainSessionKey(agent);
    const tooOld = entry.updatedAt < oldest;
    const tooMany = maxSessions !== undefined && position >= maxSessions;
    position++;
    if (isMain || (!tooOld && !tooMany)) continue;
    const reason = tooOld ? "age" : "count";
    steps.push({
      action: { what: "session", key, sessionId: entry.sessionId, reason },
      archive: async (lease) => {
        const current = await agent.store.get(key);
        if (current?.sessionId !== entry.sessionId || current.updatedAt !== entry.updatedAt) return false;
        await archiveSession(agent, key, { reason, lease });
        return true;
      },
    });
  }
  return steps;
}

async function windowsToArchive(agent: AgentHandle, { maxMegabytes }: MaintenanceConfig): Promise<Step[]> {
  if (maxMegabytes === undefined) return [];
  const measured: { window: Window; bytes: number }[] = [];
  for await (const { key } of allSessions(agent)) {
    for (const window of await agent.store.windows(key)) {
      if (window.archive === undefined) measured.push({ window, bytes: await transcriptSize(agent, window) });
    }
  }
  let excess = measured.reduce((sum, { bytes }) => sum + bytes, 0) - maxMegabytes * 1024 * 1024;
  const closed = measured.filter(({ window }) => window.closedAt !== undefined);
  const steps: Step[] = [];
  for (const { window, bytes } of closed.toSorted((a, b) => a.window.openedAt - b.window.openedAt)) {
    if (excess <= 0) break;
    excess -= bytes;
    const { key, sessionId } = window;
    steps.push({
      action: { what: "window", key, sessionId, reason: "size" },
      archive: async () => {
        const current = await agent.store.get(key);
        // Archived with its session just now, or reopened.
        if (current === undefined || current.sessionId === sessionId) return false;
        await archiveWindow(agent, window);
        return true;
      },
    });
  }
  return steps;
}

/** Newest first, one page at a time. */
async function* allSessions(agent: AgentHandle): AsyncGenerator<ListedSession> {
  for (let offset = 0; ; offset += PAGE) {
    const { sessions } = await agent.store.list({ limit: PAGE, offset, fields: [] });
    yield* sessions;
    if (sessions.length < PAGE) return;
  }
}

async function transcriptSize(agent: AgentHandle, window: Window): Promise<number> {
  try {
    return (await stat(await locateWindowTranscript(agent, window))).size;
  } catch {
    return 0;
  }
}

/** Skips a session that is in use. */
async function takeStep(agent: AgentHandle, { action, archive }: Step): Promise<boolean> {
  try {
    return await withSessionLease(agent, action.key, { waitMs: 0 }, async ({ lease }) => await archive(lease));
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "locked") return false;
    throw error;
  }
}
