/**
 * How the judge's weights are learned from labelled conversations: a logistic regression for each section, held near
 * the priors in handoff-priors.json, because the conversations are few.
 */
import { readFileSync } from "node:fs";
import { readConversation } from "../src/handoff/judge/conversation.ts";
import { type JudgeWeights, type SectionWeights, WEIGHED, type Weighed } from "../src/handoff/judge/score.ts";
import { signalsOf, situationOf } from "../src/handoff/judge/signals.ts";
import type { CarriedState } from "../src/handoff/state.ts";
import { type Conversation, isMatch, LABELS } from "./handoff-conversations.ts";

export interface Example {
  signals: ReadonlyMap<string, number>;
  isRight: boolean;
  count: number;
}

/** How strongly weights are held to their priors. */
const PENALTY: Readonly<Record<Weighed, number>> = {
  blocker: 15,
  decision: 3,
  accomplishment: 20,
  "next-step": 30,
};
const THRESHOLDS: Readonly<Record<Weighed, number>> = {
  blocker: 0.5,
  decision: 0.5,
  accomplishment: 0.4,
  "next-step": 0.45,
};
const BIAS_PENALTY = 0.5;
const FORBIDDEN_COUNT = 2;
/** Conversations of an earlier collection, whose sections are labelled differently. */
const EARLIER = /^earlier-/;
const EARLIER_COUNT = 0.7;
const EARLIER_SECTIONS: ReadonlySet<Weighed> = new Set(["blocker", "decision"]);
const ROUNDS = 400;
const RATE = 0.15;

export interface Digested {
  conversation: Conversation;
  carried: CarriedState;
}

export function examplesOf({ conversation, carried }: Digested, section: Weighed): Example[] {
  const isEarlier = EARLIER.test(conversation.id);
  if (isEarlier && !EARLIER_SECTIONS.has(section)) return [];
  const read = readConversation(carried.digests);
  const todos = carried.todos?.items ?? [];
  const situation = situationOf(read, {
    open: todos.filter(({ status }) => status !== "completed").length,
    all: todos.length,
  });
  const expected = conversation.expected[LABELS[section]] ?? [];
  return read.turns
    .flatMap(({ spoken }) => spoken)
    .map((spoken) => {
      const { text } = spoken.said;
      const isForbidden = conversation.forbidden.some((part) => text.toLowerCase().includes(part.toLowerCase()));
      return {
        signals: signalsOf(spoken, situation),
        isRight: expected.some((line) => isMatch(text, line)),
        count: (isForbidden ? FORBIDDEN_COUNT : 1) * (isEarlier ? EARLIER_COUNT : 1),
      };
    });
}

export function learnWeights(from: readonly Digested[]): JudgeWeights {
  const entries = WEIGHED.map((section): [Weighed, SectionWeights] => {
    const examples = from.flatMap((one) => examplesOf(one, section));
    return [section, { threshold: THRESHOLDS[section], weights: learn(examples, section) }];
  });
  return Object.fromEntries(entries) as unknown as JudgeWeights;
}

type Priors = Record<Weighed, Record<string, number>>;

let priors: Priors | undefined;

function priorOf(section: Weighed, signal: string): number {
  priors ??= JSON.parse(readFileSync(new URL("handoff-priors.json", import.meta.url), "utf8")) as Priors;
  return priors[section][signal] ?? priors[section][signal.slice(2)] ?? 0;
}

function learn(examples: readonly Example[], section: Weighed): Record<string, number> {
  const names = Array.from(new Set(examples.flatMap(({ signals }) => [...signals.keys()]))).sort();
  const numbers = new Map(names.map((name, index) => [name, index]));
  const prior = Float64Array.from(names, (name) => priorOf(section, name));
  const hold = Float64Array.from(names, (name) => (name.endsWith(".bias") ? BIAS_PENALTY : PENALTY[section]));
  const encoded = examples.map(({ signals, isRight, count }) => ({
    pairs: Array.from(signals, ([name, value]) => [numbers.get(name) ?? 0, value] as const),
    isRight,
    count,
  }));
  const weights = Float64Array.from(prior);
  const squares = new Float64Array(names.length).fill(1e-2);
  for (let round = 0; round < ROUNDS; round += 1) {
    const gradient = new Float64Array(names.length);
    for (const { pairs, isRight, count } of encoded) {
      let sum = 0;
      for (const [index, value] of pairs) sum += value * (weights[index] ?? 0);
      const error = count * (Number(isRight) - 1 / (1 + Math.exp(-sum)));
      for (const [index, value] of pairs) gradient[index] = (gradient[index] ?? 0) + error * value;
    }
    for (let index = 0; index < names.length; index += 1) {
      const step = (gradient[index] ?? 0) - (hold[index] ?? 0) * ((weights[index] ?? 0) - (prior[index] ?? 0));
      squares[index] = (squares[index] ?? 0) + step * step;
      weights[index] = (weights[index] ?? 0) + (RATE * step) / Math.sqrt(squares[index] ?? 1);
    }
  }
  const rounded = names.map((name, index) => [name, Math.round((weights[index] ?? 0) * 1000) / 1000] as const);
  return Object.fromEntries(rounded.filter(([, weight]) => weight !== 0));
}
