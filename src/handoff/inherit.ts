/**
 * Open lines that a window takes over from the previous one, as if the conversation had not been interrupted. They
 * stay until the window finishes, cancels or changes them.
 */
import { nothingCarried } from "./digest.ts";
import type { ExtractState } from "./extract.ts";
import { earlierWindow } from "./items.ts";
import { judge } from "./judge/judge.ts";
import { isExpired, isTellable } from "./kept-state.ts";
import type { CarriedState, InheritedLine, SessionState, SummaryKind } from "./state.ts";

export interface Inheritance {
  state: ExtractState;
  /** Window ids by entry id. */
  earlier: Readonly<Record<string, string>>;
}

/** A line that is neither finished nor mentioned for this long is dropped. */
const MAX_AGE_MS = 7 * 24 * 3_600_000;

/** Accomplishments stay with their window. */
const HANDED_ON: ReadonlySet<SummaryKind> = new Set(["in-progress", "blocker", "decision", "next-step"]);

/** Undefined if `from`, the state of the previous window, expired before this window began, or overlaps with it. */
export function inherit(from: SessionState | undefined, begunAt: string): Inheritance | undefined {
  const began = Date.parse(begunAt);
  if (from === undefined || !isTellable(from) || isExpired(from, began)) return undefined;
  if (Date.parse(from.lastMessageAt) > began) return undefined;
  const inherited = linesOfAll(from).filter(({ timestamp }) => !(began - Date.parse(timestamp) > MAX_AGE_MS));
  const { items, summary, mode, lastMessageAt } = from;
  const carried = { ...nothingCarried(), inherited };
  const windows = inherited.map(({ entryId }): [string, string] => [
    entryId,
    earlierWindow(from.earlier, entryId) ?? from.previousSessionId,
  ]);
  return {
    state: { patterns: [], items, summary, mode, carried, lastMessageIndex: 0, lastMessageAt },
    earlier: Object.fromEntries(windows),
  };
}

/** The lines of all projects. */
function linesOfAll({ carried, project, items }: SessionState): InheritedLine[] {
  return Array.from(new Set([...carried.open.toReversed(), project])).flatMap((one) => {
    const lines = one === project ? items : judge(carried, { project: one });
    return lines
      .filter(({ kind }) => HANDED_ON.has(kind))
      .map(({ kind, said, text, entryId, timestamp }) => ({
        kind,
        text: said ?? text,
        entryId,
        timestamp,
        project: one,
      }));
  });
}

/** The windows of lines that are still inherited. */
export function stillEarlier(
  earlier: SessionState["earlier"],
  { inherited }: CarriedState,
): SessionState["earlier"] | undefined {
  const entries = new Set(inherited.map(({ entryId }) => entryId));
  const left = Object.entries(earlier ?? {}).filter(([entryId]) => entries.has(entryId));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
