/** The settings of Claude Code: how it is started, which data it sees, and how a session is chosen for a task. */

export interface ClaudeCodeConfig {
  /** The program to start. */
  command: string;
  /** Default: Claude Code's own. */
  model?: string;
  permissionMode?: "default" | "acceptEdits" | "plan" | "bypassPermissions";
  /** Tools that need no permission, in addition to Holdfast's own. */
  allowedTools: string[];
  /** Budget of one session. Selection takes into account how much of it is used. */
  maxBudgetUsd: number;
  maxTurns?: number;
  /** Time limit of a task. */
  timeoutMinutes: number;
  /** A persistent session without a message for this long is stopped. */
  idleTimeoutMinutes: number;
  /** How often a running task reports its progress. */
  progressSeconds: number;
  sessionSelection: SessionSelectionConfig;
  /** What the MCP bridge offers to Claude Code. */
  mcp: McpConfig;
  /** Copies of transcripts that Claude Code is about to delete. */
  archive: NativeArchiveConfig;
}

export interface McpConfig {
  exposeMemory: boolean;
  exposeConversation: boolean;
  projectStatusEnabled: boolean;
  sessionListEnabled: boolean;
}

interface NativeArchiveConfig {
  /** How many days before their deletion transcripts are copied. */
  daysBefore: number;
  /** Replace secrets in the copies. */
  redact: boolean;
}

export interface SessionSelectionConfig {
  /** False: compare tasks without a model. */
  enabled: boolean;
  /** `provider/model`. Default: compare tasks without a model. */
  relevanceModel?: string;
  relevanceMaxTokens: number;
  relevanceTimeoutMs: number;
  /**
   * `own`: the agent's sessions. `all`: also sessions that people started. Default: `all` for a person at the
   * command line or the web page, `own` for an agent.
   */
  candidates?: "own" | "all";
  /** A session with at least this score is resumed. */
  resumeThreshold: number;
  scoring: SelectionScoring;
}

/** The five parts add up to 1. */
export interface SelectionScoring {
  branchMatch: number;
  /** Points by hours since the last use. The first matching row counts. */
  recency: { withinHours: number; points: number }[];
  relevance: {
    /** Full points from here on. */
    relatedFrom: number;
    relatedPoints: number;
    /** From here to `relatedFrom`, points rise linearly from `partlyPoints`. */
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

export const DEFAULT_CLAUDE_CODE: ClaudeCodeConfig = {
  command: "claude",
  allowedTools: [],
  maxBudgetUsd: 10,
  timeoutMinutes: 60,
  idleTimeoutMinutes: 30,
  progressSeconds: 30,
  mcp: { exposeMemory: true, exposeConversation: true, projectStatusEnabled: true, sessionListEnabled: true },
  archive: { daysBefore: 7, redact: false },
  sessionSelection: {
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
  },
};
