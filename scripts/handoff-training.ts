/**
 * How the judge's weights are learned from labelled conversations: a logistic regression for each section, held near
 * the priors in handoff-priors.json, because the conversations are few.
 */
import { readFileSync } from "node:fs";
import { readConversation } from "../src/handoff/judge/conversation.ts";
import { openSignals, openWorkSignals } from "../src/handoff/judge/open-work.ts";
import {
  type JudgeWeights,
  type SectionWeights,
  sentenceSureness,
  type Speaker,
  type Weighed,
} from "../src/handoff/judge/score.ts";
import { type Signals, signalsOf } from "../src/handoff/judge/signals.ts";
import { type Situation, situationOf } from "../src/handoff/judge/situation.ts";
import { mayBe, type Weighed as WeighedSentence } from "../src/handoff/judge/weigh.ts";
import { type Section, SECTIONS, WORDED } from "../src/handoff/patterns/note.ts";
import type { CarriedState, Said } from "../src/handoff/state.ts";
import { type Conversation, isMatch, LABELS, type SentenceFeatures } from "./handoff-conversations.ts";
import { readRows } from "./pattern-weights.ts";

/** How strongly a weight is held to its prior: the one of both speakers, and what one of them adds to it. */
const PENALTY: Readonly<Record<Weighed, { both: number; own: number; priors: boolean }>> = {
  "in-progress": { both: 24, own: 48, priors: false },
  blocker: { both: 15, own: 30, priors: true },
  decision: { both: 15, own: 30, priors: false },
  accomplishment: { both: 15, own: 30, priors: true },
  "next-step": { both: 15, own: 30, priors: true },
  open: { both: 2, own: 2, priors: false },
};
/** In log-odds: `train-handoff.ts --sweep` shows what others would do. */
export const THRESHOLDS: Readonly<Record<Weighed, number>> = {
  "in-progress": -1.9,
  blocker: -0.15,
  decision: 0.05,
  accomplishment: -0.2,
  "next-step": -0.3,
  open: 1,
};
const BIAS_PENALTY = 0.2;
const WORD_PENALTY = 40;
/** A sentence that shares words with the expected line is a better example than one that only has its key. */
const LEAST_COUNT = 0.3;
const FORBIDDEN_COUNT = 3;
/** Conversations of an earlier collection, whose sections are labelled differently. */
const EARLIER = /^earlier-/;
const EARLIER_COUNT = 0.7;
const EARLIER_SECTIONS: ReadonlySet<Weighed> = new Set(["blocker", "decision"]);
const ROUNDS = 250;
const RATE = 0.25;

export interface Digested {
  conversation: Conversation;
  carried: CarriedState;
  features: SentenceFeatures;
}

interface Example {
  signals: Signals;
  /** Features of its words. */
  words: readonly string[];
  speaker: Speaker;
  isRight: boolean;
  count: number;
}

/** A conversation with the signals of its sentences, read once. */
export interface Prepared extends Digested {
  situation: Situation;
  sentences: { spoken: WeighedSentence["spoken"]; signals: Signals; isForbidden: boolean }[];
}

export function prepare({ conversation, carried, features }: Digested): Prepared {
  const read = readConversation(carried.digests);
  const todos = carried.todos?.items ?? [];
  const open = todos.filter(({ status }) => status !== "completed").length;
  const situation = situationOf(read, { open, all: todos.length });
  const sentences = read.turns
    .flatMap(({ spoken }) => spoken)
    .map((spoken) => ({
      spoken,
      signals: signalsOf(spoken, situation),
      isForbidden: conversation.forbidden.some((part) => spoken.said.text.toLowerCase().includes(part.toLowerCase())),
    }));
  return { conversation, carried, features, situation, sentences };
}

function examplesOf({ conversation, sentences, situation, features }: Prepared, section: Section): Example[] {
  const isEarlier = EARLIER.test(conversation.id);
  if (isEarlier && !EARLIER_SECTIONS.has(section)) return [];
  const expected = conversation.expected[LABELS[section]] ?? [];
  // Where nothing is expected, what the conversation is about says nothing.
  if (section === "in-progress" && expected.length === 0) return [];
  const likeness = expected.map((line) => {
    const shares = sentences.map(({ spoken }) =>
      isMatch(spoken.said.text, line) ? Math.max(0.01, sharedWords(spoken.said.text, line.text)) : 0,
    );
    const most = Math.max(0.01, ...shares);
    return shares.map((share) => share / most);
  });
  return sentences.flatMap(({ signals, isForbidden, spoken }, index) => {
    if (!mayBe(spoken, section, situation.conversation)) return [];
    const like = Math.max(0, ...likeness.map((shares) => shares[index] ?? 0));
    const count = isForbidden ? FORBIDDEN_COUNT : like > 0 ? LEAST_COUNT + (1 - LEAST_COUNT) * like : 1;
    const speaker = spoken.turn.digest.role;
    const words = features.get(saidOf(spoken)) ?? [];
    return {
      signals,
      words,
      speaker,
      isRight: like > 0 && !isForbidden,
      count: count * (isEarlier ? EARLIER_COUNT : 1),
    };
  });
}

