/**
 * The distinct words of the index. They answer what stemmed words cannot: parts of words, typos, and words that are
 * written together. Words stay when their text is removed; a search that tries them finds nothing.
 */
import type { IndexDatabase } from "./index-database.ts";
import { identifierParts } from "./query.ts";

const MIN_WORD = 3;
const MAX_WORD = 64;
const MAX_KNOWN = 200_000;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const ONLY_DIGITS = /^\p{N}+$/u;

/** Adds the words of a text. The caller opens the transaction. */
export function addWords(database: IndexDatabase, text: string): void {
  const known = database.knownWords();
  if (known.size > MAX_KNOWN) known.clear();
  for (const [word] of text.matchAll(WORD)) {
    // Most words were seen before, as they are written here.
    if (known.has(word)) continue;
    known.add(word);
    for (const part of [word, ...identifierParts(word)]) {
      if (part.length < MIN_WORD || part.length > MAX_WORD) continue;
      const folded = foldWord(part);
      if (folded !== word && known.has(folded)) continue;
      known.add(folded);
      if (ONLY_DIGITS.test(folded)) continue;
      const { changed, id } = database.run("INSERT OR IGNORE INTO vocabulary (word) VALUES (?)", folded);
      if (changed > 0) database.run("INSERT INTO spellings (rowid, word) VALUES (?, ?)", id, folded);
    }
  }
}

/** Lower case without accents, as the tokenizer does. */
function foldWord(word: string): string {
  return word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

const MAX_CONTAINING = 24;

/** Words that contain this one, the shortest first. */
export function wordsContaining(database: IndexDatabase, word: string): string[] {
  const folded = foldWord(word);
  return containing(database, folded)
    .filter((found) => found !== folded)
    .sort((a, b) => a.length - b.length)
    .slice(0, MAX_CONTAINING);
}

const MAX_CANDIDATES = 500;

function containing(database: IndexDatabase, piece: string): string[] {
  const grams = trigrams(piece);
  if (grams.length === 0) return [];
  return database
    .all<{ word: string }>(
      `SELECT v.word FROM spellings JOIN vocabulary v ON v.id = spellings.rowid
       WHERE spellings MATCH ? AND instr(v.word, ?) > 0 LIMIT ?`,
      grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(" AND "),
      piece,
      MAX_CANDIDATES,
    )
    .map((row) => row.word);
}

function trigrams(text: string): string[] {
  const characters = Array.from(text);
  return [...new Set(characters.slice(2).map((_, index) => characters.slice(index, index + 3).join("")))];
}

const MIN_TYPO = 4;
const LONG_WORD = 8;
const MAX_SIMILAR = 6;

/** Words that differ by a typo: one letter, or two in a long word. The closest first. */
export function similarWords(database: IndexDatabase, word: string): string[] {
  const folded = foldWord(word);
  if (folded.length < MIN_TYPO || folded.length > MAX_WORD) return [];
  const near = existing(database, oneEditAway(folded));
  if (near.length > 0 || folded.length < LONG_WORD) return near.slice(0, MAX_SIMILAR);
  // Two edits leave one of three pieces intact.
  const size = Math.floor(folded.length / 3);
  const pieces = [folded.slice(0, size), folded.slice(size, 2 * size), folded.slice(2 * size)];
  const candidates = new Set(pieces.flatMap((piece) => containing(database, piece)));
  return [...candidates].filter((candidate) => editDistance(folded, candidate) === 2).slice(0, MAX_SIMILAR);
}

/** `retryqueue` → `retry queue`, if both are words. */
export function splitWord(database: IndexDatabase, word: string): string[][] {
  const folded = foldWord(word);
  const pairs: [string, string][] = [];
  for (let at = MIN_WORD; at <= folded.length - MIN_WORD; at += 1) pairs.push([folded.slice(0, at), folded.slice(at)]);
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
