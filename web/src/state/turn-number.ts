/** A turn is named after the oldest inbox item that it answers: `<agent>:<item>:<session key>`. */
import { FLUSH_TURN_PREFIX } from "../../../src/transcript/turn-mark.ts";
import type { HistoryMessage } from "./state.ts";

/** How the page remembers a turn: by the newest item that it answers, as events name it. */
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

/** Nobody asked for it: the agent saved what it must not forget. */
export function isFlushMessage({ turnId }: HistoryMessage): boolean {
  return isFlush(turnId);
}

function isFlush(turnId: unknown): boolean {
  return typeof turnId === "string" && turnId.startsWith(FLUSH_TURN_PREFIX);
}
