/** What an inbound message says about its chat, as fields of the entry. Pure. */
import { normalizeChatType } from "../keys/chat-type.ts";
import { buildGroupDisplayName } from "../keys/group-display-name.ts";
import type { GroupKeyResolution } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { DeliveryContext, SessionEntry, SessionOrigin } from "../store/session-entry.ts";

/** The delivery fields that an inbound message sets, falling back to what the entry knows. */
export function inboundRoutePatch(ctx: MessageContext, entry: SessionEntry | undefined): Partial<SessionEntry> {
  return routePatch(
    defined({
      channel: ctx.OriginatingChannel ?? ctx.Provider,
      to: ctx.OriginatingTo ?? ctx.To,
      accountId: ctx.AccountId,
      threadId: ctx.MessageThreadId,
    }),
    entry,
  );
}

/** The chat's own facts as fields of the entry. */
export function metaPatch(
  ctx: MessageContext,
  group: GroupKeyResolution | null | undefined,
  sessionKey: string,
  entry: SessionEntry | undefined,
): Partial<SessionEntry> {
  const origin = originPatch(ctx, entry?.origin);
  const chatType = group?.chatType ?? normalizeChatType(ctx.ChatType);
  const channel = group?.channel ?? text(ctx.OriginatingChannel ?? ctx.Provider)?.toLowerCase();
  const common = defined({ origin, chatType, channel: entry?.channel ?? channel });
  if (!group) return common;

  const subject = text(ctx.GroupSubject) ?? entry?.subject;
  const groupChannel = text(ctx.GroupChannel) ?? entry?.groupChannel;
  const space = text(ctx.GroupSpace) ?? entry?.space;
  const { channel: provider, id } = group;
  const displayName = buildGroupDisplayName({ provider, subject, groupChannel, space, id, key: sessionKey });
  return { ...common, ...defined({ groupId: group.id, subject, groupChannel, space, displayName }) };
}

function originPatch(ctx: MessageContext, known: SessionOrigin | undefined): SessionOrigin | undefined {
  const seen: SessionOrigin = defined({
    label: text(ctx.ConversationLabel ?? ctx.GroupSubject ?? ctx.SenderName),
    provider: text(ctx.OriginatingChannel ?? ctx.Provider)?.toLowerCase(),
    surface: text(ctx.Surface)?.toLowerCase(),
    chatType: normalizeChatType(ctx.ChatType),
    from: text(ctx.From),
    to: text(ctx.OriginatingTo ?? ctx.To),
    accountId: text(ctx.AccountId),
    threadId: ctx.MessageThreadId,
  });
  // The origin is where the session began: later messages only add what was not known.
  const merged = { ...seen, ...known };
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/** Where replies go from now on: what this message says, completed by what is known of the same chat. */
export function routePatch(context: DeliveryContext, entry: SessionEntry | undefined): Partial<SessionEntry> {
  const seen = normalizeDeliveryContext(context);
  const known = normalizeDeliveryContext(
    defined({
      channel: entry?.lastChannel,
      to: entry?.lastTo,
      accountId: entry?.lastAccountId,
      threadId: entry?.lastThreadId,
    }),
  );
  // The thread of another chat would send the reply to the wrong place.
  const isSameChat = (seen?.channel ?? known?.channel) === known?.channel && (seen?.to ?? known?.to) === known?.to;
  const deliveryContext = isSameChat ? { ...known, ...seen } : seen;
  if (deliveryContext === undefined || Object.keys(deliveryContext).length === 0) return {};
  return defined({
    deliveryContext,
    lastChannel: deliveryContext.channel,
    lastTo: deliveryContext.to,
    lastAccountId: deliveryContext.accountId,
    lastThreadId: deliveryContext.threadId,
  });
}

/** Trimmed, with a lower-case channel; undefined when it names no place at all. */
export function normalizeDeliveryContext(context: DeliveryContext | undefined): DeliveryContext | undefined {
  if (context === undefined) return undefined;
  const channel = text(context.channel)?.toLowerCase();
  const to = text(context.to);
  const accountId = text(context.accountId);
  if (channel === undefined && to === undefined && accountId === undefined) return undefined;
  const threadId = typeof context.threadId === "number" ? context.threadId : text(context.threadId);
  return defined({ channel, to, accountId, threadId });
}

function text(value: string | number | undefined): string | undefined {
  const trimmed = value === undefined ? "" : String(value).trim();
  return trimmed === "" ? undefined : trimmed;
}

/** Drops members that are undefined, which `exactOptionalPropertyTypes` tells from missing ones. */
function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
