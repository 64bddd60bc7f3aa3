/**
 * Which session a task goes to: one by its label, one that runs already, the best of the agent's own, or
 * none. Nothing here changes anything; whoever acts upon the answer takes the session's lease first.
 */
import { HoldfastError } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { rankCandidates } from "./rank-candidates.ts";
import { runningHere } from "./running-here.ts";
import type { SelectOptions, SelectionProject } from "./select-options.ts";
import type { SessionScore, SessionSelection } from "./selection.ts";

export async function selectSession(
  task: string,
  repoPath: string,
  agentId: string,
  project: SelectionProject,
  options: SelectOptions = {},
): Promise<SessionSelection> {
  if (task.trim() === "") throw emptyTask();
  const sessions = knownSessions(project, options);
  const { waiting = [], besides = [] } = options;
  if (options.label !== undefined && options.label !== "") {
    return selectByLabel(options.label, agentId, sessions, options);
  }

  // A process of ours that waits for a message is in nobody's way: the task can go to it, or it can be ended.
  const running = sessions.filter(({ isRunning, sessionId }) => isRunning && !waiting.includes(sessionId));
  const inTheWay = running.filter(({ sessionId }) => !besides.includes(sessionId));
  const [blocking] = runningHere(inTheWay, repoPath, project.git?.worktrees ?? []);
  if (blocking !== undefined && options.onRunning !== "worktree") return waitFor(blocking, options.onRunning);

  const own = sessions.filter((session) => session.agentId === agentId || session.originMarker === agentId);
  const taken = new Set([...running.map(({ sessionId }) => sessionId), ...besides]);
  const canTake = (session: DiscoveredSession): boolean =>
    waiting.includes(session.sessionId) || (isResumable(session) && !taken.has(session.sessionId));
  const candidates = own.filter(canTake);
  if (candidates.length === 0) {
    const reason = own.length === 0 ? "has no session in this repo yet" : "has no session here that can be resumed";
    return {
      action: "fresh",
      reason: `Start fresh: agent ${printableLine(agentId, 60)} ${reason}.`,
      scores: [],
      relevanceBy: "none",
    };
  }
  const { scores, relevanceBy } = await rankCandidates(task, repoPath, candidates, project, options);
  return { ...decide(scores, candidates, waiting), scores, relevanceBy };
}

function knownSessions(project: SelectionProject, options: SelectOptions): DiscoveredSession[] {
  const { active, recent, ownRecent } = project.sessions;
  // What is known to run comes last and wins: the list may have been read a moment earlier.
  const listed = [...(options.sessions ?? [...ownRecent, ...recent]), ...active];
  return Array.from(new Map(listed.map((session) => [session.sessionId, session])).values());
}

/** Neither a copy in the archive nor a name in a registry is anything that Claude Code could open. */
function isResumable(session: DiscoveredSession): boolean {
  const isKnownByNameOnly = session.transcriptPath === undefined && session.messageCount === 0;
  return session.archived !== true && !isKnownByNameOnly;
}

async function selectByLabel(
  label: string,
  agentId: string,
  sessions: readonly DiscoveredSession[],
  options: SelectOptions,
): Promise<SessionSelection> {
  const shown = printableLine(label, 60);
  const none = { label, scores: [], relevanceBy: "none" as const };
  const inList = sessions.find((session) => session.label === label && session.agentId === agentId)?.sessionId;
  const sessionId = options.findByLabel === undefined ? inList : await options.findByLabel(label);
  if (sessionId === undefined) {
    return { ...none, action: "fresh", reason: `Start fresh: no session has the label "${shown}" yet.` };
  }
  const session = sessions.find((known) => known.sessionId === sessionId);
  const isOpen = options.waiting?.includes(sessionId) === true;
  if (session !== undefined && !isOpen && !isResumable(session)) {
    return { ...none, action: "fresh", reason: `Start fresh: the transcript of the session "${shown}" is gone.` };
  }
  if (isOpen) {
    return {
      ...none,
      action: "continue",
      sessionId,
      reason: `The session "${shown}" is open and waits for a message.`,
    };
  }
  if (session?.isRunning === true) return { ...waitFor(session, options.onRunning), label };
  return { ...none, action: "resume", sessionId, reason: `Resume the session with the label "${shown}".` };
}

function waitFor(session: DiscoveredSession, onRunning: SelectOptions["onRunning"]): SessionSelection {
  const by = session.running === undefined ? "" : ` in process ${session.running.pid}`;
  const who = `${nameOf(session)} is running${by}`;
  const { sessionId } = session;
  return onRunning === "fork"
    ? { action: "fork", sessionId, reason: `Fork: ${who}.`, scores: [], relevanceBy: "none" }
    : { action: "queue", sessionId, reason: `Wait: ${who}.`, scores: [], relevanceBy: "none" };
}

function decide(
  scores: readonly SessionScore[],
  candidates: readonly DiscoveredSession[],
  waiting: readonly string[],
): Pick<SessionSelection, "action" | "sessionId" | "reason"> {
  const [best] = scores;
  const session = candidates.find(({ sessionId }) => sessionId === best?.sessionId);
  if (best === undefined || session === undefined) return { action: "fresh", reason: "Start fresh." };
  // Rounded down: 0.599 must not read as if it had reached 0.6.
  const points = (Math.floor(best.score * 100 + 1e-6) / 100).toFixed(2);
  if (best.recommendation === "fresh") {
    return {
      action: "fresh",
      reason: `Start fresh: the best match, ${nameOf(session)}, scores ${points} (${best.reason}).`,
    };
  }
  const { sessionId } = session;
  return waiting.includes(sessionId)
    ? { action: "continue", sessionId, reason: `Go on in ${nameOf(session)}, which is open (${best.reason}).` }
    : { action: "resume", sessionId, reason: `Resume ${nameOf(session)}: score ${points} (${best.reason}).` };
}

function nameOf(session: DiscoveredSession): string {
  const title = printableLine(session.title ?? session.firstMessage, 50);
  const id = printableLine(session.sessionId.slice(0, 8));
  return title === "" ? `session ${id}` : `"${title}" (${id})`;
}

function emptyTask(): HoldfastError {
  return new HoldfastError("usage", "task-empty", "There is no task to choose a session for.", {
    hint: "Say in a sentence what is to be done.",
  });
}
