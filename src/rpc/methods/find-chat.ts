/**
 * Which session a chat on a channel belongs to. A session that has talked to the chat before is found by
 * its route; for a chat that nobody has written from yet, the key is made as its first message would.
 */
import { HoldfastError } from "../../base/errors.ts";
import { closestMatch } from "../../base/suggest.ts";
import { canonicalSessionKey } from "../../keys/canonical-key.ts";
import { resolveInboundSessionKey } from "../../keys/inbound.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { normalizeAgentId } from "../../keys/names.ts";
import { resolveThreadSessionKeys } from "../../keys/thread.ts";
import type { AgentHandle } from "../../session/agent-handle.ts";
import type { DeliveryContext, SessionEntry } from "../../store/session-entry.ts";
import type { AgentParts } from "../../turn/turn.ts";
import type { RpcParts } from "../rpc-parts.ts";
import { findAccount } from "./channel-accounts.ts";
import { WEB_CHANNEL } from "./owner-message.ts";

export interface ChatAddress {
  channel: string;
  to: string;
  accountId?: string;
  threadId?: string | number;
}

export interface FoundChat extends AgentParts {
  key: string;
  /** Undefined: nobody has talked there yet. */
  entry: SessionEntry | undefined;
  /** The first message of such a chat, without its text. */
  ctx: MessageContext;
  route: DeliveryContext & ChatAddress;
}

export async function findChat(parts: RpcParts, address: ChatAddress, agentId?: string): Promise<FoundChat> {
  const account = findAccount(parts, address);
  const owner = agentId ?? account?.agentId ?? parts.config.defaultAgent;
  const opened = await parts.agents.open(normalizeAgentId(owner));
  const { agent } = opened;
  const accountId = address.accountId ?? account?.accountId;
  const route = { ...address, ...(accountId === undefined ? {} : { accountId }) };
  const ctx = firstMessage(route);
  const key =
    address.channel === WEB_CHANNEL
      ? canonicalSessionKey(address.to, agent)
      : ((await keyByRoute(agent, route)) ?? keyOfFirstMessage(parts, agent, ctx, route));
  return { ...opened, key, entry: await agent.store.get(key), ctx: { ...ctx, SessionKey: key }, route };
}

/** Messages can be sent only where a channel account is. */
export function requireAccount(parts: RpcParts, { channel, accountId }: ChatAddress): void {
  if (parts.channels.find(channel, accountId) !== undefined) return;
  const known = parts.channels.accounts().map((account) => account.channel);
  const names = [...new Set(known.map(({ name }) => name))];
  const accounts = known.filter(({ name }) => name === channel).map((account) => account.accountId);
  const suggestion = closestMatch(channel, names);
  throw new HoldfastError(
    "not-found",
    "channel-not-found",
    accounts.length > 0
      ? `Channel ${channel} has no account ${accountId ?? "default"}`
      : `There is no channel ${channel} in this gateway`,
    {
      hint:
        accounts.length > 0
          ? `Its accounts: ${accounts.join(", ")}.`
          : suggestion === undefined
            ? `Configured: ${names.join(", ")}. Add others under "channels" in the configuration.`
            : `Did you mean ${suggestion}?`,
      data: { channel },
    },
  );
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

/** `telegram:group:-100`, `group:-100` and `-100` are one chat; ids of people and groups never coincide. */
function bareId(to: string): string {
  return to
    .trim()
    .toLowerCase()
    .replace(/^(?:telegram|tg|discord|whatsapp|web):/, "")
    .replace(/^(?:group|channel|dm|direct|user):/, "");
}

function firstMessage({ channel, to, accountId, threadId }: ChatAddress): MessageContext {
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
    ...(accountId === undefined ? {} : { AccountId: accountId }),
    ...(threadId === undefined ? {} : { MessageThreadId: threadId }),
  };
}

function isGroup(channel: string, to: string, id: string): boolean {
  if (/(?:^|:)group:/i.test(to) || id.endsWith("@g.us")) return true;
  return channel === "telegram" && /^(?:-|@)/.test(id);
}

function keyOfFirstMessage(
  parts: RpcParts,
  agent: AgentHandle,
  ctx: MessageContext,
  { threadId }: ChatAddress,
): string {
  const baseSessionKey = resolveInboundSessionKey(ctx, { agentId: agent.agentId, session: parts.config.session });
  const isNamed = ctx.From?.includes(":topic:") === true;
  return resolveThreadSessionKeys({ baseSessionKey, threadId: isNamed ? undefined : threadId }).sessionKey;
}
