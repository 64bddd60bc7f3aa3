/**
 * How the weights of the pattern features are learned from labelled messages, and how well that does.
 *
 * Labels belong to messages, notes to sentences: a message counts by its strongest sentence. The weight of
 * a cue is held near its prior, so one that no message uses keeps what it was given; the weights of words
 * and shapes are held near nothing. How well it does is judged on an author none of whose messages it has
 * seen, since messages of one author resemble each other more than a stranger's; where the line between yes
 * and no lies is found the same way.
 */
import { readFile } from "node:fs/promises";
import { placesOf, PRIORS, readAround, readFirst, readSecond } from "../src/handoff/patterns/features.ts";
import { isRemark } from "../src/handoff/patterns/remark.ts";
import { PATTERN_TYPES, type PatternType } from "../src/handoff/patterns/note.ts";
import { createNames } from "../src/handoff/patterns/score.ts";
import { readSentences } from "../src/handoff/patterns/sentences.ts";

export interface Labelled {
  id: string;
  /** What it is about, or who wrote it. */
  topic: string;
  role: "user" | "assistant";
  text: string;
  labels: PatternType[];
}

interface SentenceFeatures {
  /** What the first look finds. */
  first: readonly string[];
  /** What the second adds to it. */
  second: readonly string[];
}

export interface Example extends Labelled {
  sentences: readonly SentenceFeatures[];
}

export interface Tally {
  right: number;
  extra: number;
  missed: number;
}

/** What is learned besides the types: whether a sentence is worth a second look, from the first alone. */
export type Target = PatternType | "doubt";

export interface Learned {
  weightOf: (feature: string) => number;
  features: readonly string[];
  /** Of the message's strongest sentence. */
  scoreOf: (example: Example) => number;
  sentenceScores: (example: Example) => number[];
}

/** Those who wrote without knowing the cues, most like a stranger: for every type, or for the main ones alone. */
const OF_ALL_TYPES = ["c1", "c2", "c3", "blind-a"];
const OF_MAIN_TYPES = ["c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"];
export const STRANGERS: readonly string[] = [...OF_ALL_TYPES, ...OF_MAIN_TYPES];
/** Those who looked for blockers, decisions and accomplishments only: what else they wrote has no label. */
const NARROW: ReadonlySet<string> = new Set([...OF_MAIN_TYPES, "settled-1", "settled-2", "settled-3"]);
const STRANGERS_COUNT = 3;

const ROUNDS = 160;
const RATE = 0.3;
/** A feature in fewer messages than this says more about them than about English. */
const LEAST = { word: 3, shape: 4, other: 2 };
/** How strongly a weight is held to its prior. */
const PENALTY = { learned: 0.0008, cue: 0.003, place: 0.002, section: 0.03 };
/** What missing a message costs, where a note too many costs 1: most messages are not of a type. */
const MISS_COST = 2;
const NOTHING = -99;

export async function readLabelled(file: string | URL): Promise<Labelled[]> {
  return (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Labelled);
}

export function toExamples(messages: readonly Labelled[]): Example[] {
  return messages.map((message) => {
    const sentences = readSentences(message.text);
    const places = placesOf(sentences, message.role);
    const read = sentences.flatMap((sentence, index) => {
      const place = places[index];
      if (place === undefined || isRemark(sentence)) return [];
      const first = createNames();
      const second = createNames();
      const words = readFirst(sentence, place, first);
      return [{ first, second, found: readSecond(sentence, words, message.role, second) }];
    });
    const found = read.map((one) => one.found);
    for (const [index, { second }] of read.entries()) readAround(found, index, second);
    return {
      ...message,
      sentences: read.map(({ first, second }) => ({ first: [...first.names], second: [...second.names] })),
    };
  });
}

export function learn(given: readonly Example[], target: Target, rounds = ROUNDS): Learned {
  const from = given.filter((example) => isJudged(example, target));
  const numbers = numberFeatures(from, target);
  const features = [...numbers.keys()];
  const priors = Float64Array.from(features, (name) => priorOf(name, target));
  const hold = Float64Array.from(features, (name) => penaltyOf(name) * from.length);
  const encoded = from.map((example) => ({
    isSo: isOf(example, target),
    count: STRANGERS.includes(example.topic) ? STRANGERS_COUNT : 1,
    sentences: encode(example, target, numbers),
  }));
  const weights = Float64Array.from(priors);
  const squares = new Float64Array(features.length).fill(1e-3);
  for (let round = 0; round < rounds; round += 1) {
    const gradient = gradientOf(encoded, weights);
    for (let index = 0; index < weights.length; index += 1) {
      const weight = weights[index] ?? 0;
      const step = (gradient[index] ?? 0) - (hold[index] ?? 0) * (weight - (priors[index] ?? 0));
      squares[index] = (squares[index] ?? 0) + step * step;
      weights[index] = weight + (RATE * step) / Math.sqrt(squares[index] ?? 1);
    }
  }
  const sentenceScores = (example: Example) => encode(example, target, numbers).map((one) => sum(one, weights));
  return {
    features,
    weightOf: (feature) => weights[numbers.get(feature) ?? -1] ?? priorOf(feature, target),
    sentenceScores,
    scoreOf: (example) => Math.max(NOTHING, ...sentenceScores(example)),
  };
}

