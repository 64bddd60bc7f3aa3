/**
 * The first step of every turn: which session an inbound message belongs to, and whether it goes on
 * or starts a new window. Order: key → entry → reset trigger → freshness → resume or new window →
 * transcript → thread fork → persist → enriched context.
 *
 * Another process may move the same key meanwhile. Then the decision is made again on what is
 * there now; no process ever overwrites a window it has not seen.
 */
import { fileExists } from "../base/files.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type GroupKeyResolution, resolveGroupSessionKey } from "../keys/group.ts";
import { resolveInboundSessionKey } from "../keys/inbound.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { SessionScope } from "../keys/scope.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { Lease, WindowReason } from "../store/store.ts";
import { type AgentHandle, transcriptPath } from "./agent-handle.ts";
import { mergeSessionEntry } from "./entry.ts";
import {
  evaluateSessionFreshness,
  resolveChannelResetRule,
  resolveSessionResetPolicy,
  resolveSessionResetType,
} from "./freshness.ts";
import { inboundRoutePatch, metaPatch } from "./inbound-meta.ts";
import { type ResetTrigger, detectResetTrigger } from "./reset-trigger.ts";
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
    const entry = await agent.store.get(sessionKey);
    const windowReason = whyNewWindow(entry, message);
    const sessionEntry =
      windowReason === undefined
        ? await continueSession(message, entry)
        : await startWindow(message, entry, windowReason);
    if (sessionEntry !== undefined) return describe(message, sessionEntry, entry, windowReason);
  }
}

interface InboundMessage extends InitSessionParams {
  groupResolution: GroupKeyResolution | undefined;
  isGroup: boolean;
  sessionKey: string;
  trigger: ResetTrigger;
}

/** Undefined when the session goes on. */
function whyNewWindow(entry: SessionEntry | undefined, message: InboundMessage): WindowReason | undefined {
  if (entry === undefined) return message.ctx.ParentSessionKey === undefined ? "initial" : "fork";
  if (message.trigger.triggered) return "command";
  if (message.isHeartbeat === true) return undefined;

  const { ctx, cfg } = message;
  const policy = resolveSessionResetPolicy({
    sessionCfg: cfg.session,
    resetType: resolveSessionResetType({
      sessionKey: message.sessionKey,
      isGroup: message.isGroup,
      isThread: ctx.ParentSessionKey !== undefined || ctx.ThreadLabel !== undefined,
    }),
    resetOverride: resolveChannelResetRule(cfg.session, message.groupResolution?.channel ?? ctx.Provider),
  });
  const now = message.agent.clock.now();
  const freshness = evaluateSessionFreshness({ updatedAt: entry.lastInteractionAt ?? entry.updatedAt, now, policy });
  if (freshness.fresh) return undefined;
  return freshness.idleExpiresAt !== undefined && now > freshness.idleExpiresAt ? "idle" : "daily";
}

/** The entry with what this message adds; undefined when the key moved meanwhile. */
async function continueSession(
  message: InboundMessage,
  entry: SessionEntry | undefined,
): Promise<SessionEntry | undefined> {
  const { agent, sessionKey, lease } = message;
  if (entry === undefined) return undefined;
  await ensureTranscript(agent, sessionKey, entry);
  let unmoved = false;
  const updated = await agent.store.update(
    sessionKey,
    (current) => {
      unmoved = current?.sessionId === entry.sessionId;
      return current !== undefined && unmoved ? withMessage(message, current) : undefined;
    },
    lease === undefined ? {} : { lease },
  );
  return unmoved ? updated : undefined;
}

async function startWindow(
  message: InboundMessage,
  previous: SessionEntry | undefined,
  reason: WindowReason,
): Promise<SessionEntry | undefined> {
  return await openWindow(message.agent, {
    key: message.sessionKey,
    previous,
    reason,
    topicId: message.ctx.MessageThreadId,
    forkOf: reason === "fork" ? await parentTranscript(message) : undefined,
    lease: message.lease,
    complete: (entry) => withMessage(message, entry),
  });
}

async function parentTranscript({ agent, ctx }: InboundMessage): Promise<string | undefined> {
  if (ctx.ParentSessionKey === undefined) return undefined;
  const parent = await agent.store.get(ctx.ParentSessionKey);
  if (parent === undefined) return undefined;
  const path = transcriptPath(agent, parent);
  return (await fileExists(path)) ? path : undefined;
}

function withMessage(message: InboundMessage, entry: SessionEntry): SessionEntry {
  const { ctx, sessionKey, agent } = message;
  if (message.isHeartbeat === true) {
    // An entry of another tool has only `updatedAt`, which this heartbeat is about to move.
    const lastInteractionAt = entry.lastInteractionAt ?? entry.updatedAt;
    return mergeSessionEntry(entry, { lastInteractionAt }, agent.clock.now());
  }
  const patch = { ...metaPatch(ctx, message.groupResolution, sessionKey, entry), ...inboundRoutePatch(ctx, entry) };
  const now = agent.clock.now();
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
    ...(isNewSession && before !== undefined ? { previousSessionEntry: before } : {}),
    sessionKey,
    sessionId: sessionEntry.sessionId,
    transcriptPath: transcriptPath(agent, sessionEntry),
    isNewSession,
    ...(windowReason === undefined ? {} : { windowReason }),
    resetTriggered: trigger.triggered,
    systemSent: sessionEntry.systemSent ?? false,
    abortedLastRun: sessionEntry.abortedLastRun ?? false,
    storePath: agent.store.path,
    sessionScope: cfg.session.scope,
    ...(groupResolution === undefined ? {} : { groupResolution }),
    isGroup,
    ...(bodyStripped === undefined ? {} : { bodyStripped }),
    triggerBodyNormalized: trigger.triggerBodyNormalized,
  };
}
