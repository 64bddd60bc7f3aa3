/**
 * What the windows before the present one leave, captured now if nobody has. The newest one counts; one in
 * which nothing of substance was said gives way to an older one.
 */
import type { HandoffConfig } from "../config/config.ts";
import { canonicalSessionKey } from "../keys/canonical-key.ts";
import { type AgentHandle, locateWindowTranscript } from "../session/agent-handle.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import type { Captures } from "./capture.ts";
import type { Sources } from "./capture-source.ts";
import { isExpired, isSubstantial, isTellable, readState } from "./kept-state.ts";
import type { CaptureReason, SessionState } from "./state.ts";
import { readSessionMark } from "../session/window.ts";

export interface WindowParts {
  agent: AgentHandle;
  config: HandoffConfig;
  sources: Sources;
  captures: Captures;
}

const MOST_WINDOWS = 5;

/** Keeps what it finds. */
export async function captureBefore(
  parts: WindowParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const windows = await windowsBefore(parts, key, entry);
  let left: SessionState | undefined;
  for (const [index, closed] of windows.entries()) {
    left = (await captureWindow(parts, entry, closed, index === 0).catch(unreadable(parts, closed))) ?? left;
    if (left !== undefined && isSubstantial(left)) break;
  }
  return left === undefined ? await keptOfOther(parts, key, entry) : await confirm(parts, left, entry);
}

/** An older window than the last one counts only if it has something to go on with. */
async function captureWindow(
  { agent, sources, captures }: WindowParts,
  entry: SessionEntry,
  { window, next }: ClosedWindow,
  isNewest: boolean,
): Promise<SessionState | undefined> {
  const source = await sources.ofWindow(entry, window);
  const reason = await whyLeft(agent, next);
  if (!isNewest) {
    const older = await captures.derive(source, reason);
    if (older === undefined || !isSubstantial(older) || isExpired(older, agent.clock.now())) return undefined;
  }
  return await captures.capture(source, reason);
}

/** One transcript that cannot be read must not hide what the others hold. */
function unreadable({ agent }: WindowParts, { window }: ClosedWindow): (error: unknown) => undefined {
  return (error) => {
    agent.logger.warn("what a window left cannot be captured", { sessionId: window.sessionId, error });
    return undefined;
  };
}

/** The same without keeping it, for a session whose own window is kept already. */
export async function deriveBefore(
  parts: WindowParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  for (const closed of await windowsBefore(parts, key, entry)) {
    const source = await parts.sources.ofWindow(entry, closed.window);
    const reason = await whyLeft(parts.agent, closed.next);
    const state = await parts.captures.derive(source, reason).catch(unreadable(parts, closed));
    if (state !== undefined && isSubstantial(state)) return state;
  }
  return undefined;
}

/** A kept state speaks for its own window's text: if that is another one by now, it is made anew. */
export async function confirm(
  { agent, sources, captures }: WindowParts,
  state: SessionState,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const windows = await agent.store.windows(state.sessionKey);
  const window = windows.find(({ sessionId }) => sessionId === state.previousSessionId);
  if (window === undefined) return state;
  const source = await sources.ofWindow(entry, window);
  if (await captures.isTrue(state, source)) return state;
  // Of a transcript that is gone nothing else is left.
  const anew = await captures.capture(source, "found");
  return anew ?? (await captures.derive(source, "found")) ?? state;
}

interface ClosedWindow {
  window: Window;
  /** The one after it, which tells why it was left. */
  next: Window | undefined;
}

/** Newest first. */
async function windowsBefore({ agent }: WindowParts, key: string, entry: SessionEntry): Promise<ClosedWindow[]> {
  const windows = await agent.store.windows(key);
  return windows
    .map((window, index) => ({ window, next: windows[index + 1] }))
    .filter(({ window }) => window.sessionId !== entry.sessionId)
    .sort((a, b) => (b.window.closedAt ?? b.window.openedAt) - (a.window.closedAt ?? a.window.openedAt))
    .slice(0, MOST_WINDOWS);
}

async function whyLeft(agent: AgentHandle, next: Window | undefined): Promise<CaptureReason> {
  switch (next?.reason) {
    case "command":
      return (await readSessionMark(await locateWindowTranscript(agent, next)))?.command ?? "reset";
    case "daily":
    case "idle":
      return next.reason;
    default:
      return "found";
  }
}

/** The window may be gone from the list, and what it left is still there. */
async function keptOfOther(
  { agent }: WindowParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const state = readState(await agent.store.handoffs.get(canonicalSessionKey(key, agent)));
  if (state === undefined || state.previousSessionId === entry.sessionId) return undefined;
  return isTellable(state) ? state : undefined;
}
