/** Whether a message goes on with the window that there is, or which reason opens the next one. Pure but for the clock. */
import type { HoldfastConfig } from "../config/config.ts";
import type { GroupKeyResolution } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { WindowReason } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";
import {
  evaluateSessionFreshness,
  resolveChannelResetRule,
  resolveSessionResetPolicy,
  resolveSessionResetType,
} from "./freshness.ts";
import type { ResetTrigger } from "./reset-trigger.ts";

export interface WindowQuestion {
  agent: Pick<AgentHandle, "clock">;
  ctx: MessageContext;
  cfg: Pick<HoldfastConfig, "session">;
  sessionKey: string;
  groupResolution: GroupKeyResolution | undefined;
  isGroup: boolean;
  trigger: ResetTrigger;
  isHeartbeat?: boolean;
  /** A turn that is begun again opens no second window. */
  turnId?: string;
  begunBefore?: boolean;
}

/** Undefined when the session goes on. */
export function whyNewWindow(entry: SessionEntry | undefined, message: WindowQuestion): WindowReason | undefined {
  if (entry === undefined) return message.ctx.ParentSessionKey === undefined ? "initial" : "fork";
  if (message.begunBefore === true || isOwnWindow(message, entry)) return undefined;
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

/** This very turn opened the window before it was cut short. */
export function isOwnWindow({ turnId }: Pick<WindowQuestion, "turnId">, entry: SessionEntry): boolean {
  return turnId !== undefined && entry.openedByTurn === turnId;
}

/** Whether the window that closes was a conversation that somebody had. */
export function endsConversation(reason: WindowReason): boolean {
  return reason === "command" || reason === "daily" || reason === "idle";
}
