/** The states of the windows before the current one, captured now if necessary. The newest with substance counts. */
import { type AgentHandle, locateWindowTranscript } from "../session/agent-handle.ts";
import { readSessionMark } from "../session/window.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Window } from "../store/store.ts";
import { handoffText, isHeartbeatEntry } from "../transcript/messages.ts";
import { readTranscript } from "../transcript/reader.ts";
import { type HandoffParts, confirmState } from "./kept-states.ts";
import { isExpired, isTellable, readState } from "./kept-state.ts";
import type { CaptureReason, SessionState } from "./state.ts";

const MAX_WINDOWS = 5;

/** Stores the state that it finds. */
export async function captureBefore(
  parts: HandoffParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  const { agent, captures } = parts;
  for (const [index, window] of (await windowsBefore(parts, key, entry)).entries()) {
    const state = await readable(parts, window, async () => {
      const { source, reason } = await sourceBefore(parts, entry, window);
      // The newest window replaces the stored state in any case, an older one only if it can be offered.
      const older = index === 0 ? undefined : await captures.derive(source, reason);
      const isWanted = index === 0 || (older !== undefined && !isExpired(older, agent.clock.now()));
      return isWanted ? await captures.capture(source, reason) : undefined;
    });
    if (state !== undefined) return await confirmState(parts, key, state);
  }
  // The window may be gone from the list while its state is still stored.
  const kept = readState(await agent.store.handoffs.get(key));
  return kept !== undefined && kept.previousSessionId !== entry.sessionId && isTellable(kept) ? kept : undefined;
}

/** The same without storing it, for a session whose current window is stored already. */
export async function deriveBefore(
  parts: HandoffParts,
  key: string,
  entry: SessionEntry,
): Promise<SessionState | undefined> {
  for (const window of await windowsBefore(parts, key, entry)) {
    const state = await readable(parts, window, async () => {
      const { source, reason } = await sourceBefore(parts, entry, window);
      return await parts.captures.derive(source, reason);
    });
    if (state !== undefined) return state;
  }
  return undefined;
}

/** An unreadable transcript must not hide the states of other windows. */
async function readable<T>(
  { agent }: HandoffParts,
  { window }: ClosedWindow,
  read: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    agent.logger.warn("the hand-off of a window cannot be captured", { sessionId: window.sessionId, error });
    return undefined;
  }
}

interface ClosedWindow {
  window: Window;
  /** The window after it, which records why this one ended. */
  next: Window | undefined;
}

/** Newest first. */
async function windowsBefore({ agent }: HandoffParts, key: string, entry: SessionEntry): Promise<ClosedWindow[]> {
  const windows = await agent.store.windows(key);
  return windows
    .map((window, index) => ({ window, next: windows[index + 1] }))
    .filter(({ window }) => window.sessionId !== entry.sessionId)
    .sort((a, b) => (b.window.closedAt ?? b.window.openedAt) - (a.window.closedAt ?? a.window.openedAt))
    .slice(0, MAX_WINDOWS);
}

async function sourceBefore({ agent, sources }: HandoffParts, entry: SessionEntry, { window, next }: ClosedWindow) {
  return { source: await sources.ofWindow(entry, window), reason: await endOfWindow(agent, next) };
}

async function endOfWindow(agent: AgentHandle, next: Window | undefined): Promise<CaptureReason> {
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

/** `begun`: a person has spoken. `told`: the person's first message came with a hand-off. */
export type WindowOpening = "new" | "begun" | "told";

/** A window without a person's message in its first entries counts as new. */
const MAX_ENTRIES = 200;

export async function readOpening(path: string): Promise<WindowOpening> {
  let entries = 0;
  try {
    for await (const item of readTranscript(path)) {
      if (item.kind !== "entry") continue;
      const { entry } = item;
      if (entry.type === "message" && entry.message.role === "user" && !isHeartbeatEntry(entry)) {
        return handoffText(entry.message.content) === undefined ? "begun" : "told";
      }
      if (++entries >= MAX_ENTRIES) break;
    }
  } catch {
    // Without a transcript the window counts as new.
  }
  return "new";
}
