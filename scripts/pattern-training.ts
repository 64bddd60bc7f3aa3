/**
 * How the weights of sentence features are learned from labelled messages, and how well they do.
 *
 * Labels belong to messages and notes to sentences, so a message counts by its strongest sentence. Quality and the
 * threshold are measured on authors whose messages were left out of the training: messages of one author resemble
 * each other more than a stranger's.
 */
import { readFile } from "node:fs/promises";
import { featuresOf, placesOf } from "../src/handoff/patterns/features.ts";
import type { PatternType } from "../src/handoff/patterns/note.ts";
import { readSentences } from "../src/handoff/patterns/sentences.ts";

export interface Labelled {
  id: string;
  /** What it is about, or who wrote it. */
  topic: string;
  role: "user" | "assistant";
  text: string;
  labels: PatternType[];
}

export interface Example extends Labelled {
  /** Features by sentence. */
  sentences: readonly (readonly string[])[];
}

export interface Tally {
  right: number;
  extra: number;
  missed: number;
}

export interface Learned {
  weights: ReadonlyMap<string, number>;
  /** Of the message's strongest sentence. */
  scoreOf: (example: Example) => number;
}

/** Authors who wrote without knowing the features: for every type, or for the three main types alone. */
const OF_ALL_TYPES = ["c1", "c2", "c3", "blind-a"];
const OF_MAIN_TYPES = ["c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"];
export const STRANGERS: readonly string[] = [...OF_ALL_TYPES, ...OF_MAIN_TYPES];
/** Authors who labelled the main types only: their messages say nothing about the other types. */
const NARROW: ReadonlySet<string> = new Set([...OF_MAIN_TYPES, "settled-1", "settled-2", "settled-3"]);
/** Types with few labelled messages. */
const RARE: ReadonlySet<PatternType> = new Set(["insight", "scope_creep", "task_created"]);

const ROUNDS = 150;
const RATE = 0.25;
/** A feature of fewer messages says more about them than about English. */
const LEAST_MESSAGES = 3;
const PENALTY = 0.0008;
const STRANGER_COUNT = 3;
/** What a missed message costs, where a wrong note costs 1: most messages are not of a type. */
const MISS_COST = 2;
const BIAS = "bias";
const START_BIAS = -1.3;
const NOTHING = -99;
/** What a report's headings and check boxes say by themselves; few messages have them. */
const PRIORS: Readonly<Partial<Record<PatternType, Readonly<Record<string, number>>>>> = {
  blocker: {
    "@section blocked": 4,
    "@section planned": -2,
    "@section background": -2,
    "@checked": -3,
    "@unchecked": -1.5,
  },
  decision: { "@section decided": 4, "@section planned": -1.5, "@unchecked": -2 },
  accomplishment: {
    "@section done": 3.5,
    "@section planned": -4,
    "@section background": -2,
    "@checked": 4,
    "@unchecked": -4,
  },
  insight: { "@section learned": 3 },
  task_created: { "@unchecked": 1.5 },
};
const PRIOR_PENALTY = 0.03;

export async function readLabelled(file: string | URL): Promise<Labelled[]> {
  const lines = (await readFile(file, "utf8")).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Labelled);
}

export function toExamples(messages: readonly Labelled[]): Example[] {
  return messages.map((message) => {
    const sentences = readSentences(message.text);
    const places = placesOf(sentences, message.role);
    const features = sentences.flatMap((sentence, index) => {
      const place = places[index];
      return place === undefined || sentence.isForeign || sentence.isAgreement ? [] : [featuresOf(sentence, place)];
    });
    return { ...message, sentences: features };
  });
}

export function learn(given: readonly Example[], type: PatternType): Learned {
  const from = given.filter((example) => isJudged(example, type));
  const numbers = numberFeatures(from, type);
  const encode = (example: Example): Int32Array[] =>
    example.sentences.map((one) => Int32Array.from([0, ...one.flatMap((feature) => numbers.get(feature) ?? [])]));
  const encoded = from.map((example) => ({
    isSo: example.labels.includes(type),
    count: STRANGERS.includes(example.topic) ? STRANGER_COUNT : 1,
    sentences: encode(example),
  }));
  const known = PRIORS[type] ?? {};
  const priors = Float64Array.from(numbers.keys(), (name) => known[name] ?? 0);
  priors[0] = START_BIAS;
  const weights = Float64Array.from(priors);
  const squares = new Float64Array(numbers.size).fill(1e-3);
  const hold = Float64Array.from(numbers.keys(), (name) => (name in known ? PRIOR_PENALTY : PENALTY) * from.length);
  hold[0] = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = gradientOf(encoded, weights);
    for (let index = 0; index < weights.length; index += 1) {
      const weight = weights[index] ?? 0;
      const step = (gradient[index] ?? 0) - (hold[index] ?? 0) * (weight - (priors[index] ?? 0));
      squares[index] = (squares[index] ?? 0) + step * step;
      weights[index] = weight + (RATE * step) / Math.sqrt(squares[index] ?? 1);
    }
  }
  return {
    weights: new Map(Array.from(numbers, ([name, index]) => [name, weights[index] ?? 0])),
    scoreOf: (example) => Math.max(NOTHING, ...encode(example).map((one) => sum(one, weights))),
  };
}

