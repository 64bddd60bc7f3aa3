/** The schema of the Claude Code section. */
import { z } from "zod";
import { field, section, textSchema } from "./schema-parts.ts";

const share = z.number().min(0).max(1);
const positive = z.number().positive();
const amount = z.number().min(0);

const scoring = z.strictObject({
  branchMatch: field(share, "Points for a session of the current branch."),
  recency: field(
    z
      .array(
        z.strictObject({
          withinHours: positive.describe("Hours since the session was last used."),
          points: share.describe("Points of a session used within these hours."),
        }),
      )
      .max(50),
    "Points by hours since the last use. The first matching row counts.",
  ),
  relevance: section("How closely the session's work relates to the task.", {
    relatedFrom: field(share, "Relevance that earns the full points."),
    relatedPoints: field(share, "The full points."),
    partlyFrom: field(share, "Relevance where points start to rise."),
    partlyPoints: field(share, "Points at partlyFrom."),
    unrelatedBelow: field(share, "Relevance below which a session is unrelated."),
    unrelatedPenalty: field(share, "Penalty of an unrelated session."),
  }),
  health: section("Size and age of the session.", {
    points: field(share, "Points of a small, young session."),
    manyMessages: field(amount, "Messages above which a session is large."),
    manyMessagesPenalty: field(share, "Penalty of a session with many messages."),
    largeBytes: field(amount, "Transcript size above which a session is large."),
    largePenalty: field(share, "Penalty of a session with a large transcript."),
    oldHours: field(amount, "Hours without use after which a session is old."),
    oldPenalty: field(share, "Penalty of an old session."),
  }),
  capacity: section("Room left in the session.", {
    points: field(share, "Points of a session with an empty context."),
    oneCompactionPenalty: field(share, "Penalty after one compaction."),
    twoCompactionsPenalty: field(share, "Penalty after two compactions."),
    budgetUsed: field(share, "Used share of the budget above which the first penalty applies."),
    budgetUsedPenalty: field(share, "The penalty."),
    budgetHalf: field(share, "Used share of the budget above which the second penalty applies."),
    budgetHalfPenalty: field(share, "The penalty."),
    denseTokensPerMessage: field(amount, "Tokens per message above which a session is dense."),
    densePenalty: field(share, "Penalty of a dense session."),
  }),
  ceilings: section("Limits that force a fresh session, whatever the score.", {
    compactions: field(z.int().min(1), "This many compactions always force a fresh session."),
    budgetUsed: field(share, "This used share of the budget always forces a fresh session."),
    unrelatedMessages: field(amount, "An unrelated session above this is never resumed."),
  }),
});

export const claudeCodeSchema = z.strictObject({
  command: field(textSchema, "The Claude Code program. Default: claude."),
  model: field(textSchema, "Model for spawned sessions. Default: Claude Code's own."),
  permissionMode: field(
    z.enum(["default", "acceptEdits", "plan", "bypassPermissions"]),
    "Permission mode of spawned sessions.",
  ),
  allowedTools: field(z.array(textSchema).max(1000), "Tools that need no permission."),
  maxBudgetUsd: field(positive, "Budget of one session. Default: 10."),
  maxTurns: field(z.int().min(1), "Model turns that one task may take."),
  timeoutMinutes: field(positive, "Time limit of a task. Default: 60."),
  idleTimeoutMinutes: field(positive, "Time limit of an idle persistent session. Default: 30."),
  progressSeconds: field(positive, "How often a running task reports progress. Default: 30."),
  repos: field(
    z.array(textSchema).max(100),
    "Repos that people may name in chats, as paths or globs. The agent's workspace is always allowed. Default: none.",
  ),
  questionMinutes: field(positive, "How long a permission question in a chat waits for its answer. Default: 10."),
  budgets: section("Budgets of the tasks that chats start. People are told at 50, 70 and 100 %. Default: none.", {
    dayUsd: field(positive, "All tasks of the agent in one day."),
    totalUsd: field(positive, "All tasks of the agent."),
  }),
  sessionSelection: section("How to choose between resuming a session and starting a fresh one.", {
    enabled: field(z.boolean(), "false is the same as relevance: offline. Default: true."),
    relevance: field(
      z.enum(["auto", "model", "offline"]),
      "When to ask a model: auto if the offline comparison is not sure, model always, offline never. Default: auto.",
    ),
    relevanceModel: field(textSchema, "provider/model that compares tasks. Default: Claude Code itself."),
    relevanceMaxTokens: field(
      z.int().min(1).max(100_000),
      "Token limit of the relevance model's answer. Default: 500.",
    ),
    relevanceTimeoutMs: field(z.int().min(1).max(600_000), "Time limit of the relevance model. Default: 3000."),
    candidates: field(
      z.enum(["own", "all"]),
      "Whose sessions may be resumed. Default: all for a person, own for an agent.",
    ),
    resumeThreshold: field(share, "Score from which a session is resumed. Default: 0.6."),
    scoring: field(scoring, "Points and penalties of the score."),
  }),
  mcp: section("What the MCP bridge offers to Claude Code.", {
    exposeMemory: field(z.boolean(), "Offer memory and session search."),
    exposeConversation: field(z.boolean(), "Offer the chat conversation."),
    projectStatusEnabled: field(z.boolean(), "Offer the project status."),
    sessionListEnabled: field(z.boolean(), "Offer the list of sessions."),
  }),
  archive: section("Copies of transcripts that Claude Code is about to delete.", {
    daysBefore: field(amount, "Copy transcripts this many days before Claude Code deletes them. Default: 7."),
    redact: field(z.boolean(), "Replace secrets in the copies. Default: false."),
  }),
});
