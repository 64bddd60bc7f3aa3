/**
 * Learns the weights of the offline relevance from labelled decisions and writes data/relevance-weights.json:
 *
 *   node scripts/train-relevance.ts [--held-out] [--write]
 *
 * The cases are written by 20 personas with 16 consecutive cases each. Personas 4, 8, 12, 16 and 20 are kept aside:
 * only `--held-out` looks at them, with weights learned from the other 15. Without an option, each of the 15 is
 * decided with weights learned from the other 14. `--write` learns from all 20.
 *
 * The model is a softmax over a fresh start and every session, fitted through the points of a decision: a session's
 * evidence counts from the relevance with which it would be resumed.
 */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type SelectionCase, readCases } from "../src/claude/selection/cases.ts";
import { type MethodResult, evaluateCases } from "../src/claude/selection/evaluate.ts";
import { type Vocabulary, compareSessions } from "../src/claude/selection/offline/features.ts";
import {
  type RelevanceModel,
  type RelevanceWeightsFile,
  createOfflineScorer,
} from "../src/claude/selection/offline/score-offline.ts";
import { stemsOf, wordsOf } from "../src/claude/selection/offline/words.ts";
import { logOdds, relevanceToResume } from "../src/claude/selection/score.ts";
import type { RelevanceScorer } from "../src/claude/selection/selection.ts";
import { DEFAULT_CONFIG } from "../src/config/config.ts";

const CASES = fileURLToPath(new URL("../test/fixtures/selection/cases.jsonl", import.meta.url));
const TARGET = new URL("../data/relevance-weights.json", import.meta.url);
const CASES_PER_PERSONA = 16;
const HELD_OUT = new Set([4, 8, 12, 16, 20]);
const TRAINING = { rounds: 500, rate: 0.08, momentum: 0.9, penalty: 0.004 };
/** A word in the tasks of fewer personas says nothing about wording in general. */
const WORDING = { minPersonas: 4, prior: 2 };
const DERIVED_WEIGHT = 0.05;
/** A baseline that reads no content words. */
const BRANCH_AND_FOLLOW_UP = ["bias", "featureBranch", "sharedBranch", "refersBack", "noTopic", "shortOnBranch"];
/** All other features are evidence for a session. */
const ANY_SIGN = new Set(["bias", "featureBranch", "sharedBranch"]);
const config = DEFAULT_CONFIG.claudeCode.sessionSelection;

interface PersonaCase {
  persona: number;
  one: SelectionCase;
}

/** A persona that no decision is made for, so nothing is excluded. */
const NOBODY = 0;

await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const all = (await readCases(CASES)).map((one, at) => ({ persona: Math.floor(at / CASES_PER_PERSONA) + 1, one }));
  const development = all.filter(({ persona }) => !HELD_OUT.has(persona));
  if (args.includes("--held-out")) {
    const heldOut = all.filter(({ persona }) => HELD_OUT.has(persona)).map(({ one }) => one);
    const branchOnly = createOfflineScorer(train(development, BRANCH_AND_FOLLOW_UP));
    show("branch and follow-up alone", (await evaluateCases(heldOut, { offline: branchOnly })).offline);
    await report("kept aside", heldOut, createOfflineScorer(train(development)));
  } else {
    await crossValidate(development);
  }
  if (args.includes("--write")) await writeModel(train(all));
}

async function crossValidate(cases: readonly PersonaCase[]): Promise<void> {
  const scorers = new Map<string, RelevanceScorer>();
  for (const persona of new Set(cases.map((row) => row.persona))) {
    const scorer = createOfflineScorer(train(cases.filter((row) => row.persona !== persona)));
    for (const row of cases) if (row.persona === persona) scorers.set(row.one.task, scorer);
  }
  const byTask: RelevanceScorer = (task, sessions, context) => scorers.get(task)?.(task, sessions, context) ?? [];
  const all = cases.map(({ one }) => one);
  await report("each persona by the others", all, byTask);
}

/** `names`: the features to use. Default: all. */
function train(cases: readonly PersonaCase[], names?: readonly string[]): RelevanceModel {
  // A persona's own cases are excluded from its vocabulary, as they are for anybody who uses the weights.
  const personas = [...new Set(cases.map(({ persona }) => persona))];
  const vocabularies = new Map(personas.map((persona) => [persona, readVocabulary(cases, persona)]));
  const examples = cases.flatMap(({ persona, one }) => {
    const vocabulary = vocabularies.get(persona);
    return vocabulary === undefined ? [] : [one, ...derivedCases(one)].map((some) => toExample(some, vocabulary));
  });
  return { weights: fit(examples, names), vocabulary: readVocabulary(cases, NOBODY) };
}

