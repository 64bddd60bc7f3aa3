/** How messages become sessions, when a session starts afresh, and whether it may send. */
import type { ChatType } from "../../keys/chat-type.ts";
import type { DmScope, SessionScope } from "../../keys/scope.ts";

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

export const DEFAULT_SESSION: SessionConfig = {
  scope: "per-sender",
  // OpenClaw's `main` shares one context between everybody who writes to the agent.
  dmScope: "per-channel-peer",
  mainKey: "main",
  identityLinks: {},
  resetTriggers: ["/new", "/reset"],
};
