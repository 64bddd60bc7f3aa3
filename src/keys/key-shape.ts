/**
 * What the part of a key after `agent:<agentId>:` says about the conversation. Decided by the
 * position of the marker word alone, because ids may contain every word.
 */
import { THREAD_MARKERS, foldCase } from "./encoding.ts";

export interface KeyShape {
  kind: "dm" | "group" | "channel" | "other";
  /** Index of the segment that says so; -1 for `other`. */
  marker: number;
}

/** Keys that belong to the program itself and name no chat. */
const INTERNAL_HEADS: ReadonlySet<string> = new Set(["agent", "subagent", "acp", "cron", "hook"]);

export function keyShape(segments: readonly string[]): KeyShape {
  const words = segments.slice(0, 3).map(foldCase);
  const [head = "", second = "", third = ""] = words;
  if (INTERNAL_HEADS.has(head)) return OTHER;
  if (isDmWord(head) && segments.length > 1) return { kind: "dm", marker: 0 };
  if (segments.length > 2) {
    if (isDmWord(second)) return { kind: "dm", marker: 1 };
    if (second === "group" || second === "channel") return { kind: second, marker: 1 };
  }
  if (segments.length > 3 && isDmWord(third) && !THREAD_MARKERS.has(second)) return { kind: "dm", marker: 2 };
  return OTHER;
}

/**
 * Channels whose group and thread ids differ by case alone: base64 ids of Signal groups, Matrix
 * rooms and events, Google Chat spaces, Teams conversations.
 */
const CASE_SENSITIVE_CHANNELS: ReadonlySet<string> = new Set(["signal", "matrix", "googlechat", "msteams"]);

export function isCaseSensitiveChannel(channel: string): boolean {
  return CASE_SENSITIVE_CHANNELS.has(channel);
}

const OTHER: KeyShape = { kind: "other", marker: -1 };

/** Later versions of OpenClaw write `direct` where earlier ones wrote `dm`. */
function isDmWord(word: string): boolean {
  return word === "dm" || word === "direct";
}
