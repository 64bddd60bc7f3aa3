/**
 * A logistic model per type over a sentence's features: small, and able to say what counted. The last column
 * of the table is a model of its own: whether a sentence's first look says enough to be worth a second.
 */
import type { FeatureSink } from "./features.ts";
import { PATTERN_TYPES, type PatternType } from "./note.ts";
import { PARTS, partNumber } from "./shape.ts";

const DOUBT = PATTERN_TYPES.length;
const COLUMNS = DOUBT + 1;

/** The weights of one feature for each type and for a second look. */
interface Row {
  /** As they are written; read when the feature is first met. */
  cells: string;
  weights: Float64Array | undefined;
  /** The last sentence it was counted in: it counts once, however often it is there. */
  countedIn: number;
}

/** What begins with one word or part: the row of its own, and of it with what stands beside it. */
interface Group {
  own: Row | undefined;
  after: ReadonlyMap<number, Row>;
  before: ReadonlyMap<number, Row>;
}

/** Groups are read when they are first asked for: a message uses few of all words. */
export interface Weights {
  word: (word: string) => Group | undefined;
  part: (part: number) => Group | undefined;
  named: (name: string) => Row | undefined;
}

/**
 * A line is the name of a group and, with tabs between, its features: nothing for its own, `<part` with that
 * part before it, `>part` or `>part part` with those after it; then "=" and the weights in hundredths, from
 * which nothings are left out. As scripts/train-patterns.ts writes it.
 */
export function readWeights(table: string): Weights {
  const lines = new Map<string, string>();
  for (let start = 0; start < table.length;) {
    const newline = table.indexOf("\n", start);
    const end = newline < 0 ? table.length : newline;
    const tab = table.indexOf("\t", start);
    if (tab > 0 && tab < end) lines.set(table.slice(start, tab), table.slice(tab + 1, end));
    start = end + 1;
  }
  const cached = <Key>(nameOf: (key: Key) => string) => {
    const groups = new Map<Key, Group>();
    return (key: Key) => {
      const known = groups.get(key);
      if (known !== undefined) return known;
      const line = lines.get(nameOf(key));
      if (line === undefined) return undefined;
      const group = readGroup(line);
      groups.set(key, group);
      return group;
    };
  };
  const named = cached((name: string) => name);
  return {
    word: cached((word: string) => `word ${word}`),
    part: cached((part: number) => `part ${nameOf(part)}`),
    named: (name) => named(name)?.own,
  };
}

function readGroup(line: string): Group {
  const after = new Map<number, Row>();
  const before = new Map<number, Row>();
  let own: Row | undefined;
  for (const entry of line.split("\t")) {
    const equals = entry.lastIndexOf("=");
    const row: Row = { cells: entry.slice(equals + 1), weights: undefined, countedIn: 0 };
    const beside = entry.slice(1, equals);
    if (equals === 0) own = row;
    else if (entry.startsWith("<")) before.set(partNumber(beside), row);
    else {
      const blank = beside.indexOf(" ");
      const second = blank < 0 ? beside : beside.slice(0, blank);
      after.set(runNumber(partNumber(second), blank < 0 ? 0 : partNumber(beside.slice(blank + 1))), row);
    }
  }
  return { own, after, before };
}

function weightsOf(row: Row): Float64Array {
  if (row.weights !== undefined) return row.weights;
  const weights = new Float64Array(COLUMNS);
  for (const [column, cell] of row.cells.split(",").entries()) weights[column] = Number(cell) / 100;
  row.weights = weights;
  return weights;
}

function runNumber(second: number, third: number): number {
  return second * 64 + third;
}

/** `rows` by the names that createNames gives. */
export function writeWeights(rows: ReadonlyMap<string, readonly number[]>): string {
  const lines = new Map<string, string[]>();
  for (const [name, row] of rows) {
    const cells = row.map((weight) => (Math.round(weight * 100) === 0 ? "" : String(Math.round(weight * 100))));
    const { group, entry } = placeOf(name);
    lines.set(group, [...(lines.get(group) ?? []), `${entry}=${cells.join(",").replace(/,+$/, "")}`]);
  }
  return [...lines].map(([group, entries]) => [group, ...entries].join("\t")).join("\n");
}

