/**
 * The configuration as the program sees it: complete, validated, with defaults filled in. Its sections,
 * each with its defaults, are in `sections/`; the rest of the program knows them from here. The schema that
 * user files are checked against is `schema.ts`; it is loaded only when there is a file.
 */
import type { LogLevel } from "../base/log.ts";
import type { AgentConfig } from "./sections/agents.ts";
import type { ChannelsConfig } from "./sections/channels.ts";
import { type ClaudeCodeConfig, DEFAULT_CLAUDE_CODE } from "./sections/claude-code.ts";
import { DEFAULT_GATEWAY, type GatewayConfig } from "./sections/gateway.ts";
import { DEFAULT_GROUPS, type GroupsConfig } from "./sections/groups.ts";
import { DEFAULT_HANDOFF, type HandoffConfig } from "./sections/handoff.ts";
import { DEFAULT_HOOKS, type HooksConfig } from "./sections/hooks.ts";
import { DEFAULT_MEMORY, type MemoryConfig } from "./sections/memory.ts";
import type { ModelConfig, ProviderConfig } from "./sections/models.ts";
import { DEFAULT_SESSION, type SessionConfig } from "./sections/session.ts";
import {
  DEFAULT_STORE,
  DEFAULT_TRANSCRIPT,
  type MaintenanceConfig,
  type StoreConfig,
  type TranscriptConfig,
} from "./sections/storage.ts";
import { DEFAULT_TURNS, type TurnsConfig } from "./sections/turns.ts";

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

export const DEFAULT_CONFIG: HoldfastConfig = {
  defaultAgent: "main",
  agents: {},
  session: DEFAULT_SESSION,
  store: DEFAULT_STORE,
  transcript: DEFAULT_TRANSCRIPT,
  models: {},
  providers: {},
  claudeCode: DEFAULT_CLAUDE_CODE,
  turns: DEFAULT_TURNS,
  groups: DEFAULT_GROUPS,
  memory: DEFAULT_MEMORY,
  handoff: DEFAULT_HANDOFF,
  hooks: DEFAULT_HOOKS,
  gateway: DEFAULT_GATEWAY,
  channels: { telegram: {}, discord: {}, whatsapp: {} },
  maintenance: {},
  log: { level: "warn" },
};

export { ENGINE_NAMES } from "./sections/agents.ts";
export type { AgentConfig, EngineName } from "./sections/agents.ts";
export type { ChannelAccountConfig, TelegramAccountConfig, TokenConfig } from "./sections/channels.ts";
export type { ClaudeCodeConfig, McpConfig } from "./sections/claude-code.ts";
export type { HandoffConfig } from "./sections/handoff.ts";
export type { ModelConfig, ProviderConfig } from "./sections/models.ts";
export type { ResetRule, SendPolicyConfig, SendPolicyRule, SessionConfig } from "./sections/session.ts";
export type { SelectionScoring, SessionSelectionConfig } from "./sections/session-selection.ts";
export type { Durability, MaintenanceConfig } from "./sections/storage.ts";
export { QUEUE_DROPS, QUEUE_MODES } from "./sections/turns.ts";
export type { QueueConfig, QueueDrop, QueueMode, TurnsConfig } from "./sections/turns.ts";
