/** The notes of a state: made of one message at a time, blockers resolved, bounded in number. */
import { hash } from "node:crypto";
import { detectPatterns } from "../patterns/detect-patterns.ts";
import type { PatternNote, PatternType } from "../patterns/note.ts";
import { resolveBlockers } from "../patterns/resolve-blockers.ts";
import type { CarriedLine, ReadMessage, StateNote } from "../state.ts";
import type { MessageReading } from "./read-message.ts";
import { isSameSubject, subjectOf } from "./subject.ts";

const MOST_NOTES = 200;
/** So many open blockers are looked at when something is reported done. */
const MOST_OPEN = 30;

interface NotePlace {
  index: number;
  project: string;
}

export function noteMessage(
  message: ReadMessage,
  { text, sentences }: Pick<MessageReading, "text" | "sentences">,
  place: NotePlace,
): StateNote[] {
  if (message.role === "tool") return [];
  const { role, timestamp, entryId } = message;
  return detectPatterns({ role, text, timestamp, entryId }, { sentences }).map((note) => stateNote(note, place));
}

/** A proposal that a person agreed to. */
export function decisionOf({ text, entryId, timestamp, index, project }: CarriedLine): StateNote {
  const note = { type: "decision" as const, content: text, confidence: 0.7, timestamp, sourceEntryId: entryId };
  return stateNote(note, { index, project });
}

function stateNote(note: PatternNote, { index, project }: NotePlace): StateNote {
  return { ...note, id: idOf(note.sourceEntryId, note.type, note.content), sourceMessageIndex: index, project };
}

function idOf(entryId: string, type: PatternType, content: string): string {
  return hash("sha256", `${entryId}\0${type}\0${content}`).slice(0, 12);
}

/** What came of something that was called off need not be done. */
export function withoutTasks(notes: StateNote[], { from, project }: { from: number; project: string }): StateNote[] {
  return notes.filter((note) => {
    return note.type !== "task_created" || note.sourceMessageIndex < from || note.project !== project;
  });
}

/** In the order they were made; a note that is there already is not added again. */
export function addNotes(notes: StateNote[], found: readonly StateNote[]): StateNote[] {
  if (found.length === 0) return notes;
  const added = found.filter(({ id }, place) => {
    return !notes.some((note) => note.id === id) && found.findIndex((note) => note.id === id) === place;
  });
  const all = [...notes, ...added];
  return limited(added.some(({ type }) => type === "accomplishment") ? resolve(all, added) : all);
}

/**
 * What the new accomplishments resolve. The earlier ones have done so when they came: given again, they
 * would look for another blocker, and captures in pieces would differ from one in one go.
 */
function resolve(all: readonly StateNote[], added: readonly StateNote[]): StateNote[] {
  const isNew = new Set(added);
  // What is done in one project is not done in another.
  const projects = new Set(added.map(({ project }) => project));
  const open = all.filter(({ type, resolved }) => type === "blocker" && resolved !== true);
  const isTooOld = new Set(open.slice(0, -MOST_OPEN));
  const candidates = all.filter((note) => {
    if (isNew.has(note)) return true;
    if (!projects.has(note.project)) return false;
    return note.type !== "accomplishment" && note.resolved !== true && !isTooOld.has(note);
  });
  const resolvedBy = new Map<string, string>();
  for (const [place, note] of resolveBlockers(candidates).entries()) {
    const id = candidates[place]?.id;
    if (id !== undefined && note.resolved === true) resolvedBy.set(id, note.resolvedBy ?? note.sourceEntryId);
  }
  spread(candidates, resolvedBy);
  return all.map((note) => {
    const by = note.resolved === true ? undefined : resolvedBy.get(note.id);
    return by === undefined ? note : { ...note, resolved: true, resolvedBy: by };
  });
}

/** One trouble is told several times: when it is over, it is over in all these notes. */
function spread(candidates: readonly StateNote[], resolvedBy: Map<string, string>): void {
  if (resolvedBy.size === 0) return;
  const over = candidates.filter(({ id }) => resolvedBy.has(id));
  const subjects = over.map((note) => ({ note, subject: subjectOf(note.content) }));
  for (const note of candidates) {
    if (note.type !== "blocker" || resolvedBy.has(note.id)) continue;
    const subject = subjectOf(note.content);
    // Told before the trouble was: the one that is over may be told again after it came back.
    const same = subjects.find((one) => {
      return note.sourceMessageIndex <= one.note.sourceMessageIndex && isSameSubject(one.subject, subject);
    });
    const by = same === undefined ? undefined : resolvedBy.get(same.note.id);
    if (by !== undefined) resolvedBy.set(note.id, by);
  }
}

/** What is over goes first, then what nobody would act on, then the oldest. */
function limited(notes: StateNote[]): StateNote[] {
  const over = notes.length - MOST_NOTES;
  if (over <= 0) return notes;
  const dropped = new Set(
    notes
      .map((note, place) => ({ note, place, worth: worthOf(note) }))
      .sort((a, b) => a.worth - b.worth || a.place - b.place)
      .slice(0, over)
      .map(({ note }) => note),
  );
  return notes.filter((note) => !dropped.has(note));
}

function worthOf({ type, resolved }: StateNote): number {
  if (resolved === true) return 0;
  return type === "insight" || type === "accomplishment" || type === "scope_creep" ? 1 : 2;
}
