/**
 * Texts and names, read once and remembered: the sessions of a repo are compared again with every task,
 * and their files lie in the same folders.
 */
import { type Initials, readInitials } from "./initials.ts";
import { readPairs, readUnits, type Unit } from "./units.ts";
import { segmentWords, squash, takeApart, tellingSegments, type Words } from "./words.ts";

export interface TextReading {
  taken: Words;
  units: readonly Unit[];
  /** Words side by side. */
  pairs: ReadonlySet<string>;
  initials: Initials;
}

interface PathReading {
  /** The names in it that tell something. */
  segments: readonly string[];
  /** Of the file: letters and digits only. */
  name: string;
}

export const readText = remembering(5_000, (text: string): TextReading => {
  const taken = takeApart(text);
  return { taken, units: readUnits(taken.words), pairs: readPairs(taken.words), initials: readInitials(text) };
});

/** One name in a path. */
export const readName = remembering(5_000, (name: string): TextReading => {
  const words = segmentWords(name);
  const taken: Words = { words, identifiers: new Set(), codes: new Set(), paths: [] };
  return { taken, units: readUnits(words), pairs: readPairs(words), initials: { shortForms: new Set(), rows: [] } };
});

export const readPath = remembering(10_000, (path: string): PathReading => ({
  segments: tellingSegments(path),
  name: squash((path.split("/").at(-1) ?? "").replace(/(?<=.)\.[\w.]+$/, "")),
}));

function remembering<Result>(most: number, read: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    let result = known.get(text);
    if (result !== undefined) return result;
    result = read(text);
    if (known.size >= most) known.clear();
    known.set(text, result);
    return result;
  };
}