function isJudged({ topic }: Labelled, target: Target): boolean {
  return target === "doubt" || !RARE.has(target) || !NARROW.has(topic);
}

function isOf({ labels }: Labelled, target: Target): boolean {
  return target === "doubt" ? labels.length > 0 : labels.includes(target);
}

function featuresOf({ first, second }: SentenceFeatures, target: Target): readonly string[] {
  return target === "doubt" ? first : [...first, ...second];
}

function numberFeatures(from: readonly Example[], target: Target): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { sentences } of from)
    for (const feature of new Set(sentences.flatMap((one) => featuresOf(one, target))))
      counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const numbers = new Map<string, number>([["bias", 0]]);
  for (const [feature, count] of counts) if (count >= leastOf(feature)) numbers.set(feature, numbers.size);
  return numbers;
}

function leastOf(feature: string): number {
  if (feature.startsWith("word ")) return LEAST.word;
  return isLearned(feature) ? LEAST.shape : LEAST.other;
}

function priorOf(name: string, target: Target): number {
  if (target === "doubt") return name === "bias" ? 1 : /^section-|checked$/.test(name) ? 2 : 0;
  return PRIORS[target].get(name) ?? 0;
}

function penaltyOf(name: string): number {
  if (isLearned(name)) return PENALTY.learned;
  if (/^section-|checked$/.test(name)) return PENALTY.section;
  return /[:@]/.test(name) ? PENALTY.cue : PENALTY.place;
}

/** Words and shapes: nobody gave them a weight. */
function isLearned(name: string): boolean {
  return /^(?:word|part|run|word\+part|part\+word) /.test(name);
}

function encode({ sentences }: Example, target: Target, numbers: ReadonlyMap<string, number>): Int32Array[] {
  return sentences.map((one) =>
    Int32Array.from([0, ...featuresOf(one, target).flatMap((feature) => numbers.get(feature) ?? [])]),
  );
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

/** The scores of one author's messages by weights that were learned from all others. */
export function scoreStranger(
  examples: readonly Example[],
  author: string,
  type: PatternType,
  rounds = ROUNDS,
): { held: Example[]; scores: number[] } {
  const held = examples.filter((example) => example.topic === author && isJudged(example, type));
  const learned = learn(
    examples.filter(({ topic }) => topic !== author),
    type,
    rounds,
  );
  return { held, scores: held.map((one) => learned.scoreOf(one)) };
}

/** So few messages are of these types that their line is uncertain: it is drawn higher. */
const RARE: ReadonlySet<PatternType> = new Set(["insight", "scope_creep", "task_created"]);

/**
 * The score from which a message counts: where precision and recall are about equal, a little more being
 * asked of precision: a note too many is read again and again.
 */
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

/**
 * Below which score a sentence gets no second look: nearly no sentence that a message's label may be due to
 * is lost.
 */
export function doubtThreshold(
  examples: readonly Example[],
  doubt: Learned,
  types: ReadonlyMap<PatternType, Learned>,
): number {
  const needed: number[] = [];
  for (const example of examples)
    for (const type of example.labels) {
      const scores = types.get(type)?.sentenceScores(example) ?? [];
      const strongest = scores.indexOf(Math.max(...scores));
      const score = doubt.sentenceScores(example)[strongest];
      if (score !== undefined) needed.push(score);
    }
  needed.sort((a, b) => a - b);
  return (needed[Math.floor(needed.length * LOST_SHARE)] ?? 0) - DOUBT_SLACK;
}

const LOST_SHARE = 0.01;
/** Learned weights are surer of what they have seen than they will be of others. */
const DOUBT_SLACK = 0;

export function tally(
  examples: readonly Labelled[],
  scores: readonly number[],
  type: PatternType,
  threshold: number,
): Tally {
  const result: Tally = { right: 0, extra: 0, missed: 0 };
  for (const [index, example] of examples.entries()) {
    if (!isJudged(example, type)) continue;
    const { labels } = example;
    const found = (scores[index] ?? NOTHING) >= threshold;
    const isSo = labels.includes(type);
    if (found && isSo) result.right += 1;
    else if (found) result.extra += 1;
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

/** The table detectPatterns reads: what hardly counts is left out, what no message uses has its prior. */
export function toWeights(
  types: ReadonlyMap<PatternType, Learned>,
  doubt: Learned,
  shiftOf: (target: Target) => number,
): Map<string, number[]> {
  const names = new Set([
    ...doubt.features,
    ...[...types.values()].flatMap(({ features }) => features),
    ...PATTERN_TYPES.flatMap((type) => [...PRIORS[type].keys()]),
  ]);
  const isFirst = new Set(doubt.features);
  const rows = new Map<string, number[]>();
  for (const name of [...names].sort()) {
    const least = isLearned(name) ? LEAST_WEIGHT : 0.02;
    const cell = (target: Target, learned: Learned | undefined) => {
      const weight = (learned?.weightOf(name) ?? 0) - (name === "bias" ? shiftOf(target) : 0);
      return Math.abs(weight) < least ? 0 : weight;
    };
    const row = PATTERN_TYPES.map((type) => cell(type, types.get(type)));
    row.push(isFirst.has(name) ? cell("doubt", doubt) : 0);
    if (row.some((weight) => weight !== 0)) rows.set(name, row);
  }
  return rows;
}

const LEAST_WEIGHT = 0.08;
