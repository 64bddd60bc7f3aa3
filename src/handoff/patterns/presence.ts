/**
 * Which expressions a sentence may match at all, judged by the letters it has. A sentence that has none of
 * an expression's triggers cannot match it, so that it is not tried and, until one has, not even compiled:
 * most of the large expressions are of no concern to most sentences.
 *
 * The triggers are a tree of letters, so that one walk from each place of the sentence finds all of them. It is
 * kept in a small table: what the expressions themselves need fills the processor's cache already.
 */
import { EXPRESSIONS } from "./pattern.ts";
import { TRIGGERS } from "./triggers.ts";

/** In front of a trigger: a word begins there. Behind it: a word ends there. */
export const EDGE = "~";
/** In front of a trigger: the sentence begins there. */
export const OPENING = "^";

/** A bit for each expression, by its number. */
export type Presence = Int32Array;

export function isPresent(present: Presence, number: number): boolean {
  return ((present[number >> 5] ?? 0) & (1 << (number & 31))) !== 0;
}

function add(present: Presence, number: number): void {
  present[number >> 5] = (present[number >> 5] ?? 0) | (1 << (number & 31));
}

/** Those of words first. Every character that no trigger has is the same to them. */
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_ %!'-/.,:=()#+";
const LAST_OF_WORDS = LETTERS.indexOf("_") + 1;
const END_OF_TEXT = LETTERS.length + 1;
const LETTER_BITS = 6;

/** From which node the walk begins: inside a word or between two, where a word begins, where the sentence does. */
const INSIDE = 1;
const AT_WORD = 2;
const AT_OPENING = 3;

/** What is known when the letters of a trigger were found. */
interface Found {
  /** Of the expressions that have it. */
  numbers: number[];
  /** Of those that have it at the end of a word. */
  atWordEnd: number[];
}

interface Tree {
  /** A node and a letter as one number, at the place that its hash says or, where that is taken, after it. */
  edges: Int32Array;
  /** The node that each of them leads to. */
  children: Uint16Array;
  nodes: number;
  /** For each node the place of what it says in `found`, 0 for nothing. */
  foundAt: Uint16Array;
  found: Found[];
  /** The expressions that have no trigger. */
  always: Presence;
  /** How many expressions there were. */
  count: number;
}

let tree: Tree | undefined;

export function presenceIn(plain: string): Presence {
  // Whoever loads more expressions later has them looked for from then on.
  if (tree === undefined || tree.count < EXPRESSIONS.size) tree = readTree();
  const present = new Int32Array(tree.always);
  const letters = lettersOf(plain);
  walk(tree, AT_OPENING, letters, 0, present);
  let isInWord = false;
  for (let start = 0; start < plain.length; start += 1) {
    const isWord = isOfWord(letters[start] ?? 0);
    walk(tree, isWord && !isInWord ? AT_WORD : INSIDE, letters, start, present);
    isInWord = isWord;
  }
  return present;
}

function walk(from: Tree, root: number, letters: Uint8Array, start: number, present: Presence): void {
  let node = root;
  for (let at = start; ; at += 1) {
    node = from.children[slotOf(from.edges, node, letters[at] ?? 0)] ?? 0;
    if (node === 0) return;
    const place = from.foundAt[node] ?? 0;
    if (place === 0) continue;
    const found = from.found[place];
    if (found === undefined) continue;
    for (const number of found.numbers) add(present, number);
    if (!isOfWord(letters[at + 1] ?? 0)) for (const number of found.atWordEnd) add(present, number);
  }
}

/** Where an edge is, or would be: nothing leads on from there. */
function slotOf(edges: Int32Array, node: number, letter: number): number {
  const edge = (node << LETTER_BITS) | letter;
  const mask = edges.length - 1;
  let slot = (Math.imul(edge, 0x9e3779b1) >>> 15) & mask;
  while (edges[slot] !== edge && edges[slot] !== 0) slot = (slot + 1) & mask;
  return slot;
}

function isOfWord(letter: number): boolean {
  return letter > 0 && letter <= LAST_OF_WORDS;
}

let letterOf: Uint8Array | undefined;
/** Written anew for every sentence; it grows to the longest. */
let lettersRead = new Uint8Array(2048);

/** With END_OF_TEXT, which no trigger has, after the last. */
function lettersOf(text: string): Uint8Array {
  const numbers = (letterOf ??= numberLetters());
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

/** For up to as many nodes; the edges fill half of their table at most. */
const MOST_NODES = 8192;

/** A line is a name and its triggers, as scripts/train-patterns.ts writes it; what has no line is always tried. */
function readTree(): Tree {
  const grown: Tree = {
    edges: new Int32Array(2 * MOST_NODES),
    children: new Uint16Array(2 * MOST_NODES),
    nodes: AT_OPENING + 1,
    foundAt: new Uint16Array(MOST_NODES),
    found: [{ numbers: [], atWordEnd: [] }],
    always: new Int32Array((EXPRESSIONS.size >> 5) + 1).fill(-1),
    count: EXPRESSIONS.size,
  };
  for (const line of TRIGGERS.trim().split("\n")) {
    const [name = "", ...triggers] = line.split("|");
    const number = EXPRESSIONS.get(name)?.number;
    if (number === undefined) continue;
    grown.always[number >> 5] = (grown.always[number >> 5] ?? 0) & ~(1 << (number & 31));
    for (const trigger of triggers) addTrigger(grown, trigger, number);
  }
  return grown;
}

function addTrigger(grown: Tree, trigger: string, number: number): void {
  const isAtOpening = trigger.startsWith(OPENING);
  const isAtWord = trigger.startsWith(EDGE);
  const isAtWordEnd = trigger.endsWith(EDGE);
  const letters = trigger.slice(isAtOpening || isAtWord ? 1 : 0, isAtWordEnd ? -1 : undefined);
  const roots = isAtOpening ? [AT_OPENING] : isAtWord ? [AT_WORD] : [AT_WORD, INSIDE];
  for (const root of roots) {
    const found = foundAt(grown, nodeFor(grown, root, letters));
    (isAtWordEnd ? found.atWordEnd : found.numbers).push(number);
  }
}

function nodeFor(grown: Tree, root: number, letters: string): number {
  const numbers = (letterOf ??= numberLetters());
  let node = root;
  for (let at = 0; at < letters.length; at += 1) {
    const letter = numbers[letters.charCodeAt(at)] ?? 0;
    const slot = slotOf(grown.edges, node, letter);
    if (grown.edges[slot] === 0) {
      if (grown.nodes === MOST_NODES) throw new Error("there are more triggers than the tree has room for");
      grown.edges[slot] = (node << LETTER_BITS) | letter;
      grown.children[slot] = grown.nodes;
      grown.nodes += 1;
    }
    node = grown.children[slot] ?? 0;
  }
  return node;
}

function foundAt(grown: Tree, node: number): Found {
  if (grown.foundAt[node] === 0) grown.foundAt[node] = grown.found.push({ numbers: [], atWordEnd: [] }) - 1;
  return grown.found[grown.foundAt[node] ?? 0] ?? { numbers: [], atWordEnd: [] };
}
