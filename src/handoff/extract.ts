/**
 * Turns messages into the content of a state. The result depends only on the messages, not on where one capture ended
 * and the next began: messages become digests and notes one by one, and the lines are judged over all digests.
 */
import { hash } from "node:crypto";
import { isEchoStep, nothingCarried, takeMessage } from "./digest.ts";
import { isLine, summaryOf } from "./items.ts";
import { judge } from "./judge/judge.ts";
import { notesOf, scoreMessage, type ScoredSentence } from "./patterns/detect-patterns.ts";
import { resolveBlockers } from "./patterns/resolve-blockers.ts";
import { isActiveProject } from "./project.ts";
import type { CarriedState, ReadMessage, SessionMode, SessionState, StateNote, SummaryItem } from "./state.ts";

/** The part of a state that comes from its messages. `lastMessageAt` is empty without messages. */
export type ExtractState = Pick<
  SessionState,
  "patterns" | "items" | "summary" | "mode" | "lastMessageIndex" | "lastMessageAt" | "carried"
>;

/** The state after some messages; more can follow. */
export interface Extraction {
  take(messages: readonly ReadMessage[]): void;
  state(): ExtractState;
}

/** Without messages: the same state, judged for this project. */
export function extract(
  previous: Readonly<ExtractState> | undefined,
  messages: readonly ReadMessage[],
  project: string,
): ExtractState {
  const extraction = createExtraction(previous, project);
  extraction.take(messages);
  return extraction.state();
}

/** `project` is the current one: new notes belong to it, and all lines are its own. */
export function createExtraction(previous: Readonly<ExtractState> | undefined, project: string): Extraction {
  const carried = previous === undefined ? nothingCarried() : structuredClone(previous.carried);
  let notes: StateNote[] = previous === undefined ? [] : [...previous.patterns];
  let index = previous?.lastMessageIndex ?? 0;
  let lastMessageAt = previous?.lastMessageAt ?? "";
  const takeOne = (message: ReadMessage): void => {
    index += 1;
    lastMessageAt = message.timestamp;
    count(carried, message);
    const place = { index, project: message.project ?? project };
    if (!isActiveProject(place.project)) return;
    const scored = takeMessage(carried, message, place, scoreMessage);
    if (message.isEcho === true) notes = notes.filter(({ content }) => !isEchoStep(content));
    notes = addNotes(notes, noteMessage(message, scored, place));
  };
  return {
    take: (messages) => messages.forEach(takeOne),
    state: () => {
      const items = judge(carried, { project });
      carried.open = openProjects(carried, project, items);
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

/** The content of a cleared state. The position remains, so that earlier messages are never noted again. */
export function clearedState({ lastMessageIndex, lastMessageAt, mode }: Readonly<ExtractState>): ExtractState {
  return {
    patterns: [],
    items: [],
    summary: summaryOf([]),
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

function openProjects(carried: CarriedState, project: string, items: readonly SummaryItem[]): string[] {
  const newestFirst = [...carried.inherited, ...carried.digests].map((one) => one.project).toReversed();
  return Array.from(new Set(newestFirst)).filter((one) => {
    const own = one === project ? items : judge(carried, { project: one });
    return own.some(isLine);
  });
}

/** Tool calls that make a session "deep". */
const DEEP_TOOLS = 30;

function modeOf(notes: readonly StateNote[], { counts, todos, open }: CarriedState): SessionMode {
  if (counts.tools >= DEEP_TOOLS) return "deep";
  return notes.length > 0 || counts.tools > 0 || todos !== undefined || open.length > 0 ? "work" : "chat";
}

const MAX_NOTES = 200;
/** The newest open blockers that a report can resolve. */
const MAX_OPEN = 30;

function noteMessage(
  message: ReadMessage,
  scored: readonly ScoredSentence[],
  { index, project }: { index: number; project: string },
): StateNote[] {
  return notesOf(scored, message).map((note) => ({
    ...note,
    id: hash("sha256", `${note.sourceEntryId}\0${note.type}\0${note.content}`).slice(0, 12),
    sourceMessageIndex: index,
    project,
  }));
}

/** Adds new notes in their order; known ones are skipped. */
function addNotes(notes: StateNote[], found: readonly StateNote[]): StateNote[] {
  if (found.length === 0) return notes;
  const known = new Set(notes.map(({ id }) => id));
  const added = found.filter(({ id }) => !known.has(id) && known.add(id));
  if (added.length === 0) return notes;
  const all = [...notes, ...added];
  return limited(added.some(({ type }) => type === "accomplishment") ? resolve(all, added) : all);
}

/** Only new accomplishments resolve blockers: earlier ones did so when they came, and would now find another one. */
function resolve(all: readonly StateNote[], added: readonly StateNote[]): StateNote[] {
  const isNew = new Set(added);
  const projects = new Set(added.map(({ project }) => project));
  const isOpen = ({ type, resolved, project }: StateNote): boolean =>
    type === "blocker" && resolved !== true && projects.has(project);
  const open = new Set(all.filter((note) => isOpen(note) && !isNew.has(note)).slice(-MAX_OPEN));
  const candidates = all.filter((note) => isNew.has(note) || open.has(note));
  const marked = resolveBlockers(candidates);
  return all.map((note) => {
    const { resolvedBy } = marked[candidates.indexOf(note)] ?? {};
    return resolvedBy === undefined ? note : { ...note, resolved: true, resolvedBy };
  });
}

/** Drops resolved blockers first, then notes without an action, then the oldest. */
function limited(notes: StateNote[]): StateNote[] {
  const over = notes.length - MAX_NOTES;
  if (over <= 0) return notes;
  const dropped = new Set(notes.toSorted((a, b) => worthOf(a) - worthOf(b)).slice(0, over));
  return notes.filter((note) => !dropped.has(note));
}

function worthOf({ type, resolved }: StateNote): number {
  if (resolved === true) return 0;
  return type === "insight" || type === "accomplishment" || type === "scope_creep" ? 1 : 2;
}
