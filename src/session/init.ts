/**
 * The first step of every turn: which session an inbound message belongs to, and whether it goes on
 * or starts a new window. Order: key → entry → reset trigger → freshness → resume or new window →
 * transcript → thread fork → persist → enriched context.
 *
 * Another process may move the same key meanwhile. Then the decision is made again on what is
 * there now; no process ever overwrites a window it has not seen. A session that goes on, as most do,
 * costs one update: the decision is made inside it.
 */
import { fileExists } from "../base/files.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type GroupKeyResolution, resolveGroupSessionKey } from "../keys/group.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { SessionScope } from "../keys/scope.ts";
import { copyEntry } from "../store/entry-copy.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease, WindowReason } from "../store/store.ts";
import { type AgentHandle, transcriptPath } from "./agent-handle.ts";
import { mergeSessionEntry } from "./entry.ts";
import { inboundRoutePatch, metaPatch } from "./inbound-meta.ts";
import { type ResetTrigger, detectResetTrigger, resetWordOf } from "./reset-trigger.ts";
import { endsConversation, isOwnWindow, whyNewWindow } from "./why-new-window.ts";
import { ensureTranscript, openWindow } from "./window.ts";

export interface InitSessionParams {
  agent: AgentHandle;
  ctx: MessageContext;
  cfg: Pick<HoldfastConfig, "session">;
  /** Whether this sender may reset the session. Left out: what the context says, else no. */
  commandAuthorized?: boolean;
  /** A heartbeat neither keeps a session fresh nor ends it. */
  isHeartbeat?: boolean;
  /** The lease under which the turn runs; writes are refused once it is lost. */
  lease?: Lease;
  /** Names the turn, so that it opens no second window when it is begun again. Left out: it never is. */
  turnId?: string;
  /** The turn has left something in this session before a crash: no window is opened for it again. */
  begunBefore?: boolean;
  /**
   * Called with the writing of the entry when the session goes on: the rest is done meanwhile. Whoever
   * gives it waits for that before anybody is told anything. Left out: everything is written first.
   */
  onWriting?: (written: Promise<unknown>) => void;
  /** Adds what the caller knows to the entry that the turn begins with. */
  complete?: (entry: SessionEntry) => SessionEntry;
  /**
   * Called before a window is closed by command, by the day or by idleness, with the entry as it is. It
   * may write to that window; the session moves when it has resolved.
   */
  beforeNewWindow?: (previous: SessionEntry, reason: WindowReason) => Promise<void>;
}

export interface SessionInitResult {
  sessionCtx: MessageContext;
  sessionEntry: SessionEntry;
  /** The entry as it was before a reset or a new window. */
  previousSessionEntry?: SessionEntry;
  sessionKey: string;
  sessionId: string;
  transcriptPath: string;
  isNewSession: boolean;
  /** Why the window was opened; missing when the session goes on. */
  windowReason?: WindowReason;
  resetTriggered: boolean;
  systemSent: boolean;
  abortedLastRun: boolean;
  storePath: string;
  sessionScope: SessionScope;
  groupResolution?: GroupKeyResolution;
  isGroup: boolean;
  bodyStripped?: string;
  triggerBodyNormalized: string;
}

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
    if (continued !== undefined) return describe(message, continued, entry, await reasonOfOwnWindow(message, entry));
    if (windowReason === undefined) continue;
    if (entry !== undefined && endsConversation(windowReason)) await params.beforeNewWindow?.(entry, windowReason);
    const opened = await startWindow(message, entry, windowReason);
    if (opened !== undefined) return describe(message, opened, entry, windowReason);
  }
}

interface InboundMessage extends InitSessionParams {
  groupResolution: GroupKeyResolution | undefined;
  isGroup: boolean;
  sessionKey: string;
  trigger: ResetTrigger;
}

interface Continued {
  /** As it was before. */
  entry: SessionEntry | undefined;
  /** With what this message adds; undefined when a window has to be opened. */
  continued?: SessionEntry;
  windowReason?: WindowReason;
}

