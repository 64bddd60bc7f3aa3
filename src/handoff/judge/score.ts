/** The weights of signals (data/handoff-weights.json), and how much they speak for a sentence. */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import { type Section, SECTIONS, WORDED } from "../patterns/note.ts";
import type { Spoken } from "./conversation.ts";
import type { Signals } from "./signals.ts";

/** `open` weighs the end of a conversation: is something unfinished? */
export const WEIGHED = [...SECTIONS, "open"] as const;
export type Weighed = (typeof WEIGHED)[number];

export interface SectionWeights {
  /** In log-odds. */
  threshold: number;
  /** By signal, for sentences of a person and of the agent. */
  user: Readonly<Record<string, number>>;
  assistant: Readonly<Record<string, number>>;
}

export type JudgeWeights = Readonly<Record<Weighed, SectionWeights>>;

/** Log-odds above the section's threshold: a line needs 0 or more. */
export function sureness(signals: Signals, speaker: Speaker, section: SectionWeights): number {
  const weights = section[speaker];
  let sum = -section.threshold;
  for (const [name, value] of signals) sum += value * (weights[name] ?? 0);
  return sum;
}

/** The same for a sentence, with its words. */
export function sentenceSureness(spoken: Spoken, signals: Signals, section: Section, weights: JudgeWeights): number {
  const words = spoken.said.words?.[WORDED.findIndex((one) => one === section)] ?? 0;
  return words + sureness(signals, spoken.turn.digest.role, weights[section]);
}

export type Speaker = "user" | "assistant";

let shipped: JudgeWeights | undefined;

export function shippedWeights(): JudgeWeights {
  return (shipped ??= JSON.parse(readFileSync(dataFile("handoff-weights.json"), "utf8")) as JudgeWeights);
}
