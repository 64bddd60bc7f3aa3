/**
 * Decides whether a session continues or needs a new window, and why. Hours are local. The daily boundary is
 * built from calendar parts, so it is right on days with 23 or 25 hours.
 */
import type { ResetRule, SessionConfig, HoldfastConfig } from "../config/config.ts";
import type { GroupKeyResolution } from "../keys/group.ts";
import type { MessageContext } from "../keys/message-context.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import type { WindowReason } from "../store/store.ts";
import type { AgentHandle } from "./agent-handle.ts";
import type { ResetTrigger } from "./reset-trigger.ts";
import { resolveThreadParentSessionKey } from "../keys/session-key.ts";

type SessionResetType = "dm" | "group" | "thread";

type SessionResetPolicy = ReturnType<typeof resolveSessionResetPolicy>;

const DEFAULT_RESET_HOUR = 4;
const DEFAULT_IDLE_MINUTES = 60;
const MINUTE_MS = 60_000;

export function evaluateSessionFreshness(params: {
  /** Time of the last message of a person or the agent. */
  updatedAt: number;
  now: number;
  policy: SessionResetPolicy;
}) {
  const { updatedAt, now, policy } = params;
  const dailyResetAt = policy.mode === "daily" ? resolveDailyResetAtMs(now, policy.atHour) : undefined;
  const idleMinutes = policy.idleMinutes ?? undefined;
  const idleExpiresAt = idleMinutes === undefined ? undefined : updatedAt + idleMinutes * MINUTE_MS;
  const staleDaily = dailyResetAt !== undefined && updatedAt < dailyResetAt;
  const staleIdle = idleExpiresAt !== undefined && now > idleExpiresAt;
  return {
    fresh: !staleDaily && !staleIdle,
    ...(dailyResetAt === undefined ? {} : { dailyResetAt }),
    ...(idleExpiresAt === undefined ? {} : { idleExpiresAt }),
  };
}

/** The last time the local clock showed `atHour`. */
export function resolveDailyResetAtMs(now: number, atHour: number): number {
  const today = new Date(now);
  const hour = normalizeHour(atHour);
  const boundary = new Date(today.getFullYear(), today.getMonth(), today.getDate(), hour).getTime();
  if (now >= boundary) return boundary;
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1, hour).getTime();
}

export function resolveSessionResetType(params: {
  sessionKey?: string | undefined;
  isGroup?: boolean | undefined;
  isThread?: boolean | undefined;
}): SessionResetType {
  const isThread = params.isThread === true || resolveThreadParentSessionKey(params.sessionKey) !== null;
  if (isThread) return "thread";
  return params.isGroup === true || /:(?:group|channel):/.test(params.sessionKey?.toLowerCase() ?? "") ? "group" : "dm";
}

export function resolveSessionResetPolicy(params: {
  sessionCfg?: Pick<SessionConfig, "reset" | "resetByType" | "idleMinutes"> | undefined;
  /** `direct` means `dm`. */
  resetType: SessionResetType | "direct";
  /** The rule of the message's channel. Replaces the general rules. */
  resetOverride?: ResetRule | undefined;
}) {
  const { sessionCfg, resetOverride } = params;
  const resetType = params.resetType === "direct" ? "dm" : params.resetType;
  const general = resetOverride ?? sessionCfg?.reset;
  const ofType = resetOverride ? undefined : sessionCfg?.resetByType?.[resetType];
  const shorthand = resetOverride ? undefined : (sessionCfg?.idleMinutes ?? undefined);
  // Alone, the shorthand means "idle". Next to a rule it only adds its limit.
  const isAlone = !general && !sessionCfg?.resetByType;

  const mode = ofType?.mode ?? general?.mode ?? (isAlone && shorthand !== undefined ? "idle" : "daily");
  // Mode "none" takes no limit from other rules.
  const minutes = mode === "none" ? undefined : (ofType?.idleMinutes ?? general?.idleMinutes ?? shorthand);
  const idleMinutes = minutes === undefined ? undefined : Math.max(1, Math.floor(minutes));
  return {
    mode,
    atHour: normalizeHour(ofType?.atHour ?? general?.atHour ?? DEFAULT_RESET_HOUR),
    ...(idleMinutes !== undefined ? { idleMinutes } : mode === "idle" ? { idleMinutes: DEFAULT_IDLE_MINUTES } : {}),
  };
}

/** Compares channel names case-insensitively. */
function resolveChannelResetRule(
  sessionCfg: Pick<SessionConfig, "resetByChannel">,
  channel: string | undefined,
): ResetRule | undefined {
  const wanted = channel?.trim().toLowerCase();
  return Object.entries(sessionCfg.resetByChannel ?? {}).find(([name]) => name.trim().toLowerCase() === wanted)?.[1];
}

function normalizeHour(hour: number): number {
  return Number.isFinite(hour) ? Math.min(23, Math.max(0, Math.floor(hour))) : DEFAULT_RESET_HOUR;
}

interface WindowQuestion {
  agent: Pick<AgentHandle, "clock">;
  ctx: MessageContext;
  cfg: Pick<HoldfastConfig, "session">;
  sessionKey: string;
  groupResolution: GroupKeyResolution | undefined;
  isGroup: boolean;
  trigger: ResetTrigger;
  isHeartbeat?: boolean | undefined;
  /** Recognizes a turn that runs again, which must not open a second window. */
  turnId?: string | undefined;
  begunBefore?: boolean | undefined;
}

/** Undefined: the session continues. */
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

/** True if an interrupted run of this turn has opened the window. */
export function isOwnWindow({ turnId }: Pick<WindowQuestion, "turnId">, entry: SessionEntry): boolean {
  return turnId !== undefined && entry.openedByTurn === turnId;
}

/** True if the reason closes a conversation, as opposed to a fork or a restore. */
export function endsConversation(reason: WindowReason): boolean {
  return reason === "command" || reason === "daily" || reason === "idle";
}
