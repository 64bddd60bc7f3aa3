/** The settings of Claude Code: how it is started, which data it sees, and how a session is chosen for a task. */
import type { z } from "zod";
import type { WithDefaults, claudeCodeSchema } from "./schema-sections.ts";

type ClaudeCodeFile = z.output<typeof claudeCodeSchema>;

const DEFAULTS = {
  command: "claude",
  allowedTools: [],
  maxBudgetUsd: 10,
  timeoutMinutes: 60,
  idleTimeoutMinutes: 30,
  progressSeconds: 30,
  repos: [],
  questionMinutes: 10,
  budgets: {},
  mcp: { exposeMemory: true, exposeConversation: true, projectStatusEnabled: true, sessionListEnabled: true },
  archive: { daysBefore: 7, redact: false },
  sessionSelection: {
    enabled: true,
    relevance: "auto",
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
} satisfies ClaudeCodeFile;

export type ClaudeCodeConfig = WithDefaults<ClaudeCodeFile, typeof DEFAULTS>;
export const DEFAULT_CLAUDE_CODE: ClaudeCodeConfig = DEFAULTS;

export type McpConfig = ClaudeCodeConfig["mcp"];
export type SessionSelectionConfig = ClaudeCodeConfig["sessionSelection"];
/** The five parts add up to 1. */
export type SelectionScoring = SessionSelectionConfig["scoring"];
