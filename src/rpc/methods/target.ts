/**
 * Finds the agent and session that a request names: by key, by label or id, or by a chat on a channel. A chat's
 * session is found by its route; for a new chat the key is the one its first message would get.
 */
import { HoldfastError } from "../../base/errors.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { parseAgentSessionKey, resolveThreadSessionKeys, sessionKindOf } from "../../keys/session-key.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import { findSession } from "../../session/find-session.ts";
import { patchSession } from "../../session/patch.ts";
import { openWindow } from "../../session/window.ts";
import type { DeliveryContext, SessionEntry } from "../../store/session-entry.ts";
import type { AddressedMessage, AgentParts } from "../../turn/pipeline.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { closestMatch } from "../../base/text.ts";
import { CHANNEL_NAMES } from "../../config/choices.ts";
import { configuredAccounts } from "../../config/config.ts";

export const WEB_CHANNEL = "web";

export interface TargetSession extends AgentParts {
  key: string;
}

export async function openTarget(parts: RpcParts, { key, agentId }: { key: string; agentId?: string | undefined }) {
  const named = agentId ?? parseAgentSessionKey(key)?.agentId ?? parts.config.defaultAgent;
  const opened = await parts.agents.open(normalizeAgentId(named));
  const canonical = canonicalSessionKey(key, opened.agent);
  const owner = parseAgentSessionKey(canonical)?.agentId;
  const own = opened.agent.agentId;
  if (owner === undefined || owner === own) return { ...opened, key: canonical };
  throw new HoldfastError("forbidden", "foreign-key", `Session ${canonical} does not belong to agent ${own}`, {
    hint: "Omit agentId: the key names its agent.",
    data: { key: canonical, agentId: own },
  });
}

/** By label, session id or a prefix of it; searches every agent unless one is named. */
export async function findTarget(parts: RpcParts, reference: string, agentId?: string) {
  const ids = agentId === undefined ? await parts.agents.list() : [normalizeAgentId(agentId)];
  let failure: unknown;
  const { defaultAgent } = parts.config;
  const defaultFirst = ids.toSorted((a, b) => Number(b === defaultAgent) - Number(a === defaultAgent));
  for (const id of ids.length === 0 ? [defaultAgent] : defaultFirst) {
    const opened = await parts.agents.open(id);
    try {
      const { key, entry, window } = await findSession(opened.agent, reference);
      return { ...opened, key, sessionId: window?.sessionId ?? entry.sessionId, isCurrent: window === undefined };
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.kind !== "not-found") throw error;
      failure ??= error;
    }
  }
  throw failure;
}

export interface ChatAddress {
  channel: string;
  to: string;
  accountId?: string | undefined;
  threadId?: string | number | undefined;
}

export type FoundChat = Awaited<ReturnType<typeof findChat>>;

/** `entry` is undefined for a new chat; `ctx` is the first message of a new chat, without its text. */
export async function findChat(parts: RpcParts, address: ChatAddress, agentId?: string) {
  const account = findAccount(parts, address);
  const owner = agentId ?? account?.agentId ?? parts.config.defaultAgent;
  const opened = await parts.agents.open(normalizeAgentId(owner));
  const { agent } = opened;
  const accountId = address.accountId ?? account?.accountId;
  const route = { ...address, accountId };
  const ctx = firstMessageOf(route);
  const key =
    address.channel === WEB_CHANNEL
      ? canonicalSessionKey(address.to, agent)
      : ((await keyByRoute(agent, route)) ?? keyOfFirstMessage(parts, agent, ctx, route));
  return { ...opened, key, entry: await agent.store.get(key), ctx: { ...ctx, SessionKey: key }, route };
}

