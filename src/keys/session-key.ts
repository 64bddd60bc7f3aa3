/**
 * Session keys: `agent:<agentId>:<rest>`. The builders take ids of any content; see `encoding.ts`
 * for how two different conversations are kept from sharing a key. Every key that a builder
 * returns is already canonical (`canonical-key.ts`), with one exception: `peerKind: "direct"`
 * without a `dmScope` keeps OpenClaw's spelling.
 */
import { encodeFirst, encodeId, encodeName, foldCase } from "./encoding.ts";
import { isCaseSensitiveChannel } from "./key-shape.ts";
import { DEFAULT_AGENT_ID, normalizeAccountId, normalizeAgentId, normalizeMainKey } from "./names.ts";
import type { DmScope, IdentityLinks } from "./scope.ts";

export interface MainKeyParams {
  agentId: string;
  mainKey?: string | undefined;
}

export function buildAgentMainSessionKey({ agentId, mainKey }: MainKeyParams): string {
  return `agent:${normalizeAgentId(agentId)}:${encodeMainKey(mainKey)}`;
}

export interface PeerKeyParams extends MainKeyParams {
  channel: string;
  accountId?: string | null | undefined;
  /** Left out: a direct message. */
  peerKind?: "dm" | "direct" | "group" | "channel" | undefined;
  peerId?: string | null | undefined;
  /** Left out: `main`, as in OpenClaw. */
  dmScope?: DmScope | undefined;
  identityLinks?: IdentityLinks | undefined;
}

export function buildAgentPeerSessionKey(params: PeerKeyParams): string {
  const { peerKind = "dm", dmScope } = params;
  const prefix = `agent:${normalizeAgentId(params.agentId)}`;
  const channel = encodeChannel(params.channel);
  if (peerKind === "group" || peerKind === "channel") {
    return `${prefix}:${channel}:${peerKind}:${encodeGroupId(channel, params.peerId)}`;
  }
  if (peerKind === "direct" && dmScope === undefined) return `${prefix}:${channel}:direct:${encodePeer(params)}`;
  if (dmScope === "per-peer") return `${prefix}:dm:${encodePeer(params)}`;
  if (dmScope === "per-channel-peer") return `${prefix}:${channel}:dm:${encodePeer(params)}`;
  if (dmScope === "per-account-channel-peer") {
    return `${prefix}:${channel}:${encodeName(normalizeAccountId(params.accountId))}:dm:${encodePeer(params)}`;
  }
  return buildAgentMainSessionKey(params);
}

export interface ParsedAgentSessionKey {
  agentId: string;
  rest: string;
}

/** Takes a key apart without changing its spelling, except that empty segments are dropped. */
export function parseAgentSessionKey(key: string | null | undefined): ParsedAgentSessionKey | null {
  const [head, rawAgentId, ...rest] = (key ?? "").trim().split(":").filter(isNotEmpty);
  const agentId = rawAgentId?.trim() ?? "";
  return head === "agent" && agentId !== "" && rest.length > 0 ? { agentId, rest: rest.join(":") } : null;
}

export function isSubagentSessionKey(key: string | null | undefined): boolean {
  const rest = parseAgentSessionKey(key)?.rest ?? (key ?? "").trim();
  return foldCase(rest.slice(0, SUBAGENT_PREFIX.length)) === SUBAGENT_PREFIX;
}

export function resolveAgentIdFromSessionKey(key: string | null | undefined): string {
  return normalizeAgentId(parseAgentSessionKey(key)?.agentId ?? DEFAULT_AGENT_ID);
}

/** A main key is one name, whatever is in it: it can never look like a DM, a group or a thread. */
export function encodeMainKey(mainKey: string | undefined): string {
  return withoutUnknown(encodeName(normalizeMainKey(mainKey)));
}

/** `unknown` stands for a message whose channel is not known. */
export function encodeChannel(channel: string | undefined): string {
  const name = foldCase((channel ?? "").trim());
  return name === "" ? UNKNOWN : encodeName(name);
}

export function encodeGroupId(channel: string, id: string | null | undefined): string {
  const trimmed = (id ?? "").trim();
  if (trimmed === "") return UNKNOWN;
  // OpenClaw's Telegram groups carry their topic in the id.
  const encoded = encodeId(isCaseSensitiveChannel(channel) ? trimmed : foldCase(trimmed), { keepTopics: true });
  return withoutUnknown(encoded);
}

const SUBAGENT_PREFIX = "subagent:";

/** Stands for an id that the message did not have. A real id of that name is written differently. */
const UNKNOWN = "unknown";

/** No encoded id ends like this: a `%` is written so only in front of two hex digits. */
const STRANGER = "%25";

/** The name a peer is linked to, else its own id. An id that equals somebody's name is not them. */
function encodePeer({ channel, peerId, identityLinks = {} }: PeerKeyParams): string {
  const peer = foldCase((peerId ?? "").trim());
  if (peer === "") return UNKNOWN;
  const addresses = new Set([peer, `${foldCase(channel.trim())}:${peer}`]);
  const links = Object.entries(identityLinks)
    .map(([name, linked]) => ({ name: foldCase(name.trim()), linked }))
    .filter(({ name }) => name !== "");
  const person = links.find(({ linked }) => linked.some((address) => addresses.has(foldCase(address.trim()))));
  if (person !== undefined) return withoutUnknown(encodeId(person.name));
  const encoded = withoutUnknown(encodeId(peer));
  return links.some(({ name }) => name === peer) ? encoded + STRANGER : encoded;
}

function withoutUnknown(encoded: string): string {
  return encoded === UNKNOWN ? encodeFirst(encoded) : encoded;
}

function isNotEmpty(segment: string): boolean {
  return segment !== "";
}