async function continueSession(message: InboundMessage): Promise<Continued> {
  const { agent, sessionKey, lease, onWriting } = message;
  const decided = Promise.withResolvers<SessionEntry>();
  let entry: SessionEntry | undefined;
  let windowReason: WindowReason | undefined;
  let goesOnIn: string | undefined;
  const writing = agent.store.update(
    sessionKey,
    (current) => {
      // Who moves the key now is as late as somebody who moves it during the turn.
      if (goesOnIn !== undefined) return current?.sessionId === goesOnIn ? withMessage(message, current) : undefined;
      entry = current;
      windowReason = whyNewWindow(current, message);
      if (current === undefined || windowReason !== undefined) return undefined;
      const continued = withMessage(message, current);
      if (onWriting === undefined) return continued;
      goesOnIn = current.sessionId;
      decided.resolve(copyEntry(continued));
      return continued;
    },
    lease === undefined ? {} : { lease },
  );
  const updated = await Promise.race([decided.promise, writing]);
  if (goesOnIn !== undefined) onWriting?.(writing);
  if (windowReason !== undefined || updated === undefined) {
    return { entry, ...(windowReason === undefined ? {} : { windowReason }) };
  }
  await ensureTranscript(agent, sessionKey, updated);
  return { entry, continued: updated };
}

/** Why the window was opened that this very turn had opened before it was cut short. */
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
  const path = transcriptPath(agent, parent);
  return (await fileExists(path)) ? path : undefined;
}

function withMessage(message: InboundMessage, before: SessionEntry): SessionEntry {
  const { ctx, sessionKey, agent } = message;
  const entry = message.complete?.(before) ?? before;
  const now = agent.clock.now();
  if (message.isHeartbeat === true) {
    // An entry of another tool has only `updatedAt`, which this heartbeat is about to move.
    const lastInteractionAt = entry.lastInteractionAt ?? entry.updatedAt;
    return mergeSessionEntry(entry, { lastInteractionAt }, now);
  }
  const patch = { ...metaPatch(ctx, message.groupResolution, sessionKey, entry), ...inboundRoutePatch(ctx, entry) };
  return mergeSessionEntry(entry, { ...patch, lastInteractionAt: now }, now);
}

function describe(
  message: InboundMessage,
  sessionEntry: SessionEntry,
  before: SessionEntry | undefined,
  windowReason: WindowReason | undefined,
): SessionInitResult {
  const { agent, ctx, cfg, trigger, groupResolution, isGroup, sessionKey } = message;
  const isNewSession = windowReason !== undefined;
  const bodyStripped = trigger.bodyStripped;
  return {
    sessionCtx: {
      ...ctx,
      SessionKey: sessionKey,
      BodyStripped: bodyStripped ?? ctx.BodyForAgent ?? ctx.Body ?? "",
      SessionId: sessionEntry.sessionId,
      IsNewSession: String(isNewSession),
    },
    sessionEntry,
    ...(isNewSession && before !== undefined && before.sessionId !== sessionEntry.sessionId
      ? { previousSessionEntry: before }
      : {}),
    sessionKey,
    sessionId: sessionEntry.sessionId,
    transcriptPath: transcriptPath(agent, sessionEntry),
    isNewSession,
    ...(windowReason === undefined ? {} : { windowReason }),
    resetTriggered: trigger.triggered,
    systemSent: sessionEntry.systemSent ?? false,
    // What the caller adds may clear it for the turn that begins.
    abortedLastRun: before?.sessionId === sessionEntry.sessionId && before.abortedLastRun === true,
    storePath: agent.store.path,
    sessionScope: cfg.session.scope,
    ...(groupResolution === undefined ? {} : { groupResolution }),
    isGroup,
    ...(bodyStripped === undefined ? {} : { bodyStripped }),
    triggerBodyNormalized: trigger.triggerBodyNormalized,
  };
}