/** Messages can only be sent through a running channel account. */
export function requireAccount(parts: RpcParts, { channel, accountId }: ChatAddress): void {
  if (parts.channels.find(channel, accountId) !== undefined) return;
  const known = parts.channels.accounts().map((account) => account.channel);
  const names = [...new Set(known.map(({ name }) => name))];
  const accounts = known.filter(({ name }) => name === channel).map((account) => account.accountId);
  const missing = (message: string, hint: string): HoldfastError =>
    new HoldfastError("not-found", "channel-not-found", message, { hint, data: { channel } });
  if (accounts.length > 0) {
    const message = `Channel ${channel} has no account ${accountId ?? "default"}`;
    throw missing(message, `Its accounts: ${accounts.join(", ")}.`);
  }
  const isKnown = CHANNEL_NAMES.some((name) => name === channel);
  const suggestion = isKnown ? undefined : closestMatch(channel, [...names, ...CHANNEL_NAMES]);
  const configured = names.length === 0 ? "No channel is configured." : `Configured: ${names.join(", ")}.`;
  const add = `Add one: holdfast config set channels.${isKnown ? channel : "telegram"}.default '{}'`;
  const hint = suggestion === undefined ? `${configured} ${add}` : `Did you mean ${suggestion}?`;
  throw missing(`This gateway has no channel ${channel}`, hint);
}

const ROUTE_FIELDS = ["deliveryContext", "lastChannel", "lastTo", "lastAccountId", "lastThreadId"] as const;

async function keyByRoute(agent: AgentHandle, wanted: ChatAddress): Promise<string | undefined> {
  const { sessions } = await agent.store.list({ channel: wanted.channel, fields: ROUTE_FIELDS });
  return sessions.find(({ entry }) => isSameChat(entry, wanted))?.key;
}

function isSameChat(entry: SessionEntry, wanted: ChatAddress): boolean {
  const { deliveryContext: known } = entry;
  const to = known?.to ?? entry.lastTo;
  const accountId = known?.accountId ?? entry.lastAccountId;
  const threadId = known?.threadId ?? entry.lastThreadId;
  return (
    (known?.channel ?? entry.lastChannel) === wanted.channel &&
    to !== undefined &&
    bareId(to) === bareId(wanted.to) &&
    String(threadId ?? "") === String(wanted.threadId ?? "") &&
    (accountId === undefined || wanted.accountId === undefined || accountId === wanted.accountId)
  );
}

/** `telegram:group:-100`, `group:-100` and `-100` are one chat; people and groups never share an id. */
function bareId(to: string): string {
  return to
    .trim()
    .toLowerCase()
    .replace(/^(?:telegram|tg|discord|whatsapp|web):/, "")
    .replace(/^(?:group|channel|dm|direct|user):/, "");
}

function firstMessageOf({ channel, to, accountId, threadId }: ChatAddress): MessageContext {
  const id = bareId(to);
  const kind = /(?:^|:)channel:/i.test(to) ? "channel" : isGroup(channel, to, id) ? "group" : "direct";
  const topic = channel === "telegram" && kind === "group" && threadId !== undefined ? `:topic:${threadId}` : "";
  return {
    Provider: channel,
    Surface: channel,
    From: kind === "direct" ? `${channel}:${id}` : `${channel}:${kind}:${id}${topic}`,
    ChatType: kind,
    OriginatingChannel: channel,
    OriginatingTo: to,
    AccountId: accountId,
    MessageThreadId: threadId,
  };
}

function isGroup(channel: string, to: string, id: string): boolean {
  if (/(?:^|:)group:/i.test(to) || id.endsWith("@g.us")) return true;
  return channel === "telegram" && /^(?:-|@)/.test(id);
}

function keyOfFirstMessage(parts: RpcParts, agent: AgentHandle, ctx: MessageContext, { threadId }: ChatAddress) {
  const baseSessionKey = resolveInboundSessionKey(ctx, { agentId: agent.agentId, session: parts.config.session });
  const isNamed = ctx.From?.includes(":topic:") === true;
  return resolveThreadSessionKeys({ baseSessionKey, threadId: isNamed ? undefined : threadId }).sessionKey;
}

/** Running and configured channel accounts. With `--local` none runs, but names must mean the same sessions. */
export interface NamedAccount {
  channel: string;
  accountId: string;
  agentId: string;
}

export function channelAccounts({ channels, config }: Pick<RpcParts, "channels" | "config">): NamedAccount[] {
  const running = channels
    .accounts()
    .map(({ channel, agentId }) => ({ channel: channel.name, accountId: channel.accountId, agentId }));
  const isRunning = ({ channel, accountId }: NamedAccount): boolean =>
    running.some((known) => known.channel === channel && known.accountId === accountId);
  const configured = configuredAccounts(config).map(({ name, accountId, settings }) => ({
    channel: name,
    accountId,
    agentId: settings.agent ?? config.defaultAgent,
  }));
  return [...running, ...configured.filter((account) => !isRunning(account))];
}

