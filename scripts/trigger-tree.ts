/**
 * Grows the tree of triggers and lays it out as src/handoff/patterns/presence.ts walks it: all nodes in one row, each
 * with its children at such a distance from a number of its own that no two nodes want the same place.
 */
import {
  AT_OPENING,
  AT_WORD,
  EDGE,
  END_OF_TEXT,
  INSIDE,
  lettersOf,
  OPENING,
  type WrittenTree,
} from "../src/handoff/patterns/presence.ts";

interface Node {
  children: Map<number, Node>;
  /** The expressions that have a trigger which ends here, and those where a word has to end here, too. */
  numbers: Set<number>;
  atWordEnd: Set<number>;
}

const ROOTS = [INSIDE, AT_WORD, AT_OPENING];
const MOST_NODES = 0xffff;

/** `triggers` by the name of their expression. */
export function writeTree(triggers: ReadonlyMap<string, readonly string[]>): WrittenTree {
  const roots = new Map(ROOTS.map((root) => [root, newNode()]));
  for (const [number, pieces] of [...triggers.values()].entries())
    for (const piece of pieces) addTrigger(roots, piece, number);
  return { expressions: [...triggers.keys()], ...layOut(roots) };
}

function newNode(): Node {
  return { children: new Map(), numbers: new Set(), atWordEnd: new Set() };
}

function addTrigger(roots: ReadonlyMap<number, Node>, trigger: string, number: number): void {
  const isAtOpening = trigger.startsWith(OPENING);
  const isAtWord = trigger.startsWith(EDGE);
  const isAtWordEnd = trigger.endsWith(EDGE);
  const letters = trigger.slice(isAtOpening || isAtWord ? 1 : 0, isAtWordEnd ? -1 : undefined);
  for (const root of isAtOpening ? [AT_OPENING] : isAtWord ? [AT_WORD] : [AT_WORD, INSIDE]) {
    let node = roots.get(root) ?? newNode();
    for (const letter of lettersOf(letters).slice(0, letters.length)) {
      const child = node.children.get(letter) ?? newNode();
      node.children.set(letter, child);
      node = child;
    }
    (isAtWordEnd ? node.atWordEnd : node.numbers).add(number);
  }
}

function layOut(roots: ReadonlyMap<number, Node>): Omit<WrittenTree, "expressions"> {
  const next: number[] = [];
  const from: number[] = [0, ...ROOTS.map(() => 0)];
  const found: number[] = [];
  const lists: number[] = [0];
  const taken = new Set([0, ...ROOTS]);
  const waiting = [...roots];
  for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
    const [place, node] = entry;
    found[place] = writeLists(node, lists);
    if (node.children.size === 0) continue;
    const base = firstFree(taken, [...node.children.keys()]);
    next[place] = base;
    for (const [letter, child] of node.children) {
      taken.add(base + letter);
      from[base + letter] = place;
      waiting.push([base + letter, child]);
    }
  }
  const count = Math.max(...taken) + 1;
  if (Math.max(count + END_OF_TEXT, lists.length) > MOST_NODES) throw new Error("there are too many triggers");
  const row = (numbers: readonly number[]) => Array.from({ length: count }, (_, index) => numbers[index] ?? 0);
  return { next: toText(row(next)), from: toText(row(from)), found: toText(row(found)), lists: toText(lists) };
}

function firstFree(taken: ReadonlySet<number>, letters: readonly number[]): number {
  let base = 1;
  while (letters.some((letter) => taken.has(base + letter))) base += 1;
  return base;
}

/** Returns where they begin. */
function writeLists({ numbers, atWordEnd }: Node, lists: number[]): number {
  if (numbers.size + atWordEnd.size === 0) return 0;
  return lists.push(numbers.size, ...numbers, atWordEnd.size, ...atWordEnd) - numbers.size - atWordEnd.size - 2;
}

function toText(numbers: readonly number[]): string {
  return Buffer.from(Uint16Array.from(numbers).buffer).toString("base64");
}
