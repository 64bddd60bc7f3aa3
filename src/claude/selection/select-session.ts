/**
 * Which session a task goes to: by its label, one that already runs, the best candidate, or none. Selection
 * changes nothing; the runner takes the session's lease before it acts.
 *
 * The session of a chat is chosen only for that chat, because its conversation is private. A labelled
 * session is chosen only by its label.
 */
import { HoldfastError } from "../../base/errors.ts";
import { silentLogger } from "../../base/log.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { type DiscoveredSession, agentsOf, budgetUsed, visibleTo } from "../discovered-session.ts";
import { checkTaskLabel, labelOfChat } from "../registry/registry.ts";
import { gatherEvidence } from "./evidence.ts";
import { scoreOffline } from "./offline/score-offline.ts";
import { assessTaskRelevance } from "./relevance.ts";
import { likelihoods, scoreSession } from "./score.ts";
import {
  type Evidence,
  type SelectOptions,
  type SelectionAction,
  type SelectionProject,
  type SessionScore,
  type SessionSelection,
  type TaskRelevance,
  decision,
  shownPoints,
} from "./selection.ts";
import { isInside } from "../../base/files.ts";
import { printableLine } from "../../base/text.ts";
import type { SessionSelectionConfig } from "../../config/claude-code.ts";
import type { Worktree } from "../../project/repo.ts";

export async function selectSession(
  task: string,
  repoPath: string,
  agentId: string,
  project: SelectionProject,
  options: SelectOptions = {},
): Promise<SessionSelection> {
  if (task.trim() === "") {
    const hint = "Say in one sentence what should be done.";
    throw new HoldfastError("usage", "task-empty", "No task given.", { hint });
  }
  const sessions = knownSessions(project, options);
  const { waiting = [], excluded = [], label, onRunning } = options;
  if (label !== undefined && label !== "") return selectByLabel(label, agentId, sessions, options);

  const running = sessions.filter(({ isRunning, sessionId }) => isRunning && !waiting.includes(sessionId));
  const inTheWay = running.filter(({ sessionId }) => !excluded.includes(sessionId));
  const [blocking] = runningHere(inTheWay, repoPath, project.git?.worktrees ?? []);
  if (blocking !== undefined && onRunning !== "worktree") return waitFor(blocking, onRunning);

  const { config = DEFAULT_CONFIG.claudeCode.sessionSelection } = options;
  const scope = options.candidates ?? config.candidates ?? "own";
  const eligible = sessions
    .filter(visibleTo(options.sessionKey))
    .filter((session) => isCandidate(session, agentId, scope));
  const taken = new Set([...running.map(({ sessionId }) => sessionId), ...excluded]);
  const canTake = (session: DiscoveredSession): boolean =>
    waiting.includes(session.sessionId) || (isResumable(session) && !taken.has(session.sessionId));
  const candidates = eligible.filter(canTake);
  const open = sessions.find(({ sessionId }) => waiting.includes(sessionId));
  if (candidates.length === 0) {
    const reason = `Start fresh: ${noCandidate(agentId, scope, eligible.length > 0)}.`;
    return orWaitForOpen(decision("fresh", undefined, reason), open, onRunning);
  }
  const { choices, ...ranked } = await rankCandidates(task, repoPath, candidates, project, options);
  const decided = decide(ranked.scores, candidates, waiting);
  const reason = `${decided.reason}${runnerUpNote(ranked.scores, candidates)}`;
  return orWaitForOpen({ ...decided, reason, ...ranked, ...sureness(choices, decided.sessionId) }, open, onRunning);
}

function knownSessions(project: SelectionProject, options: SelectOptions): DiscoveredSession[] {
  const { active, recent, ownRecent } = project.sessions;
  // `active` comes last and wins: the other lists may be slightly older.
  const listed = [...(options.sessions ?? [...ownRecent, ...recent]), ...active];
  return Array.from(new Map(listed.map((session) => [session.sessionId, session])).values());
}

/**
 * The running sessions of the same working tree, newest first: two sessions there would overwrite each other's files.
 * A session with an unknown folder counts as one of them.
 */
function runningHere(
  running: readonly DiscoveredSession[],
  repoPath: string,
  worktrees: readonly Worktree[],
): DiscoveredSession[] {
  const here = worktreeOf(repoPath, worktrees);
  return running
    .filter((session) => {
      const folder = session.cwds.at(-1);
      const place = folder === undefined ? undefined : worktreeOf(folder, worktrees);
      return here === undefined || place === undefined || place === here;
    })
    .sort((a, b) => b.lastModified.getTime() - a.lastModified.getTime());
}

/** The innermost one: a worktree may be inside another. */
function worktreeOf(folder: string, worktrees: readonly Worktree[]): string | undefined {
  const around = worktrees.map(({ path }) => path).filter((path) => isInside(path, folder));
  return around.sort((a, b) => b.length - a.length)[0];
}

