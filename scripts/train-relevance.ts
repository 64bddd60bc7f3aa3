/**
 * Learns how much each feature of the offline comparison counts, from labelled cases, and writes
 * src/claude/selection/offline/weights.ts:
 *
 *   node scripts/train-relevance.ts examples/selection-cases.jsonl [--dry-run]
 *
 * A decision is a choice between the sessions and a fresh start, so that is what is fitted: a softmax
 * over the sessions' evidence and 0 for fresh, by gradient descent with a small penalty on weights.
 * Cases are grouped by author (the first part of their id, up to a slash); for each author the report says how weights
 * learned from the others' cases decide that author's. That figure is the one to believe.
 */
import { readFile, writeFile } from "node:fs/promises";
import { type SelectionCase, readCases } from "../src/claude/selection/cases.ts";
import { evaluateCases, type MethodResult } from "../src/claude/selection/evaluate.ts";
import { FEATURE_NAMES, type FeatureName } from "../src/claude/selection/offline/features.ts";
import { compareAll, createOfflineScorer } from "../src/claude/selection/offline/score-offline.ts";

type Weights = Record<FeatureName, number>;

interface Example {
  /** The features of each session. */
  rows: number[][];
  /** The session that is right; -1 for fresh. */
  right: number;
}

const TRAINING = { rounds: 1500, rate: 0.15, penalty: 0.0007 };
/** Most tasks of real life are easy, and few of the cases are: each counts for so many. */
const EASY = 4;
const TARGET = new URL("../src/claude/selection/offline/weights.ts", import.meta.url);

const args = process.argv.slice(2);
const files = args.filter((arg) => !arg.startsWith("--"));
const cases = (await Promise.all(files.map(readCases))).flat();
await crossValidate(cases);
const weights = train(cases.flatMap(toExample));
report("all, learned from all", (await evaluate(cases, weights)).offline);
if (!args.includes("--dry-run")) await writeWeights(weights);

async function crossValidate(all: readonly SelectionCase[]): Promise<void> {
  for (const [author, own] of Object.entries(Object.groupBy(all, authorOf))) {
    const others = all.filter((one) => authorOf(one) !== author);
    if (own === undefined || others.length === 0) continue;
    report(`${author}, learned from the others`, (await evaluate(own, train(others.flatMap(toExample)))).offline);
  }
}

function authorOf({ id }: SelectionCase): string {
  return /^([\w-]+)\//.exec(id)?.[1] ?? "own";
}

function toExample(one: SelectionCase): Example[] {
  // What a reference back decides teaches nothing about words.
  if (one.sessions.length === 0 || (/^follow-?up$/.test(one.kind) && one.expected.action !== "fresh")) return [];
  const found = compareAll(one.task, one.sessions, {
    currentBranch: one.currentBranch,
    commitSubjects: one.commitSubjects,
  });
  // Nor does what only related work shares.
  if (found.some((comparison) => comparison.isSpecific)) return [];
  const right = one.sessions.findIndex((session) => session.sessionId === one.expected.sessionId);
  const example = { rows: found.map((comparison) => comparison.features), right };
  return Array.from({ length: one.kind === "easy" ? EASY : 1 }, () => example);
}

function train(examples: readonly Example[]): Weights {
  const weights = FEATURE_NAMES.map(() => 0);
  const momentum = FEATURE_NAMES.map(() => 0);
  for (let round = 0; round < TRAINING.rounds; round++) {
    const gradient = gradientOf(examples, weights);
    for (const [at, slope] of gradient.entries()) {
      const penalty = FEATURE_NAMES[at] === "bias" ? 0 : TRAINING.penalty * (weights[at] ?? 0);
      momentum[at] = 0.9 * (momentum[at] ?? 0) + slope - penalty;
      weights[at] = (weights[at] ?? 0) + TRAINING.rate * (momentum[at] ?? 0);
    }
  }
  return Object.fromEntries(FEATURE_NAMES.map((name, at) => [name, round3(weights[at] ?? 0)])) as Weights;
}

function gradientOf(examples: readonly Example[], weights: readonly number[]): number[] {
  const gradient = weights.map(() => 0);
  for (const { rows, right } of examples) {
    const odds = rows.map((row) => Math.exp(Math.min(30, dot(row, weights))));
    const sum = odds.reduce((total, value) => total + value, 1);
    for (const [at, row] of rows.entries()) {
      const error = (at === right ? 1 : 0) - (odds[at] ?? 0) / sum;
      for (const [feature, value] of row.entries())
        gradient[feature] = (gradient[feature] ?? 0) + (error * value) / examples.length;
    }
  }
  return gradient;
}

function dot(row: readonly number[], weights: readonly number[]): number {
  return row.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0);
}

async function evaluate(some: readonly SelectionCase[], learned: Weights) {
  return evaluateCases(some, { offline: createOfflineScorer(learned) });
}

function report(what: string, result: MethodResult): void {
  const kinds = Object.entries(result.byKind).map(([kind, { accuracy }]) => `${kind} ${accuracy.toFixed(2)}`);
  const { wrongSession, missedResume, wrongResume } = result;
  console.log(
    `${result.accuracy.toFixed(3)} ${what} (${result.cases}; other session ${wrongSession}, missed ${missedResume}, wrongly resumed ${wrongResume}): ${kinds.join(", ")}`,
  );
}

async function writeWeights(learned: Weights): Promise<void> {
  const before = await readFile(TARGET, "utf8");
  const rows = FEATURE_NAMES.map(
    (name) => `  ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${learned[name]},\n`,
  );
  await writeFile(TARGET, `${before.slice(0, before.indexOf("= ") + 2)}{\n${rows.join("")}};\n`);
}

function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
