/** How a session of Claude Code is chosen for a task. */

export interface SessionSelectionConfig {
  /** False: tasks are compared without a model. */
  enabled: boolean;
  /** `provider/model`. Left out: tasks are compared without a model. */
  relevanceModel?: string;
  relevanceMaxTokens: number;
  relevanceTimeoutMs: number;
  /** A session with at least this score is resumed. */
  resumeThreshold: number;
  scoring: SelectionScoring;
}

/** Every number of the score; the five parts add up to 1. */
export interface SelectionScoring {
  branchMatch: number;
  /** Points for a session last used within so many hours; the first row that fits counts. */
  recency: { withinHours: number; points: number }[];
  relevance: {
    /** From here on, the full points. */
    relatedFrom: number;
    relatedPoints: number;
    /** From here to `relatedFrom`, points rise in a line from `partlyPoints`. */
    partlyFrom: number;
    partlyPoints: number;
    /** Below this a session is unrelated and loses `unrelatedPenalty`. */
    unrelatedBelow: number;
    unrelatedPenalty: number;
  };
  health: {
    points: number;
    manyMessages: number;
    manyMessagesPenalty: number;
    largeBytes: number;
    largePenalty: number;
    oldHours: number;
    oldPenalty: number;
  };
  capacity: {
    points: number;
    oneCompactionPenalty: number;
    twoCompactionsPenalty: number;
    budgetUsed: number;
    budgetUsedPenalty: number;
    budgetHalf: number;
    budgetHalfPenalty: number;
    denseTokensPerMessage: number;
    densePenalty: number;
  };
  ceilings: { compactions: number; budgetUsed: number; unrelatedMessages: number };
}

export const DEFAULT_SESSION_SELECTION: SessionSelectionConfig = {
  enabled: true,
  relevanceMaxTokens: 500,
  relevanceTimeoutMs: 3000,
  resumeThreshold: 0.6,
  scoring: {
    branchMatch: 0.25,
    recency: [
      { withinHours: 1, points: 0.2 },
      { withinHours: 6, points: 0.16 },
      { withinHours: 24, points: 0.12 },
      { withinHours: 72, points: 0.08 },
      { withinHours: 168, points: 0.04 },
    ],
    relevance: {
      relatedFrom: 0.6,
      relatedPoints: 0.25,
      partlyFrom: 0.3,
      partlyPoints: 0.1,
      unrelatedBelow: 0.1,
      unrelatedPenalty: 0.15,
    },
    health: {
      points: 0.15,
      manyMessages: 500,
      manyMessagesPenalty: 0.07,
      largeBytes: 5_000_000,
      largePenalty: 0.04,
      oldHours: 168,
      oldPenalty: 0.04,
    },
    capacity: {
      points: 0.15,
      oneCompactionPenalty: 0.04,
      twoCompactionsPenalty: 0.09,
      budgetUsed: 0.3,
      budgetUsedPenalty: 0.02,
      budgetHalf: 0.5,
      budgetHalfPenalty: 0.04,
      denseTokensPerMessage: 4000,
      densePenalty: 0.03,
    },
    ceilings: { compactions: 3, budgetUsed: 0.7, unrelatedMessages: 200 },
  },
};
