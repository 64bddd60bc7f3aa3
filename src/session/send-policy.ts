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

function describeSubject({ entry, sessionKey = "", channel, chatType }: Omit<SendPolicyParams, "cfg">) {
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
    if (deny === null || !denies(deny)) return [];
    const decidedBy = rules.slice(0, place).flatMap((allow) => {
      const subject = describeSubject(subjectOfBoth(deny, allow));
      const first = rules.findIndex((rule) => rule !== null && matches(rule, subject));
      return matches(deny, subject) && first < place && !denies(rules[first]) ? [first] : [];
    });
    if (decidedBy.length === 0) return [];
    return [
      `session.sendPolicy: rule ${place + 1} (deny) has no effect where rule ${Math.min(...decidedBy) + 1} (allow) matches, because the first match decides. OpenClaw would deny there. Move the deny rule up if that is what you want.`,
    ];
  });
}

function denies(rule: SendPolicyRule | null | undefined): boolean {
  return normalizeSendPolicy(rule?.action) === "deny";
}

/** A session that both rules match, if there is one. */
function subjectOfBoth(one: SendPolicyRule, other: SendPolicyRule | null): Omit<SendPolicyParams, "cfg"> {
  const [a, b] = [one.match ?? {}, other?.match ?? {}];
  const [prefix = ""] = [a.keyPrefix ?? "", b.keyPrefix ?? ""].toSorted((x, y) => y.length - x.length);
  const channel = channelOfPrefix(prefix.toLowerCase());
  return { sessionKey: `${prefix}x`, channel: channel ?? a.channel ?? b.channel, chatType: a.chatType ?? b.chatType };
}

/** Session kinds without a channel. */
const NO_CHANNEL = /^(?:main|global|dm|direct|subagent|cron|hook|acp|agent)$/;

/** Only complete channel names: `tele` may be the start of any. */
function channelOfPrefix(prefix: string): string | undefined {
  const channel = /^(?:agent:[^:]*:)?([^:]+):/.exec(prefix.trim())?.[1];
  return channel === undefined || NO_CHANNEL.test(channel) ? undefined : channel;
}