/** The default account is the only one of the channel, else `default`. */
function findAccount(
  parts: Pick<RpcParts, "channels" | "config">,
  { channel, accountId }: { channel: string; accountId?: string | undefined },
): NamedAccount | undefined {
  const matching = channelAccounts(parts).filter((account) => account.channel === channel);
  if (accountId !== undefined) return matching.find((account) => account.accountId === accountId);
  return matching.length === 1 ? matching[0] : matching.find((account) => account.accountId === "default");
}

export interface ChosenSession extends TargetSession {
  entry: SessionEntry | undefined;
  route?: DeliveryContext | undefined;
}

/** Begins the session if there is none yet. */
export async function setThinking({ agent, key, entry }: ChosenSession, thinkingLevel: string) {
  if (entry !== undefined) {
    return entry.thinkingLevel === thinkingLevel ? entry : await patchSession(agent, key, { thinkingLevel });
  }
  const opened = await openWindow(agent, {
    key,
    previous: undefined,
    reason: "initial",
    complete: (made) => ({ ...made, thinkingLevel }),
  });
  return opened ?? (await patchSession(agent, key, { thinkingLevel }));
}

/**
 * A message that the owner writes from the page or a terminal. It belongs to the given session, whatever its
 * channel, and does not change the session's route: answers to Telegram messages still go to Telegram.
 */
export function toOwnerMessage(
  parts: RpcParts,
  { agent, key, entry, route: chosen }: ChosenSession,
  { message, idempotencyKey, deliver }: { message: string; idempotencyKey: string; deliver: boolean },
): AddressedMessage {
  const known = chosen ?? knownRoute(entry);
  if (deliver) requireDeliverable(key, known, parts);
  const route = known ?? { channel: WEB_CHANNEL, to: key };
  const now = parts.clock.now();
  return {
    address: { channel: WEB_CHANNEL, accountId: "default", chatId: key, messageId: idempotencyKey },
    receivedAt: now,
    agentId: agent.agentId,
    deliver,
    awaited: true,
    ctx: {
      Body: message,
      RawBody: message,
      CommandBody: message,
      MessageSid: idempotencyKey,
      Timestamp: now,
      SessionKey: key,
      ChatType: entry?.chatType ?? (sessionKindOf(key, entry) === "group" ? "group" : "direct"),
      Provider: WEB_CHANNEL,
      Surface: WEB_CHANNEL,
      OriginatingChannel: route.channel,
      OriginatingTo: route.to,
      AccountId: route.accountId,
      MessageThreadId: route.threadId,
      // The gateway's token identifies the owner, who addresses the agent even in a group.
      CommandAuthorized: true,
      WasMentioned: true,
    },
  };
}

/** Fails before the turn runs if its answer could not be delivered. */
function requireDeliverable(key: string, route: DeliveryContext | undefined, parts: RpcParts): void {
  const { channel = WEB_CHANNEL, accountId } = route ?? {};
  // Configured accounts count too: the answer then waits for a gateway that runs them.
  const isConfigured = channelAccounts(parts).some(
    (known) => known.channel === channel && (accountId === undefined || accountId === known.accountId),
  );
  if (channel !== WEB_CHANNEL && isConfigured) return;
  const message =
    channel === WEB_CHANNEL
      ? `Session ${key} has no channel to send the answer to`
      : `Session ${key} is on ${channel}${accountId === undefined ? "" : ` (${accountId})`}, which is not configured`;
  throw new HoldfastError("not-found", "nowhere-to-deliver", message, {
    hint: "Name a person and a configured channel (`holdfast channels status`), or turn delivery off.",
    data: { key, channel },
  });
}

function knownRoute(entry: SessionEntry | undefined): DeliveryContext | undefined {
  const route: DeliveryContext = {
    channel: entry?.lastChannel,
    to: entry?.lastTo,
    accountId: entry?.lastAccountId,
    threadId: entry?.lastThreadId,
    ...entry?.deliveryContext,
  };
  return route.channel === undefined || route.to === undefined ? undefined : route;
}
