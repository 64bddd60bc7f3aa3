/** What is kept of a conversation, as a person in a chat reads it. */
import { localTime } from "../../base/clock.ts";
import type { CaptureReason, SessionState, SummaryItem, SummaryKind } from "../../handoff/state.ts";
import { shown } from "./shown.ts";

const HEADINGS: readonly (readonly [SummaryKind, string])[] = [
  ["topic", "Topic"],
  ["in-progress", "In progress"],
  ["blocker", "Blocked by"],
  ["decision", "Decided"],
  ["accomplishment", "Done"],
  ["next-step", "Next"],
];

const MOST_OF_KIND = 6;
const LONGEST_LINE = 240;
const REFERENCE = 8;

/** Each line with the entry that it came from. */
export function describeState(state: SessionState): string {
  const when = minute(state.lastMessageAt);
  const head = `Kept of window ${shown(state.previousSessionId.slice(0, 8))}, project ${shown(state.project)}, ${when}:`;
  const lines = HEADINGS.flatMap(([kind, heading]) =>
    state.items
      .filter((item) => item.kind === kind)
      .slice(-MOST_OF_KIND)
      .map((item) => `${heading}: ${shown(item.text, LONGEST_LINE)} [${reference(item)}]`),
  );
  return [head, ...(lines.length === 0 ? ["Nothing in particular."] : lines)].join("\n");
}

function reference({ entryId, sessionId }: SummaryItem): string {
  const window = sessionId === undefined ? "" : ` in window ${shown(sessionId.slice(0, REFERENCE))}`;
  return `${shown(entryId.slice(0, REFERENCE))}${window}`;
}

/** What becomes of it. */
export function describeFate(state: SessionState, now: number): string {
  const { expiresAt, resumeOfferedAt, forced } = state;
  const why = `Captured ${minute(state.updatedAt)}, ${REASONS[state.reason]}.`;
  if (forced === true) return `${why} Your next message brings it.`;
  if (Date.parse(expiresAt) <= now)
    return `${why} Expired ${minute(expiresAt)}; /resume ${shown(state.project)} brings it.`;
  const offered = resumeOfferedAt === null ? "" : ` Told to the agent ${minute(resumeOfferedAt)}.`;
  return `${why}${offered} Offered to the next window until ${minute(expiresAt)}.`;
}

const REASONS: Readonly<Record<CaptureReason, string>> = {
  new: "before /new",
  reset: "before /reset",
  daily: "before the daily reset",
  idle: "after a pause",
  compaction: "before a compaction",
  messages: "in passing",
  "tool-result": "after a large tool result",
  asked: "when asked for",
  signal: "when the process ended",
  timeout: "after a turn timed out",
  ended: "when it had ended",
  found: "after the fact",
};

function minute(at: string): string {
  const time = Date.parse(at);
  return Number.isNaN(time) ? "at an unknown time" : localTime(time).slice(0, 16);
}
