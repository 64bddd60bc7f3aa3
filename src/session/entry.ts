/** Pure changes of a session entry: a new window, a patch, the facts of an inbound message. */
import { randomIds } from "../base/ids.ts";
import { type GroupKeyResolution, buildGroupDisplayName } from "../keys/group.ts";
import { type MessageContext, normalizeChatType } from "../keys/message-context.ts";
import {
  type SessionEntry,
  WINDOW_STATE_FIELDS,
  type DeliveryContext,
  type SessionOrigin,
} from "../store/session-entry.ts";

/** Snapshots are rebuilt in the first turn of a window. */
const CLEARED_FIELDS = [...WINDOW_STATE_FIELDS, "skillsSnapshot", "systemPromptReport"] as const;

export function entryForNewWindow(
  previous: SessionEntry | undefined,
  window: { sessionId: string; sessionFile: string; now: number },
): SessionEntry {
  // The person's settings stay, and so do fields of other tools.
  const kept: Partial<SessionEntry> = { ...previous };
  for (const field of CLEARED_FIELDS) delete kept[field];
  return {
    ...kept,
    sessionId: window.sessionId,
    sessionFile: window.sessionFile,
    updatedAt: window.now,
    // Opening or reopening a window counts as an interaction, so it starts out fresh.
    lastInteractionAt: window.now,
    compactionCount: 0,
    systemSent: false,
    abortedLastRun: false,
  };
}

/** Applies a patch, or creates an entry. `updatedAt` never goes back. */
export function mergeSessionEntry(
  existing: SessionEntry | undefined,
  patch: Partial<SessionEntry>,
  now: number = Date.now(),
): SessionEntry {
  return {
    ...existing,
    ...patch,
    sessionId: patch.sessionId ?? existing?.sessionId ?? randomIds.uuid(),
    updatedAt: Math.max(existing?.updatedAt ?? 0, patch.updatedAt ?? 0, now),
  };
}

/** The delivery fields of an inbound message, completed from the entry. */
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

/** The chat's type, name and origin. */
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

/** The lineage of a subagent, from the message that started it or that it has to report about. */
export function spawnPatch({ Spawn: spawn, ReportDue }: MessageContext): Partial<SessionEntry> {
  const due = ReportDue === true ? { reportDue: true } : {};
  if (spawn === undefined) return due;
  const { by: spawnedBy, title: displayName, model } = spawn;
  const chosen = model === undefined ? {} : { providerOverride: model.provider, modelOverride: model.model };
  return { ...due, spawnedBy, displayName, ...chosen };
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
  // The origin is where the session began, so later messages only add missing facts.
  const merged = { ...seen, ...known };
  return Object.keys(merged).length === 0 ? undefined : merged;
}

/** The route for replies: from this message, completed with known facts about the same chat. */
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
  // A thread id of another chat would send the reply to the wrong place.
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

/** Trims values and lower-cases the channel. Undefined: the context is empty. */
export function normalizeDeliveryContext(context: DeliveryContext | undefined): DeliveryContext | undefined {
  if (context === undefined) return undefined;
  const channel = text(context.channel)?.toLowerCase();
  const to = text(context.to);
  const accountId = text(context.accountId);
  const threadId = threadOf(context.threadId);
  const place = defined({ channel, to, accountId, threadId });
  return Object.keys(place).length === 0 ? undefined : place;
}

function threadOf(threadId: string | number | undefined): string | number | undefined {
  if (typeof threadId !== "number") return text(threadId);
  return Number.isFinite(threadId) ? Math.trunc(threadId) : undefined;
}

function text(value: string | number | undefined): string | undefined {
  const trimmed = String(value ?? "").trim();
  return trimmed === "" ? undefined : trimmed;
}

/** Drops undefined members, so that a spread does not overwrite known values. */
export function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
