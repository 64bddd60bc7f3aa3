/**
 * Which letters a sentence must have for a regular expression to match it: of every way to match, the
 * rarest piece of text that it contains. Most expressions of the cues need not be looked at, or even
 * compiled, for most sentences.
 */

/** Pieces of which every match has at least one; undefined when a match needs none of any length. */
type Needs = ReadonlySet<string> | undefined;

const LONGEST_PIECE = 5;

/** The pieces to look for, at most five letters each; undefined when the expression has to be tried on everything. */
export function triggersOf(source: string, frequencyOf: (piece: string) => number): string[] | undefined {
  const reader = { source, at: 0 };
  const needs = readAlternatives(reader, (pieces) => cost(pieces, frequencyOf));
  if (reader.at < source.length) throw new Error(`Cannot read ${source.slice(reader.at, reader.at + 40)}`);
  return needs === undefined ? undefined : [...new Set([...needs].map((piece) => rarest(piece, frequencyOf)))].sort();
}

interface Reader {
  source: string;
  at: number;
}
type Cost = (pieces: ReadonlySet<string>) => number;

function readAlternatives(reader: Reader, costOf: Cost): Needs {
  const all = new Set<string>();
  let isFree = false;
  for (;;) {
    const needs = readSequence(reader, costOf);
    if (needs === undefined) isFree = true;
    else for (const piece of needs) all.add(piece);
    if (reader.source[reader.at] !== "|") break;
    reader.at += 1;
  }
  return isFree ? undefined : all;
}

function readSequence(reader: Reader, costOf: Cost): Needs {
  let best: Needs;
  let literal = "";
  const offer = (needs: Needs) => {
    if (needs !== undefined && (best === undefined || costOf(needs) < costOf(best))) best = needs;
  };
  const endLiteral = () => {
    if (literal.length >= 2) offer(new Set([literal]));
    literal = "";
  };
  while (reader.at < reader.source.length && !"|)".includes(reader.source[reader.at] ?? "")) {
    const atom = readAtom(reader, costOf);
    const times = readQuantifier(reader);
    if (atom.letter !== undefined && times === undefined) {
      literal += atom.letter;
      continue;
    }
    if (atom.isNothing === true) continue;
    endLiteral();
    if (times !== 0) offer(atom.needs);
  }
  endLiteral();
  return best;
}

interface Atom {
  letter?: string;
  needs?: Needs;
  /** It takes no letters: an anchor or a look around. */
  isNothing?: boolean;
}

function readAtom(reader: Reader, costOf: Cost): Atom {
  const { source } = reader;
  const char = source[reader.at] ?? "";
  if (char === "\\") {
    const escaped = source[reader.at + 1] ?? "";
    reader.at += 2;
    if (escaped === "b" || escaped === "B") return { isNothing: true };
    return /[\w]/.test(escaped) ? {} : { letter: escaped };
  }
  if (char === "(") return readGroup(reader, costOf);
  if (char === "[") {
    const end = /\[(?:\\.|[^\]\\])*\]/y;
    end.lastIndex = reader.at;
    reader.at += end.exec(source)?.[0].length ?? 1;
    return {};
  }
  reader.at += 1;
  if (char === "^" || char === "$") return { isNothing: true };
  return char === "." ? {} : { letter: char };
}

function readGroup(reader: Reader, costOf: Cost): Atom {
  const head = /\((?:\?(?:[:=!]|<[=!]))?/y;
  head.lastIndex = reader.at;
  const opening = head.exec(reader.source)?.[0] ?? "(";
  reader.at += opening.length;
  const needs = readAlternatives(reader, costOf);
  reader.at += 1;
  return /[=!]/.test(opening) ? { isNothing: true } : { needs };
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

function rarest(piece: string, frequencyOf: (piece: string) => number): string {
  let best = piece.slice(0, LONGEST_PIECE);
  for (let start = 1; start + LONGEST_PIECE <= piece.length; start += 1) {
    const other = piece.slice(start, start + LONGEST_PIECE);
    if (frequencyOf(other) < frequencyOf(best)) best = other;
  }
  return best;
}

function cost(pieces: ReadonlySet<string>, frequencyOf: (piece: string) => number): number {
  let sum = 0;
  for (const piece of pieces) sum += frequencyOf(rarest(piece, frequencyOf)) + 0.01;
  return sum;
}
