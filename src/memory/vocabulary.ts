/**
 * The distinct words of the index. They answer what stemmed words cannot: parts of words, typos, and words that are
 * written together. Words stay when their text is removed; a search that tries them finds nothing.
 */
import type { IndexDatabase } from "./index-database.ts";
import { isCommonWord } from "./query.ts";
import { foldWord } from "./text-words.ts";

/** The caller opens the transaction. */
export function addVocabulary(database: IndexDatabase, words: readonly string[]): void {
  if (words.length === 0) return;
  const sql = "INSERT OR IGNORE INTO vocabulary (word) SELECT value FROM json_each(?)";
  database.run(sql, JSON.stringify(words.toSorted()));
}

const MAX_CONTAINING = 24;
const MAX_WORD = 64;

/** Words that contain this one, the shortest first. */
export function wordsContaining(database: IndexDatabase, word: string): string[] {
  const folded = foldWord(word);
  return containing(database, [folded], [folded.length + 1, MAX_WORD])
    .sort((a, b) => a.length - b.length)
    .slice(0, MAX_CONTAINING);
}

const MIN_PIECE = 3;
const MAX_CANDIDATES = 1000;

/** Words with one of these pieces. Looks at every word of this length, because it is rarely needed. */
function containing(database: IndexDatabase, pieces: readonly string[], lengths: [from: number, to: number]): string[] {
  const long = pieces.filter((piece) => piece.length >= MIN_PIECE);
  if (long.length === 0) return [];
  const hasPiece = long.map(() => "instr(word, ?) > 0").join(" OR ");
  const sql = `SELECT word FROM vocabulary WHERE length(word) BETWEEN ? AND ? AND (${hasPiece}) LIMIT ?`;
  return database.all<{ word: string }>(sql, ...lengths, ...long, MAX_CANDIDATES).map((row) => row.word);
}

const MIN_TYPO = 4;
const LONG_WORD = 8;
const MAX_SIMILAR = 6;

/** Words that differ by a typo: one letter, or two in a long word. The closest first. */
export function similarWords(database: IndexDatabase, word: string): string[] {
  const folded = foldWord(word);
  if (folded.length < MIN_TYPO || folded.length > MAX_WORD) return [];
  // Nobody means "all" who types "tall".
  const near = existing(database, oneEditAway(folded)).filter((candidate) => !isCommonWord(candidate));
  if (near.length > 0 || folded.length < LONG_WORD) return near.slice(0, MAX_SIMILAR);
  // Two edits leave one of three pieces intact.
  const size = Math.floor(folded.length / 3);
  const pieces = [folded.slice(0, size), folded.slice(size, 2 * size), folded.slice(2 * size)];
  return containing(database, pieces, [folded.length - 2, folded.length + 2])
    .filter((candidate) => editDistance(folded, candidate) === 2)
    .slice(0, MAX_SIMILAR);
}

const MIN_PART = 3;

/** `retryqueue` → `retry queue`, if both are words. */
export function splitWord(database: IndexDatabase, word: string): string[][] {
  const folded = foldWord(word);
  const pairs: [string, string][] = [];
  for (let at = MIN_PART; at <= folded.length - MIN_PART; at += 1) pairs.push([folded.slice(0, at), folded.slice(at)]);
  const known = new Set(existing(database, pairs.flat()));
  return pairs.filter((pair) => pair.every((part) => known.has(part)));
}

function existing(database: IndexDatabase, words: readonly string[]): string[] {
  return database
    .all<{ word: string }>(
      "SELECT word FROM vocabulary WHERE word IN (SELECT value FROM json_each(?))",
      JSON.stringify(words),
    )
    .map((row) => row.word);
}

const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz0123456789");

function oneEditAway(word: string): string[] {
  const found = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    const [first = "", second = ""] = after;
    if (after !== "") found.add(before + after.slice(1));
    if (after.length > 1) found.add(before + second + first + after.slice(2));
    for (const letter of LETTERS) {
      found.add(before + letter + after);
      if (after !== "") found.add(before + letter + after.slice(1));
    }
  }
  found.delete(word);
  return [...found];
}

/** Insertions, deletions, replacements and swapped neighbours. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let [older, old] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let least = Math.min((old[column] ?? 0) + 1, (line[column - 1] ?? 0) + 1, (old[column - 1] ?? 0) + same);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (isSwap) least = Math.min(least, (older[column - 2] ?? 0) + 1);
      line.push(least);
    }
    [older, old] = [old, line];
  }
  return old[b.length] ?? 3;
}
