/**
 * A logistic model per type over a sentence's features: small, and able to say what counted. The last column
 * of the table is a model of its own: whether a sentence's first look says enough to be worth a second.
 */
import type { FeatureSink } from "./features.ts";
import { PATTERN_TYPES, type PatternType } from "./note.ts";
import { knownWord, type KnownWord, PARTS, partNumber } from "./shape.ts";

const DOUBT = PATTERN_TYPES.length;
const COLUMNS = DOUBT + 1;

/** After the weights: the last sentence they were counted in, since each counts once, however often it is there. */
const COUNTED_IN = COLUMNS;
const UNREAD = -1;
const ROW_WIDTH = COLUMNS + 1;
const FIRST_ROWS = 2048;

/** The weights of a feature: its number among those that were met so far. */
type Row = number;

/** The table has no such feature. */
const NONE: Row = -1;

/** By the number of a part; undefined until somebody asks. */
type Rows = (Row | undefined)[];

/** What begins with one word or part: the row of its own, and of it with what stands beside it. */
export interface Group {
  /** As it is written, from the tab behind its name on. */
  line: string;
  own: Row | undefined;
  before: Rows;
  after: Rows;
  /** With two parts after it. */
  run: (Rows | undefined)[];
}

/** Everything is looked up when it is first asked for: a message uses little of it. */
export interface Weights {
  word: (word: KnownWord) => Group | undefined;
  part: (part: number) => Group | undefined;
  named: (name: string) => Row;
}

/**
 * A line is the name of a group and, with tabs between, its features: nothing for its own, `<part` with that
 * part before it, `>part` or `>part part` with those after it; then "=" and the weights in hundredths, from
 * which nothings are left out. As scripts/train-patterns.ts writes it.
 */
export function readWeights(table: string): Weights {
  const words = new Map<string, Group | string>();
  const parts: (Group | string | undefined)[] = [];
  const names = new Map<string, Group | string>();
  for (let start = 0; start < table.length;) {
    const newline = table.indexOf("\n", start);
    const end = newline < 0 ? table.length : newline;
    const tab = table.indexOf("\t", start);
    if (tab > 0 && tab < end) {
      const line = table.slice(tab, end);
      if (table.startsWith(WORD, start)) words.set(table.slice(start + WORD.length, tab), line);
      else if (table.startsWith(PART, start)) parts[partNumber(table.slice(start + PART.length, tab))] = line;
      else names.set(table.slice(start, tab), line);
    }
    start = end + 1;
  }
  const groupIn = (groups: Map<string, Group | string>, name: string): Group | undefined => {
    const known = groups.get(name);
    if (typeof known !== "string") return known;
    const group = newGroup(known);
    groups.set(name, group);
    return group;
  };
  return {
    word: (word) => (word.weights === "unread" ? (word.weights = groupIn(words, word.text)) : word.weights),
    part(part) {
      const known = parts[part];
      return typeof known === "string" ? (parts[part] = newGroup(known)) : known;
    },
    named: (name) => ownRow(groupIn(names, name)),
  };
}

const WORD = "word ";
const PART = "part ";

function newGroup(line: string): Group {
  return { line, own: undefined, before: [], after: [], run: [] };
}

function ownRow(group: Group | undefined): Row {
  return group === undefined ? NONE : (group.own ??= findRow(group, ""));
}

function rowBefore(group: Group, part: number): Row {
  return (group.before[part] ??= findRow(group, `<${nameOf(part)}`));
}

function rowAfter(group: Group, part: number): Row {
  return (group.after[part] ??= findRow(group, `>${nameOf(part)}`));
}

function rowOfRun(group: Group, second: number, third: number): Row {
  const rows = (group.run[second] ??= []);
  return (rows[third] ??= findRow(group, `>${nameOf(second)} ${nameOf(third)}`));
}

function findRow({ line }: Group, entry: string): Row {
  const found = line.indexOf(`\t${entry}=`);
  if (found < 0) return NONE;
  const start = found + entry.length + 2;
  const tab = line.indexOf("\t", start);
  return addRow(line.slice(start, tab < 0 ? undefined : tab));
}

/** As the weights of each row are written, until somebody needs them as numbers. */
const cells: string[] = [];

/**
 * One row after the other, since they are added up all the time: the weights in hundredths for each type and for
 * a second look, then the last sentence the row was counted in.
 */
let numbers = new Int32Array(FIRST_ROWS * ROW_WIDTH);

function addRow(written: string): Row {
  const row = cells.push(written) - 1;
  if (cells.length * ROW_WIDTH > numbers.length) {
    const more = new Int32Array(2 * numbers.length);
    more.set(numbers);
    numbers = more;
  }
  numbers[row * ROW_WIDTH + COUNTED_IN] = UNREAD;
  return row;
}

