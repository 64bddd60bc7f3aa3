/** Decides whether a session's replies may be delivered: its own setting, then the first matching rule, then the default. */
import type { SendPolicyConfig, SendPolicyRule } from "../config/config.ts";
import { parseAgentSessionKey } from "../keys/session-key.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { normalizeChatType } from "../keys/message-context.ts";

export type SendPolicy = "allow" | "deny";

export interface SendPolicyParams {
  cfg: { session?: { sendPolicy?: SendPolicyConfig | undefined } | undefined };
  entry?: Partial<SessionEntry> | undefined;
  sessionKey?: string | undefined;
  channel?: string | undefined;
  chatType?: string | undefined;
}

export function resolveSendPolicy(params: SendPolicyParams): SendPolicy {
  const override = normalizeSendPolicy(params.entry?.sendPolicy);
  if (override !== undefined) return override;

  const policy = params.cfg.session?.sendPolicy;
  const subject = describeSubject(params);
  for (const rule of policy?.rules ?? []) {
    // A hand-written file may hold null entries. A rule without a valid action allows, as in OpenClaw.
    if (rule && matches(rule, subject)) return normalizeSendPolicy(rule.action) ?? "allow";
  }
  return normalizeSendPolicy(policy?.default) ?? "allow";
}

export function normalizeSendPolicy(raw: string | undefined): SendPolicy | undefined {
  const value = raw?.trim().toLowerCase();
  return value === "allow" || value === "deny" ? value : undefined;
}

type Subject = ReturnType<typeof describeSubject>;

function describeSubject({ entry, sessionKey = "", channel, chatType }: SendPolicyParams) {
  const key = sessionKey.trim().toLowerCase();
  const rest = parseAgentSessionKey(key)?.rest ?? key;
  const [first, second] = rest.split(":");
  const isGroup = second === "group" || second === "channel";
  return {
    key,
    rest,
    channel:
      named(channel) ?? named(entry?.channel) ?? named(entry?.lastChannel) ?? (isGroup ? named(first) : undefined),
    chatType: normalizeChatType(chatType ?? entry?.chatType) ?? /:(group|channel):/.exec(rest)?.[1],
  };
}

/** Undefined: blank. */
function named(raw: string | undefined): string | undefined {
  return raw?.trim().toLowerCase() || undefined;
}

function matches({ match = {} }: SendPolicyRule, subject: Subject): boolean {
  const channel = named(match.channel);
  if (channel !== undefined && channel !== subject.channel) return false;
  const chatType = normalizeChatType(match.chatType);
  if (chatType !== undefined && chatType !== subject.chatType) return false;
  const prefix = named(match.keyPrefix);
  return prefix === undefined || subject.key.startsWith(prefix) || subject.rest.startsWith(prefix);
}

/** One sentence per deny rule that an earlier allow rule overrides. OpenClaw would deny in these cases. */
export function describeOverriddenDenies(rules: readonly (SendPolicyRule | null)[]): string[] {
  return rules.flatMap((deny, place) => {
    if (deny === null || normalizeSendPolicy(deny.action) !== "deny") return [];
    const first = rules.findIndex(
      (allow, earlier) => earlier < place && overrides(allow, deny, rules.slice(0, earlier)),
    );
    if (first === -1) return [];
    return [
      `session.sendPolicy: rule ${place + 1} (deny) has no effect where rule ${first + 1} (allow) matches, because the first match decides. OpenClaw would deny there. Move the deny rule up if that is what you want.`,
    ];
  });
}

function overrides(
  allow: SendPolicyRule | null | undefined,
  deny: SendPolicyRule,
  before: readonly (SendPolicyRule | null)[],
): boolean {
  if (!allow || normalizeSendPolicy(allow.action) === "deny") return false;
  const both = [conditionsOf(allow), conditionsOf(deny)] as const;
  if (!mayMeet(...both)) return false;
  // An earlier deny rule decides anyway.
  return !before.some(
    (rule) => rule !== null && normalizeSendPolicy(rule.action) === "deny" && isImplied(conditionsOf(rule), both),
  );
}

interface Conditions {
  channel: string | undefined;
  chatType: string | undefined;
  prefix: string | undefined;
}

function conditionsOf({ match = {} }: SendPolicyRule): Conditions {
  const prefix = named(match.keyPrefix);
  return {
    channel: named(match.channel) ?? channelOfPrefix(prefix),
    chatType: normalizeChatType(match.chatType) ?? /:(group|channel):/.exec(prefix ?? "")?.[1],
    prefix,
  };
}

/** Session kinds without a channel. */
const NO_CHANNEL = /^(?:main|global|dm|direct|subagent|cron|hook|acp|agent)$/;

/** Only complete channel names: `tele` may be the start of any. */
function channelOfPrefix(prefix: string | undefined): string | undefined {
  const channel = /^([^:]+):/.exec(withoutAgent(prefix ?? ""))?.[1];
  return channel === undefined || NO_CHANNEL.test(channel) ? undefined : channel;
}

function withoutAgent(prefix: string): string {
  return prefix.replace(/^agent:[^:]*:?/, "");
}

function mayMeet(a: Conditions, b: Conditions): boolean {
  if (a.channel !== undefined && b.channel !== undefined && a.channel !== b.channel) return false;
  if (a.chatType !== undefined && b.chatType !== undefined && a.chatType !== b.chatType) return false;
  const [one = "", other = ""] = [a.prefix, b.prefix];
  // Either prefix may omit the agent.
  const isWhole = one.startsWith("agent:") === other.startsWith("agent:");
  const [shown, compared] = isWhole ? [one, other] : [withoutAgent(one), withoutAgent(other)];
  return shown.startsWith(compared) || compared.startsWith(shown);
}

/** True if this rule matches every session that all the others match. */
function isImplied(rule: Conditions, others: readonly Conditions[]): boolean {
  const { channel, chatType, prefix } = rule;
  return (
    (channel === undefined || others.some((other) => other.channel === channel)) &&
    (chatType === undefined || others.some((other) => other.chatType === chatType)) &&
    (prefix === undefined || others.some((other) => other.prefix?.startsWith(prefix) === true))
  );
}
