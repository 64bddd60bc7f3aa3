/**
 * The schema of configuration files. Every object is strict, every field has a description for the JSON Schema,
 * and nothing is transformed. Loading zod takes longer than the rest of a command's start, so only `import()`
 * may reach this file.
 */
import { z } from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import { ENGINE_NAMES } from "./choices.ts";
import {
  claudeCodeSchema,
  agentIdSchema,
  field,
  section,
  textSchema as text,
  variableNameSchema,
  channelsSchema,
  gatewaySchema,
  groupsSchema,
  handoffSchema,
  hooksSchema,
  memorySchema,
  searchSchema,
  turnsSchema,
  whole,
} from "./schema-sections.ts";

const MINUTES_PER_YEAR = 525_600;

const decision = z.enum(["allow", "deny"]);

const resetRule = z.strictObject({
  mode: field(
    z.enum(["daily", "idle", "none"]),
    "daily: a new window once a day; idle: after a pause; none: only when asked for.",
  ),
  atHour: field(whole(0, 23), "Local hour of the daily reset. Default: 4."),
  idleMinutes: field(
    whole(1, MINUTES_PER_YEAR),
    "Minutes without a message after which the next one opens a new window. Default: 60.",
  ),
});

const sendPolicyRule = z.strictObject({
  action: field(decision, "Action for matching replies. Default: allow."),
  match: section("All given members must match. An empty match matches everything.", {
    channel: field(text, "Channel name, for example telegram."),
    chatType: field(z.enum(["direct", "group", "channel"]), "Kind of conversation."),
    keyPrefix: field(text, "Start of the session key."),
  }),
});

const session = z.strictObject({
  scope: field(
    z.enum(["per-sender", "global"]),
    "per-sender: a session for each conversation; global: one session for everything.",
  ),
  dmScope: field(
    z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]),
    "Who shares a session in direct messages. main: everybody who writes to the agent.",
  ),
  mainKey: field(text.max(256), "Name of the shared session of direct messages. Default: main."),
  identityLinks: field(z.record(text, z.array(text)), "One person's addresses: name to a list of channel:id."),
  resetTriggers: field(z.array(text.max(64)).max(64), "Messages that open a new window. Default: /new and /reset."),
  reset: field(resetRule, "When a session opens a new window automatically."),
  resetByType: section("Reset rules per kind of conversation. They win over reset.", {
    dm: field(resetRule, "Direct messages."),
    group: field(resetRule, "Groups and channels."),
    thread: field(resetRule, "Threads and topics."),
  }),
  resetByChannel: field(z.record(text, resetRule), "Reset rules per channel. They win over resetByType."),
  idleMinutes: field(whole(1, MINUTES_PER_YEAR), 'Older shorthand for reset: { mode: "idle", idleMinutes }.'),
  sendPolicy: section("Which sessions may send replies.", {
    default: field(decision, "Action if no rule matches. Default: allow."),
    rules: field(z.array(sendPolicyRule).max(1000), "Tried in order; the first match decides."),
  }),
});

const price = z.number().min(0);
const priceSchema = z.strictObject({
  input: field(price, "Prompt."),
  output: field(price, "Answer."),
  cacheRead: field(price, "Cached prompt, read."),
  cacheWrite: field(price, "Cached prompt, written."),
});

const dayTime = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "a time of day such as 08:00");

const heartbeatSchema = z.strictObject({
  every: z
    .string()
    .regex(/^[1-9]\d{0,4}[smh]$/, "a time such as 30m or 2h")
    .describe("How often."),
  activeHours: section("Only between these local times. Default: always.", {
    start: dayTime.describe("First time of the day."),
    end: dayTime.describe("Not from this time on."),
  }),
  target: field(
    z.string().regex(/^(?:last|none|[a-z][a-z0-9-]*:\S+)$/, "last, none, or a chat such as telegram:1001"),
    "Where answers go: to the last chat of the main session, to none, or to a chat such as telegram:1001. Default: last.",
  ),
  prompt: field(text, "What to ask. Default: read HEARTBEAT.md; without that file there is no heartbeat."),
});

/** Fields that a project file may set. */
const projectFields = {
  $schema: field(z.string(), "Location of the JSON Schema, for editors. Holdfast ignores it."),
  defaultAgent: field(agentIdSchema, "The agent for commands that name none. Default: main."),
  session: field(session, "How messages map to sessions, and when a session is reset."),
};