function readRow(row: Row): void {
  const place = row * ROW_WIDTH;
  const written = (cells[row] ?? "").split(",");
  for (let column = 0; column < written.length; column += 1) numbers[place + column] = Number(written[column]);
  numbers[place + COUNTED_IN] = 0;
}

function weightOf(row: Row, column: number): number {
  if (row === NONE) return 0;
  if (numbers[row * ROW_WIDTH + COUNTED_IN] === UNREAD) readRow(row);
  return (numbers[row * ROW_WIDTH + column] ?? 0) / 100;
}

/** `rows` by the names that createNames gives. In ASCII, so that it can be read as latin1, which takes no time. */
export function writeWeights(rows: ReadonlyMap<string, readonly number[]>): string {
  const lines = new Map<string, string[]>();
  for (const [name, row] of rows) {
    const cells = row.map((weight) => (Math.round(weight * 100) === 0 ? "" : String(Math.round(weight * 100))));
    const { group, entry } = placeOf(name);
    lines.set(group, [...(lines.get(group) ?? []), `${entry}=${cells.join(",").replace(/,+$/, "")}`]);
  }
  const table = [...lines].map(([group, entries]) => [group, ...entries].join("\t")).join("\n");
  const other = /[^\t\n -~]/.exec(table)?.[0];
  if (other !== undefined) throw new Error(`A feature is called by ${other}: let normalize write a word for it`);
  return table;
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

/** Sums of weights, in hundredths, in the order of the columns. */
export type Scores = Int32Array;

/** Adds up the weights of one sentence after the other. */
export interface Tally extends FeatureSink {
  /** Begins the next sentence. */
  start: () => void;
  /** Whether what was added so far leaves room for any note. */
  isWorthSecondLook: () => boolean;
  /** What was added so far, to go on from later. */
  pause: () => Scores;
  resume: (scores: Scores) => void;
  /** How sure each type is, in the order of PATTERN_TYPES. */
  confidences: () => number[];
}

export function createTally(weights: Weights): Tally {
  const scores = new Int32Array(COLUMNS);
  let sentence = 0;
  const add = (row: Row) => {
    if (row === NONE) return;
    const place = row * ROW_WIDTH;
    const countedIn = numbers[place + COUNTED_IN];
    if (countedIn === sentence) return;
    if (countedIn === UNREAD) readRow(row);
    numbers[place + COUNTED_IN] = sentence;
    for (let column = 0; column < COLUMNS; column += 1)
      scores[column] = (scores[column] ?? 0) + (numbers[place + column] ?? 0);
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
      add(ownRow(group));
      add(rowBefore(group, before));
      add(rowAfter(group, after));
    },
    part: (part) => add(ownRow(weights.part(part))),
    run(first, second, third) {
      const group = weights.part(first);
      if (group === undefined) return;
      add(rowAfter(group, second));
      if (third !== 0) add(rowOfRun(group, second, third));
    },
    named: (name) => add(weights.named(name)),
    isWorthSecondLook: () => (scores[DOUBT] ?? 0) >= 0,
    pause: () => scores.slice(),
    resume(paused) {
      sentence += 1;
      scores.set(paused);
    },
    confidences: () => PATTERN_TYPES.map((_type, index) => 1 / (1 + Math.exp(-(scores[index] ?? 0) / 100))),
  };
}

/** Collects the names of features, for training and for saying what counted. */
export function createNames(): FeatureSink & { names: Set<string> } {
  const names = new Set<string>();
  return {
    names,
    word({ text }, before, after) {
      names.add(`word ${text}`);
      names.add(`part+word ${nameOf(before)} ${text}`);
      names.add(`word+part ${text} ${nameOf(after)}`);
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
    .map(({ name, row }) => ({ name, weight: weightOf(row, column) }))
    .filter(({ weight }) => weight > 0.2)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, 5)
    .map(({ name, weight }) => `${name} +${weight.toFixed(1)}`);
}

function nameOf(part: number): string {
  return PARTS[part] ?? "";
}

function rowOf(name: string, { word, part, named }: Weights): Row {
  const [kind, first = "", second = "", third = ""] = name.split(" ");
  const group = kind === "word" || kind === "word+part" ? word(knownWord(first)) : part(partNumber(first));
  switch (kind) {
    case "word":
    case "part":
      return ownRow(group);
    case "word+part":
      return group === undefined ? NONE : rowAfter(group, partNumber(second));
    case "run": {
      if (group === undefined) return NONE;
      const after = partNumber(second);
      return third === "" ? rowAfter(group, after) : rowOfRun(group, after, partNumber(third));
    }
    case "part+word": {
      const of = word(knownWord(second));
      return of === undefined ? NONE : rowBefore(of, partNumber(first));
    }
    default:
      return named(name);
  }
}
