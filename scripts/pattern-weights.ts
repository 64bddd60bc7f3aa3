/**
 * The rows of data/pattern-weights.tsv: a feature, its weight for each type of note (`train-patterns.ts`), and for each
 * section that is judged by words (`train-handoff.ts`). Each script replaces its own columns and keeps the others.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dataFile } from "../src/base/package.ts";
import { PATTERN_TYPES, WORDED } from "../src/handoff/patterns/note.ts";

const FILE = dataFile("pattern-weights.tsv");
const TYPES = PATTERN_TYPES.length;

export type WeightRows = ReadonlyMap<string, readonly number[]>;

export function readRows(): WeightRows {
  const lines = readFileSync(FILE, "utf8").trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [feature = "", ...cells] = line.split("\t");
      return [feature, Array.from({ length: TYPES + WORDED.length }, (_, column) => Number(cells[column] ?? 0))];
    }),
  );
}

/** Features that no longer have a row lose their other columns too. */
export async function writeTypeColumns(rows: WeightRows): Promise<void> {
  const before = readRows();
  await write(new Map(Array.from(rows, ([name, row]) => [name, [...row, ...(before.get(name)?.slice(TYPES) ?? [])]])));
}

export async function writeSectionColumns(words: WeightRows): Promise<void> {
  await write(
    new Map(Array.from(readRows(), ([name, row]) => [name, [...row.slice(0, TYPES), ...(words.get(name) ?? [])]])),
  );
}

async function write(rows: WeightRows): Promise<void> {
  const lines = Array.from(rows)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, row]) => [name, ...row.map(short)].join("\t").trimEnd());
  await writeFile(FILE, `${lines.join("\n")}\n`);
}

function short(weight: number): string {
  const rounded = Math.round(weight * 100) / 100;
  return rounded === 0 ? "" : String(rounded);
}