/**
 * Decisions that are right by construction: the text that started a session belongs to it, its beginning too, and so does a later prompt
 * of the newest session on the branch.
 */
function derivedCases(one: SelectionCase): (SelectionCase & { weight: number })[] {
  const started = one.sessions.flatMap((session) => {
    const beginning = session.firstMessage.split(" ").slice(0, 6).join(" ");
    return [session.firstMessage, beginning].map((task) => ({ session, task, prompts: session.prompts }));
  });
  const there = one.sessions.filter(({ branch }) => branch === one.currentBranch);
  const [newest] = there.toSorted((a, b) => b.lastModified.getTime() - a.lastModified.getTime());
  const later = (newest?.prompts ?? []).slice(1).map((task) => {
    return { session: newest, task, prompts: newest?.prompts.filter((prompt) => prompt !== task) ?? [] };
  });
  return [...started, ...later].map(({ session, task, prompts }) => ({
    ...one,
    task,
    weight: DERIVED_WEIGHT,
    sessions: one.sessions.map((other) => (other === session ? { ...other, prompts } : other)),
    expected: { action: "resume", sessionId: session?.sessionId },
  }));
}

interface Example {
  weight: number;
  rows: Record<string, number>[];
  /** Of each session: the log odds of the relevance with which it would be resumed. */
  barriers: number[];
  /** The right session. -1: fresh. */
  right: number;
}

function toExample(one: SelectionCase & { weight?: number }, vocabulary: Vocabulary): Example {
  const { task, sessions, currentBranch, commitSubjects, now, expected, weight = 1 } = one;
  const compared = compareSessions(task, sessions, { currentBranch, commitSubjects, now }, vocabulary);
  const possible = sessions.flatMap((session, at) => {
    const needed = relevanceToResume(session, { currentBranch, now, config });
    return needed === undefined ? [] : [{ session, row: compared[at]?.features ?? {}, barrier: logOdds(needed) }];
  });
  return {
    weight,
    rows: possible.map(({ row }) => row),
    barriers: possible.map(({ barrier }) => barrier),
    right: possible.findIndex(({ session }) => session.sessionId === expected.sessionId),
  };
}

function readVocabulary(cases: readonly PersonaCase[], excluded: number): Vocabulary {
  const others = cases.filter(({ persona }) => persona !== excluded);
  const stems = new Map<string, Set<number>>();
  for (const { persona, one } of others) {
    const texts = [one.task, ...one.sessions.flatMap(({ prompts }) => prompts)];
    for (const stem of new Set(texts.flatMap((text) => [...stemsOf(text).keys()]))) addTo(stems, stem, persona);
  }
  const collections = new Set(others.map(({ persona }) => persona)).size;
  const frequencies = new Map([...stems].map(([stem, personas]) => [stem, personas.size]));
  return { collections, frequencies, wording: readWording(others) };
}

/** By word: the log odds that a task with it continues earlier work, against those of all tasks. */
function readWording(cases: readonly PersonaCase[]): Map<string, number> {
  const users = new Map<string, Set<number>>();
  const counts = new Map<string, { resume: number; fresh: number }>();
  const all = { resume: 0, fresh: 0 };
  for (const { persona, one } of cases) {
    const action = one.expected.action === "fresh" ? "fresh" : "resume";
    all[action]++;
    for (const word of new Set(wordsOf(one.task))) {
      addTo(users, word, persona);
      const count = counts.get(word) ?? { resume: 0, fresh: 0 };
      count[action]++;
      counts.set(word, count);
    }
  }
  const { minPersonas, prior } = WORDING;
  const share = (count: number, total: number): number => (count + prior) / (total + 2 * prior);
  const common = [...counts].filter(([word]) => (users.get(word)?.size ?? 0) >= minPersonas);
  return new Map(
    common.map(([word, { resume, fresh }]) => [word, Math.log(share(resume, all.resume) / share(fresh, all.fresh))]),
  );
}

function addTo(sets: Map<string, Set<number>>, key: string, value: number): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}

