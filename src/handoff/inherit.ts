/**
 * What a window has from the one before it. It was told what was open there, and whoever says no more than
 * "go on" has finished none of it: its own hand-off begins with that, as if the conversation had not been
 * interrupted. What is done, called off or decided otherwise in the meantime leaves it like anything else.
 */
import type { PreviousState } from "./extract/extract.ts";
import { isExpired, isSubstantial, isTellable } from "./kept-state.ts";
import type { CarriedLine, SessionState, StateNote, SummaryItem, SummaryKind } from "./state.ts";

/** The windows of entries that are not in the window itself. */
export type EarlierEntries = Readonly<Record<string, string>>;

export interface Inheritance {
  state: PreviousState;
  earlier: EarlierEntries;
}

/** What nobody has finished or mentioned for so long is not handed on once more. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** `from`: of another window, which was over when something was first said in this one. Undefined: nothing. */
export async function inherit(from: SessionState | undefined, begunAt: string): Promise<Inheritance | undefined> {
  const began = Date.parse(begunAt);
  if (from === undefined || !isTellable(from) || isExpired(from, began)) return undefined;
  if (Date.parse(from.lastMessageAt) > began) return undefined;
  const isRecent = ({ timestamp }: { timestamp: string }): boolean => !(began - Date.parse(timestamp) > LONGEST_MS);
  const lines = await linesOfAll(from);
  const notes = from.patterns.filter((note) => isRecent(note) && isWorthLine(note, lines));
  const { requests, working, next, todos, about, counts } = from.carried;
  const toBefore = <L extends CarriedLine>(line: L): L => ({
    ...line,
    index: line.index - from.lastMessageIndex,
    turn: line.turn - counts.user,
  });
  const carried = {
    counts: { user: 0, assistant: 0, tools: 0, requests: 0 },
    requests: requests.filter(isRecent).map(toBefore),
    answered: [],
    working: working.filter(isRecent).map(toBefore),
    next: next.filter(isRecent).map(toBefore),
    isCasual: false,
    ...(about !== undefined && isRecent(about) ? { about: toBefore(about) } : {}),
    ...(todos !== undefined && isRecent(todos) ? { todos } : {}),
  };
  const patterns = notes.map((note) => ({
    ...note,
    sourceMessageIndex: note.sourceMessageIndex - from.lastMessageIndex,
  }));
  const { items, summary, mode, lastMessageAt } = from;
  const state = { patterns, items, summary, mode, carried, lastMessageIndex: 0, lastMessageAt };
  const windowOf = (entryId: string): string => earlierWindow(from.earlier, entryId) ?? from.previousSessionId;
  return { state, earlier: Object.fromEntries(entriesOf(state).map((id) => [id, windowOf(id)])) };
}

/** Not of the project alone that was worked on last: what is open in another waits for its own windows. */
async function linesOfAll({ patterns, carried, mode }: SessionState): Promise<SummaryItem[]> {
  const { itemsOf } = await import("./extract/items.ts");
  const projects = Array.from(new Set(patterns.map(({ project }) => project)));
  return projects.flatMap((project) => itemsOf(patterns, carried, { project, isWork: mode !== "chat" }));
}

const TOLD_AS: Partial<Record<StateNote["type"], SummaryKind>> = {
  blocker: "blocker",
  decision: "decision",
  task_created: "in-progress",
};

/** What was done stays with its window; of the rest, what was worth a line. */
function isWorthLine({ type, content, sourceEntryId }: StateNote, lines: readonly SummaryItem[]): boolean {
  const kind = TOLD_AS[type];
  return lines.some((line) => {
    // A line may leave out the word that tied its sentence to the one before.
    return line.kind === kind && line.entryId === sourceEntryId && content.endsWith(line.text);
  });
}

/** Only what the state still speaks of. */
export function stillEarlier(
  earlier: EarlierEntries,
  state: Pick<PreviousState, "patterns" | "carried">,
): EarlierEntries {
  const spoken = new Set(entriesOf(state));
  return Object.fromEntries(Object.entries(earlier).filter(([entryId]) => spoken.has(entryId)));
}

function entriesOf({ patterns, carried }: Pick<PreviousState, "patterns" | "carried">): string[] {
  const { requests, answered, working, next, topic, about, todos, error, offer } = carried;
  const lines = [...requests, ...answered, ...working, ...next, topic, about, todos, error, offer];
  return [...patterns.map(({ sourceEntryId }) => sourceEntryId), ...lines.flatMap((line) => line?.entryId ?? [])];
}

/** Ids of other tools can be anything, also what every object has a member of. */
export function earlierWindow(earlier: EarlierEntries | undefined, entryId: string): string | undefined {
  return earlier !== undefined && Object.hasOwn(earlier, entryId) ? earlier[entryId] : undefined;
}

/** Lines that come from earlier windows say so. */
export function withWindows(items: readonly SummaryItem[], earlier: EarlierEntries | undefined): SummaryItem[] {
  return items.map((item) => {
    const sessionId = earlierWindow(earlier, item.entryId);
    return sessionId === undefined ? item : { ...item, sessionId };
  });
}

/** Something to go on with that is not all inherited; whoever goes on with what was told makes it their own. */
export function isSubstantialItself(state: SessionState): boolean {
  if (state.carried.goesOn === true) return isSubstantial(state);
  const isOwn = (entryId: string): boolean => earlierWindow(state.earlier, entryId) === undefined;
  const { requests, working, next, todos, ...carried } = state.carried;
  return isSubstantial({
    items: state.items.filter(({ sessionId }) => sessionId === undefined),
    patterns: state.patterns.filter(({ sourceEntryId }) => isOwn(sourceEntryId)),
    carried: {
      ...carried,
      requests: requests.filter(({ entryId }) => isOwn(entryId)),
      working: working.filter(({ entryId }) => isOwn(entryId)),
      next: next.filter(({ entryId }) => isOwn(entryId)),
      ...(todos !== undefined && isOwn(todos.entryId) ? { todos } : {}),
    },
  });
}