function sharedWords(text: string, expected: string): number {
  const said = new Set(wordsOf(text));
  const words = wordsOf(expected);
  return words.filter((word) => said.has(word)).length / Math.max(1, words.length);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
}

interface LearnedSection {
  weights: SectionWeights;
  words: ReadonlyMap<string, number>;
}

/** The judge's weights, and what each feature of words adds to the sections. */
export interface Learned {
  weights: JudgeWeights;
  words: ReadonlyMap<string, readonly number[]>;
}

export function learnWeights(from: readonly Prepared[]): Learned {
  const worded = learnWorded(from);
  // Whether work is open depends on the other sections: on how sure they are of sentences that they were not taught.
  const halves = [0, 1].map((rest) => from.filter((_one, index) => index % 2 === rest));
  const unseen = halves.flatMap((half, index) => {
    const taught = learnWorded(halves[1 - index] ?? []);
    return half.map((one) => ({ one, weighed: weighAll(one, taught) }));
  });
  const inProgress = unseen.flatMap(({ one, weighed }) => {
    const near = one.sentences.map((sentence) => ({
      ...sentence,
      signals: openWorkSignals(sentence.spoken, sentence.signals, weighed),
    }));
    return examplesOf({ ...one, sentences: near, features: new Map() }, "in-progress");
  });
  const open = unseen.flatMap(({ one, weighed }) => openExample(one, weighed));
  const weights = {
    ...worded.weights,
    "in-progress": learn(inProgress, "in-progress").weights,
    open: learn(open, "open").weights,
  };
  return { ...worded, weights };
}

const NOTHING: SectionWeights = { threshold: 0, user: {}, assistant: {} };

function learnWorded(from: readonly Prepared[]): Learned {
  const names: readonly Weighed[] = [...SECTIONS, "open"];
  const start = Object.fromEntries(names.map((name) => [name, NOTHING])) as JudgeWeights;
  return WORDED.reduce<Learned>(
    (learned, section) => {
      const examples = from.flatMap((one) => examplesOf(one, section));
      return withSection(learned, section, learn(examples, section));
    },
    { weights: start, words: new Map() },
  );
}

function withSection({ weights, words }: Learned, section: Section, found: LearnedSection): Learned {
  const all = new Map(words);
  for (const [feature, weight] of found.words) {
    const row = [...(all.get(feature) ?? WORDED.map(() => 0))];
    row[WORDED.findIndex((one) => one === section)] = weight;
    all.set(feature, row);
  }
  return { weights: { ...weights, [section]: found.weights }, words: all };
}

/** Gives each sentence the scores of its words, as a capture with these weights would. */
export function setWords({ sentences, features }: Prepared, words: Learned["words"]): void {
  for (const { spoken } of sentences) {
    const sums = WORDED.map(() => 0);
    for (const feature of features.get(saidOf(spoken)) ?? []) {
      for (const [index, weight] of (words.get(feature) ?? []).entries()) sums[index] = (sums[index] ?? 0) + weight;
    }
    spoken.said.words = sums;
    saidOf(spoken).words = sums;
  }
}

/** As the digest has it: the judge marks more sentences as questions. */
function saidOf({ turn, said }: WeighedSentence["spoken"]): Said {
  return turn.digest.said.find(({ at }) => at === said.at) ?? said;
}

function weighAll(one: Prepared, { weights, words }: Learned): WeighedSentence[] {
  setWords(one, words);
  return one.sentences.map(({ spoken, signals }) => ({
    spoken,
    signals,
    sure: Object.fromEntries(
      SECTIONS.map((section) => [section, sentenceSureness(spoken, signals, section, weights)]),
    ) as Record<Section, number>,
  }));
}

/** Where a line is optional, either is right. */
function openExample({ conversation, situation }: Prepared, weighed: readonly WeighedSentence[]): Example[] {
  const expected = conversation.expected.inProgress;
  if (expected === undefined || EARLIER.test(conversation.id)) return [];
  if (expected.length > 0 && expected.every(({ optional }) => optional === true)) return [];
  return [
    { signals: openSignals(situation, weighed), words: [], speaker: "user", isRight: expected.length > 0, count: 1 },
  ];
}

type Priors = Partial<Record<Weighed, Record<string, number>>>;

