/**
 * Learns how much each feature of a sentence counts for each type of note and writes data/pattern-weights.tsv;
 * finds out by which letters each expression is worth trying and writes data/pattern-triggers.json. To be run
 * after every change of a cue:
 *
 *   node scripts/train-patterns.ts [--dry-run] [--errors] [--triggers] [--out=<file>]
 *
 * The report says how weights do on the messages of each stranger when learned from everybody else's.
 */
import { writeFile } from "node:fs/promises";
import { dataFile } from "../src/base/package.ts";
// Loaded for the expressions that they and what they use have.
import "../src/handoff/extract/read-message.ts";
import "../src/handoff/patterns/detect-patterns.ts";
import { PATTERN_TYPES, type PatternType } from "../src/handoff/patterns/note.ts";
import { EXPRESSIONS } from "../src/handoff/patterns/pattern.ts";
import { EDGE, forgetTriggers, OPENING } from "../src/handoff/patterns/presence.ts";
import { writeWeights } from "../src/handoff/patterns/score.ts";
import { readSentences } from "../src/handoff/patterns/sentences.ts";
import {
  bestThreshold,
  describeTally,
  doubtThreshold,
  type Example,
  learn,
  type Learned,
  readLabelled,
  scoreStranger,
  STRANGERS,
  tally,
  type Target,
  toExamples,
  toWeights,
} from "./pattern-training.ts";
import { triggersOf } from "./pattern-triggers.ts";
import { writeTree } from "./trigger-tree.ts";

const MESSAGES = new URL("../test/fixtures/handoff/messages.jsonl", import.meta.url);

const args = new Set(process.argv.slice(2));
const messages = await readLabelled(MESSAGES);
// Those that are there may be of expressions that were changed since.
forgetTriggers();
if (!args.has("--dry-run")) await writeTriggers(findTriggers());
if (args.has("--triggers")) process.exit();
const examples = toExamples(messages);
const thresholds = new Map<Target, number>();
const types = new Map<PatternType, Learned>();
for (const type of PATTERN_TYPES) {
  thresholds.set(type, judge(type));
  if (!args.has("--dry-run")) types.set(type, learn(examples, type));
}
if (!args.has("--dry-run")) {
  const doubt = learn(examples, "doubt");
  thresholds.set("doubt", doubtThreshold(examples, doubt, types));
  const all = examples.flatMap((one) => doubt.sentenceScores(one));
  const kept = all.filter((score) => score >= (thresholds.get("doubt") ?? 0)).length;
  say(`${Math.round((100 * kept) / all.length)} % of the sentences get a second look`);
  const rows = toWeights(types, doubt, (target) => thresholds.get(target) ?? 0);
  say(`${rows.size} features`);
  await writeFile(dataFile("pattern-weights.tsv"), `${writeWeights(rows)}\n`);
}

/** Says how the type does on each stranger's messages, and where its line lies over all of them. */
function judge(type: PatternType): number {
  const judged = STRANGERS.map((author) => ({ author, ...scoreStranger(examples, author, type) })).filter(
    ({ held }) => held.length > 0,
  );
  const held = judged.flatMap((one) => one.held);
  const scores = judged.flatMap((one) => one.scores);
  const threshold = bestThreshold(held, scores, type);
  for (const one of judged) {
    say(`${one.author.padEnd(10)}${describeTally(type, tally(one.held, one.scores, type, threshold))}`);
    if (args.has("--errors")) sayErrors(type, one.held, one.scores, threshold);
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

async function writeTriggers(found: ReadonlyMap<string, readonly string[]>): Promise<void> {
  await writeFile(dataFile("pattern-triggers.json"), `${JSON.stringify(writeTree(found), undefined, 2)}\n`);
}

/** By the name of the expression; one that has none has to be tried on everything. */
function findTriggers(): Map<string, string[]> {
  const plains = messages.flatMap(({ text }) => readSentences(text)).map(({ plain }) => plain);
  const frequencyOf = frequenciesIn(plains.join("\n"));
  const found = new Map<string, string[]>();
  for (const { name, source, isOfParts } of EXPRESSIONS.values()) {
    const pieces = triggersOf(source, { frequencyOf, isOfParts });
    if (pieces !== undefined) found.set(name, pieces);
  }
  return found;
}

/** How often a trigger is there. */
function frequenciesIn(text: string): (trigger: string) => number {
  const counted = new Map<string, number>();
  return (trigger) => {
    const known = counted.get(trigger);
    if (known !== undefined) return known;
    const source = trigger
      .replace(/[^\w\s~^]/g, String.raw`\$&`)
      .replaceAll(EDGE, String.raw`\b`)
      .replace(OPENING, "^");
    const count = text.match(new RegExp(source, "gm"))?.length ?? 0;
    counted.set(trigger, count);
    return count;
  };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