function waitFor(session: DiscoveredSession, onRunning: SelectOptions["onRunning"]): SessionSelection {
  const by = session.running === undefined ? "" : ` in process ${session.running.pid}`;
  const who = `${nameOf(session)} is running${by}`;
  return onRunning === "fork" && session.conversation === undefined
    ? decision("fork", session.sessionId, `Fork: ${who}.`)
    : decision("queue", session.sessionId, `Wait: ${who}.`);
}

type CandidateScope = NonNullable<SessionSelectionConfig["candidates"]>;

/** Whether a task without a label may use the session at all. */
function isCandidate(session: DiscoveredSession, agentId: string, scope: CandidateScope): boolean {
  if (session.label !== undefined) return false;
  if (agentsOf(session).includes(agentId)) return true;
  return scope === "all" && session.origin !== "other-agent" && agentsOf(session).length === 0;
}

/** Claude Code cannot open an archived copy, nor a session that only a registry knows. */
export function isResumable(session: DiscoveredSession): boolean {
  const isKnownByNameOnly = session.transcriptPath === undefined && session.messageCount === 0;
  return session.archived !== true && !isKnownByNameOnly;
}

function noCandidate(agentId: string, scope: CandidateScope, isKnown: boolean): string {
  if (isKnown) return "no session in this repo can be resumed";
  return scope === "all"
    ? "there is no session in this repo yet that a task may resume"
    : `agent ${printableLine(agentId, 60)} has no session in this repo yet`;
}

/** A task that does not fit the open session waits for its end: a working tree has one session at a time. */
function orWaitForOpen(
  selection: SessionSelection,
  open: DiscoveredSession | undefined,
  onRunning: SelectOptions["onRunning"],
): SessionSelection {
  if (open === undefined || selection.action === "continue" || onRunning === "worktree") return selection;
  const { action, sessionId, reason } = waitFor(open, onRunning);
  const unknown = { confidence: undefined, runnerUp: undefined };
  return { ...selection, ...unknown, action, sessionId, reason: `${reason} The task does not fit it.` };
}

/** The likelihood of the right choice from which no model is asked: docs/selection-cases.md has the figures. */
const SURE = 0.9;

type Choices = ReturnType<typeof likelihoods>;

interface RankedCandidates extends Pick<
  SessionSelection,
  "scores" | "relevanceBy" | "relevanceCostUsd" | "relevanceFailure"
> {
  choices: Choices;
}

/** Scores twice: first to find the best candidates, then with the evidence that the repo has about them. */
async function rankCandidates(
  task: string,
  repoPath: string,
  candidates: readonly DiscoveredSession[],
  project: SelectionProject,
  options: SelectOptions,
): Promise<RankedCandidates> {
  const { config = DEFAULT_CONFIG.claudeCode.sessionSelection, now = Date.now() } = options;
  const currentBranch = project.git?.currentBranch;
  const commitSubjects = project.git?.recentCommits.map(({ message }) => message) ?? [];
  const rank = (relevances: readonly TaskRelevance[], evidence: ReadonlyMap<string, Evidence[]> = new Map()) => {
    const rows = candidates.flatMap((session, index) => {
      const relevance = relevances[index];
      if (relevance === undefined) return [];
      const known = withBudget(session, options.maxBudgetUsd);
      const facts = { currentBranch, relevance, evidence: evidence.get(session.sessionId) };
      return { ...facts, session: known, score: scoreSession(known, { ...facts, now, config }) };
    });
    return { rows: rows.sort(bestFirst), choices: likelihoods(rows, { now, config }) };
  };
  const { relevances, by, costUsd, failure } = await assessTaskRelevance(task, candidates, {
    ...options,
    config,
    now,
    offline: options.offline ?? scoreOffline,
    isSure: (offline) => (rank(offline).choices[0]?.share ?? 0) >= SURE,
    context: { currentBranch, commitSubjects, now },
  });
  const result = ({ rows, choices }: ReturnType<typeof rank>): RankedCandidates => {
    const judged = { relevanceBy: by, relevanceCostUsd: costUsd, relevanceFailure: failure };
    return { scores: rows.map((row) => row.score), choices, ...judged };
  };

  const first = rank(relevances);
  if (options.evidence === false) return result(first);
  const ranked = first.rows.map((row) => row.session);
  const sources = { repoPath, currentBranch, worktrees: project.git?.worktrees, now, ...options.evidence };
  const evidence = await gatherEvidence(ranked, sources).catch((error: unknown) => {
    (options.logger ?? silentLogger).warn("Evidence about sessions could not be read from the repo", { error });
    return new Map<string, Evidence[]>();
  });
  return result(rank(relevances, evidence));
}

/** How likely the decision is right, and the likeliest other one. */
function sureness(choices: Choices, chosen: string | undefined): Pick<SessionSelection, "confidence" | "runnerUp"> {
  const other = choices.find(({ sessionId }) => sessionId !== chosen);
  return {
    confidence: rounded(choices.find(({ sessionId }) => sessionId === chosen)?.share ?? 0),
    runnerUp: other && {
      action: other.sessionId === undefined ? "fresh" : "resume",
      sessionId: other.sessionId,
      confidence: rounded(other.share),
    },
  };
}

