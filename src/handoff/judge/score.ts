/** The weights of signals (data/handoff-weights.json), and how sure they make the judge of a sentence. */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import type { Signals } from "./signals.ts";

export const SECTIONS = ["in-progress", "blocker", "decision", "accomplishment", "next-step"] as const;
export type Section = (typeof SECTIONS)[number];

/** Sections whose sentences are weighed; what is in progress follows from the structure of the conversation. */
export const WEIGHED = ["blocker", "decision", "accomplishment", "next-step"] as const satisfies readonly Section[];
export type Weighed = (typeof WEIGHED)[number];

export interface SectionWeights {
  /** How sure the judge must be, 0 to 1. */
  threshold: number;
  weights: Readonly<Record<string, number>>;
}

export type JudgeWeights = Readonly<Record<Weighed, SectionWeights>>;

/** 0 to 1. */
export function sureness(signals: Signals, { weights }: SectionWeights): number {
  let sum = 0;
  for (const [name, value] of signals) sum += value * (weights[name] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}

let shipped: JudgeWeights | undefined;

export function shippedWeights(): JudgeWeights {
  return (shipped ??= JSON.parse(readFileSync(dataFile("handoff-weights.json"), "utf8")) as JudgeWeights);
}