/** The group a feature belongs to, and what it is called there. */
function placeOf(name: string): { group: string; entry: string } {
  const [kind, first = "", second = "", third = ""] = name.split(" ");
  switch (kind) {
    case "run":
      return { group: `part ${first}`, entry: `>${second}${third === "" ? "" : ` ${third}`}` };
    case "word+part":
      return { group: `word ${first}`, entry: `>${second}` };
    case "part+word":
      return { group: `word ${second}`, entry: `<${first}` };
    default:
      return { group: name, entry: "" };
  }
}

/** Adds up the weights of one sentence after the other. */
export interface Tally extends FeatureSink {
  /** Begins the next sentence. */
  start: () => void;
  /** Whether what was added so far leaves room for any note. */
  isWorthSecondLook: () => boolean;
  /** What was added so far, to go on from later. */
  pause: () => Float64Array;
  resume: (scores: Float64Array) => void;
  /** How sure each type is, in the order of PATTERN_TYPES. */
  confidences: () => number[];
}

export function createTally(weights: Weights): Tally {
  const scores = new Float64Array(COLUMNS);
  let sentence = 0;
  const add = (row: Row | undefined) => {
    if (row === undefined || row.countedIn === sentence) return;
    row.countedIn = sentence;
    const own = weightsOf(row);
    for (let column = 0; column < COLUMNS; column += 1) scores[column] = (scores[column] ?? 0) + (own[column] ?? 0);
  };
  return {
    start() {
      sentence += 1;
      scores.fill(0);
      add(weights.named("bias"));
    },
    word(word, before, after) {
      const group = weights.word(word);
      if (group === undefined) return;
      add(group.own);
      add(group.before.get(before));
      add(group.after.get(runNumber(after, 0)));
    },
    part: (part) => add(weights.part(part)?.own),
    run(first, second, third) {
      const after = weights.part(first)?.after;
      if (after === undefined) return;
      add(after.get(runNumber(second, 0)));
      if (third !== 0) add(after.get(runNumber(second, third)));
    },
    named: (name) => add(weights.named(name)),
    isWorthSecondLook: () => (scores[DOUBT] ?? 0) >= 0,
    pause: () => scores.slice(),
    resume(paused) {
      sentence += 1;
      scores.set(paused);
    },
    confidences: () => PATTERN_TYPES.map((_type, index) => 1 / (1 + Math.exp(-(scores[index] ?? 0)))),
  };
}

/** Collects the names of features, for training and for saying what counted. */
export function createNames(): FeatureSink & { names: Set<string> } {
  const names = new Set<string>();
  return {
    names,
    word(word, before, after) {
      names.add(`word ${word}`);
      names.add(`part+word ${nameOf(before)} ${word}`);
      names.add(`word+part ${word} ${nameOf(after)}`);
    },
    part: (part) => names.add(`part ${nameOf(part)}`),
    run(first, second, third) {
      names.add(`run ${nameOf(first)} ${nameOf(second)}`);
      if (third !== 0) names.add(`run ${nameOf(first)} ${nameOf(second)} ${nameOf(third)}`);
    },
    named: (name) => names.add(name),
  };
}

/** The weights of each of these features for a type that spoke for it, strongest first. */
export function reasonsFor(type: PatternType, names: Iterable<string>, weights: Weights): string[] {
  const column = PATTERN_TYPES.indexOf(type);
  return [...names]
    .map((name) => ({ name, row: rowOf(name, weights) }))
    .map(({ name, row }) => ({ name, weight: row === undefined ? 0 : (weightsOf(row)[column] ?? 0) }))
    .filter(({ weight }) => weight > 0.2)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 5)
    .map(({ name, weight }) => `${name} +${weight.toFixed(1)}`);
}

function nameOf(part: number): string {
  return PARTS[part] ?? "";
}

function rowOf(name: string, { word, part, named }: Weights): Row | undefined {
  const [kind, first = "", second = "", third = ""] = name.split(" ");
  switch (kind) {
    case "word":
      return word(first)?.own;
    case "part":
      return part(partNumber(first))?.own;
    case "run":
      return part(partNumber(first))?.after.get(runNumber(partNumber(second), partNumber(third)));
    case "word+part":
      return word(first)?.after.get(runNumber(partNumber(second), 0));
    case "part+word":
      return word(second)?.before.get(partNumber(first));
    default:
      return named(name);
  }
}
