/** What a file may say about Claude Code. Loaded with the schema only. */
import { z } from "zod";
import { textSchema } from "./schema-parts.ts";

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const amount = z.number().min(0);

const scoring = z.strictObject({
  branchMatch: share.describe("Points for a session of the current branch.").exactOptional(),
  recency: z
    .array(
      z.strictObject({
        withinHours: positive.describe("Hours since the session was last used."),
        points: share.describe("What such a session earns."),
      }),
    )
    .max(50)
    .describe("Points by hours since the session was last used; the first row that fits counts.")
    .exactOptional(),
  relevance: z
    .strictObject({
      relatedFrom: share.describe("Relevance that earns the full points.").exactOptional(),
      relatedPoints: share.describe("The full points.").exactOptional(),
      partlyFrom: share.describe("Relevance from which points begin to rise.").exactOptional(),
      partlyPoints: share.describe("Points at partlyFrom.").exactOptional(),
      unrelatedBelow: share.describe("Relevance below which a session is unrelated.").exactOptional(),
      unrelatedPenalty: share.describe("What an unrelated session loses.").exactOptional(),
    })
    .describe("How near the session's work is to the task.")
    .exactOptional(),
  health: z
    .strictObject({
      points: share.describe("Points of a small, young session.").exactOptional(),
      manyMessages: amount.describe("Messages above which a session is large.").exactOptional(),
      manyMessagesPenalty: share.describe("What such a session loses.").exactOptional(),
      largeBytes: amount.describe("Transcript size above which a session is large.").exactOptional(),
      largePenalty: share.describe("What such a session loses.").exactOptional(),
      oldHours: amount.describe("Hours without use after which a session is old.").exactOptional(),
      oldPenalty: share.describe("What such a session loses.").exactOptional(),
    })
    .describe("Size and age of the session.")
    .exactOptional(),
  capacity: z
    .strictObject({
      points: share.describe("Points of a session with all its room left.").exactOptional(),
      oneCompactionPenalty: share.describe("Lost after one compaction.").exactOptional(),
      twoCompactionsPenalty: share.describe("Lost after two compactions.").exactOptional(),
      budgetUsed: share.describe("Share of the budget above which points are lost.").exactOptional(),
      budgetUsedPenalty: share.describe("What is lost there.").exactOptional(),
      budgetHalf: share.describe("Share of the budget above which more points are lost.").exactOptional(),
      budgetHalfPenalty: share.describe("What is lost there.").exactOptional(),
      denseTokensPerMessage: amount.describe("Tokens per message above which a session is dense.").exactOptional(),
      densePenalty: share.describe("What a dense session loses.").exactOptional(),
    })
    .describe("Room left in the session.")
    .exactOptional(),
  ceilings: z
    .strictObject({
      compactions: z.int().min(1).describe("So many compactions always mean a fresh session.").exactOptional(),
      budgetUsed: share.describe("So much of the budget always means a fresh session.").exactOptional(),
      unrelatedMessages: amount.describe("An unrelated session above this is never resumed.").exactOptional(),
    })
    .describe("What forces a fresh session whatever the score.")
    .exactOptional(),
});

export const claudeCodeSchema = z.strictObject({
  command: textSchema.describe("The Claude Code program. Default: claude.").exactOptional(),
  model: textSchema.describe("Model for spawned sessions. Default: Claude Code's own.").exactOptional(),
  permissionMode: z
    .enum(["default", "acceptEdits", "plan", "bypassPermissions"])
    .describe("Permission mode of spawned sessions.")
    .exactOptional(),
  allowedTools: z.array(textSchema).max(1000).describe("Tools that need no permission.").exactOptional(),
  maxBudgetUsd: positive.describe("What one session may cost. Default: 10.").exactOptional(),
  maxTurns: z.int().min(1).describe("Model turns that one task may take.").exactOptional(),
  timeoutMinutes: positive.describe("A task that takes longer is stopped. Default: 60.").exactOptional(),
  idleTimeoutMinutes: positive
    .describe("Idle persistent sessions are stopped after this. Default: 30.")
    .exactOptional(),
  progressSeconds: positive.describe("How often a running task reports. Default: 30.").exactOptional(),
  sessionSelection: z
    .strictObject({
      enabled: z.boolean().describe("Ask the relevance model at all. Default: true.").exactOptional(),
      relevanceModel: textSchema
        .describe("provider/model that compares tasks. Default: none, compared offline.")
        .exactOptional(),
      relevanceMaxTokens: z.int().min(1).max(100_000).describe("Longest answer. Default: 500.").exactOptional(),
      relevanceTimeoutMs: z.int().min(1).max(600_000).describe("Longest wait. Default: 3000.").exactOptional(),
      resumeThreshold: share.describe("Score from which a session is resumed. Default: 0.6.").exactOptional(),
      scoring: scoring.describe("The numbers of the score.").exactOptional(),
    })
    .describe("Resume or fresh.")
    .exactOptional(),
  mcp: z
    .strictObject({
      exposeMemory: z.boolean().describe("Offer memory and session search.").exactOptional(),
      exposeConversation: z.boolean().describe("Offer the chat conversation.").exactOptional(),
      projectStatusEnabled: z.boolean().describe("Offer the project status.").exactOptional(),
      sessionListEnabled: z.boolean().describe("Offer the list of sessions.").exactOptional(),
    })
    .describe("What the MCP bridge shows to Claude Code.")
    .exactOptional(),
  archive: z
    .strictObject({
      daysBefore: amount
        .describe("Copy what Claude Code would delete within so many days. Default: 7.")
        .exactOptional(),
      redact: z.boolean().describe("Replace secrets in the copies. Default: false.").exactOptional(),
    })
    .describe("The guard against Claude Code's clean-up of old transcripts.")
    .exactOptional(),
});
