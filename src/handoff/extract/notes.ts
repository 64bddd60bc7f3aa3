/** The notes of a state: made of one message at a time, blockers resolved, bounded in number. */
import { hash } from "node:crypto";
import { notesOf, type ScoredSentence } from "../patterns/detect-patterns.ts";
import type { PatternNote, PatternType } from "../patterns/note.ts";
import { resolveBlockers } from "../patterns/resolve-blockers.ts";
import type { ReadMessage, StateNote } from "../state.ts";

const MOST_NOTES = 200;
/** So many open blockers are looked at when something is reported done. */
const MOST_OPEN = 30;

export function noteMessage(
  message: Pick<ReadMessage, "timestamp" | "entryId">,
  scored: readonly ScoredSentence[],
  { index, project }: { index: number; project: string },
): StateNote[] {
  return notesOf(scored, message).map((note) => ({
    ...note,
    id: idOf(note.sourceEntryId, note.type, note.content),
    sourceMessageIndex: index,
    project,
  }));
}

function idOf(entryId: string, type: PatternType, content: string): string {
  return hash("sha256", `${entryId}\0${type}\0${content}`).slice(0, 12);
}

/** In the order they were made; a note that is there already is not added again. */
export function addNotes(notes: StateNote[], found: readonly StateNote[]): StateNote[] {
  if (found.length === 0) return notes;
  const known = new Set(notes.map(({ id }) => id));
  const added = found.filter(({ id }, place) => {
    return !known.has(id) && found.findIndex((note) => note.id === id) === place;
  });
  const all = [...notes, ...added];
  return limited(added.some(({ type }) => type === "accomplishment") ? resolve(all, added) : all);
}

/**
 * What the new accomplishments resolve. The earlier ones did so when they came: given again, they would look for
 * another blocker, and captures in pieces would differ from one in one go.
 */
function resolve(all: readonly StateNote[], added: readonly StateNote[]): StateNote[] {
  const isNew = new Set(added);
  // What is done in one project is not done in another.
  const projects = new Set(added.map(({ project }) => project));
  const isOpen = ({ type, resolved, project }: StateNote): boolean =>
    type === "blocker" && resolved !== true && projects.has(project);
  const open = new Set(all.filter((note) => isOpen(note) && !isNew.has(note)).slice(-MOST_OPEN));
  const candidates = all.filter((note) => isNew.has(note) || open.has(note));
  const resolved = new Map(candidates.map((note, place) => [note, place]));
  const marked: PatternNote[] = resolveBlockers(candidates);
  return all.map((note) => {
    const { resolvedBy } = marked[resolved.get(note) ?? -1] ?? {};
    return resolvedBy === undefined ? note : { ...note, resolved: true, resolvedBy };
  });
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