function isJudged({ topic }: Labelled, type: PatternType): boolean {
  return !RARE.has(type) || !NARROW.has(topic);
}

function numberFeatures(from: readonly Example[], type: PatternType): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { sentences } of from)
    for (const feature of new Set(sentences.flat())) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const numbers = new Map<string, number>([[BIAS, 0]]);
  for (const name of Object.keys(PRIORS[type] ?? {})) numbers.set(name, numbers.size);
  for (const [feature, count] of counts)
    if (count >= LEAST_MESSAGES && !numbers.has(feature)) numbers.set(feature, numbers.size);
  return numbers;
}

interface Encoded {
  isSo: boolean;
  count: number;
  sentences: readonly Int32Array[];
}

function gradientOf(from: readonly Encoded[], weights: Float64Array): Float64Array {
  const gradient = new Float64Array(weights.length);
  for (const { sentences, isSo, count } of from) {
    const scores = sentences.map((features) => sum(features, weights));
    const strongest = scores.indexOf(Math.max(...scores));
    for (const [index, features] of sentences.entries()) {
      if (isSo && index !== strongest) continue;
      const sure = 1 / (1 + Math.exp(-(scores[index] ?? 0)));
      const error = count * (isSo ? MISS_COST * (1 - sure) : -sure);
      for (const feature of features) gradient[feature] = (gradient[feature] ?? 0) + error;
    }
  }
  return gradient;
}

function sum(features: Int32Array, weights: Float64Array): number {
  let score = 0;
  for (const feature of features) score += weights[feature] ?? 0;
  return score;
}

/** The scores of one author's messages by weights learned from all others. */
export function scoreStranger(examples: readonly Example[], author: string, type: PatternType) {
  const held = examples.filter((example) => example.topic === author && isJudged(example, type));
  const learned = learn(
    examples.filter(({ topic }) => topic !== author),
    type,
  );
  return { held, scores: held.map((one) => learned.scoreOf(one)) };
}

/** The score where precision and recall are about equal; precision counts a little more, for rare types much more. */
export function bestThreshold(examples: readonly Example[], scores: readonly number[], type: PatternType): number {
  const margin = RARE.has(type) ? 0.15 : 0.02;
  let best = { threshold: 0, worth: -1 };
  for (let threshold = -3; threshold <= 3; threshold += 0.05) {
    const result = tally(examples, scores, type, threshold);
    const worth = Math.min(precisionOf(result) - margin, recallOf(result)) + 0.1 * recallOf(result);
    if (worth > best.worth) best = { threshold, worth };
  }
  return best.threshold;
}

export function tally(
  examples: readonly Labelled[],
  scores: readonly number[],
  type: PatternType,
  threshold: number,
): Tally {
  const result: Tally = { right: 0, extra: 0, missed: 0 };
  for (const [index, example] of examples.entries()) {
    if (!isJudged(example, type)) continue;
    const isFound = (scores[index] ?? NOTHING) >= threshold;
    const isSo = example.labels.includes(type);
    if (isFound && isSo) result.right += 1;
    else if (isFound) result.extra += 1;
    else if (isSo) result.missed += 1;
  }
  return result;
}

export function precisionOf({ right, extra }: Tally): number {
  return right / Math.max(1, right + extra);
}

export function recallOf({ right, missed }: Tally): number {
  return right / Math.max(1, right + missed);
}

export function describeTally(type: PatternType, result: Tally): string {
  const labelled = result.right + result.missed;
  return `  ${type.padEnd(15)} precision ${precisionOf(result).toFixed(2)} recall ${recallOf(result).toFixed(2)} (${labelled} labelled)`;
}
