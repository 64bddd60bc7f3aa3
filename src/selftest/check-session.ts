/** Compares one session with what was acknowledged, and takes over what an operation in flight has done. */
import { join } from "node:path";
import { fileExists } from "../base/files.ts";
import { type AgentHandle, windowTranscriptName } from "../session/agent-handle.ts";
import { listArchives } from "../session/archive.ts";
import type { Window } from "../store/store.ts";
import { checkTranscript } from "./check-transcript.ts";
import { type ExpectedSession, expectWindow } from "./expectation.ts";
import { type CountedEntry, type Operation, textsOf } from "./operations.ts";

/** `inFlight` is an operation on this session. */
export async function checkSession(
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
    if (session.state === "archived") return ["the archived session is back although nobody restored it"];
    problems.push(...checkCurrent(session, entry.sessionId, inFlight), ...checkCount(session, entry, inFlight));
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

function checkCount(session: ExpectedSession, entry: CountedEntry, inFlight: Operation | undefined): string[] {
  const { count = 0, lastNumber = 0 } = entry.selftest ?? {};
  if (inFlight?.name === "count" && count === session.count + 1 && lastNumber === inFlight.number) {
    session.count = count;
    session.lastNumber = lastNumber;
  }
  if (count === session.count && lastNumber === session.lastNumber) return [];
  return [`counted ${count} times, last by ${lastNumber}; acknowledged ${session.count}, last ${session.lastNumber}`];
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
    else problems.push(`window ${sessionId} is listed and nobody opened it`);
  }
  const open = windows.filter(({ closedAt }) => closedAt === undefined).map(({ sessionId }) => sessionId);
  const rightlyOpen = session.state === "absent" ? [] : [session.current];
  if (open.join() !== rightlyOpen.join())
    problems.push(`open windows: ${open.join()} instead of ${rightlyOpen.join()}`);
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
