/**
 * Whether a session may go on or a new window is due. Hours are local, and the daily boundary is
 * built from calendar parts instead of subtracting 24 hours, so that it stays right on the two days
 * of the year that have 23 or 25.
 */
import type { ResetRule, SessionConfig } from "../config/config.ts";
import { resolveThreadParentSessionKey } from "../keys/thread.ts";

export type SessionResetType = "dm" | "group" | "thread";

export interface SessionResetPolicy {
  mode: "daily" | "idle" | "none";
  atHour: number;
  idleMinutes?: number;
}

export interface SessionFreshness {
  fresh: boolean;
  dailyResetAt?: number;
  idleExpiresAt?: number;
}

const DEFAULT_RESET_HOUR = 4;
const DEFAULT_IDLE_MINUTES = 60;
const MINUTE_MS = 60_000;

export function evaluateSessionFreshness(params: {
  /** The last message of a person or of the agent. */
  updatedAt: number;
  now: number;
  policy: SessionResetPolicy;
}): SessionFreshness {
  const { updatedAt, now, policy } = params;
  const dailyResetAt = policy.mode === "daily" ? resolveDailyResetAtMs(now, policy.atHour) : undefined;
  const idleExpiresAt = policy.idleMinutes === undefined ? undefined : updatedAt + policy.idleMinutes * MINUTE_MS;
  const staleDaily = dailyResetAt !== undefined && updatedAt < dailyResetAt;
  const staleIdle = idleExpiresAt !== undefined && now > idleExpiresAt;
  return {
    fresh: !staleDaily && !staleIdle,
    ...(dailyResetAt === undefined ? {} : { dailyResetAt }),
    ...(idleExpiresAt === undefined ? {} : { idleExpiresAt }),
  };
}

/** The most recent instant at which the local clock showed `atHour`. */
export function resolveDailyResetAtMs(now: number, atHour: number): number {
  const today = new Date(now);
  const hour = normalizeHour(atHour);
  const boundary = new Date(today.getFullYear(), today.getMonth(), today.getDate(), hour).getTime();
  if (now >= boundary) return boundary;
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1, hour).getTime();
}

export function resolveSessionResetType(params: {
  sessionKey?: string | undefined;
  isGroup?: boolean;
  isThread?: boolean;
}): SessionResetType {
  const isThread = params.isThread === true || resolveThreadParentSessionKey(params.sessionKey) !== null;
  if (isThread) return "thread";
  return params.isGroup === true || /:(?:group|channel):/.test(params.sessionKey?.toLowerCase() ?? "") ? "group" : "dm";
}

export function resolveSessionResetPolicy(params: {
  sessionCfg?: Pick<SessionConfig, "reset" | "resetByType" | "idleMinutes"> | undefined;
  /** `direct` is today's word for `dm`. */
  resetType: SessionResetType | "direct";
  /** The rule of the message's channel; it replaces the general ones. */
  resetOverride?: ResetRule | undefined;
}): SessionResetPolicy {
  const { sessionCfg, resetOverride } = params;
  const resetType = params.resetType === "direct" ? "dm" : params.resetType;
  const general = resetOverride ?? sessionCfg?.reset;
  const ofType = resetOverride === undefined ? sessionCfg?.resetByType?.[resetType] : undefined;
  const isExplicit = general !== undefined || sessionCfg?.resetByType !== undefined;
  const shorthand = isExplicit ? undefined : sessionCfg?.idleMinutes;

  const mode = ofType?.mode ?? general?.mode ?? (shorthand === undefined ? "daily" : "idle");
  const minutes = ofType?.idleMinutes ?? general?.idleMinutes ?? shorthand;
  const idleMinutes = minutes === undefined ? undefined : Math.max(1, Math.floor(minutes));
  return {
    mode,
    atHour: normalizeHour(ofType?.atHour ?? general?.atHour ?? DEFAULT_RESET_HOUR),
    ...(idleMinutes !== undefined ? { idleMinutes } : mode === "idle" ? { idleMinutes: DEFAULT_IDLE_MINUTES } : {}),
  };
}

/** The rule for a channel, whatever the case of its name. */
export function resolveChannelResetRule(
  sessionCfg: Pick<SessionConfig, "resetByChannel">,
  channel: string | undefined,
): ResetRule | undefined {
  const wanted = channel?.trim().toLowerCase();
  return Object.entries(sessionCfg.resetByChannel ?? {}).find(([name]) => name.trim().toLowerCase() === wanted)?.[1];
}

function normalizeHour(hour: number): number {
  return Number.isFinite(hour) ? Math.min(23, Math.max(0, Math.floor(hour))) : DEFAULT_RESET_HOUR;
}
