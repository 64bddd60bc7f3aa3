/**
 * What a configuration file may say. Every object is strict, every field has a description (they
 * are the text of the JSON Schema), and nothing is transformed: what validates is what is used.
 * Loading zod takes longer than the rest of a command's start, so only `import()` reaches this file.
 */
import { z } from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import type { DeepPartial, HoldfastConfig } from "./config.ts";

const MINUTES_PER_YEAR = 525_600;

const agentId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "an agent id is made of a-z, 0-9, _ and -, starts with a letter or digit, and has at most 64 characters",
  );
const text = z.string().trim().min(1).max(4096);
const decision = z.enum(["allow", "deny"]);

const resetRule = z.strictObject({
  mode: z
    .enum(["daily", "idle", "none"])
    .describe("daily: a new window once a day; idle: after a pause; none: only when asked for.")
    .exactOptional(),
  atHour: z.int().min(0).max(23).describe("Local hour of the daily reset. Default: 4.").exactOptional(),
  idleMinutes: z
    .int()
    .min(1)
    .max(MINUTES_PER_YEAR)
    .describe("Minutes without a message after which the next one opens a new window. Default: 60.")
    .exactOptional(),
});

const sendPolicyRule = z.strictObject({
  action: decision.describe("What happens to replies that match. Default: allow.").exactOptional(),
  match: z
    .strictObject({
      channel: text.describe("Channel name, for example telegram.").exactOptional(),
      chatType: z.enum(["direct", "group", "channel"]).describe("Kind of conversation.").exactOptional(),
      keyPrefix: text.describe("Start of the session key.").exactOptional(),
    })
    .describe("All that is given must match; an empty match matches everything.")
    .exactOptional(),
});

const session = z.strictObject({
  scope: z
    .enum(["per-sender", "global"])
    .describe("per-sender: a session for each conversation; global: one session for everything.")
    .exactOptional(),
  dmScope: z
    .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
    .describe("Who shares a session in direct messages. main: everybody who writes to the agent.")
    .exactOptional(),
  mainKey: text.max(256).describe("Name of the shared session of direct messages. Default: main.").exactOptional(),
  identityLinks: z
    .record(text, z.array(text))
    .describe("One person under several addresses: name to a list of channel:id.")
    .exactOptional(),
  resetTriggers: z
    .array(text.max(64))
    .max(64)
    .describe("Messages that open a new window. Default: /new and /reset.")
    .exactOptional(),
  reset: resetRule.describe("When a session opens a new window by itself.").exactOptional(),
  resetByType: z
    .strictObject({
      dm: resetRule.describe("Direct messages.").exactOptional(),
      group: resetRule.describe("Groups and channels.").exactOptional(),
      thread: resetRule.describe("Threads and topics.").exactOptional(),
    })
    .describe("Reset rules for one kind of conversation; they come before reset.")
    .exactOptional(),
  resetByChannel: z
    .record(text, resetRule)
    .describe("Reset rules for one channel; they come before resetByType.")
    .exactOptional(),
  idleMinutes: z
    .int()
    .min(1)
    .max(MINUTES_PER_YEAR)
    .describe('Shorthand of older files for reset: { mode: "idle", idleMinutes }.')
    .exactOptional(),
  sendPolicy: z
    .strictObject({
      default: decision.describe("What happens when no rule matches. Default: allow.").exactOptional(),
      rules: z.array(sendPolicyRule).max(1000).describe("Tried in order; the first match decides.").exactOptional(),
    })
    .describe("Which sessions may send replies.")
    .exactOptional(),
});

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

