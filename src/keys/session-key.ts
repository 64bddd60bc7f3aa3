/**
 * Builds and reads session keys: `agent:<agentId>:<rest>`. Ids may have any content; `encoding.ts` keeps two
 * conversations from sharing a key. Builders return canonical keys (`canonical-key.ts`), with one exception:
 * `peerKind: "direct"` without a `dmScope` keeps OpenClaw's spelling.
 */
import {
  encodeFirst,
  encodeId,
  encodeName,
  foldCase,
  isCaseSensitiveChannel,
  THREAD_MARKERS,
  keyShape,
} from "./encoding.ts";
import type { ChatType } from "./message-context.ts";
import { DEFAULT_AGENT_ID, normalizeAccountId, normalizeAgentId, normalizeMainKey } from "./names.ts";

/** Who shares a conversation in direct messages. */
export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** `global`: one session for everything. */
export type SessionScope = "per-sender" | "global";

/** One person's addresses: name → list of `channel:id`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

interface MainKeyParams {
  agentId: string;
  mainKey?: string | undefined;
}

export function buildAgentMainSessionKey({ agentId, mainKey }: MainKeyParams): string {
  return `agent:${normalizeAgentId(agentId)}:${encodeMainKey(mainKey)}`;
}

interface PeerKeyParams extends MainKeyParams {
  channel: string;
  accountId?: string | null | undefined;
  /** Default: `dm`. */
  peerKind?: "dm" | "direct" | "group" | "channel" | undefined;
  peerId?: string | null | undefined;
  /** Default: `main`, as in OpenClaw. */
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

/** Splits a key without changing its spelling. Drops empty segments. */
export function parseAgentSessionKey(key: string | null | undefined) {
  const [head, rawAgentId, ...rest] = (key ?? "")
    .trim()
    .split(":")
    .filter((segment) => segment !== "");
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

/** A main key is always one segment, so it cannot look like a DM, a group or a thread. */
export function encodeMainKey(mainKey: string | undefined): string {
  return withoutUnknown(encodeName(normalizeMainKey(mainKey)));
}

/** `unknown` if the message names no channel. */
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

/** Replaces a missing id. A real id with this name is escaped. */
const UNKNOWN = "unknown";

/** No encoded id ends like this, because an escaped `%` is always followed by two hex digits. */
const STRANGER = "%25";

/** The name that the peer is linked to, else its own id. A peer whose id equals a linked name is marked as a stranger. */
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

/** Thread keys are `<parent key>:thread:<id>`. OpenClaw's Telegram topics use `:topic:<id>` the same way. */
interface ThreadKeyParams {
  baseSessionKey: string;
  threadId?: string | number | null | undefined;
  /** Passed through, so that the new session can fork from it. */
  parentSessionKey?: string | undefined;
  /** False: the base key already names the thread. */
  useSuffix?: boolean | undefined;
}

export function resolveThreadSessionKeys(params: ThreadKeyParams) {
  const { baseSessionKey, parentSessionKey, useSuffix = true } = params;
  const threadId = String(params.threadId ?? "").trim();
  if (threadId === "") return { sessionKey: baseSessionKey };
  const suffix = `:thread:${encodeId(keepsCase(baseSessionKey) ? threadId : foldCase(threadId))}`;
  const sessionKey = useSuffix ? baseSessionKey + suffix : baseSessionKey;
  // OpenClaw leaves the member out.
  return parentSessionKey === undefined ? { sessionKey } : { sessionKey, parentSessionKey };
}

/** The key without its last thread or topic. Null: it has none. */
export function resolveThreadParentSessionKey(key: string | null | undefined): string | null {
  const segments = (key ?? "").trim().split(":");
  // `agent:<agentId>:` is not a conversation, even if the agent is called `thread`.
  const firstMarker = parseAgentSessionKey(key) === null ? 1 : 3;
  for (let index = segments.length - 2; index >= firstMarker; index--) {
    if (!THREAD_MARKERS.has(foldCase(segments[index] ?? ""))) continue;
    const parent = segments.slice(0, index).join(":").trim();
    return parent === "" ? null : parent;
  }
  return null;
}

function keepsCase(baseSessionKey: string): boolean {
  const rest = parseAgentSessionKey(baseSessionKey)?.rest ?? baseSessionKey;
  return isCaseSensitiveChannel(foldCase(rest.split(":", 1)[0] ?? ""));
}

export type SessionKind = "direct" | "group" | "global" | "unknown";

/** The kind of conversation, from a canonical key. The entry's chat type wins. */
export function sessionKindOf(key: string, entry?: { chatType?: ChatType | undefined }): SessionKind {
  const rest = parseAgentSessionKey(key)?.rest ?? key;
  if (key === "global") return "global";
  if (rest === "unknown") return "unknown";
  if (entry?.chatType === "group" || entry?.chatType === "channel") return "group";
  const segments = rest.split(":");
  const { kind } = keyShape(segments);
  // Very old stores name a group without its channel.
  const isBareGroup = segments.length > 1 && segments[0] === "group";
  return kind === "group" || kind === "channel" || (isBareGroup && kind === "other") ? "group" : "direct";
}
