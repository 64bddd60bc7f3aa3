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
  maintenance: MaintenanceConfig;
  log: { level: LogLevel };
}

export interface AgentConfig {
  name?: string;
  /** `provider/model`. */
  model?: string;
  workspace?: string;
}

export interface ModelConfig {
  alias?: string;
}

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
  maintenance: {},
  log: { level: "warn" },
};
