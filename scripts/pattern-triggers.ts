/**
 * What a sentence must have for a regular expression to match it: of every way to match, the rarest piece of
 * text that it contains. Most expressions need not be looked at, or even compiled, for most sentences.
 *
 * A piece that can only stand where a word or the sentence begins, or where a word ends, says so (see EDGE and
 * OPENING): the letters "no" are in every other sentence, the word "no" is not.
 */
import { EDGE, OPENING } from "../src/handoff/patterns/presence.ts";

/** Pieces of which every match has at least one; undefined when a match needs none. */
type Needs = ReadonlySet<string> | undefined;
type FrequencyOf = (piece: string) => number;

export interface TriggerOptions {
  /** How many sentences have a piece. */
  frequencyOf: FrequencyOf;
  /** The expression is tried on parts of sentences, too: where its text begins, a word does, but no sentence. */
  isOfParts: boolean;
}

/** In letters. */
const LONGEST_PIECE = 8;

/** The pieces to look for; undefined when the expression has to be tried on everything. */
export function triggersOf(source: string, { frequencyOf, isOfParts }: TriggerOptions): string[] | undefined {
  const reader = { source, at: 0, opening: isOfParts ? EDGE : OPENING };
  const alternatives = readAlternatives(reader);
  if (reader.at < source.length) throw new Error(`Cannot read ${source.slice(reader.at, reader.at + 40)}`);
  const needs = needsOfAny(alternatives, { before: "", after: "" }, frequencyOf);
  return needs === undefined ? undefined : [...needs].sort();
}

/** Where a piece stands: EDGE, OPENING or nothing special. */
type Mark = string;

/** One step of a way to match. */
type Atom =
  | { kind: "letter"; letter: string }
  /** A place between letters. */
  | { kind: "mark"; mark: Mark }
  /** A look around: takes no letters. */
  | { kind: "look" }
  /** Any of several letters. */
  | { kind: "some"; isSign: boolean; isOptional: boolean }
  | { kind: "group"; alternatives: Atom[][]; isRepeated: boolean; isOptional: boolean };

interface Reader {
  source: string;
  at: number;
  /** What "^" stands for. */
  opening: Mark;
}

function readAlternatives(reader: Reader): Atom[][] {
  const alternatives = [readSequence(reader)];
  while (reader.source[reader.at] === "|") {
    reader.at += 1;
    alternatives.push(readSequence(reader));
  }
  return alternatives;
}

function readSequence(reader: Reader): Atom[] {
  const atoms: Atom[] = [];
  while (reader.at < reader.source.length && !"|)".includes(reader.source[reader.at] ?? "")) {
    const atom = readAtom(reader);
    const least = readQuantifier(reader);
    if (least === undefined) atoms.push(atom);
    else atoms.push(...repeated(atom, least));
  }
  return atoms;
}

function repeated(atom: Atom, least: number): Atom[] {
  const isOptional = least === 0;
  if (atom.kind === "group") return [{ ...atom, isRepeated: true, isOptional }];
  if (atom.kind === "some") return [{ ...atom, isOptional }];
  const more: Atom = { kind: "some", isSign: false, isOptional: true };
  return isOptional ? [more] : [atom, more];
}

function readAtom(reader: Reader): Atom {
  const { source } = reader;
  const char = source[reader.at] ?? "";
  if (char === "(") return readGroup(reader);
  if (char === "[") return readClass(reader);
  reader.at += 1;
  if (char === "^") return { kind: "mark", mark: reader.opening };
  if (char === "$") return { kind: "mark", mark: EDGE };
  if (char === ".") return { kind: "some", isSign: false, isOptional: false };
  if (char !== "\\") return { kind: "letter", letter: char };
  const escaped = source[reader.at] ?? "";
  reader.at += 1;
  if (escaped === "b") return { kind: "mark", mark: EDGE };
  if (escaped === "B") return { kind: "look" };
  if (!isOfWord(escaped)) return { kind: "letter", letter: escaped };
  return { kind: "some", isSign: escaped === "s", isOptional: false };
}

function readGroup(reader: Reader): Atom {
  const head = /\((?:\?(?:[:=!]|<[=!]))?/y;
  head.lastIndex = reader.at;
  const opening = head.exec(reader.source)?.[0] ?? "(";
  reader.at += opening.length;
  const alternatives = readAlternatives(reader);
  reader.at += 1;
  return /[=!]/.test(opening)
    ? { kind: "look" }
    : { kind: "group", alternatives, isRepeated: false, isOptional: false };
}

function readClass(reader: Reader): Atom {
  const whole = /\[(?:\\.|[^\]\\])*\]/y;
  whole.lastIndex = reader.at;
  const text = whole.exec(reader.source)?.[0] ?? "[";
  reader.at += text.length;
  const few = /^\[([a-z\d]{1,4})\]$/.exec(text)?.[1];
  if (few === undefined) return { kind: "some", isSign: /^\[[\s,.;:!?()]+\]$/.test(text), isOptional: false };
  const alternatives = few.split("").map((letter): Atom[] => [{ kind: "letter", letter }]);
  return { kind: "group", alternatives, isRepeated: false, isOptional: false };
}

