/** How alike two units are, and how much of one text another one covers. */
import { wordWeight } from "./lexicon/common-words.ts";
import { lexicon } from "./lexicon.ts";
import type { PlacedUnit } from "./units.ts";

export interface Meeting {
  unit: PlacedUnit;
  /** Of the other text; missing when nothing meets it. */
  other?: PlacedUnit;
  /** 0 to 1. */
  likeness: number;
  /** The same word or words, some of the words, nearly the word, or another word for it. */
  by?: "same" | "part" | "spelling" | "topic" | undefined;
  /** Of a topic that both belong to: from 0 for a whole trade to 1 for a handful of words. */
  closeness?: number;
}

/** The units of a text, ready to be asked what meets a unit of another text. */
export interface UnitIndex {
  bestMatch(unit: PlacedUnit): Meeting;
}

const LIKENESS = {
  /** Two words of one small topic. */
  topic: 0.95,
  /** Two words of one trade. */
  trade: 0.55,
  /** A word and a term that contains it. */
  part: 0.78,
  /** Relatives and misspellings. */
  spelling: 0.8,
  /** The beginning of a word. */
  cutShort: 0.5,
  /** The same word where the two texts mean different things by it. */
  otherSense: 0.2,
  /** The same word, unknown to the lexicon: who knows what it means. */
  unknown: 0.63,
};

/** `fieldWeight` says how much a unit counts by where it was found. */
export function indexUnits(units: readonly PlacedUnit[], fieldWeight: (key: string) => number): UnitIndex {
  const byPart = new Map<string, PlacedUnit[]>();
  const byTopic = new Map<number, PlacedUnit[]>();
  const byStart = new Map<string, PlacedUnit[]>();
  for (const unit of units) {
    for (const part of unit.parts) addTo(byPart, part, unit);
    for (const topic of unit.topics.keys()) addTo(byTopic, topic, unit);
    if (unit.parts.length === 1) addTo(byStart, unit.key.slice(0, 3), unit);
  }
  return {
    bestMatch: (unit) => {
      let best: Meeting = { unit, likeness: 0 };
      const consider = (other: PlacedUnit, likeness: number, by: Meeting["by"], closeness = 0): void => {
        const weighed = likeness * fieldWeight(other.key);
        if (weighed > best.likeness) best = { unit, other, likeness: weighed, by, closeness };
      };
      for (const part of unit.parts)
        for (const other of byPart.get(part) ?? [])
          consider(other, sameWords(unit, other), unit.key === other.key ? "same" : "part");
      for (const topic of unit.topics.keys())
        for (const other of byTopic.get(topic) ?? []) {
          if (other.key === unit.key) continue;
          const { likeness, closeness } = sameTopic(unit, other);
          consider(other, likeness, "topic", closeness);
        }
      if (best.likeness < LIKENESS.spelling && unit.parts.length === 1) {
        for (const other of byStart.get(unit.key.slice(0, 3)) ?? [])
          if (isRelative(unit.key, other.key))
            consider(other, LIKENESS.spelling * senseAgreement(unit, other), "spelling");
          else if (isCutShort(unit, other) || isCutShort(other, unit)) consider(other, LIKENESS.cutShort, "spelling");
      }
      return best;
    },
  };
}

function sameWords(unit: PlacedUnit, other: PlacedUnit): number {
  if (unit.key === other.key) return senseAgreement(unit, other);
  const shared = weigh(unit.parts.filter((part) => other.parts.includes(part)));
  const share = (shared / weigh(unit.parts) + shared / weigh(other.parts)) / 2;
  return share * LIKENESS.part * senseAgreement(unit, other);
}

function weigh(parts: readonly string[]): number {
  return parts.reduce((sum, part) => sum + partWeight(part), 0);
}

function partWeight(part: string): number {
  return Math.max(0.05, wordWeight(part));
}

/** 1 when both texts use the word in the same area, down to `otherSense`; unknown words have one sense. */
function senseAgreement(unit: PlacedUnit, other: PlacedUnit): number {
  if (unit.areas.size === 0 || other.areas.size === 0) return LIKENESS.unknown;
  let shared = 0;
  for (const [area, share] of unit.areas) shared += Math.min(share, other.areas.get(area) ?? 0);
  return LIKENESS.otherSense + (1 - LIKENESS.otherSense) * shared;
}

function sameTopic(unit: PlacedUnit, other: PlacedUnit): { likeness: number; closeness: number } {
  let best = { likeness: 0, closeness: 0 };
  for (const [topic, value] of unit.topics) {
    const theirs = other.topics.get(topic);
    if (theirs === undefined) continue;
    const closeness = lexicon().closeness(topic);
    const likeness = Math.sqrt(value * theirs) * (LIKENESS.trade + (LIKENESS.topic - LIKENESS.trade) * closeness);
    if (likeness > best.likeness) best = { likeness, closeness };
  }
  return best;
}

/** configur and configurat, databas and databse. */
function isRelative(one: string, two: string): boolean {
  const [short, long] = one.length <= two.length ? [one, two] : [two, one];
  if (short.length < 5) return false;
  if (long.startsWith(short)) return long.length - short.length <= 4;
  return short.length >= 6 && long.length - short.length <= 1 && differsByOne(short, long);
}

/** Parts of names in code are cut short: pat, adm, cust. What the lexicon knows is a word of its own. */
function isCutShort({ key, senses }: PlacedUnit, { key: other }: PlacedUnit): boolean {
  return (
    senses.length === 0 &&
    key.length >= 3 &&
    key.length <= 5 &&
    other.length >= key.length + 3 &&
    other.startsWith(key) &&
    wordWeight(key) === 1
  );
}

function differsByOne(short: string, long: string): boolean {
  let at = 0;
  while (at < short.length && short[at] === long[at]) at++;
  const swapped =
    short[at] === long[at + 1] && short[at + 1] === long[at] && short.slice(at + 2) === long.slice(at + 2);
  return swapped || short.slice(at + (short.length === long.length ? 1 : 0)) === long.slice(at + 1);
}

function addTo<Key>(map: Map<Key, PlacedUnit[]>, key: Key, unit: PlacedUnit): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [unit]);
  else known.push(unit);
}
