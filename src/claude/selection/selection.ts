/** The contract of selection: its input, and the decision to resume a session or start fresh. */
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log.ts";
import type { LanguageModel } from "../../models/language-model.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import type { SessionSelectionConfig } from "../../config/claude-code.ts";
import type { BranchState } from "../../project/repo-changes.ts";
import type { GitStatus } from "../../project/git-status.ts";
import type { Worktree } from "../../project/repo.ts";

/** The parts of a project's status that selection uses. */
export interface SelectionProject {
  git?: Pick<GitStatus, "currentBranch" | "recentCommits" | "worktrees"> | undefined;
  sessions: { active: DiscoveredSession[]; recent: DiscoveredSession[]; ownRecent: DiscoveredSession[] };
}

export interface SelectOptions {
  /** All sessions of the repo. Default: the shorter lists of the project status. */
  sessions?: readonly DiscoveredSession[] | undefined;
  label?: string | undefined;
  /** The asking conversation. Only its own chat sessions are candidates. Default: none. */
  sessionKey?: string | undefined;
  /** Whose sessions may be resumed. Default: `config.candidates`, else `own`. */
  candidates?: "own" | "all" | undefined;
  /** Budget of a session. Default: the share that discovery calculated. */
  maxBudgetUsd?: number | undefined;
  /** Default: the default configuration, which uses no model. */
  config?: SessionSelectionConfig | undefined;
  /** Compare tasks, asked in this order until one answers. Default: only the offline scorer. */
  model?: ModelSource | readonly ModelSource[] | undefined;
  /** Default: `scoreOffline`. */
  offline?: RelevanceScorer | undefined;
  /** When a session already runs here. `worktree`: ignore it; the caller creates a worktree. Default: `queue`. */
  onRunning?: "queue" | "fork" | "worktree" | undefined;
  /** Finds the session of a label in the registries. Default: the labels that discovery found. */
  findByLabel?: ((label: string) => Promise<string | undefined>) | undefined;
  /** Idle persistent sessions of this lane: the task may continue one of them. Default: none. */
  waiting?: readonly string[] | undefined;
  /** Sessions that neither block the task nor may be chosen. Default: none. */
  excluded?: readonly string[] | undefined;
  /** Sources of evidence in addition to git. `false`: gather no evidence. */
  evidence?: Partial<EvidenceSources> | false | undefined;
  /** In ms. */
  now?: number | undefined;
  logger?: Logger | undefined;
  signal?: AbortSignal | undefined;
  ids?: Ids | undefined;
}

/** A function is called when the model is needed; if it throws, the model counts as failed. */
export type ModelSource = LanguageModel | (() => LanguageModel);

export interface EvidenceSources {
  repoPath: string;
  currentBranch?: string | undefined;
  /** As git lists them. Default: none. */
  worktrees?: readonly Worktree[] | undefined;
  /** In ms. */
  now: number;
  /** How many sessions, best first, are checked for changed files; each takes some git commands. Default: 8. */
  maxFileChecks?: number | undefined;
  /** Default: reads the repo with git, like the next one. */
  branchStates?: ((branches: readonly string[]) => Promise<ReadonlyMap<string, BranchState>>) | undefined;
  changedSince?: ((since: Date, files: readonly string[]) => Promise<string[]>) | undefined;
  folderExists?: ((path: string) => Promise<boolean>) | undefined;
  /** Default: no session has one. */
  hasOpenHandOff?: ((sessionId: string) => boolean) | undefined;
}

export type SelectionAction = "resume" | "fresh" | "continue" | "queue" | "fork";

export interface SessionSelection {
  action: SelectionAction;
  /** The session to resume, continue, wait for or fork. */
  sessionId?: string | undefined;
  label?: string | undefined;
  /** For a person. */
  reason: string;
  /** All candidates, best first. */
  scores: SessionScore[];
  /** Who compared the tasks. */
  relevanceBy: "model" | "claude-code" | "offline" | "none";
  /** What the comparison by a model cost. Undefined if unknown or none. */
  relevanceCostUsd?: number | undefined;
  /** Why a model that was asked did not judge. */
  relevanceFailure?: string | undefined;
  /** How likely the decision is right, 0 to 1. Undefined if no candidates were compared. */
  confidence?: number | undefined;
  /** The next best choice. Undefined if there is none. */
  runnerUp?: RunnerUp | undefined;
  /** What the offline comparison would have chosen, if the caller named the session or asked for a fresh one. */
  suggested?: SessionSelection | undefined;
}

/** A selection without a comparison. */
export function decision(
  action: SelectionAction,
  sessionId: string | undefined,
  reason: string,
  label?: string,
): SessionSelection {
  return { action, sessionId, label, reason, scores: [], relevanceBy: "none" };
}

export interface RunnerUp {
  action: "resume" | "fresh";
  sessionId?: string | undefined;
  /** How likely it is right, 0 to 1. */
  confidence: number;
}

export interface SessionScore {
  sessionId: string;
  /** 0 to 1. */
  score: number;
  factors: ScoreFactors;
  relevance: TaskRelevance;
  recommendation: "resume" | "fresh";
  reason: string;
  /** Why a fresh session is required whatever the score. */
  ceiling?: string | undefined;
  evidence: Evidence[];
}

export interface ScoreFactors {
  branchMatch: number;
  recency: number;
  /** Negative for an unrelated session. */
  taskRelevance: number;
  sessionHealth: number;
  contextCapacity: number;
}

export interface TaskRelevance {
  sessionId: string;
  /** 0: unrelated, 0.3: touches it, 0.6: related work, 1: continues the same work. */
  relevance: number;
  /** One line. */
  reasoning: string;
}

/** A fact about a session that the repo shows. */
export interface Evidence {
  kind:
    | "branch-merged"
    | "branch-deleted"
    | "worktree-gone"
    | "files-changed"
    | "context-cost"
    | "damaged-transcript"
    | "open-hand-off";
  /** One line for a person. */
  text: string;
  /** True: a fresh session is required. */
  forcesFresh: boolean;
}

/** Facts for the comparison of tasks in addition to the sessions. */
export interface RelevanceContext {
  currentBranch?: string | undefined;
  commitSubjects?: readonly string[] | undefined;
  /** In ms. Default: the last use of the newest session. */
  now?: number | undefined;
}

/** Compares a task with sessions: one answer per session, in their order. */
export type RelevanceScorer = (
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
) => TaskRelevance[];

/** Rounded down: 0.599 must not be shown as 0.60. */
export function shownPoints(score: number): string {
  return (Math.floor(score * 100 + 1e-6) / 100).toFixed(2);
}
