/**
 * Learns the weights of sentence features from test/fixtures/handoff/messages.jsonl and writes
 * data/pattern-weights.tsv. Run it after a change of features.ts, sentences.ts or data/pattern-words.json:
 *
 *   npx node scripts/train-patterns.ts [--dry-run] [--errors]
 *
 * Prints how each author's messages are judged by weights learned from everybody else's.
 */
import { PATTERN_TYPES, type PatternType } from "../src/handoff/patterns/note.ts";
import {
  bestThreshold,
  describeTally,
  type Example,
  learn,
  readLabelled,
  scoreStranger,
  STRANGERS,
  tally,
  toExamples,
} from "./pattern-training.ts";
import { writeTypeColumns } from "./pattern-weights.ts";

/** Weights below this hardly count and are left out. */
const LEAST_WEIGHT = 0.1;

const args = new Set(process.argv.slice(2));
const examples = toExamples(await readLabelled(new URL("../test/fixtures/handoff/messages.jsonl", import.meta.url)));
const rows = new Map<string, number[]>();
for (const [column, type] of PATTERN_TYPES.entries()) {
  const threshold = judge(type);
  if (args.has("--dry-run")) continue;
  for (const [feature, weight] of learn(examples, type).weights) {
    const shifted = feature === "bias" ? weight - threshold : weight;
    if (Math.abs(shifted) < LEAST_WEIGHT) continue;
    const row = rows.get(feature) ?? PATTERN_TYPES.map(() => 0);
    row[column] = shifted;
    rows.set(feature, row);
  }
}
if (!args.has("--dry-run")) {
  await writeTypeColumns(rows);
  say(`${rows.size} features`);
}

/** Prints how the type does on each author's messages and returns the threshold over all of them. */
function judge(type: PatternType): number {
  const judged = STRANGERS.map((author) => ({ author, ...scoreStranger(examples, author, type) })).filter(
    ({ held }) => held.length > 0,
  );
  const threshold = bestThreshold(
    judged.flatMap(({ held }) => held),
    judged.flatMap(({ scores }) => scores),
    type,
  );
  for (const { author, held, scores } of judged) {
    say(`${author.padEnd(10)}${describeTally(type, tally(held, scores, type, threshold))}`);
    if (args.has("--errors")) sayErrors(type, held, scores, threshold);
  }
  return threshold;
}

function sayErrors(type: PatternType, held: readonly Example[], scores: readonly number[], threshold: number): void {
  for (const [index, { id, text, labels }] of held.entries()) {
    const score = (scores[index] ?? -99) - threshold;
    const isSo = labels.includes(type);
    if (score >= 0 !== isSo)
      say(`${isSo ? "MISS " : "EXTRA"} ${type} ${score.toFixed(1)} ${id} ${JSON.stringify(text.slice(0, 150))}`);
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