/** A project file comes with a cloned repository, so it must not control where or how safely data is stored. */
export const projectFileSchema = z.strictObject(projectFields).describe("Holdfast project settings (.holdfast.json)");

export const userFileSchema = z
  .strictObject({
    ...projectFields,
    agents: field(
      z.record(
        agentIdSchema,
        z.strictObject({
          name: field(text, "Name shown to people."),
          engine: field(
            z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "an engine's name consists of a-z, 0-9 and -"),
            `The engine that answers: ${ENGINE_NAMES.join(", ")}, or one that a program registers. Default: model if the agent has one, else echo.`,
          ),
          model: field(text, "Model as provider/model."),
          workspace: field(text, "The agent's folder."),
          claudeCode: field(claudeCodeSchema, "Claude Code settings for this agent only."),
          heartbeat: field(heartbeatSchema, "Turns that the clock starts in the agent's main session."),
        }),
      ),
      "Agents by id.",
    ),
    store: section("Storage of entries, leases, inbox and outbox.", {
      kind: field(
        z.enum(["sqlite", "json", "postgres"]),
        "json uses an OpenClaw sessions.json in place; postgres shares one database between several machines.",
      ),
      view: field(z.boolean(), "Keep sessions.json up to date for other tools (store sqlite)."),
      url: field(
        z.string().regex(/^postgres(?:ql)?:\/\//, "use the form postgres://user@host:5432/database"),
        "Store postgres: the database. TLS as in ?sslmode=verify-full&sslrootcert=/path. A transaction pooler is fine.",
      ),
      directUrl: field(
        z.string().regex(/^postgres(?:ql)?:\/\//, "use the form postgres://user@host:5432/database"),
        "Store postgres: the same database without a pooler, for one connection per process. Default: url.",
      ),
      passwordFile: field(text, "Store postgres: a file that contains only the password. Default: as in url."),
      poolSize: field(whole(1, 9), "Store postgres: connections of one process, besides the direct one. Default: 8."),
    }),
    transcript: section("The append-only logs of conversations.", {
      durability: field(
        z.enum(["turn", "entry", "none"]),
        "When a transcript is forced to disk: before each reply, after each entry, or never.",
      ),
    }),
    models: field(
      z.record(
        z.string().regex(/^[^/\s]+\/\S+$/, "use the form provider/model"),
        z.strictObject({
          alias: field(text.max(64), "Short name for use in chat."),
          contextWindow: field(whole(1024), "Tokens that fit into one request."),
          price: field(priceSchema, "US dollars per million tokens."),
        }),
      ),
      "Known models by provider/model.",
    ),
    providers: field(
      z.record(
        z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "a provider name consists of a-z, 0-9, _ and -"),
        z.strictObject({
          baseUrl: field(z.url({ protocol: /^https?$/ }), "Base URL of the API."),
          apiKeyEnv: field(variableNameSchema, "The environment variable with the API key."),
        }),
      ),
      "Model providers. Names other than anthropic, openai and google use OpenAI's protocol.",
    ),
    claudeCode: field(claudeCodeSchema, "How Claude Code is found, chosen and started."),
    turns: field(turnsSchema, "Concurrency of turns, and the queue of waiting messages."),
    groups: field(groupsSchema, "When the agent answers in groups."),
    memory: field(memorySchema, "How the agent saves its memory before a compaction or a reset."),
    search: field(searchSchema, "How sessions are found."),
    handoff: field(handoffSchema, "Hand-offs from one conversation to the next."),
    hooks: field(hooksSchema, "Programs that run on events."),
    gateway: field(gatewaySchema, "The server on the loopback interface."),
    channels: field(channelsSchema, "Chat platforms."),
    maintenance: section("Off by default. Moves to the archive, never deletes.", {
      archiveAfterDays: field(whole(1, 36_500), "Archive sessions unused for this many days."),
      maxSessions: field(whole(1), "Archive the least recently used beyond this number."),
      maxMegabytes: field(whole(1), "Archive the oldest closed windows beyond this size."),
    }),
    log: section("Log lines on stderr.", { level: field(z.enum(LOG_LEVELS), "Lowest level that is written.") }),
  })
  .describe("Holdfast configuration (config.json)");

/** One file, without `$schema`. */
export type ConfigLayer = Omit<z.output<typeof userFileSchema>, "$schema">;

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

export function jsonSchema(kind: FileKind = "user"): JsonSchema {
  return z.toJSONSchema(fileSchema(kind), { target: "draft-2020-12" }) as JsonSchema;
}
