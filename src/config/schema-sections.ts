/** Sections of the configuration schema, and the helpers that describe a setting. */
import { z } from "zod";
import { QUEUE_DROPS, QUEUE_MODES } from "./choices.ts";

export const agentIdSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "an agent id consists of a-z, 0-9, _ and -, starts with a letter or digit, and has at most 64 characters",
  );

export const textSchema = z.string().trim().min(1).max(4096);

export const variableNameSchema = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the value itself");

/** A whole number. Both limits are allowed values. */
export function whole(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z.int().min(min).max(max);
}

/** An optional member of a strict object. The description goes into the JSON Schema. */
export function field<T extends z.ZodType>(schema: T, description: string): z.ZodExactOptional<T> {
  return schema.describe(description).exactOptional();
}

export function section<T extends z.ZodRawShape>(
  description: string,
  shape: T,
): z.ZodExactOptional<z.ZodObject<T, z.core.$strict>> {
  return field(z.strictObject(shape), description);
}

/**
 * A section of the file in which every setting with a default is present. Records and lists are replaced as a whole,
 * so their members have no defaults.
 */
export type WithDefaults<T, Defaults> = T extends readonly unknown[]
  ? T
  : string extends keyof T
    ? T
    : T extends object
      ? { [Key in keyof T & keyof Defaults]-?: WithDefaults<Exclude<T[Key], undefined>, Defaults[Key]> } & {
          [Key in Exclude<keyof T, keyof Defaults>]?: T[Key];
        }
      : T;

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
    compactions: field(whole(1), "This many compactions always force a fresh session."),
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
  maxTurns: field(whole(1), "Model turns that one task may take."),
  timeoutMinutes: field(positive, "Time limit of a task. Default: 60."),
  idleTimeoutMinutes: field(positive, "Time limit of an idle persistent session. Default: 30."),
  progressSeconds: field(positive, "How often a running task reports progress. Default: 30."),
  repos: field(
    z.array(textSchema).max(100),
    "Repos that people may name in chats, as paths or globs. The agent's workspace is always allowed. Default: none.",
  ),
  questionMinutes: field(positive, "How long a permission question in a chat waits for its answer. Default: 10."),
  budgets: section("Budgets of the tasks that chats start. Announced at 50, 70 and 100 %. Default: none.", {
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
    relevanceMaxTokens: field(whole(1, 100_000), "Token limit of the relevance model's answer. Default: 500."),
    relevanceTimeoutMs: field(whole(1, 600_000), "Time limit of the relevance model. Default: 3000."),
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

const seconds = z.number().positive().max(86_400);

export const turnsSchema = z.strictObject({
  concurrency: field(whole(1, 1000), "Turns at the same time. Default: 64."),
  concurrencyPerAgent: field(
    whole(1, 1000),
    "Turns of one agent at the same time. Default: 4 with Claude Code, else only the total limit.",
  ),
  timeoutSeconds: field(seconds, "Time limit of a turn. Default: 600."),
  drainSeconds: field(
    z.number().min(0).max(3600),
    "How long running turns may continue after a stop request. Default: 30.",
  ),
  keepFinishedDays: field(whole(1, 3650), "How long messages are remembered to detect duplicates. Default: 30."),
  queue: section("Messages that arrive during a turn of their session.", {
    mode: field(
      z.enum(QUEUE_MODES),
      "steer: into the running turn; followup: one after another; collect: together; interrupt: at once.",
    ),
    debounceMs: field(whole(0, 600_000), "How long collect waits for another message. Default: 1000."),
    cap: field(whole(1, 10_000), "How many messages may wait. Default: 20."),
    drop: field(
      z.enum(QUEUE_DROPS),
      "What is dropped beyond that: old, new, or old with a summary for the agent. Default: summarize.",
    ),
  }),
  subagents: section("Sessions that an agent starts for itself with sessions_spawn.", {
    maxDepth: field(whole(0, 10), "How deep subagents may start others; 0: none at all. Default: 2."),
    maxActive: field(whole(1, 100), "How many of one agent may work at the same time. Default: 5."),
  }),
});

export const groupsSchema = z.strictObject({
  activation: field(
    z.enum(["mention", "always"]),
    "mention: the agent answers when mentioned; always: every message. Default: mention.",
  ),
  mentionPatterns: field(
    z.array(textSchema.max(256)).max(100),
    "Regular expressions that count as a mention, in addition to the platform's own.",
  ),
  historyLimit: field(whole(0, 1000), "Messages before a mention that the agent sees. Default: 50."),
});

export const memorySchema = z.strictObject({
  flush: field(z.boolean(), "Ask the agent to save its memory first. Default: true."),
  flushTimeoutSeconds: field(seconds, "Time limit. Default: 60."),
});

export const searchSchema = z.strictObject({
  embeddings: field(
    textSchema,
    "Embedding model (provider/model) that finds sessions by meaning. Their beginnings are sent to the provider, " +
      "without secrets. Default: the shipped word vectors, without a network.",
  ),
});

export const handoffSchema = z.strictObject({
  enabled: field(z.boolean(), "Capture hand-offs and offer them to the next conversation. Default: true."),
  everyMessages: field(whole(1, 10_000), "Capture after this many messages. Default: 20."),
  largeToolResult: field(whole(1000), "Capture after a tool result of this many characters. Default: 20000."),
  expiresHours: field(z.number().positive().max(8760), "How long a hand-off is offered. Default: 24."),
  keepSnapshots: field(whole(0, 10_000), "Number of earlier states kept. Default: 50."),
  model: field(
    textSchema,
    "Model that writes the lines when a window ends. auto: Claude Code or the agent's own model, whichever had the " +
      "conversation; provider/model: that one; off: none. Default: auto.",
  ),
  modelTimeoutSeconds: field(seconds, "Time limit of that model. Default: 20."),
});

export const hooksSchema = z.strictObject({
  timeoutSeconds: field(seconds, "Time limit of a hook. Default: 10."),
  entries: field(
    z.record(
      z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, "must be the name of a hook"),
      z.strictObject({ enabled: field(z.boolean(), "Whether the hook runs.") }),
    ),
    "Hooks by name. Workspace hooks run only if enabled here.",
  ),
});

export const gatewaySchema = z.strictObject({
  port: field(
    whole(0, 65_535),
    "Port on the loopback interface; 0: any. Default: 7433, or a free one if it is in use.",
  ),
  maxBodyBytes: field(whole(1024, 1_073_741_824), "Limit of a request body and a WebSocket frame. Default: 4 MB."),
  requestsPerMinute: field(whole(1), "Limit per client. Default: 600."),
});

const accountFields = {
  enabled: field(z.boolean(), "False: not started. Default: true."),
  agent: field(agentIdSchema, "The agent that answers. Default: the default agent."),
  allowFrom: field(
    z.array(textSchema.max(256)).max(10_000),
    "Who may write: user ids, usernames, group ids, or *. Default: nobody.",
  ),
  pairing: field(z.boolean(), "Strangers get a code that the owner can approve. Default: true."),
  replyTo: field(z.enum(["off", "first", "all"]), "Whether answers quote the message. Default: off."),
  blockStreaming: field(
    z.boolean(),
    "A long answer is shown while it grows, on channels that can edit messages. Default: true.",
  ),
};

const tokenFields = {
  tokenEnv: field(variableNameSchema, "The environment variable with the token."),
  tokenFile: field(textSchema, "A file that contains only the token."),
};

const address = z.url({ protocol: /^https?$/ });
const accountName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "an account name consists of a-z, 0-9, _ and -; use default for a single one");

export const channelsSchema = z.strictObject({
  telegram: field(
    z.record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        webhookUrl: field(
          z.url({ protocol: /^https$/ }),
          "Public address of the gateway for Telegram. Default: the gateway polls Telegram.",
        ),
        apiRoot: field(address, "Another Bot API server."),
      }),
    ),
    "Telegram bots by a name of your choice.",
  ),
  discord: field(
    z.record(
      accountName,
      z.strictObject({
        ...accountFields,
        ...tokenFields,
        apiRoot: field(address, "Another REST address."),
      }),
    ),
    "Discord bots by a name of your choice.",
  ),
  whatsapp: field(
    z.record(accountName, z.strictObject(accountFields)),
    "WhatsApp numbers by a name of your choice; link them with `holdfast channels login`.",
  ),
});
