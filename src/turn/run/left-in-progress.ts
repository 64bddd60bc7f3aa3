/** What somebody is told who starts afresh in the middle of something: it is kept, and how to get at it. */
import { printableLine } from "../../base/printable.ts";
import type { TurnRequest } from "../turn.ts";
import type { BegunTurn } from "./begin-turn.ts";
import { captureWindow } from "./hand-over.ts";
import { resetWord } from "./turn-body.ts";

const MOST_SHOWN = 160;

/** One line; undefined when nothing was in progress. */
export async function leftInProgress(request: TurnRequest, { session }: BegunTurn): Promise<string | undefined> {
  const { parts } = request;
  const { sessionKey, previousSessionEntry: left, sessionCtx } = session;
  if (left === undefined) return undefined;
  const reason = resetWord(sessionCtx, parts.config.session.resetTriggers);
  const state = await captureWindow(parts, sessionKey, left, reason);
  if (state === undefined || !state.resumeAvailable || state.previousSessionId !== left.sessionId) return undefined;
  const [task] = state.summary.inProgress;
  if (task === undefined) return undefined;
  return `In progress was: ${printableLine(task, MOST_SHOWN).replace(/[.\s]+$/, "")}. Write on, or /handoff shows it.`;
}