function rounded(share: number): number {
  return Math.round(share * 100) / 100;
}

function withBudget(session: DiscoveredSession, maxBudgetUsd: number | undefined): DiscoveredSession {
  return { ...session, budgetUsedPct: budgetUsed(session, maxBudgetUsd) ?? session.budgetUsedPct };
}

interface ScoredSession {
  session: DiscoveredSession;
  score: SessionScore;
}

/**
 * Sessions to resume by their score, then the others by their relevance: a session that is excluded by its budget has no
 * points, and may still be the one that the task is about. Ties go to the newer session.
 */
function bestFirst(a: ScoredSession, b: ScoredSession): number {
  const [byScore, byRelevance] = [
    b.score.score - a.score.score,
    b.score.relevance.relevance - a.score.relevance.relevance,
  ];
  const isToResume = b.score.recommendation === "resume";
  return (
    Number(isToResume) - Number(a.score.recommendation === "resume") ||
    (isToResume ? byScore || byRelevance : byRelevance || byScore) ||
    b.session.lastModified.getTime() - a.session.lastModified.getTime() ||
    (a.session.sessionId < b.session.sessionId ? -1 : 1)
  );
}

function decide(
  scores: readonly SessionScore[],
  candidates: readonly DiscoveredSession[],
  waiting: readonly string[],
): Pick<SessionSelection, "action" | "sessionId" | "reason"> {
  const [best] = scores;
  const session = candidates.find(({ sessionId }) => sessionId === best?.sessionId);
  if (best === undefined || session === undefined) return { action: "fresh", reason: "Start fresh." };
  const points = shownPoints(best.score);
  if (best.recommendation === "fresh") {
    // The points of an ineligible session may reach the threshold, so they are not shown.
    const verdict = best.ceiling === undefined ? `scores ${points} (${best.reason})` : `is ${best.reason}`;
    return { action: "fresh", reason: `Start fresh: the best match, ${nameOf(session)}, ${verdict}.` };
  }
  const { sessionId } = session;
  return waiting.includes(sessionId)
    ? { action: "continue", sessionId, reason: `Continue ${nameOf(session)}, which is open (${best.reason}).` }
    : { action: "resume", sessionId, reason: `Resume ${nameOf(session)}: score ${points} (${best.reason}).` };
}

/** Points between two candidates below which a person may want to look at both. */
const CLOSE = 0.05;

/** Names the second candidate if it scores nearly as much as the one to resume. */
function runnerUpNote([best, second]: readonly SessionScore[], candidates: readonly DiscoveredSession[]): string {
  const session = candidates.find(({ sessionId }) => sessionId === second?.sessionId);
  if (best === undefined || second === undefined || session === undefined) return "";
  const areBothEligible = best.recommendation === "resume" && second.recommendation === "resume";
  if (!areBothEligible || best.score - second.score > CLOSE) return "";
  return ` Nearly as good: ${nameOf(session)}, score ${shownPoints(second.score)}.`;
}

async function selectByLabel(
  given: string,
  agentId: string,
  sessions: readonly DiscoveredSession[],
  { findByLabel, sessionKey, waiting, onRunning }: SelectOptions,
): Promise<SessionSelection> {
  const label = checkTaskLabel(given);
  const shown = printableLine(label, 60);
  const decide = (action: SelectionAction, reason: string, found?: string): SessionSelection =>
    decision(action, found, reason, label);
  const sessionId =
    findByLabel === undefined ? findLabelled(sessions, label, agentId)?.sessionId : await findByLabel(label);
  if (sessionId === undefined) return decide("fresh", `Start fresh: no session has the label "${shown}" yet.`);
  const session = sessions.find((known) => known.sessionId === sessionId);
  const isOfOtherChat = session?.conversation !== undefined && session.conversation !== sessionKey;
  if (isOfOtherChat) throw labelOfChat(label);
  if (waiting?.includes(sessionId) === true) {
    return decide("continue", `The session "${shown}" is open and waits for a message.`, sessionId);
  }
  if (session !== undefined && !isResumable(session)) {
    return decide("fresh", `Start fresh: the transcript of the session "${shown}" is gone.`);
  }
  if (session?.isRunning === true) return { ...waitFor(session, onRunning), label };
  return decide("resume", `Resume the session with the label "${shown}".`, sessionId);
}

/** The agent's session with this label, according to discovery. */
export function findLabelled(
  sessions: readonly DiscoveredSession[],
  label: string,
  agentId: string,
): DiscoveredSession | undefined {
  const hasLabel = (session: DiscoveredSession): boolean =>
    session.label === label || session.labels?.includes(label) === true;
  return sessions.find((session) => hasLabel(session) && agentsOf(session).includes(agentId));
}

function nameOf(session: DiscoveredSession): string {
  const id = printableLine(session.sessionId.slice(0, 8));
  // The title of a chat's session is private.
  if (session.conversation !== undefined) return `the session of a chat (${id})`;
  const title = printableLine(session.title ?? session.firstMessage, 50);
  return title === "" ? `session ${id}` : `"${title}" (${id})`;
}