let priors: Priors | undefined;

function priorOf(section: Weighed, signal: string): number {
  if (!PENALTY[section].priors) return 0;
  priors ??= JSON.parse(readFileSync(new URL("handoff-priors.json", import.meta.url), "utf8")) as Priors;
  const known = priors[section] ?? {};
  const both = /^[ua]\./.test(signal) ? (known[signal.slice(2)] ?? 0) : 0;
  return known[signal] === undefined ? 0 : known[signal] - both;
}

/** Each signal has a weight for both speakers, and each speaker adds one of its own (`u.` a person, `a.` the agent). */
function learn(examples: readonly Example[], section: Weighed): LearnedSection {
  const common = commonWords(examples);
  const namesOf = ({ signals, speaker, words }: Example): string[] => {
    const both = Array.from(signals.keys());
    const used = words.filter((word) => common.has(word)).map((word) => WORD + word);
    return [...both, ...both.map((name) => PREFIX[speaker] + name), ...used];
  };
  const names = Array.from(new Set(examples.flatMap(namesOf))).sort();
  const numbers = new Map(names.map((name, index) => [name, index]));
  const prior = Float64Array.from(names, (name) => priorOf(section, name));
  const { both, own } = PENALTY[section];
  const hold = Float64Array.from(names, (name) =>
    name.startsWith(WORD) ? WORD_PENALTY : name.endsWith("bias") ? BIAS_PENALTY : /^[ua]\./.test(name) ? own : both,
  );
  const encoded = examples.map((example) => ({
    places: Int32Array.from(namesOf(example), (name) => numbers.get(name) ?? 0),
    values: valuesOf(example, common),
    isRight: example.isRight,
    count: example.count,
  }));
  const weights = Float64Array.from(prior);
  const squares = new Float64Array(names.length).fill(1e-2);
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = new Float64Array(names.length);
    for (const { places, values, isRight, count } of encoded) {
      let sum = 0;
      for (let at = 0; at < places.length; at += 1) sum += (values[at] ?? 0) * (weights[places[at] ?? 0] ?? 0);
      const error = count * (Number(isRight) - 1 / (1 + Math.exp(-sum)));
      for (let at = 0; at < places.length; at += 1) {
        const place = places[at] ?? 0;
        gradient[place] = (gradient[place] ?? 0) + error * (values[at] ?? 0);
      }
    }
    for (let index = 0; index < names.length; index += 1) {
      const step = (gradient[index] ?? 0) - (hold[index] ?? 0) * ((weights[index] ?? 0) - (prior[index] ?? 0));
      squares[index] = (squares[index] ?? 0) + step * step;
      weights[index] = (weights[index] ?? 0) + (RATE * step) / Math.sqrt(squares[index] ?? 1);
    }
  }
  const weightOf = (name: string): number => weights[numbers.get(name) ?? -1] ?? 0;
  const shared = names.filter((name) => !/^[uaw]\./.test(name));
  const of = (speaker: Speaker): Record<string, number> => {
    const rounded = shared.map((name) => {
      const weight = weightOf(name) + weightOf(PREFIX[speaker] + name);
      return [name, Math.round(weight * 1000) / 1000] as const;
    });
    return Object.fromEntries(rounded.filter(([, weight]) => Math.abs(weight) >= LEAST_WEIGHT));
  };
  const words = names.filter((name) => name.startsWith(WORD)).map((name) => [name.slice(2), weightOf(name)] as const);
  return {
    weights: { threshold: THRESHOLDS[section], user: of("user"), assistant: of("assistant") },
    words: new Map(words.filter(([, weight]) => Math.abs(weight) >= LEAST_WORD)),
  };
}

function valuesOf({ signals, words }: Example, common: ReadonlySet<string>): Float64Array {
  const own = Array.from(signals.values());
  return Float64Array.from([...own, ...own, ...words.filter((word) => common.has(word)).map(() => 1)]);
}

/** Features that the scorer of single messages knows and that several sentences have. */
function commonWords(examples: readonly Example[]): ReadonlySet<string> {
  known ??= new Set(readRows().keys());
  const counts = new Map<string, number>();
  for (const word of examples.flatMap(({ words }) => words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Set(
    [...counts]
      .filter(([word, count]) => count >= LEAST_SENTENCES && !word.startsWith("@") && known?.has(word))
      .map(([word]) => word),
  );
}

let known: ReadonlySet<string> | undefined;
const LEAST_SENTENCES = 4;
const WORD = "w.";
const LEAST_WORD = 0.02;

const PREFIX = { user: "u.", assistant: "a." } as const satisfies Record<Speaker, string>;

const LEAST_WEIGHT = 0.01;
