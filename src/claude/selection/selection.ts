/** What a decision is: resume a session or start afresh, and why. */
import type { DiscoveredSession } from "../discovered-session.ts";

export type SelectionAction = "resume" | "fresh" | "continue" | "queue" | "fork";

export interface SessionSelection {
  action: SelectionAction;
  /** The session to resume, continue, wait for or fork. */
  sessionId?: string;
  label?: string;
  /** For a person. */
  reason: string;
  /** Every session that was considered, best first. */
  scores: SessionScore[];
  /** How tasks were compared. */
  relevanceBy: "model" | "offline" | "none";
}

export interface SessionScore {
  sessionId: string;
  /** 0 to 1. */
  score: number;
  factors: ScoreFactors;
  relevance: TaskRelevance;
  recommendation: "resume" | "fresh";
  reason: string;
  /** Set when something forces a fresh session whatever the score. */
  ceiling?: string;
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
  /** 0: unrelated, 0.3: touches it, 0.6: related work, 1: the same work going on. */
  relevance: number;
  /** One line. */
  reasoning: string;
}

/** What the repo says about a session. */
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
  /** True: it forces a fresh session. */
  forcesFresh: boolean;
}

/** What the comparison of tasks may look at besides the sessions themselves. */
export interface RelevanceContext {
  currentBranch?: string;
  /** Subjects of commits by the branch they were made on, or of the current branch. */
  commitSubjects?: readonly string[];
}

/** Compares a task with sessions; one answer per session, in their order. */
export type RelevanceScorer = (
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
) => TaskRelevance[];
