/**
 * The configuration as the program sees it: complete, validated, with defaults filled in. The
 * schema that user files are checked against is `schema.ts`; it is loaded only when there is a file.
 */
import type { LogLevel } from "../base/log.ts";
import type { ChatType } from "../keys/chat-type.ts";
import type { DmScope, SessionScope } from "../keys/scope.ts";

export interface HoldfastConfig {
  /** The agent that commands mean when none is named. */
  defaultAgent: string;
  agents: Record<string, AgentConfig>;
  session: SessionConfig;
  store: StoreConfig;
  transcript: TranscriptConfig;
  /** Known models by `provider/model`; an alias is a short name for use in chat. */
  models: Record<string, ModelConfig>;
  /** Where models are reached, by provider name. */
  providers: Record<string, ProviderConfig>;
  claudeCode: ClaudeCodeConfig;
  turns: TurnsConfig;
  groups: GroupsConfig;
  memory: MemoryConfig;
  handoff: HandoffConfig;
  hooks: HooksConfig;
  gateway: GatewayConfig;
  channels: ChannelsConfig;
  maintenance: MaintenanceConfig;
  log: { level: LogLevel };
}

export interface AgentConfig {
  name?: string;
  /** What answers. Left out: `model` when the agent has a model, else `echo`. */
  engine?: EngineName;
  /** `provider/model`. */
  model?: string;
  workspace?: string;
  /** What this agent does differently with Claude Code. */
  claudeCode?: DeepPartial<ClaudeCodeConfig>;
}

export const ENGINE_NAMES = ["claude-code", "model", "echo"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

export interface ModelConfig {
  alias?: string;
  /** Tokens that fit into one request. Left out: what is known of the model. */
  contextWindow?: number;
  /** US dollars per million tokens. Left out: what is known of the model. */
  price?: ModelPrice;
}

/** What is left out costs what is known of the model, else nothing. */
export interface ModelPrice {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** `anthropic`, `openai` and `google` are known by name; any other name speaks OpenAI's protocol. */
export interface ProviderConfig {
  /** Left out: the provider's own address. Needed for a provider that is not known by name. */
  baseUrl?: string;
  /** The environment variable that holds the key. Left out: the provider's usual one. */
  apiKeyEnv?: string;
}

export interface ClaudeCodeConfig {
  /** The program to start. */
  command: string;
  /** Left out: what Claude Code itself would use. */
  model?: string;
  permissionMode?: "default" | "acceptEdits" | "plan" | "bypassPermissions";
  /** Tools that need no permission, besides Holdfast's own. */
  allowedTools: string[];
  /** What one session may cost; selection counts what it has used of it. */
  maxBudgetUsd: number;
  maxTurns?: number;
  /** A task that takes longer is stopped. */
  timeoutMinutes: number;
  /** A persistent session that gets no message for so long is stopped. */
  idleTimeoutMinutes: number;
  /** How often a running task reports what it does. */
  progressSeconds: number;
  sessionSelection: SessionSelectionConfig;
  /** What the MCP bridge shows to Claude Code. */
  mcp: McpConfig;
  /** The guard against Claude Code's own clean-up. */
  archive: NativeArchiveConfig;
}

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

export interface McpConfig {
  exposeMemory: boolean;
  exposeConversation: boolean;
  projectStatusEnabled: boolean;
  sessionListEnabled: boolean;
}

export interface NativeArchiveConfig {
  /** Copy what Claude Code would delete within so many days. */
  daysBefore: number;
  /** Replace secrets in the copies. */
  redact: boolean;
}

/** How turns share the process. */
export interface TurnsConfig {
  /** Turns that run at the same time, over all agents. */
  concurrency: number;
  /** The same for one agent. Left out: 4 with Claude Code, else no less than `concurrency`. */
  concurrencyPerAgent?: number;
  /** A turn whose engine takes longer is stopped. */
  timeoutSeconds: number;
  /** How long running turns may go on when the process is asked to end. */
  drainSeconds: number;
  /** How long finished inbox and outbox items are kept, against the same message coming again. */
  keepFinishedDays: number;
  /** What holds for sessions that say nothing else. */
  queue: QueueConfig;
}

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

export const QUEUE_DROPS = ["old", "new", "summarize"] as const;
export type QueueDrop = (typeof QUEUE_DROPS)[number];

/** What happens to messages that arrive while a turn of their session runs. */
export interface QueueConfig {
  mode: QueueMode;
  /** How long `collect` waits for one more message. */
  debounceMs: number;
  /** How many messages may wait. */
  cap: number;
  /** Which one goes when there are more. */
  drop: QueueDrop;
}

export interface GroupsConfig {
  /** When the agent answers in a group that says nothing else. */
  activation: "mention" | "always";
  /** Regular expressions that count as a mention, besides the platform's own. */
  mentionPatterns: string[];
  /** How many messages before a mention the agent is shown. */
  historyLimit: number;
}

export interface MemoryConfig {
  /** Whether the agent is asked to write down what matters before a compaction or a reset. */
  flush: boolean;
  /** The person waits so long for it at most. */
  flushTimeoutSeconds: number;
}

/** What one conversation leaves for the next. */
export interface HandoffConfig {
  /** False: nothing is captured and nothing is offered. */
  enabled: boolean;
  /** Captured after so many messages, besides all ends of a conversation. */
  everyMessages: number;
  /** Captured after a tool result of so many characters. */
  largeToolResult: number;
  /** How long it is offered. */
  expiresHours: number;
  /** How many snapshots of earlier states are kept for an agent. */
  keepSnapshots: number;
  /** `provider/model` that puts the summary into better words. Left out: no model is asked. */
  model?: string;
  modelTimeoutSeconds: number;
}

export interface HooksConfig {
  /** A hook that takes longer is given up. */
  timeoutSeconds: number;
  /** By name. */
  entries: Record<string, { enabled?: boolean }>;
}

export interface GatewayConfig {
  /** On the loopback interface. 0: any free one. */
  port: number;
  /** Largest request body and WebSocket frame. */
  maxBodyBytes: number;
  /** Requests of one client within a minute. */
  requestsPerMinute: number;
}

/** Accounts by a name of one's own; `default` where there is one. */
export interface ChannelsConfig {
  telegram: Record<string, TelegramAccountConfig>;
  discord: Record<string, DiscordAccountConfig>;
  whatsapp: Record<string, ChannelAccountConfig>;
}

export interface ChannelAccountConfig {
  /** Left out: true. */
  enabled?: boolean;
  /** The agent that answers. Left out: the default agent. */
  agent?: string;
  /** Ids, usernames, ids of groups, or `*`. Left out: nobody. */
  allowFrom?: string[];
  /** Strangers get a code that the owner can approve. Left out: true. */
  pairing?: boolean;
  /** Whether answers quote the message they answer. Left out: `off`. */
  replyTo?: "off" | "first" | "all";
}

export interface TokenConfig {
  /** The environment variable that holds the token. Left out: the platform's usual one. */
  tokenEnv?: string;
  /** A file that holds the token and nothing else. It goes before the variable. */
  tokenFile?: string;
}

export interface TelegramAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Where Telegram reaches the gateway from outside. Left out: the gateway asks Telegram. */
  webhookUrl?: string;
  /** Another Bot API server. */
  apiRoot?: string;
}

export interface DiscordAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Another REST address. */
  apiRoot?: string;
}

