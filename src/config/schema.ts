/**
 * What a configuration file may say. Every object is strict, every field has a description (they
 * are the text of the JSON Schema), and nothing is transformed: what validates is what is used.
 * Loading zod takes longer than the rest of a command's start, so only `import()` reaches this file.
 */
import { z } from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import { ENGINE_NAMES, type HoldfastConfig } from "./config.ts";
import type { DeepPartial } from "./deep-partial.ts";
import { claudeCodeSchema } from "./schema-claude-code.ts";
import {
  channelsSchema,
  gatewaySchema,
  groupsSchema,
  handoffSchema,
  hooksSchema,
  memorySchema,
  turnsSchema,
} from "./schema-gateway.ts";
import { agentIdSchema, textSchema as text, variableNameSchema } from "./schema-parts.ts";

const MINUTES_PER_YEAR = 525_600;

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

const price = z.number().min(0);
const priceSchema = z.strictObject({
  input: price.describe("Prompt.").exactOptional(),
  output: price.describe("Answer.").exactOptional(),
  cacheRead: price.describe("Prompt that was cached.").exactOptional(),
  cacheWrite: price.describe("Prompt that is being cached.").exactOptional(),
});

/** Editors find the JSON Schema through it; Holdfast ignores it. */
const schemaAddress = z.string().describe("Where an editor finds the JSON Schema of this file.");

/** Fields that a project may set for those who work in it. */
const projectFields = {
  $schema: schemaAddress.exactOptional(),
  defaultAgent: agentIdSchema
    .describe("The agent that commands mean when none is named. Default: main.")
    .exactOptional(),
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
        agentIdSchema,
        z.strictObject({
          name: text.describe("Name shown to people.").exactOptional(),
          engine: z
            .enum(ENGINE_NAMES)
            .describe("What answers. Default: model when the agent has one, else echo.")
            .exactOptional(),
          model: text.describe("Model as provider/model.").exactOptional(),
          workspace: text.describe("Folder of the agent's own files.").exactOptional(),
          claudeCode: claudeCodeSchema.describe("What this agent does differently with Claude Code.").exactOptional(),
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
        z.strictObject({
          alias: text.max(64).describe("Short name for use in chat.").exactOptional(),
          contextWindow: z.int().min(1024).describe("Tokens that fit into one request.").exactOptional(),
          price: priceSchema.describe("US dollars per million tokens.").exactOptional(),
        }),
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
          apiKeyEnv: variableNameSchema.describe("The environment variable that holds the key.").exactOptional(),
        }),
      )
      .describe("Where models are reached. Names other than anthropic, openai and google speak OpenAI's protocol.")
      .exactOptional(),
    claudeCode: claudeCodeSchema.describe("How Claude Code is found, chosen and started.").exactOptional(),
    turns: turnsSchema.describe("How turns share the process, and what happens to messages that wait.").exactOptional(),
    groups: groupsSchema.describe("When the agent answers in groups.").exactOptional(),
    memory: memorySchema.describe("What the agent writes down before a conversation is shortened.").exactOptional(),
    handoff: handoffSchema.describe("What one conversation leaves for the next.").exactOptional(),
    hooks: hooksSchema.describe("What is called when something happens.").exactOptional(),
    gateway: gatewaySchema.describe("The server on the loopback interface.").exactOptional(),
    channels: channelsSchema.describe("Where people reach the agents.").exactOptional(),
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
