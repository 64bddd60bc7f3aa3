/**
 * The configuration as the program sees it: complete, validated, with defaults filled in. `schema.ts` checks
 * the files; it is loaded only if there is one.
 */
import type { LogLevel } from "../base/log.ts";
import { type ClaudeCodeConfig, DEFAULT_CLAUDE_CODE } from "./claude-code.ts";
import type { ChatType } from "../keys/message-context.ts";
import type { DmScope, SessionScope } from "../keys/session-key.ts";

export interface HoldfastConfig {
  /** The agent for commands that name none. */
  defaultAgent: string;
  agents: Record<string, AgentConfig>;
  session: SessionConfig;
  store: StoreConfig;
  transcript: { durability: Durability };
  /** Known models by `provider/model`. An alias is a short name for use in chat. */
  models: Record<string, ModelConfig>;
  /** API access by provider name. */
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
  claudeCode: DEFAULT_CLAUDE_CODE,
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

export interface AgentConfig {
  name?: string;
  /** Default: `model` if the agent has a model, else `echo`. */
  engine?: EngineName;
  /** `provider/model`. */
  model?: string;
  workspace?: string;
  /** Overrides of `claudeCode` for this agent. */
  claudeCode?: DeepPartial<ClaudeCodeConfig>;
}

export const ENGINE_NAMES = ["claude-code", "model", "echo"] as const;
export type EngineName = (typeof ENGINE_NAMES)[number];

/** All members optional, except a name's value in a record. */
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
  /** One person's addresses: name → list of `channel:id`. */
  identityLinks: Record<string, string[]>;
  resetTriggers: string[];
  reset?: ResetRule;
  resetByType?: Partial<Record<"dm" | "group" | "thread", ResetRule>>;
  resetByChannel?: Record<string, ResetRule>;
  /** Older shorthand for `reset: { mode: "idle", idleMinutes }`. */
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

interface StoreConfig {
  kind: "sqlite" | "json";
  /** Keep `sessions.json` up to date for other tools (store `sqlite` only). */
  view: boolean;
}

/** When appended transcript entries are forced to disk. */
export type Durability = "turn" | "entry" | "none";

/** Off by default. Moves to the archive, never deletes. */
export interface MaintenanceConfig {
  /** Archive sessions unused for this many days. */
  archiveAfterDays?: number;
  /** Archive the least recently used sessions beyond this number. */
  maxSessions?: number;
  /** Archive the oldest closed windows while transcripts exceed this size. */
  maxMegabytes?: number;
}

export interface ModelConfig {
  alias?: string;
  /** Tokens that fit into one request. Default: known per model. */
  contextWindow?: number;
  /** US dollars per million tokens. Default: known per model, else 0. */
  price?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number };
}

/** `anthropic`, `openai` and `google` are built in. Any other name speaks OpenAI's protocol. */
export interface ProviderConfig {
  /** Default: the provider's own address. Required for other names. */
  baseUrl?: string;
  /** The environment variable with the key. Default: the provider's usual one. */
  apiKeyEnv?: string;
}

export interface TurnsConfig {
  /** Turns at the same time, over all agents. */
  concurrency: number;
  /** The same for one agent. Default: 4 with Claude Code, else no limit of its own. */
  concurrencyPerAgent?: number;
  /** Time limit of a turn. */
  timeoutSeconds: number;
  /** How long running turns may continue after the process is asked to stop. */
  drainSeconds: number;
  /** How long finished inbox and outbox items are kept, to recognize duplicates. */
  keepFinishedDays: number;
  /** For sessions without settings of their own. */
  queue: QueueConfig;
}

export const QUEUE_MODES = ["steer", "followup", "collect", "interrupt"] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];

export const QUEUE_DROPS = ["old", "new", "summarize"] as const;
export type QueueDrop = (typeof QUEUE_DROPS)[number];

/** How to handle messages that arrive during a turn of their session. */
export interface QueueConfig {
  mode: QueueMode;
  /** How long `collect` waits for another message. */
  debounceMs: number;
  /** How many messages may wait. */
  cap: number;
  /** Which ones are dropped beyond that. */
  drop: QueueDrop;
}

interface GroupsConfig {
  /** For groups without a setting of their own. */
  activation: "mention" | "always";
  /** Regular expressions that count as a mention, in addition to the platform's own. */
  mentionPatterns: string[];
  /** How many messages before a mention the agent sees. */
  historyLimit: number;
}

interface MemoryConfig {
  /** Ask the agent to save its memory before a compaction or a reset. */
  flush: boolean;
  flushTimeoutSeconds: number;
}

export interface HandoffConfig {
  /** False: capture and offer nothing. */
  enabled: boolean;
  /** Capture after this many messages, and whenever a conversation ends. */
  everyMessages: number;
  /** Capture after a tool result of this many characters. */
  largeToolResult: number;
  /** How long a hand-off is offered. */
  expiresHours: number;
  /** Number of earlier states kept per agent. */
  keepSnapshots: number;
  /** `provider/model` that writes the lines when a window ends, or `off`. Default: `auto`, see `compose/handoff.ts`. */
  model?: string;
  modelTimeoutSeconds: number;
}

interface HooksConfig {
  /** Time limit of a hook. */
  timeoutSeconds: number;
  /** By name. */
  entries: Record<string, { enabled?: boolean }>;
}

interface GatewayConfig {
  /** On the loopback interface. 0: any free port. */
  port: number;
  /** Limit of a request body and a WebSocket frame. */
  maxBodyBytes: number;
  /** Limit per client. */
  requestsPerMinute: number;
}

/** Accounts by a name of your choice; `default` for a single one. */
interface ChannelsConfig {
  telegram: Record<string, TelegramAccountConfig>;
  discord: Record<string, DiscordAccountConfig>;
  whatsapp: Record<string, ChannelAccountConfig>;
}

export type ChannelName = keyof ChannelsConfig;

export interface ChannelAccountConfig {
  /** Default: true. */
  enabled?: boolean;
  /** The agent that answers. Default: the default agent. */
  agent?: string;
  /** User ids, usernames, group ids, or `*`. Default: no one. */
  allowFrom?: string[];
  /** Strangers get a code that the owner can approve. Default: true. */
  pairing?: boolean;
  /** Whether answers quote the message. Default: `off`. */
  replyTo?: "off" | "first" | "all";
}

export interface TokenConfig {
  /** The environment variable with the token. Default: the platform's usual one. */
  tokenEnv?: string;
  /** A file that contains only the token. Wins over the variable. */
  tokenFile?: string;
}

export interface TelegramAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Public address of the gateway for Telegram. Default: the gateway polls Telegram. */
  webhookUrl?: string;
  /** Another Bot API server. */
  apiRoot?: string;
}

interface DiscordAccountConfig extends ChannelAccountConfig, TokenConfig {
  /** Another REST address. */
  apiRoot?: string;
}

interface ConfiguredAccount {
  name: ChannelName;
  accountId: string;
  settings: ChannelAccountConfig;
}

/** All accounts that are not disabled. */
export function configuredAccounts({ channels }: Pick<HoldfastConfig, "channels">): ConfiguredAccount[] {
  return (["telegram", "discord", "whatsapp"] as const).flatMap((name) =>
    Object.entries<ChannelAccountConfig>(channels[name])
      .filter(([, settings]) => settings.enabled !== false)
      .map(([accountId, settings]) => ({ name, accountId, settings })),
  );
}
