/**
 * Which of the sessions of Claude Code that have worked in a place goes on. They have nobody's name on them, so
 * the newest counts; one that is still open somewhere else is not finished and leaves nothing.
 */
import { isSubstantialItself } from "./inherit.ts";
import { isTellable } from "./kept-state.ts";
import type { SessionState } from "./state.ts";

export interface LeftFor {
  /** The session that begins. */
  sessionId: string;
  /** Sessions that a living process has. */
  running: ReadonlySet<string>;
  /** Whether a folder belongs to where the session begins. */
  isHere: (cwd: string) => boolean;
}

/** What somebody asked for, else the newest that has something to go on with. */
export function chooseLeft(
  states: readonly SessionState[],
  { sessionId, running, isHere }: LeftFor,
): SessionState | undefined {
  const newest = states
    .filter((state) => isTellable(state) && state.previousSessionId !== sessionId)
    // Its end was told, or nobody has it open.
    .filter((state) => state.reason === "ended" || !running.has(state.previousSessionId))
    .filter(({ cwd }) => cwd !== undefined && isHere(cwd))
    .sort((a, b) => Date.parse(b.lastMessageAt) - Date.parse(a.lastMessageAt));
  return newest.find(({ forced }) => forced === true) ?? newest.find(isSubstantialItself) ?? newest[0];
}
