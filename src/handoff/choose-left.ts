/**
 * Which native session of a repo is handed over. Native sessions have no person's name on them, so the newest counts.
 * One that is still open in another process is not finished and leaves nothing.
 */
import type { SessionState } from "./state.ts";

export interface LeftSession {
  state: SessionState;
  /** It leaves something to continue that it did not inherit. */
  isSubstantial: boolean;
}

export interface LeftFor {
  /** The session that starts. */
  sessionId: string;
  /** Sessions of running processes. */
  running: ReadonlySet<string>;
}

/** The one that a person asked for, else the newest with something to continue. */
export function chooseLeft<L extends LeftSession>(
  sessions: readonly L[],
  { sessionId, running }: LeftFor,
): L | undefined {
  const newest = sessions
    .filter(({ state }) => state.previousSessionId !== sessionId)
    .filter(({ state }) => state.reason === "ended" || !running.has(state.previousSessionId))
    .sort((a, b) => Date.parse(b.state.lastMessageAt) - Date.parse(a.state.lastMessageAt));
  return (
    newest.find(({ state }) => state.forced === true) ?? newest.find(({ isSubstantial }) => isSubstantial) ?? newest[0]
  );
}
