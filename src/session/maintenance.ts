/** Keeps an agent's folder within limits. Everything is off until configured; nothing is deleted. */
import { stat } from "node:fs/promises";
import type { MaintenanceConfig } from "../config/config.ts";
import { buildAgentMainSessionKey } from "../keys/session-key.ts";
import type { ListedSession, Window } from "../store/store.ts";
import { type AgentHandle, locateWindowTranscript } from "./agent-handle.ts";
import { archiveSession, archiveWindow } from "./archive.ts";

export interface MaintenanceAction {
  what: "session" | "window";
  key: string;
  sessionId: string;
  reason: "age" | "count" | "size";
}

const DAY_MS = 24 * 60 * 60 * 1000;
const PAGE = 500;

export async function maintainSessions(
  agent: AgentHandle,
  limits: MaintenanceConfig,
  options: { dryRun?: boolean } = {},
): Promise<MaintenanceAction[]> {
  const sessions = await sessionsToArchive(agent, limits);
  const windows = await windowsToArchive(agent, limits);
  if (options.dryRun === true) return [...sessions, ...windows.map(({ action }) => action)];

  for (const { key, sessionId, reason } of sessions) {
    // Somebody may have written to it since it was chosen; then it is in use and stays.
    await archiveSession(agent, key, { reason, expectedSessionId: sessionId });
  }
  for (const { window } of windows) await archiveWindow(agent, window);
  return [...sessions, ...windows.map(({ action }) => action)];
}

async function sessionsToArchive(agent: AgentHandle, limits: MaintenanceConfig): Promise<MaintenanceAction[]> {
  const { archiveAfterDays, maxSessions } = limits;
  if (archiveAfterDays === undefined && maxSessions === undefined) return [];
  const oldest = archiveAfterDays === undefined ? 0 : agent.clock.now() - archiveAfterDays * DAY_MS;
  const actions: MaintenanceAction[] = [];
  let position = 0;
  for await (const { key, entry } of allSessions(agent)) {
    const isMain = key === buildAgentMainSessionKey(agent);
    const tooOld = entry.updatedAt < oldest;
    const tooMany = maxSessions !== undefined && position >= maxSessions;
    position++;
    if (isMain || (!tooOld && !tooMany)) continue;
    actions.push({ what: "session", key, sessionId: entry.sessionId, reason: tooOld ? "age" : "count" });
  }
  return actions;
}

async function windowsToArchive(
  agent: AgentHandle,
  { maxMegabytes }: MaintenanceConfig,
): Promise<{ window: Window; action: MaintenanceAction }[]> {
  if (maxMegabytes === undefined) return [];
  const measured: { window: Window; bytes: number }[] = [];
  for await (const { key } of allSessions(agent)) {
    for (const window of await agent.store.windows(key)) {
      if (window.archive === undefined) measured.push({ window, bytes: await transcriptSize(agent, window) });
    }
  }
  let excess = measured.reduce((sum, { bytes }) => sum + bytes, 0) - maxMegabytes * 1024 * 1024;
  const closed = measured.filter(({ window }) => window.closedAt !== undefined);
  const chosen: { window: Window; action: MaintenanceAction }[] = [];
  for (const { window, bytes } of closed.toSorted((a, b) => a.window.openedAt - b.window.openedAt)) {
    if (excess <= 0) break;
    excess -= bytes;
    const { key, sessionId } = window;
    chosen.push({ window, action: { what: "window", key, sessionId, reason: "size" } });
  }
  return chosen;
}

/** Newest first, a page at a time. */
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
