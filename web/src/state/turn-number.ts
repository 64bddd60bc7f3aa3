/** A turn id contains the oldest inbox item that it answers: `<agent>:<item>:<session key>`. */
import type { HistoryMessage } from "./state.ts";
import { FLUSH_TURN_PREFIX } from "../../../src/transcript/entries.ts";

/** Identifies a turn by the newest item that it answers, as events do. */
export function turnName(sessionKey: string, itemId: number): string {
  return `${sessionKey} ${itemId}`;
}

const REMEMBERED = 200;

export function rememberEnded(ended: readonly string[], sessionKey: string, itemId: number): readonly string[] {
  const name = turnName(sessionKey, itemId);
  return ended.includes(name) ? ended : [...ended.slice(1 - REMEMBERED), name];
}

export function turnNumber({ turnId }: HistoryMessage): number | undefined {
  const found = typeof turnId === "string" ? /^[^:]*:(\d+):/.exec(turnId)?.[1] : undefined;
  return found === undefined || isFlush(turnId) ? undefined : Number(found);
}

/** The agent saved its memory, without a request. */
export function isFlushMessage({ turnId }: HistoryMessage): boolean {
  return isFlush(turnId);
}

function isFlush(turnId: unknown): boolean {
  return typeof turnId === "string" && turnId.startsWith(FLUSH_TURN_PREFIX);
}
