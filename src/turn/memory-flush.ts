/**
 * When an agent is asked to write down what it must not forget, and in which words. The question
 * comes before the conversation is shortened, once per compaction, and before a window is closed.
 * Everything here is pure; running the turn is somebody else's part.
 */
import { localTime } from "../base/clock.ts";
import type { SessionEntry } from "../store/session-entry.ts";
import { SILENT_REPLY_TOKEN } from "./reply/tokens.ts";

export interface MemoryFlushCheck {
  /** Left out: a session that has not begun, so nothing to flush. */
  entry?: Pick<SessionEntry, "totalTokens" | "compactionCount" | "memoryFlushCompactionCount">;
  contextWindowTokens: number;
  /** What compaction itself needs. */
  reserveTokensFloor: number;
  /** How long before compaction the flush comes. */
  softThresholdTokens: number;
}

export function shouldRunMemoryFlush(check: MemoryFlushCheck): boolean {
  const { entry } = check;
  const total = entry?.totalTokens;
  if (entry === undefined || total === undefined || !(total > 0)) return false;

  const window = Math.max(1, Math.floor(check.contextWindowTokens));
  const threshold = window - wholeTokens(check.reserveTokensFloor) - wholeTokens(check.softThresholdTokens);
  if (!(threshold > 0) || total < threshold) return false;
  return entry.memoryFlushCompactionCount !== (entry.compactionCount ?? 0);
}

/** Whether a window that is about to close has heard anything since it was last flushed. */
export function shouldFlushBeforeReset(
  entry: Pick<SessionEntry, "totalTokens" | "memoryFlushAt" | "lastInteractionAt" | "updatedAt"> | undefined,
): boolean {
  if (entry === undefined || !((entry.totalTokens ?? 0) > 0)) return false;
  const lastSaid = entry.lastInteractionAt ?? entry.updatedAt;
  return entry.memoryFlushAt === undefined || entry.memoryFlushAt < lastSaid;
}

function wholeTokens(tokens: number): number {
  return Math.max(0, Math.floor(tokens));
}

/** OpenClaw's numbers, less in a small window: they would leave nothing of it, and it would never flush. */
export function memoryFlushMargins(
  contextWindowTokens: number,
): Pick<MemoryFlushCheck, "reserveTokensFloor" | "softThresholdTokens"> {
  return {
    reserveTokensFloor: Math.min(20_000, Math.floor(contextWindowTokens / 4)),
    softThresholdTokens: Math.min(4000, Math.floor(contextWindowTokens / 10)),
  };
}

/** Where memories of a day go, relative to the agent's workspace. */
export function memoryFileOf(now: number): string {
  return `memory/${localTime(now).slice(0, 10)}.md`;
}

export type MemoryFlushOccasion = "compaction" | "reset";

export function memoryFlushPrompts(occasion: MemoryFlushOccasion, now: number): { system: string; prompt: string } {
  const why =
    occasion === "compaction"
      ? "Older parts of this conversation are about to be replaced by a summary."
      : "This conversation is about to end, and the next one begins without it.";
  return {
    system: `${why} This turn is for saving memories to files; no person sent it. Unless somebody has to know something now, answer ${SILENT_REPLY_TOKEN} and nothing else.`,
    prompt: [
      `${why} Write down what you will need and could not find out again: decisions and their reasons, what the person prefers, promises, unfinished work, names and facts.`,
      `Add it to ${memoryFileOf(now)} in your workspace. Create the folder and the file if they are missing; if the file exists, read it first and keep what is in it.`,
      `No secrets, no word-for-word transcript, nothing that is already there. When you are done, or if there is nothing to keep, answer ${SILENT_REPLY_TOKEN}.`,
    ].join("\n"),
  };
}
