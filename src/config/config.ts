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
  maintenance: MaintenanceConfig;
  log: { level: LogLevel };
}

export interface AgentConfig {
  name?: string;
  /** `provider/model`. */
  model?: string;
  workspace?: string;
  /** What this agent does differently with Claude Code. */
  claudeCode?: DeepPartial<ClaudeCodeConfig>;
}

export interface ModelConfig {
  alias?: string;
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
  maintenance: {},
  log: { level: "warn" },
};