/** Gradient descent with momentum and a penalty on large weights. */
function fit(
  examples: readonly Example[],
  names: readonly string[] = Object.keys(examples.find(({ rows }) => rows.length > 0)?.rows[0] ?? {}),
): Record<string, number> {
  const data = examples.map(({ rows, ...rest }) => ({
    ...rest,
    rows: rows.map((row) => names.map((name) => row[name] ?? 0)),
  }));
  const total = data.reduce((sum, { weight }) => sum + weight, 0);
  const weights = names.map(() => 0);
  const steps = names.map(() => 0);
  for (let round = 0; round < TRAINING.rounds; round++) {
    const gradient = names.map(() => 0);
    for (const { rows, barriers, right, weight } of data) {
      const odds = rows.map((row, at) => Math.exp(Math.min(30, dot(row, weights) - (barriers[at] ?? 0))));
      const sum = odds.reduce((total, value) => total + value, 1);
      for (const [at, row] of rows.entries()) {
        const error = (weight * ((at === right ? 1 : 0) - (odds[at] ?? 0) / sum)) / total;
        for (let name = 0; name < names.length; name++)
          gradient[name] = (gradient[name] ?? 0) + error * (row[name] ?? 0);
      }
    }
    for (const [at, slope] of gradient.entries()) {
      const penalty = names[at] === "bias" ? 0 : TRAINING.penalty * (weights[at] ?? 0);
      steps[at] = TRAINING.momentum * (steps[at] ?? 0) + slope - penalty;
      const next = (weights[at] ?? 0) + TRAINING.rate * (steps[at] ?? 0);
      weights[at] = ANY_SIGN.has(names[at] ?? "") ? next : Math.max(0, next);
    }
  }
  return Object.fromEntries(names.map((name, at) => [name, rounded(weights[at] ?? 0)]));
}

function dot(row: readonly number[], weights: readonly number[]): number {
  return row.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), 0);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

async function report(what: string, cases: readonly SelectionCase[], scorer: RelevanceScorer): Promise<void> {
  const { chance, alwaysFresh, keywords, offline, rightRelevance } = await evaluateCases(cases, { offline: scorer });
  console.log(`${what}: ${cases.length} cases; chance ${chance.toFixed(3)}, always fresh ${alwaysFresh.toFixed(3)}`);
  for (const [kind, some = []] of Object.entries(Object.groupBy(cases, (one) => one.kind))) {
    const guessed = some.reduce((sum, { sessions }) => sum + 1 / (sessions.length + 1), 0);
    const fresh = some.filter(({ expected }) => expected.action === "fresh").length;
    console.log(`  ${kind}: chance ${guessed.toFixed(1)}, always fresh ${fresh} of ${some.length}`);
  }
  show("word overlap", keywords);
  show("offline", offline);
  showConfidence(offline);
  if (rightRelevance !== undefined) show("as labelled", rightRelevance);
}

function show(name: string, { accuracy, right, cases, byKind }: MethodResult): void {
  const [low, high] = interval(right, cases);
  console.log(`${name}: ${accuracy.toFixed(3)} (${low.toFixed(2)} to ${high.toFixed(2)})`);
  console.log(
    `  ${Object.entries(byKind)
      .map(([kind, one]) => `${kind} ${one.right}/${one.cases}`)
      .join(", ")}`,
  );
}

/** Whether a surer answer is right more often: overall, and in four parts, the surest first. */
function showConfidence({ decisions }: MethodResult): void {
  const rows = decisions.map(({ confidence = 1, verdict }) => ({ confidence, right: Number(verdict === "right") }));
  const surest = rows.toSorted((a, b) => b.confidence - a.confidence);
  const part = (from: number, to: number): string => {
    const some = surest.slice(Math.round(from * rows.length), Math.round(to * rows.length));
    return `${mean(some.map((row) => row.right))} of ${mean(some.map((row) => row.confidence))} expected`;
  };
  const quarters = [0, 0.25, 0.5, 0.75].map((from) => part(from, from + 0.25));
  console.log(`  right: ${part(0, 1)}; surest half ${part(0, 0.5)}; quarters ${quarters.join(", ")}`);
  const sure = rows.filter((row) => row.confidence >= 0.9);
  console.log(`  0.9 and more: ${sure.length} cases, ${mean(sure.map((row) => row.right))} right`);
}

function mean(values: readonly number[]): string {
  return (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(2);
}

/** Wilson's 95 % interval of a share. */
function interval(right: number, cases: number): [number, number] {
  const z = 1.96;
  const share = right / cases;
  const centre = share + (z * z) / (2 * cases);
  const spread = z * Math.sqrt((share * (1 - share)) / cases + (z * z) / (4 * cases * cases));
  const scale = 1 + (z * z) / cases;
  return [(centre - spread) / scale, (centre + spread) / scale];
}

async function writeModel({ weights, vocabulary }: RelevanceModel): Promise<void> {
  const { collections, frequencies, wording } = vocabulary;
  const file: RelevanceWeightsFile = {
    weights,
    collections,
    frequencies: sorted(frequencies),
    wording: sorted(new Map([...wording].map(([word, value]) => [word, rounded(value)]))),
  };
  await writeFile(TARGET, `${JSON.stringify(file, undefined, 2)}\n`);
}

function sorted(values: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}
