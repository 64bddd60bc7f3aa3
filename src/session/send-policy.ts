/** Whether replies of a session may be delivered: entry, then rules in order, then default, then yes. */
import type { SendPolicyConfig, SendPolicyRule } from "../config/config.ts";
import { normalizeChatType } from "../keys/chat-type.ts";
import { parseAgentSessionKey } from "../keys/session-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";

export type SendPolicy = "allow" | "deny";

export interface SendPolicyParams {
  cfg: { session?: { sendPolicy?: SendPolicyConfig } };
  entry?: Partial<SessionEntry>;
  sessionKey?: string;
  channel?: string;
  chatType?: string;
}

export function resolveSendPolicy(params: SendPolicyParams): SendPolicy {
  const override = normalizeSendPolicy(params.entry?.sendPolicy);
  if (override !== undefined) return override;

  const policy = params.cfg.session?.sendPolicy;
  const subject = describeSubject(params);
  for (const rule of policy?.rules ?? []) {
    // A hand-written file may hold a null where a rule was taken out.
    // A rule without a valid action allows, as in OpenClaw.
    if (rule && matches(rule, subject)) return normalizeSendPolicy(rule.action) ?? "allow";
  }
  return normalizeSendPolicy(policy?.default) ?? "allow";
}

export function normalizeSendPolicy(raw: string | undefined): SendPolicy | undefined {
  const value = raw?.trim().toLowerCase();
  return value === "allow" || value === "deny" ? value : undefined;
}

interface Subject {
  key: string;
  /** The key without `agent:<id>:`, so that a rule need not name the agent. */
  rest: string;
  channel: string | undefined;
  chatType: string | undefined;
}

function describeSubject({ entry, sessionKey = "", channel, chatType }: SendPolicyParams): Subject {
  const key = sessionKey.trim().toLowerCase();
  const rest = parseAgentSessionKey(key)?.rest ?? key;
  const [first, second] = rest.split(":");
  const isGroup = second === "group" || second === "channel";
  return {
    key,
    rest,
    channel: (channel ?? entry?.channel ?? entry?.lastChannel ?? (isGroup ? first : undefined))?.trim().toLowerCase(),
    chatType: normalizeChatType(chatType ?? entry?.chatType) ?? (isGroup ? second : undefined),
  };
}

function matches({ match = {} }: SendPolicyRule, subject: Subject): boolean {
  const channel = match.channel?.trim().toLowerCase();
  if (channel && channel !== subject.channel) return false;
  const chatType = normalizeChatType(match.chatType);
  if (chatType !== undefined && chatType !== subject.chatType) return false;
  const prefix = match.keyPrefix?.trim().toLowerCase();
  return !prefix || subject.key.startsWith(prefix) || subject.rest.startsWith(prefix);
}
