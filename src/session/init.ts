/**
 * The first step of every turn: finds the session of an inbound message and decides whether it continues or
 * starts a new window. Order: key, entry, reset trigger, freshness, window, transcript, context.
 *
 * If another process moves the key meanwhile, the decision is made again; no process overwrites a window that
 * it has not seen. A session that continues costs one store update, which includes the decision.
 */
import { fileExists } from "../base/files.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type GroupKeyResolution, resolveGroupSessionKey } from "../keys/group.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { WindowReason } from "../store/store.ts";
import { type AgentHandle, transcriptName, transcriptPath } from "./agent-handle.ts";
import { mergeSessionEntry, inboundRoutePatch, metaPatch, spawnPatch } from "./entry.ts";
import { type ResetTrigger, detectResetTrigger, resetWordOf } from "./reset-trigger.ts";
import { ensureTranscript, openWindow } from "./window.ts";
import { endsConversation, isOwnWindow, whyNewWindow } from "./freshness.ts";
import { copyEntry } from "../store/store-rules.ts";
import type { Lease } from "../store/queues.ts";

export interface InitSessionParams {
  agent: AgentHandle;
  ctx: MessageContext;
  cfg: Pick<HoldfastConfig, "session">;
  /** Whether the sender may reset the session. Default: `ctx.CommandAuthorized`. */
  commandAuthorized?: boolean | undefined;
  /** A heartbeat neither keeps a session fresh nor ends it. */
  isHeartbeat?: boolean | undefined;
  /** The turn's lease. Writes are refused once it is lost. */
  lease?: Lease | undefined;
  /** Recognizes the turn when it runs again, so that it opens no second window. Optional. */
  turnId?: string | undefined;
  /** An interrupted run of this turn has already written to the session, so it opens no window. */
  begunBefore?: boolean | undefined;
  /**
   * Called with the pending write if the session continues, so that work can go on in parallel. The caller must
   * await it before it reports anything. Default: the write is awaited here.
   */
  onWriting?: ((written: Promise<unknown>) => void) | undefined;
  /** Changes the entry that the turn starts with. Optional. */
  complete?: ((entry: SessionEntry) => SessionEntry) | undefined;
  /**
   * Called before a reset, with the current entry. It may still write to that window; the session moves when it
   * resolves. Optional.
   */
  beforeNewWindow?: ((previous: SessionEntry, reason: WindowReason) => Promise<void>) | undefined;
}

export type SessionInitResult = ReturnType<typeof describe>;

export async function initSessionState(params: InitSessionParams): Promise<SessionInitResult> {
  const { agent, ctx, cfg } = params;
  const groupResolution = resolveGroupSessionKey(ctx) ?? undefined;
  const isGroup = groupResolution !== undefined;
  const sessionKey = resolveInboundSessionKey(ctx, { agentId: agent.agentId, session: cfg.session });
  const trigger = detectResetTrigger({
    ctx,
    resetTriggers: cfg.session.resetTriggers,
    isGroup,
    authorized: params.commandAuthorized ?? ctx.CommandAuthorized ?? false,
  });
  const message: InboundMessage = { ...params, groupResolution, isGroup, sessionKey, trigger };

  for (;;) {
    const { entry, continued, windowReason } = await continueSession(message);
    if (continued !== undefined) {
      return describe(message, continued, entry, await reasonOfOwnWindow(message, entry));
    }
    if (windowReason === undefined) continue;
    if (entry !== undefined && endsConversation(windowReason)) await params.beforeNewWindow?.(entry, windowReason);
    const opened = await startWindow(message, entry, windowReason);
    if (opened === undefined) continue;
    const path = await transcriptPath(agent, opened);
    return describe(message, { sessionEntry: opened, path }, entry, windowReason);
  }
}

interface InboundMessage extends InitSessionParams {
  groupResolution: GroupKeyResolution | undefined;
  isGroup: boolean;
  sessionKey: string;
  trigger: ResetTrigger;
}

/** An entry with the path of its transcript, which is up to date. */
interface Located {
  sessionEntry: SessionEntry;
  path: string;
}

interface Continued {
  /** The entry before this message. */
  entry: SessionEntry | undefined;
  /** The entry with this message. Undefined: a window must be opened. */
  continued?: Located | undefined;
  windowReason?: WindowReason | undefined;
}

