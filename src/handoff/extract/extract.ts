/**
 * From messages to what the next session should know. Pure, and one message after the other: what comes
 * out depends on the messages alone, not on where one capture ended and the next began. Whatever a later
 * message may need to know is therefore in the notes or in `carried`, and both are bounded.
 */
import type {
  CarriedLine,
  CarriedState,
  ReadMessage,
  SessionMode,
  SessionState,
  StateNote,
  StateSummary,
  SummaryItem,
} from "../state.ts";
import {
  closeWith,
  dropOld,
  isStep,
  takeAbout,
  takeAnswer,
  takeCut,
  takeEcho,
  takeLater,
  takePerson,
  takeToolResult,
} from "./carry.ts";
import { takeTodos } from "./carry-todos.ts";
import { itemsOf } from "./items.ts";
import { isActiveProject } from "../project.ts";
import { addNotes, noteMessage, withoutTasks } from "./notes.ts";
import { readMessage } from "./read-message.ts";
import { reconcile } from "./reconcile.ts";
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

/** With no messages: the same state, summed up for the project that is named. */
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
    const bringBack = setAside(carried, project, message.role);
    notes = take(message, { carried, notes, index, project });
    bringBack();
  };
  return {
    take: (messages) => messages.forEach(takeOne),
    state: () => {
      const mode = modeOf(notes, carried);
      const items = itemsOf(notes, carried, { project: options.project, isWork: mode !== "chat" });
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

function nothingCarried(): CarriedState {
  return {
    counts: { user: 0, assistant: 0, tools: 0, requests: 0 },
    requests: [],
    answered: [],
    working: [],
    next: [],
    isCasual: false,
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

/** What is done, said or called off in one project leaves the others as they are, and so does the time it takes. */
function setAside(carried: CarriedState, project: string, role: ReadMessage["role"]): () => void {
  const { requests, working, next } = carried;
  const isOther = (line: CarriedLine): boolean => line.project !== project;
  const asOld = <T extends CarriedLine>(line: T): T => (role === "user" ? { ...line, turn: line.turn + 1 } : line);
  const others = {
    requests: requests.filter(isOther).map(asOld),
    working: working.filter(isOther).map(asOld),
    next: next.filter(isOther).map(asOld),
  };
  carried.requests = requests.filter((line) => !isOther(line));
  carried.working = working.filter((line) => !isOther(line));
  carried.next = next.filter((line) => !isOther(line));
  dropOld(carried);
  return () => {
    carried.requests.unshift(...others.requests);
    carried.working.unshift(...others.working);
    carried.next.unshift(...others.next);
  };
}

interface Place {
  carried: CarriedState;
  notes: StateNote[];
  index: number;
  project: string;
}

/** Changes what is carried and returns the notes with those of the message. */
function take(message: ReadMessage, { carried, notes, index, project }: Place): StateNote[] {
  const { entryId, timestamp } = message;
  const line = (text: string): CarriedLine => ({
    text,
    entryId,
    timestamp,
    index,
    turn: carried.counts.user,
    project,
  });
  takeTodos(carried, message, line);
  if (message.role === "tool") {
    takeToolResult(carried, message, line);
    return notes;
  }
  if (message.isCut === true) takeCut(carried);
  if (message.isEcho === true) {
    if (message.isCut !== true) takeEcho(carried, message.callsTools === true);
    return notes.filter(({ content }) => !isStep(content));
  }
  const read = readMessage(message);
  const isCasual = read.isCasual || (message.role === "assistant" && carried.isCasual && read.isSmallTalk);
  const detected = isCasual ? [] : noteMessage(message, read, { index, project });
  const { reading, found } = reconcile(read, detected, { role: message.role, before: notes, project });
  let standing = notes;
  if (message.role === "user") {
    const { agreed, calledOffFrom } = takePerson(carried, reading, line);
    if (agreed !== undefined) found.push(agreed);
    if (calledOffFrom !== undefined) standing = withoutTasks(notes, { from: calledOffFrom, project });
  } else if (message.isCut !== true) {
    takeAnswer(carried, { reading, found, goesOn: message.callsTools === true }, line);
  }
  closeWith(carried, reading, found);
  if (message.role === "user") takeAbout(carried, reading, found, line);
  if (!isCasual) takeLater(carried, reading, message.role, line);
  return addNotes(standing, found);
}

/** So many calls of tools are hours of work. */
const DEEP_TOOLS = 30;

function modeOf(notes: readonly StateNote[], { counts, todos, working }: CarriedState): SessionMode {
  if (counts.tools >= DEEP_TOOLS) return "deep";
  const isWork = notes.length > 0 || counts.tools > 0 || counts.requests > 0 || todos !== undefined;
  return isWork || working.length > 0 ? "work" : "chat";
}
