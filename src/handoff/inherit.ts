/**
 * What a window has from the one before it. It was told what was open there, and whoever says no more than
 * "go on" has finished none of it: its own hand-off begins with that, as if the conversation had not been
 * interrupted. What is done, called off or decided otherwise in the meantime leaves it like anything else.
 */
import type { PreviousState } from "./extract/extract.ts";
import { isExpired, isSubstantial, isTellable } from "./kept-state.ts";
import type { InheritedLine, SessionState, SummaryItem, SummaryKind } from "./state.ts";

/** The windows of entries that are not in the window itself. */
export type EarlierEntries = Readonly<Record<string, string>>;

export interface Inheritance {
  state: PreviousState;
  earlier: EarlierEntries;
}

/** What nobody has finished or mentioned for so long is not handed on once more. */
const LONGEST_MS = 7 * 24 * 3_600_000;

/** Kinds that a window hands on; what was done stays with its window. */
const HANDED_ON: ReadonlySet<SummaryKind> = new Set(["in-progress", "blocker", "decision", "next-step"]);

/** `from`: of another window, which was over when something was first said in this one. Undefined: nothing. */
export async function inherit(from: SessionState | undefined, begunAt: string): Promise<Inheritance | undefined> {
  const began = Date.parse(begunAt);
  if (from === undefined || !isTellable(from) || isExpired(from, began)) return undefined;
  if (Date.parse(from.lastMessageAt) > began) return undefined;
  const inherited = (await linesOfAll(from)).filter(({ timestamp }) => !(began - Date.parse(timestamp) > LONGEST_MS));
  const { nothingCarried } = await import("./digest.ts");
  const { items, summary, mode, lastMessageAt } = from;
  const carried = { ...nothingCarried(), inherited };
  const state = { patterns: [], items, summary, mode, carried, lastMessageIndex: 0, lastMessageAt };
  const windowOf = (entryId: string): string => earlierWindow(from.earlier, entryId) ?? from.previousSessionId;
  return { state, earlier: Object.fromEntries(entriesOf(state).map((id) => [id, windowOf(id)])) };
}

/** Not of the project alone that was worked on last: what is open in another waits for its own windows. */
async function linesOfAll({ carried, project, items }: SessionState): Promise<InheritedLine[]> {
  const { judge } = await import("./judge/judge.ts");
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

/** Only what the state still speaks of. */
export function stillEarlier(earlier: EarlierEntries, state: Pick<PreviousState, "carried">): EarlierEntries {
  const spoken = new Set(entriesOf(state));
  return Object.fromEntries(Object.entries(earlier).filter(([entryId]) => spoken.has(entryId)));
}

function entriesOf({ carried }: Pick<PreviousState, "carried">): string[] {
  return carried.inherited.map(({ entryId }) => entryId);
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
  const { goesOn, isAbout, open } = state.carried;
  if (goesOn === true) return isSubstantial(state);
  // Greetings and "where were we?" leave nothing of their own, whatever the agent answers.
  if (isAbout !== true) return false;
  if (hasFinished(state)) return isSubstantial(state);
  const own = state.items.filter(({ sessionId }) => sessionId === undefined);
  const others = open.filter((project) => project !== state.project);
  return isSubstantial({ items: own, carried: { ...state.carried, open: others } });
}

/** Something that was handed on to this window is over by now. */
function hasFinished({ carried, items, project }: SessionState): boolean {
  return carried.inherited.some((line) => {
    if (line.project !== project) return false;
    return !items.some(({ kind, entryId }) => kind === line.kind && entryId === line.entryId);
  });
}
