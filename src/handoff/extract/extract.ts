/**
 * From messages to what the next session should know. Pure: what comes out depends on the messages alone, not on where
 * one capture ended and the next began. Messages become digests one by one; the lines are judged over all of them.
 */
import { isEchoStep, nothingCarried, takeMessage } from "../digest.ts";
import { judge } from "../judge/judge.ts";
import { isLine } from "../kept-state.ts";
import { isActiveProject } from "../project.ts";
import type {
  CarriedState,
  ReadMessage,
  SessionMode,
  SessionState,
  StateNote,
  StateSummary,
  SummaryItem,
} from "../state.ts";
import { addNotes, noteMessage } from "./notes.ts";
import { summaryOf } from "./summary.ts";

/** The part of a session's state that comes from its messages; a `SessionState` is one. */
export interface ExtractState {
  patterns: StateNote[];
  items: SummaryItem[];
  summary: StateSummary;
  mode: SessionMode;
  lastMessageIndex: number;
  /** Empty when nothing was said. */
  lastMessageAt: string;
  carried: CarriedState;
}

export type PreviousState = Readonly<Pick<SessionState, keyof ExtractState>>;

export interface ExtractOptions {
  /** What is worked on now: new notes belong to it, and items are of it alone. */
  project: string;
  /** False: messages are counted and nothing is noted (`isActiveProject`). */
  active: boolean;
}

/** What is known after some messages; more can follow. */
export interface Extraction {
  take(messages: readonly ReadMessage[]): void;
  state(): ExtractState;
}

/** With no messages: the same state, judged for the project that is named. */
export function extract(
  previous: PreviousState | undefined,
  messages: readonly ReadMessage[],
  options: ExtractOptions,
): ExtractState {
  const extraction = createExtraction(previous, options);
  extraction.take(messages);
  return extraction.state();
}

export function createExtraction(previous: PreviousState | undefined, options: ExtractOptions): Extraction {
  const carried = previous === undefined ? nothingCarried() : structuredClone(previous.carried);
  let notes: StateNote[] = previous === undefined ? [] : [...previous.patterns];
  let index = previous?.lastMessageIndex ?? 0;
  let lastMessageAt = previous?.lastMessageAt ?? "";
  const takeOne = (message: ReadMessage): void => {
    index += 1;
    lastMessageAt = message.timestamp;
    count(carried, message);
    const { project, active } = placeOf(message, options);
    if (!active) return;
    const scored = takeMessage(carried, message, { index, project });
    if (message.isEcho === true) notes = notes.filter(({ content }) => !isEchoStep(content));
    notes = addNotes(notes, noteMessage(message, scored, { index, project }));
  };
  return {
    take: (messages) => messages.forEach(takeOne),
    state: () => {
      const items = judge(carried, { project: options.project });
      carried.open = openProjects(carried, options.project, items);
      const mode = modeOf(notes, carried);
      return {
        patterns: notes,
        items,
        summary: summaryOf(items),
        mode,
        lastMessageIndex: index,
        lastMessageAt,
        carried,
      };
    },
  };
}

/** What is left after a person had it all forgotten: the place, so that it never comes back. */
export function clearedState({ lastMessageIndex, lastMessageAt, mode }: PreviousState): ExtractState {
  const items: SummaryItem[] = [];
  return {
    patterns: [],
    items,
    summary: summaryOf(items),
    mode,
    lastMessageIndex,
    lastMessageAt,
    carried: nothingCarried(),
  };
}

function count({ counts }: CarriedState, { role }: ReadMessage): void {
  if (role === "user") counts.user += 1;
  else if (role === "assistant") counts.assistant += 1;
  else counts.tools += 1;
}

function placeOf({ project }: ReadMessage, options: ExtractOptions): ExtractOptions {
  return project === undefined ? options : { project, active: isActiveProject(project) };
}

/** Other projects keep what is open in them. */
function openProjects(carried: CarriedState, project: string, items: readonly SummaryItem[]): string[] {
  const newestFirst = [...carried.inherited, ...carried.digests].map((one) => one.project).toReversed();
  return Array.from(new Set(newestFirst)).filter((one) => {
    const own = one === project ? items : judge(carried, { project: one });
    return own.some(isLine);
  });
}

/** So many calls of tools are hours of work. */
const DEEP_TOOLS = 30;

function modeOf(notes: readonly StateNote[], { counts, todos, open }: CarriedState): SessionMode {
  if (counts.tools >= DEEP_TOOLS) return "deep";
  return notes.length > 0 || counts.tools > 0 || todos !== undefined || open.length > 0 ? "work" : "chat";
}
