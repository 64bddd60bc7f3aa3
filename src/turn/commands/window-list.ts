/** Windows as people name them: by their number in the list, by the start of their id, by what was said first. */
import { localTime } from "../../base/clock.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { readWindowTitle } from "../../session/window-title.ts";
import type { Window } from "../../store/store.ts";
import type { CommandRequest } from "./chat-command.ts";
import { shown } from "./shown.ts";

export interface NumberedWindow {
  /** From 1, oldest first. */
  number: number;
  window: Window;
}

export async function numberedWindows({ parts, sessionKey }: CommandRequest): Promise<NumberedWindow[]> {
  const windows = await parts.agent.store.windows(sessionKey);
  return windows.map((window, index) => ({ number: index + 1, window }));
}

export async function describeWindow(agent: AgentHandle, { number, window }: NumberedWindow): Promise<string> {
  const title = await readWindowTitle(agent, window);
  const state = window.closedAt === undefined ? "open" : `closed ${minute(window.closedAt)}`;
  const about = title === undefined ? "nothing said" : shown(title, 60);
  return `${number}. ${shown(window.sessionId.slice(0, 8))}  ${minute(window.openedAt)}  ${about}  (${window.reason}, ${state})`;
}

function minute(at: number): string {
  return localTime(at).slice(0, 16);
}

const SHORTEST_ID = 4;

/** By number, or by the unique start of the id. */
export function pickWindow(windows: readonly NumberedWindow[], wanted: string): NumberedWindow | undefined {
  if (/^\d{1,6}$/.test(wanted)) return windows[Number(wanted) - 1];
  if (wanted.length < SHORTEST_ID) return undefined;
  const matches = windows.filter(({ window }) => window.sessionId.startsWith(wanted.toLowerCase()));
  return matches.length === 1 ? matches[0] : undefined;
}

/** How many windows are looked into for words. */
const SEARCHED = 200;

/** Those whose title has all the words, oldest first. */
export async function matchWindows(
  agent: AgentHandle,
  windows: readonly NumberedWindow[],
  wanted: string,
): Promise<NumberedWindow[]> {
  const words = wanted.toLowerCase().split(/\s+/);
  const matches: NumberedWindow[] = [];
  for (const candidate of windows.slice(-SEARCHED)) {
    const title = (await readWindowTitle(agent, candidate.window))?.toLowerCase();
    if (title !== undefined && words.every((word) => title.includes(word))) matches.push(candidate);
  }
  return matches;
}
