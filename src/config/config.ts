/**
 * The configuration as the program sees it: complete, validated, with defaults filled in. `schema.ts` describes
 * every setting and checks the files; this file only takes its types, because loading zod is slow.
 */
import { CHANNEL_NAMES } from "./choices.ts";
import { type ClaudeCodeConfig, DEFAULT_CLAUDE_CODE } from "./claude-code.ts";
import type { ConfigLayer } from "./schema.ts";
import type { WithDefaults } from "./schema-sections.ts";

const DEFAULTS = {
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
    subagents: { maxDepth: 2, maxActive: 5 },
  },
  groups: { activation: "mention", mentionPatterns: [], historyLimit: 50 },
  memory: { flush: true, flushTimeoutSeconds: 60 },
  search: {},
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
} satisfies ConfigLayer;

/** The settings of a file; those with a default are always present. */
export type HoldfastConfig = WithDefaults<Omit<ConfigLayer, "claudeCode">, typeof DEFAULTS> & {
  claudeCode: ClaudeCodeConfig;
};
export const DEFAULT_CONFIG: HoldfastConfig = DEFAULTS;

export type SessionConfig = HoldfastConfig["session"];
export type HeartbeatConfig = NonNullable<HoldfastConfig["agents"][string]["heartbeat"]>;
export type ResetRule = NonNullable<SessionConfig["reset"]>;
export type SendPolicyConfig = NonNullable<SessionConfig["sendPolicy"]>;
export type SendPolicyRule = NonNullable<SendPolicyConfig["rules"]>[number];
export type Durability = HoldfastConfig["transcript"]["durability"];
export type ModelConfig = HoldfastConfig["models"][string];
export type ProviderConfig = HoldfastConfig["providers"][string];
export type TurnsConfig = HoldfastConfig["turns"];
export type QueueConfig = TurnsConfig["queue"];
export type HandoffConfig = HoldfastConfig["handoff"];
export type MaintenanceConfig = HoldfastConfig["maintenance"];
export type TelegramAccountConfig = HoldfastConfig["channels"]["telegram"][string];
/** The settings that all channels share. */
export type ChannelAccountConfig = HoldfastConfig["channels"]["whatsapp"][string];
export type TokenConfig = Pick<TelegramAccountConfig, "tokenEnv" | "tokenFile">;

/** All accounts that are not disabled. */
export function configuredAccounts({ channels }: Pick<HoldfastConfig, "channels">) {
  return CHANNEL_NAMES.flatMap((name) =>
    Object.entries<ChannelAccountConfig>(channels[name])
      .filter(([, settings]) => settings.enabled !== false)
      .map(([accountId, settings]) => ({ name, accountId, settings })),
  );
}