/** The least number of times; undefined for exactly once. */
function readQuantifier(reader: Reader): number | undefined {
  const quantifier = /(?:[?*+]|\{(\d+)(?:,\d*)?\})\??/y;
  quantifier.lastIndex = reader.at;
  const match = quantifier.exec(reader.source);
  if (match === null) return undefined;
  reader.at += match[0].length;
  if (match[1] !== undefined) return Number(match[1]);
  return match[0].startsWith("+") ? 1 : 0;
}

/** What a word that stands first, or last, has before or after it. */
interface Context {
  before: Mark;
  after: Mark;
}

function needsOfAny(alternatives: readonly Atom[][], context: Context, frequencyOf: FrequencyOf): Needs {
  const all = new Set<string>();
  for (const atoms of alternatives) {
    const needs = needsOfAll(atoms, context, frequencyOf);
    if (needs === undefined) return undefined;
    for (const piece of needs) all.add(piece);
  }
  return all;
}

/** Of all that a way to match needs, what fewest sentences have. */
function needsOfAll(atoms: readonly Atom[], context: Context, frequencyOf: FrequencyOf): Needs {
  let best: Needs;
  let literal = { before: "", letters: "", after: "" };
  const offer = (needs: Needs) => {
    if (needs !== undefined && (best === undefined || cost(needs, frequencyOf) < cost(best, frequencyOf))) best = needs;
  };
  for (const [index, atom] of atoms.entries()) {
    if (atom.kind === "look" || atom.kind === "mark") continue;
    if (atom.kind === "letter") {
      const before = literal.letters === "" ? markBeside(atoms, index, -1, context) : literal.before;
      const letters = `${literal.letters}${atom.letter}`;
      literal = { before, letters, after: markBeside(atoms, index, 1, context) };
      continue;
    }
    offer(rarest(literal, frequencyOf));
    literal = { before: "", letters: "", after: "" };
    if (atom.kind === "some" || atom.isOptional) continue;
    const before = markBeside(atoms, index, -1, context);
    // Of what is repeated the first begins here, but another one may end here.
    const after = atom.isRepeated ? "" : markBeside(atoms, index, 1, context);
    offer(needsOfAny(atom.alternatives, { before, after }, frequencyOf));
  }
  offer(rarest(literal, frequencyOf));
  return best;
}

/** What a word has before it (-1) or after it (1) that stands at this place of a way to match. */
function markBeside(atoms: readonly Atom[], index: number, step: 1 | -1, context: Context): Mark {
  const beside = atoms[index + step];
  if (beside === undefined) return step < 0 ? context.before : context.after;
  switch (beside.kind) {
    case "look":
      return markBeside(atoms, index + step, step, context);
    case "mark":
      return beside.mark;
    case "letter":
      return isOfWord(beside.letter) ? "" : EDGE;
    default: {
      const isSign = beside.kind === "some" ? beside.isSign : beside.alternatives.every((one) => endsInSign(one, step));
      const further = beside.isOptional ? markBeside(atoms, index + step, step, context) : EDGE;
      return isSign && further !== "" ? EDGE : "";
    }
  }
}

/** Whether no word reaches from inside over the end of a way to match; over its beginning, if `step` is 1. */
function endsInSign(atoms: readonly Atom[], step: 1 | -1): boolean {
  const outside = step < 0 ? atoms.length : -1;
  return markBeside(atoms, outside, step, { before: "", after: "" }) !== "";
}

function isOfWord(letter: string): boolean {
  return /^\w$/.test(letter);
}

/** The part of a literal that fewest sentences have. */
function rarest({ before, letters, after }: Context & { letters: string }, frequencyOf: FrequencyOf): Needs {
  if (letters === "") return undefined;
  const markAt = (place: number): Mark => {
    if (place === 0) return before;
    if (place === letters.length) return after;
    return isOfWord(letters.charAt(place - 1)) === isOfWord(letters.charAt(place)) ? "" : EDGE;
  };
  const pieces: string[] = [];
  for (let start = 0; start < letters.length; start += 1) {
    const end = Math.min(start + LONGEST_PIECE, letters.length);
    const first = isOfWord(letters.charAt(start)) ? markAt(start) : "";
    const last = isOfWord(letters.charAt(end - 1)) ? markAt(end) : "";
    pieces.push(`${first}${letters.slice(start, end)}${last}`);
  }
  // What begins with a word is found sooner: it is looked for at fewer places.
  const atWord = pieces.filter((piece) => piece.startsWith(EDGE) || piece.startsWith(OPENING));
  const [least] = (atWord.length > 0 ? atWord : pieces).sort((a, b) => frequencyOf(a) - frequencyOf(b));
  return least === undefined ? undefined : new Set([least]);
}

function cost(pieces: ReadonlySet<string>, frequencyOf: FrequencyOf): number {
  let sum = 0;
  for (const piece of pieces) sum += frequencyOf(piece) + 0.01;
  return sum;
}
