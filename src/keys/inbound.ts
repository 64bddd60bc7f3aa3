/**
 * Finds the session key of an inbound message. `resolveSessionKey` is OpenClaw's function with its defaults.
 * Holdfast uses `resolveInboundSessionKey`: where OpenClaw falls back to the main session, which lets strangers
 * share it, the key says `unknown` instead.
 */
import { canonicalSessionKey, GLOBAL_SESSION_KEY } from "./canonical-key.ts";
import { foldCase } from "./encoding.ts";
import { isGroupMessage, isKnownChannel, resolveGroupSessionKey, resolveUnlistedGroup } from "./group.ts";
import type { MessageContext } from "./message-context.ts";
import { DEFAULT_AGENT_ID, normalizeAgentId } from "./names.ts";
import {
  buildAgentMainSessionKey,
  buildAgentPeerSessionKey,
  type DmScope,
  type IdentityLinks,
  type SessionScope,
} from "./session-key.ts";

interface InboundKeyOptions {
  agentId: string;
  session: InboundKeySettings;
}

/** The part of the session configuration that affects keys. */
interface InboundKeySettings {
  scope: SessionScope;
  dmScope: DmScope;
  mainKey?: string | undefined;
  identityLinks?: IdentityLinks | undefined;
}

/** In this order: an explicit `SessionKey`, the global session, the group, the peer by `dmScope`. */
export function resolveInboundSessionKey(ctx: MessageContext, { agentId, session }: InboundKeyOptions): string {
  const { mainKey, dmScope, identityLinks } = session;
  const explicit = explicitKey(ctx, agentId, mainKey);
  if (explicit !== undefined) return explicit;
  if (session.scope === "global") return GLOBAL_SESSION_KEY;
  if (isGroupMessage(ctx)) {
    const { key } = resolveGroupSessionKey(ctx) ?? resolveUnlistedGroup(ctx);
    return `agent:${normalizeAgentId(agentId)}:${key}`;
  }
  const { channel, peerId } = directPeer(ctx);
  return buildAgentPeerSessionKey({
    agentId,
    mainKey,
    channel,
    accountId: ctx.AccountId,
    peerId,
    dmScope,
    identityLinks,
  });
}

export function resolveSessionKey(
  scope: SessionScope,
  ctx: MessageContext,
  mainKey?: string,
  agentId: string = DEFAULT_AGENT_ID,
): string {
  const explicit = explicitKey(ctx, agentId, mainKey);
  if (explicit !== undefined) return explicit;
  if (scope === "global") return GLOBAL_SESSION_KEY;
  const group = resolveGroupSessionKey(ctx);
  return group === null
    ? buildAgentMainSessionKey({ agentId, mainKey })
    : `agent:${normalizeAgentId(agentId)}:${group.key}`;
}

function explicitKey(ctx: MessageContext, agentId: string, mainKey: string | undefined): string | undefined {
  const key = ctx.SessionKey?.trim() ?? "";
  return key === "" ? undefined : canonicalSessionKey(key, { agentId, mainKey });
}

/** `From` is an address such as `telegram:123`, `telegram:dm:123` or the bare id. */
function directPeer(ctx: MessageContext): { channel: string; peerId: string | undefined } {
  const from = (ctx.From ?? "").trim();
  const [head = "", ...tail] = from.split(":");
  const word = foldCase(head.trim());
  const named = firstText(ctx.Provider, ctx.Surface, ctx.OriginatingChannel);
  const isChannelNamed = tail.length > 0 && (isKnownChannel(word) || word === foldCase(named ?? ""));
  const channel = isChannelNamed ? word : (named ?? "");
  const address = isChannelNamed ? withoutDmWord(tail) : from;
  return { channel, peerId: firstText(address, ctx.SenderId, ctx.SenderE164, ctx.SenderUsername) };
}

function withoutDmWord(segments: readonly string[]): string {
  const isMarked = segments.length > 1 && /^(?:dm|direct)$/i.test(segments[0]?.trim() ?? "");
  return segments.slice(isMarked ? 1 : 0).join(":");
}

function firstText(...candidates: readonly (string | undefined)[]): string | undefined {
  return candidates
    .map((candidate) => candidate?.trim())
    .find((candidate) => candidate !== undefined && candidate !== "");
}
