/** Whether a message was said in a group or channel, and which one. */
import { normalizeChatType } from "./chat-type.ts";
import { foldCase } from "./encoding.ts";
import { isCaseSensitiveChannel } from "./key-shape.ts";
import type { MessageContext } from "./message-context.ts";
import { encodeChannel, encodeGroupId } from "./session-key.ts";

export interface GroupKeyResolution {
  /** `<channel>:<group|channel>:<id>`, without the agent. */
  key: string;
  channel: string;
  /** The id as the channel knows it, not encoded. */
  id: string;
  chatType: "group" | "channel";
}

/** Null when the message was not said in a group, or its channel or id cannot be told. */
export function resolveGroupSessionKey(ctx: MessageContext): GroupKeyResolution | null {
  if (!isGroupMessage(ctx)) return null;
  const address = parseAddress(ctx.From);
  const isChannelNamed = KNOWN_CHANNELS.has(address.head);
  const provider = foldCase((ctx.Provider ?? "").trim());
  const fallback = isWhatsAppGroup(address.text) ? "whatsapp" : undefined;
  const channel = isChannelNamed ? address.head : provider === "" ? fallback : provider;
  const rawId = isChannelNamed ? address.id : address.text;
  return channel === undefined || rawId === "" ? null : groupKey(channel, groupKind(ctx, isChannelNamed), rawId);
}

/** A group on a channel that is not known by name, rather than letting it share the main session. */
export function resolveUnlistedGroup(ctx: MessageContext): GroupKeyResolution {
  const { head, id } = parseAddress(ctx.From);
  const channel = [ctx.Provider, ctx.Surface, ctx.OriginatingChannel, head].find((name) => (name ?? "").trim() !== "");
  return groupKey(channel ?? "", groupKind(ctx, true), id);
}

export function isGroupMessage(ctx: MessageContext): boolean {
  const chatType = normalizeChatType(ctx.ChatType);
  const from = foldCase((ctx.From ?? "").trim());
  return (
    chatType === "group" ||
    chatType === "channel" ||
    from.includes(":group:") ||
    from.includes(":channel:") ||
    isWhatsAppGroup(from)
  );
}

/** Names that are taken for a channel when an address starts with them. */
const KNOWN_CHANNELS: ReadonlySet<string> = new Set([
  "bluebubbles",
  "discord",
  "feishu",
  "googlechat",
  "imessage",
  "irc",
  "line",
  "matrix",
  "mattermost",
  "msteams",
  "nextcloud-talk",
  "signal",
  "slack",
  "telegram",
  "webchat",
  "whatsapp",
  "zalo",
]);

export function isKnownChannel(name: string): boolean {
  return KNOWN_CHANNELS.has(name);
}

interface Address {
  text: string;
  /** The first segment in lower case; a channel if `text` starts with one. */
  head: string;
  kind: "group" | "channel" | undefined;
  /** What follows the channel and, if it is there, the kind. */
  id: string;
}

function parseAddress(from: string | undefined): Address {
  const text = (from ?? "").trim();
  const [rawHead = "", second = "", ...others] = text.split(":");
  const head = foldCase(rawHead.trim());
  const word = foldCase(second.trim());
  const kind = word === "group" || word === "channel" ? word : undefined;
  const id = (kind === undefined ? text.slice(rawHead.length + 1) : others.join(":")).trim();
  return { text, head, kind, id };
}

function groupKind(ctx: MessageContext, isChannelNamed: boolean): "group" | "channel" {
  const { kind, text } = parseAddress(ctx.From);
  if (isChannelNamed && kind !== undefined) return kind;
  const saysChannel = foldCase(text).includes(":channel:") || normalizeChatType(ctx.ChatType) === "channel";
  return saysChannel ? "channel" : "group";
}

function groupKey(channel: string, chatType: "group" | "channel", rawId: string): GroupKeyResolution {
  const name = encodeChannel(channel);
  const id = isCaseSensitiveChannel(name) ? rawId : foldCase(rawId);
  return { key: `${name}:${chatType}:${encodeGroupId(name, rawId)}`, channel, id, chatType };
}

function isWhatsAppGroup(from: string): boolean {
  return foldCase(from).endsWith("@g.us");
}
