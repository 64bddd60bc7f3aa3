/**
 * Which expressions a sentence may match at all, judged by the letters it has. A sentence that has none of
 * an expression's triggers cannot match it, so that it is not tried and, until one has, not even compiled:
 * most of the large expressions are of no concern to most sentences.
 *
 * The triggers are a tree of letters in one array, so that one walk from each place of the sentence finds
 * all of them.
 */
import { EXPRESSION_NUMBERS, type Expression } from "./pattern.ts";
import { TRIGGERS } from "./triggers.ts";

/** Says of an expression whether the sentence may match it. */
export type MayMatch = (one: Pick<Expression, "number">) => boolean;

/** Every character that no trigger has is the same to them. */
const LETTERS = " abcdefghijklmnopqrstuvwxyz0123456789_%!'-/.,:=";
const WIDTH = LETTERS.length + 1;

interface Tree {
  /** For each node and letter the next node; 0 for none. */
  next: Uint16Array;
  /** The expressions whose trigger ends at a node. */
  ends: readonly (readonly number[] | undefined)[];
  /** 1 for each expression that has no trigger. */
  always: Uint8Array;
}

let tree: Tree | undefined;
let letterOf: Uint8Array | undefined;

export function presenceIn(plain: string): MayMatch {
  const { next, ends, always } = (tree ??= readTree());
  const found = always.slice();
  const letters = lettersOf(plain);
  const { length } = plain;
  for (let start = 0; start < length; start += 1) {
    let node = 0;
    for (let at = start; at < length; at += 1) {
      node = next[node * WIDTH + (letters[at] ?? 0)] ?? 0;
      if (node === 0) break;
      const numbers = ends[node];
      if (numbers !== undefined) for (const number of numbers) found[number] = 1;
    }
  }
  return ({ number }) => found[number] === 1;
}

/** Written anew for every sentence; it grows to the longest. */
let lettersRead = new Uint8Array(2048);

function lettersOf(text: string): Uint8Array {
  const numbers = (letterOf ??= numberLetters());
  if (text.length > lettersRead.length) lettersRead = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    lettersRead[at] = code < 128 ? (numbers[code] ?? 0) : 0;
  }
  return lettersRead;
}

/** A line is a name and its pieces, as scripts/train-patterns.ts writes it; what has no line is always tried. */
function readTree(): Tree {
  const lines = TRIGGERS.trim()
    .split("\n")
    .map((line) => line.split("|"));
  let next = new Uint16Array(FIRST_NODES * WIDTH);
  const ends: (number[] | undefined)[] = [];
  const always = new Uint8Array(EXPRESSION_NUMBERS.size).fill(1);
  const letters = (letterOf ??= numberLetters());
  let nodes = 1;
  for (const [name = "", ...pieces] of lines) {
    const number = EXPRESSION_NUMBERS.get(name);
    if (number === undefined) continue;
    always[number] = 0;
    for (const piece of pieces) {
      let node = 0;
      for (let at = 0; at < piece.length; at += 1) {
        const place = node * WIDTH + (letters[piece.charCodeAt(at)] ?? 0);
        if (next[place] === 0) {
          next[place] = nodes;
          nodes += 1;
          if (nodes * WIDTH > next.length) next = longer(next);
        }
        node = next[place] ?? 0;
      }
      (ends[node] ??= []).push(number);
    }
  }
  return { next, ends, always };
}

const FIRST_NODES = 5000;

function longer(numbers: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const more = new Uint16Array(2 * numbers.length);
  more.set(numbers);
  return more;
}

function numberLetters(): Uint8Array {
  const numbers = new Uint8Array(128);
  for (let index = 0; index < LETTERS.length; index += 1) numbers[LETTERS.charCodeAt(index)] = index + 1;
  return numbers;
}