const claudeCode = z.strictObject({
  command: text.describe("The Claude Code program. Default: claude.").exactOptional(),
  model: text.describe("Model for spawned sessions. Default: Claude Code's own.").exactOptional(),
  permissionMode: z
    .enum(["default", "acceptEdits", "plan", "bypassPermissions"])
    .describe("Permission mode of spawned sessions.")
    .exactOptional(),
  allowedTools: z.array(text).max(1000).describe("Tools that need no permission.").exactOptional(),
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
      relevanceModel: text
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

/** Editors find the JSON Schema through it; Holdfast ignores it. */
const schemaAddress = z.string().describe("Where an editor finds the JSON Schema of this file.");

/** Fields that a project may set for those who work in it. */
const projectFields = {
  $schema: schemaAddress.exactOptional(),
  defaultAgent: agentId.describe("The agent that commands mean when none is named. Default: main.").exactOptional(),
  session: session.describe("How messages become sessions, and when a session starts afresh.").exactOptional(),
};

/**
 * The project file comes with a cloned repository. It is not trusted to say where data lies, how
 * safely it is stored, or what is archived.
 */
export const projectFileSchema = z.strictObject(projectFields).describe("Holdfast project settings (.holdfast.json)");

export const userFileSchema = z
  .strictObject({
    ...projectFields,
    agents: z
      .record(
        agentId,
        z.strictObject({
          name: text.describe("Name shown to people.").exactOptional(),
          model: text.describe("Model as provider/model.").exactOptional(),
          workspace: text.describe("Folder of the agent's own files.").exactOptional(),
          claudeCode: claudeCode.describe("What this agent does differently with Claude Code.").exactOptional(),
        }),
      )
      .describe("Agents by id.")
      .exactOptional(),
    store: z
      .strictObject({
        kind: z.enum(["sqlite", "json"]).describe("json uses an OpenClaw sessions.json in place.").exactOptional(),
        view: z.boolean().describe("Keep sessions.json up to date for other tools (store sqlite).").exactOptional(),
      })
      .describe("Where entries, leases, inbox and outbox live.")
      .exactOptional(),
    transcript: z
      .strictObject({
        durability: z
          .enum(["turn", "entry", "none"])
          .describe("When a transcript is forced to disk: before a reply leaves, at every entry, or never.")
          .exactOptional(),
      })
      .describe("The append-only logs of what was said.")
      .exactOptional(),
    models: z
      .record(
        z.string().regex(/^[^/\s]+\/\S+$/, "a model is written as provider/model"),
        z.strictObject({ alias: text.max(64).describe("Short name for use in chat.").exactOptional() }),
      )
      .describe("Known models by provider/model.")
      .exactOptional(),
    providers: z
      .record(
        z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a provider's name is made of a-z, 0-9, _ and -"),
        z.strictObject({
          baseUrl: z
            .url({ protocol: /^https?$/ })
            .describe("Where its API is.")
            .exactOptional(),
          apiKeyEnv: z
            .string()
            .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable, not the key itself")
            .describe("The environment variable that holds the key.")
            .exactOptional(),
        }),
      )
      .describe("Where models are reached. Names other than anthropic, openai and google speak OpenAI's protocol.")
      .exactOptional(),
    claudeCode: claudeCode.describe("How Claude Code is found, chosen and started.").exactOptional(),
    maintenance: z
      .strictObject({
        archiveAfterDays: z.int().min(1).max(36_500).describe("Archive sessions unused for so long.").exactOptional(),
        maxSessions: z.int().min(1).describe("Archive the least recently used beyond this number.").exactOptional(),
        maxMegabytes: z.int().min(1).describe("Archive the oldest closed windows beyond this size.").exactOptional(),
      })
      .describe("Off until set. Moves to the archive, never deletes.")
      .exactOptional(),
    log: z
      .strictObject({ level: z.enum(LOG_LEVELS).describe("Least important line that is written.").exactOptional() })
      .describe("Log lines on stderr.")
      .exactOptional(),
  })
  .describe("Holdfast configuration (config.json)");

export type ConfigLayer = DeepPartial<HoldfastConfig>;

type UserFile = Omit<z.output<typeof userFileSchema>, "$schema">;
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

/** Fails to compile when the schema and HoldfastConfig disagree about a field or its type. */
const schemaFitsConfig: [Same<UserFile, ConfigLayer>, Same<keyof UserFile, keyof HoldfastConfig>] = [true, true];
void schemaFitsConfig;

export type FileKind = "user" | "project";

export function fileSchema(kind: FileKind): z.ZodType<ConfigLayer & { $schema?: string }> {
  return kind === "user" ? userFileSchema : projectFileSchema;
}

export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  /** `false`, or the schema of a record's values. */
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  [keyword: string]: unknown;
}

/** The JSON Schema of the user file, or of the project file. */
export function jsonSchema(kind: FileKind = "user"): JsonSchema {
  return z.toJSONSchema(fileSchema(kind), { target: "draft-2020-12" }) as JsonSchema;
}
