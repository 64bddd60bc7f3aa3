/**
 * Which expressions a sentence may match at all, judged by the letters it has. A sentence that has none of
 * an expression's triggers cannot match it, so that it is not tried and, until one has, not even compiled:
 * most of the large expressions are of no concern to most sentences.
 *
 * The triggers are a tree of letters, so that one walk from each place of the sentence finds all of them. It is
 * kept ready to be walked: a process that reads a few messages would need longer to grow it than to read them.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import type { Expression } from "./pattern.ts";

/** In front of a trigger: a word begins there. Behind it: a word ends there. */
export const EDGE = "~";
/** In front of a trigger: the sentence begins there. */
export const OPENING = "^";

/** A bit for each expression that has triggers, by its place among them. */
export type Presence = Int32Array;

/** Of an expression that has no triggers. */
const ALWAYS = -1;

export function isPresent(present: Presence, expression: Expression): boolean {
  const place = (expression.place ??= (tree ??= readTree()).places.get(expression.name) ?? ALWAYS);
  return place === ALWAYS || ((present[place >> 5] ?? 0) & (1 << (place & 31))) !== 0;
}

/** Those of words first. Every character that no trigger has is the same to them. */
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_ %!'-/.,:=()#+";
const LAST_OF_WORDS = LETTERS.indexOf("_") + 1;
export const END_OF_TEXT = LETTERS.length + 1;

/** Where a walk begins: inside a word or between two, where a word begins, where the sentence does. */
export const INSIDE = 1;
export const AT_WORD = 2;
export const AT_OPENING = 3;

/** A node is a number; a letter leads from it to the node `next[node] + letter`, if that one is `from` it. */
interface Tree {
  next: Uint16Array;
  from: Uint16Array;
  /** Where in `lists` it says what is known when the walk has come to a node; 0: nothing. */
  found: Uint16Array;
  /** How many expressions have a trigger that ends there, and their places; then the same for the end of a word. */
  lists: Uint16Array;
  /** Of an expression, by its name. */
  places: ReadonlyMap<string, number>;
}

/** As it is written in the data folder: the numbers as base64, in the order of bytes that every processor of today has. */
export type WrittenTree = Record<"next" | "from" | "found" | "lists", string> & { expressions: string[] };

let tree: Tree | undefined;

function readTree(): Tree {
  const written = JSON.parse(readFileSync(dataFile("pattern-triggers.json"), "utf8")) as WrittenTree;
  return {
    next: toNumbers(written.next),
    from: toNumbers(written.from),
    found: toNumbers(written.found),
    lists: toNumbers(written.lists),
    places: new Map(written.expressions.map((name, place) => [name, place])),
  };
}

/** For whoever finds out anew what the triggers are: every expression is tried on everything from here on. */
export function forgetTriggers(): void {
  const nothing = new Uint16Array(AT_OPENING + 1);
  tree = { next: nothing, from: nothing, found: nothing, lists: nothing, places: new Map() };
}

function toNumbers(base64: string): Uint16Array {
  const bytes = Buffer.from(base64, "base64");
  // A copy: the bytes may begin at an odd place of a larger piece of memory.
  return new Uint16Array(new Uint8Array(bytes).buffer);
}

export function presenceIn(plain: string): Presence {
  const triggers = (tree ??= readTree());
  const present = new Int32Array((triggers.places.size >> 5) + 1);
  const letters = lettersOf(plain);
  walk(triggers, AT_OPENING, letters, 0, present);
  let isInWord = false;
  for (let start = 0; start < plain.length; start += 1) {
    const isWord = isOfWord(letters[start] ?? 0);
    walk(triggers, isWord && !isInWord ? AT_WORD : INSIDE, letters, start, present);
    isInWord = isWord;
  }
  return present;
}

function walk(triggers: Tree, root: number, letters: Uint8Array, start: number, present: Presence): void {
  const { next, from, found, lists } = triggers;
  let node = root;
  for (let at = start; ; at += 1) {
    const child = (next[node] ?? 0) + (letters[at] ?? 0);
    if (from[child] !== node) return;
    node = child;
    const list = found[node] ?? 0;
    if (list === 0) continue;
    const after = addAll(lists, list, present);
    if (!isOfWord(letters[at + 1] ?? 0)) addAll(lists, after, present);
  }
}

/** Returns where the list ends. */
function addAll(lists: Uint16Array, start: number, present: Presence): number {
  const end = start + 1 + (lists[start] ?? 0);
  for (let at = start + 1; at < end; at += 1) {
    const place = lists[at] ?? 0;
    present[place >> 5] = (present[place >> 5] ?? 0) | (1 << (place & 31));
  }
  return end;
}

function isOfWord(letter: number): boolean {
  return letter > 0 && letter <= LAST_OF_WORDS;
}

let numberOf: Uint8Array | undefined;
/** Written anew for every sentence; it grows to the longest. */
let lettersRead = new Uint8Array(2048);

/** As numbers, with END_OF_TEXT, which no trigger has, after the last. */
export function lettersOf(text: string): Uint8Array {
  const numbers = (numberOf ??= numberLetters());
  if (text.length >= lettersRead.length) lettersRead = new Uint8Array(text.length + 1);
  for (let at = 0; at < text.length; at += 1) lettersRead[at] = numbers[text.charCodeAt(at)] ?? 0;
  lettersRead[text.length] = END_OF_TEXT;
  return lettersRead;
}

/** By the code of a character. */
function numberLetters(): Uint8Array {
  const numbers = new Uint8Array(128);
  for (let index = 0; index < LETTERS.length; index += 1) numbers[LETTERS.charCodeAt(index)] = index + 1;
  return numbers;
}
