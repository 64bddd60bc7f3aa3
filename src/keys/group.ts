/** Finds the group or channel of a message. */
import { foldCase, isCaseSensitiveChannel } from "./encoding.ts";
import { type MessageContext, normalizeChatType } from "./message-context.ts";
import { encodeChannel, encodeGroupId } from "./session-key.ts";

/** `key` is `<channel>:<group|channel>:<id>`, without the agent. `id` is the channel's own, not encoded. */
export type GroupKeyResolution = ReturnType<typeof groupKey>;

/** Null: not a group message, or its channel or id is unknown. */
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

/** A group on an unknown channel. It must not share the main session. */
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

/** An address that starts with one of these names its channel. */
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

/** `head` is the first segment in lower case, possibly a channel. `id` is the part after the channel and the kind. */
function parseAddress(from: string | undefined) {
  const text = (from ?? "").trim();
  const [rawHead = "", second = "", ...others] = text.split(":");
  const head = foldCase(rawHead.trim());
  const word = foldCase(second.trim());
  const kind: "group" | "channel" | undefined = word === "group" || word === "channel" ? word : undefined;
  const id = (kind === undefined ? text.slice(rawHead.length + 1) : others.join(":")).trim();
  return { text, head, kind, id };
}

function groupKind(ctx: MessageContext, isChannelNamed: boolean): "group" | "channel" {
  const { kind, text } = parseAddress(ctx.From);
  if (isChannelNamed && kind !== undefined) return kind;
  const saysChannel = foldCase(text).includes(":channel:") || normalizeChatType(ctx.ChatType) === "channel";
  return saysChannel ? "channel" : "group";
}

function groupKey(channel: string, chatType: "group" | "channel", rawId: string) {
  const name = encodeChannel(channel);
  const id = isCaseSensitiveChannel(name) ? rawId : foldCase(rawId);
  return { key: `${name}:${chatType}:${encodeGroupId(name, rawId)}`, channel, id, chatType };
}

function isWhatsAppGroup(from: string): boolean {
  return foldCase(from).endsWith("@g.us");
}

interface GroupDisplayParams {
  provider?: string | undefined;
  subject?: string | undefined;
  groupChannel?: string | undefined;
  space?: string | undefined;
  id?: string | undefined;
  key: string;
}

/** A short name for lists: `discord:my-guild#general`, `whatsapp:g-family-friends`. */
export function buildGroupDisplayName(params: GroupDisplayParams): string {
  const provider = trimmed(params.provider)?.toLowerCase() ?? "group";
  const token = labelToken(groupLabel(params));
  const isSelfMarked = /^(?:[@#]|g-)/.test(token) || token.includes("#");
  return token === "" ? provider : `${provider}:${isSelfMarked ? token : `g-${token}`}`;
}

function groupLabel(params: GroupDisplayParams): string {
  const channel = trimmed(params.groupChannel);
  const space = trimmed(params.space);
  if (channel !== undefined && space !== undefined) return `${space}#${channel.replace(/^#/, "")}`;
  if (channel !== undefined) return channel;
  // A leading # means "channel", so remove it from a subject.
  const subject = trimmed(params.subject)?.replace(/^#+/, "");
  return trimmed(subject) ?? space ?? trimmed(params.id) ?? params.key;
}

function labelToken(label: string): string {
  return label
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}#@._+-]+/gu, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-.]+|[-.]+$/g, "");
}

function trimmed(value: string | undefined): string | undefined {
  const trimmed = value?.trim();
  return trimmed === "" ? undefined : trimmed;
}