async function continueSession(message: InboundMessage): Promise<Continued> {
  const { agent, sessionKey, lease, onWriting } = message;
  const decided = Promise.withResolvers<SessionEntry>();
  let entry: SessionEntry | undefined;
  let windowReason: WindowReason | undefined;
  let decidedId: string | undefined;
  const writing = agent.store.update(
    sessionKey,
    (current) => {
      // A retry after the decision: if the key has moved by now, the fence will stop the turn.
      if (decidedId !== undefined) return current?.sessionId === decidedId ? withMessage(message, current) : undefined;
      entry = current;
      windowReason = whyNewWindow(current, message);
      if (current === undefined || windowReason !== undefined) return undefined;
      const continued = withMessage(message, current);
      if (onWriting === undefined) return continued;
      decidedId = current.sessionId;
      decided.resolve(copyEntry(continued));
      return continued;
    },
    { lease },
  );
  const updated = await Promise.race([decided.promise, writing]);
  if (decidedId !== undefined) onWriting?.(writing);
  if (windowReason !== undefined || updated === undefined) return { entry, windowReason };
  return { entry, continued: { sessionEntry: updated, path: await ensureTranscript(agent, sessionKey, updated) } };
}

async function reasonOfOwnWindow(
  message: InboundMessage,
  entry: SessionEntry | undefined,
): Promise<WindowReason | undefined> {
  if (entry === undefined || !isOwnWindow(message, entry)) return undefined;
  const windows = await message.agent.store.windows(message.sessionKey);
  return windows.find(({ sessionId }) => sessionId === entry.sessionId)?.reason;
}

async function startWindow(
  message: InboundMessage,
  previous: SessionEntry | undefined,
  reason: WindowReason,
): Promise<SessionEntry | undefined> {
  const { turnId } = message;
  return await openWindow(message.agent, {
    key: message.sessionKey,
    previous,
    reason,
    command: reason === "command" ? resetWordOf(message.trigger) : undefined,
    topicId: message.ctx.MessageThreadId,
    forkOf: reason === "fork" ? await parentTranscript(message) : undefined,
    lease: message.lease,
    complete: (entry) => withMessage(message, turnId === undefined ? entry : { ...entry, openedByTurn: turnId }),
  });
}

async function parentTranscript({ agent, ctx }: InboundMessage): Promise<string | undefined> {
  if (ctx.ParentSessionKey === undefined) return undefined;
  const parent = await agent.store.get(ctx.ParentSessionKey);
  if (parent === undefined) return undefined;
  return (await fileExists(await transcriptPath(agent, parent))) ? transcriptName(parent) : undefined;
}

function withMessage(message: InboundMessage, before: SessionEntry): SessionEntry {
  const { ctx, sessionKey, agent } = message;
  const entry = message.complete?.(before) ?? before;
  const now = agent.clock.now();
  if (message.isHeartbeat === true) {
    // Entries of other tools have only `updatedAt`, which this heartbeat is about to move.
    const lastInteractionAt = entry.lastInteractionAt ?? entry.updatedAt;
    return mergeSessionEntry(entry, { lastInteractionAt }, now);
  }
  const patch = {
    ...metaPatch(ctx, message.groupResolution, sessionKey, entry),
    ...inboundRoutePatch(ctx, entry),
    ...spawnPatch(ctx),
  };
  return mergeSessionEntry(entry, { ...patch, lastInteractionAt: now }, now);
}

function describe(
  message: InboundMessage,
  { sessionEntry, path }: Located,
  before: SessionEntry | undefined,
  windowReason: WindowReason | undefined,
) {
  const { agent, ctx, cfg, trigger, groupResolution, isGroup, sessionKey } = message;
  const isNewSession = windowReason !== undefined;
  const { bodyStripped } = trigger;
  const hasMoved = isNewSession && before?.sessionId !== sessionEntry.sessionId;
  return {
    sessionCtx: {
      ...ctx,
      SessionKey: sessionKey,
      BodyStripped: bodyStripped ?? ctx.BodyForAgent ?? ctx.Body ?? "",
      SessionId: sessionEntry.sessionId,
      IsNewSession: String(isNewSession),
    },
    sessionEntry,
    /** The entry before a reset. */
    previousSessionEntry: hasMoved ? before : undefined,
    sessionKey,
    sessionId: sessionEntry.sessionId,
    transcriptPath: path,
    isNewSession,
    /** Why a window was opened. Undefined: the session continues. */
    windowReason,
    resetTriggered: trigger.triggered,
    systemSent: sessionEntry.systemSent ?? false,
    // `complete` may have cleared it in the new entry.
    abortedLastRun: before?.sessionId === sessionEntry.sessionId && before.abortedLastRun === true,
    storePath: agent.store.location,
    sessionScope: cfg.session.scope,
    groupResolution,
    isGroup,
    bodyStripped,
    triggerBodyNormalized: trigger.triggerBodyNormalized,
  };
}