/** What a file may leave out: everything, except a name's value in a record. */
export type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : string extends keyof T
    ? { [Key in keyof T]: DeepPartial<T[Key]> }
    : T extends object
      ? { [Key in keyof T]?: DeepPartial<Exclude<T[Key], undefined>> }
      : T;

export interface SessionConfig {
  scope: SessionScope;
  dmScope: DmScope;
  mainKey: string;
  /** One person under several addresses: name → `channel:id` list. */
  identityLinks: Record<string, string[]>;
  resetTriggers: string[];
  reset?: ResetRule;
  resetByType?: Partial<Record<"dm" | "group" | "thread", ResetRule>>;
  resetByChannel?: Record<string, ResetRule>;
  /** Shorthand of older files for `reset: { mode: "idle", idleMinutes }`. */
  idleMinutes?: number;
  sendPolicy?: SendPolicyConfig;
}

export interface ResetRule {
  mode?: "daily" | "idle" | "none";
  /** Local hour of the daily reset, 0 to 23. */
  atHour?: number;
  idleMinutes?: number;
}

export interface SendPolicyConfig {
  default?: "allow" | "deny";
  rules?: SendPolicyRule[];
}

export interface SendPolicyRule {
  action?: "allow" | "deny";
  match?: { channel?: string; chatType?: ChatType; keyPrefix?: string };
}

export interface StoreConfig {
  kind: "sqlite" | "json";
  /** Keep `sessions.json` up to date for other tools (store `sqlite` only). */
  view: boolean;
}

/** When what was appended to a transcript is forced to disk. */
export type Durability = "turn" | "entry" | "none";

export interface TranscriptConfig {
  durability: Durability;
}

/** Everything here is off until it is set, and moves to the archive instead of deleting. */
export interface MaintenanceConfig {
  /** Archive sessions that were not used for this many days. */
  archiveAfterDays?: number;
  /** Archive the least recently used sessions beyond this number. */
  maxSessions?: number;
  /** Archive the oldest closed windows while transcripts take more than this many megabytes. */
  maxMegabytes?: number;
}

export const DEFAULT_CONFIG: HoldfastConfig = {
  defaultAgent: "main",
  agents: {},
  session: {
    scope: "per-sender",
    // OpenClaw's `main` shares one context between everybody who writes to the agent.
    dmScope: "per-channel-peer",
    mainKey: "main",
    identityLinks: {},
    resetTriggers: ["/new", "/reset"],
  },
  store: { kind: "sqlite", view: true },
  transcript: { durability: "turn" },
  models: {},
  providers: {},
  claudeCode: {
    command: "claude",
    allowedTools: [],
    maxBudgetUsd: 10,
    timeoutMinutes: 60,
    idleTimeoutMinutes: 30,
    progressSeconds: 30,
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
    mcp: { exposeMemory: true, exposeConversation: true, projectStatusEnabled: true, sessionListEnabled: true },
    archive: { daysBefore: 7, redact: false },
  },
  turns: {
    concurrency: 64,
    timeoutSeconds: 600,
    drainSeconds: 30,
    keepFinishedDays: 30,
    queue: { mode: "followup", debounceMs: 1000, cap: 20, drop: "summarize" },
  },
  groups: { activation: "mention", mentionPatterns: [], historyLimit: 50 },
  memory: { flush: true, flushTimeoutSeconds: 60 },
  handoff: {
    enabled: true,
    everyMessages: 20,
    largeToolResult: 20_000,
    expiresHours: 24,
    keepSnapshots: 50,
    modelTimeoutSeconds: 20,
  },
  hooks: { timeoutSeconds: 10, entries: {} },
  gateway: { port: 7433, maxBodyBytes: 4_194_304, requestsPerMinute: 600 },
  channels: { telegram: {}, discord: {}, whatsapp: {} },
  maintenance: {},
  log: { level: "warn" },
};
