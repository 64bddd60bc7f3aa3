/**
 * What a text speaks of: terms of the lexicon and other words, each with its weight and its possible
 * senses. Which sense is meant follows from the company: the areas that the rest of the text is in.
 */
import { isFiller, wordWeight } from "./lexicon/common-words.ts";
import { AREA_COUNT, lexicon, type Sense } from "./lexicon.ts";
import { stem } from "./stem.ts";

export interface Unit {
  key: string;
  /** The stems it consists of. */
  parts: string[];
  label: string;
  /** How much it says, from 0 to 1. */
  weight: number;
  senses: readonly Sense[];
  /** It speaks of how work is done, not of what is worked on. `craft` may be the subject where there is no other. */
  aspect?: "craft" | "manner";
}

/** A unit among others: how likely each of its topics and areas is here. */
export interface PlacedUnit extends Unit {
  topics: ReadonlyMap<number, number>;
  areas: ReadonlyMap<number, number>;
}

const WEIGHT = { craft: 0.55, manner: 0.3, craftAsSubject: 0.8, hint: 0.7, unknown: 0.8 };
/** "add tests" says nothing, "phone number" does. */
const TELLING_PAIR = 0.8;
const SHORT_WEIGHT = 0.15;

export function readUnits(written: readonly string[]): Unit[] {
  const words = written.filter((word) => !isFiller(word));
  const stems = words.map(stem);
  const units = new Map<string, Unit>();
  for (let from = 0; from < words.length;) {
    const term = lexicon().lookUp(stems, from);
    const length = term?.length ?? 1;
    const parts = stems.slice(from, from + length);
    const unit = knownUnit(words.slice(from, from + length), parts, term?.senses ?? NO_SENSES);
    if (unit.weight > 0) units.set(unit.key, unit);
    from += length;
  }
  return withSubject([...units.values()]);
}

/** A text that speaks of nothing but the code base has that as its subject. */
function withSubject(units: Unit[]): Unit[] {
  const subject = units.reduce(
    (sum, unit) => sum + (unit.aspect === undefined && unit.weight >= 0.5 ? unit.weight : 0),
    0,
  );
  return subject >= 0.5
    ? units
    : units.map((unit) => (unit.aspect === "craft" ? { ...unit, weight: WEIGHT.craftAsSubject } : unit));
}

/** Words that stand side by side, as in "users endpoint": together they mean one thing where each alone means many. */
export function readPairs(written: readonly string[]): Set<string> {
  const words = written.filter((word) => wordWeight(word) > 0 && !isFiller(word));
  const pairs = new Set<string>();
  for (const [at, word] of words.entries()) {
    const next = words[at + 1];
    if (next !== undefined && wordWeight(word) + wordWeight(next) >= TELLING_PAIR)
      pairs.add(`${stem(word)} ${stem(next)}`);
  }
  return pairs;
}

/** Gives units their senses in the company of all of them. */
export function placeUnits(units: readonly Unit[], company: AreaWeights): PlacedUnit[] {
  return units.map((unit) => placeUnit(unit, company));
}

/** Whether a unit can meet one of these at all: most of a session cannot, and is then left alone. */
export function meetable(units: readonly Unit[]): (unit: Unit) => boolean {
  const parts = new Set(units.flatMap((unit) => unit.parts));
  const starts = new Set(Array.from(parts, (part) => part.slice(0, 3)));
  const topics = new Set(units.flatMap((unit) => unit.senses.map((sense) => sense.topic)));
  return (unit) =>
    unit.parts.some((part) => parts.has(part) || starts.has(part.slice(0, 3))) ||
    unit.senses.some((sense) => topics.has(sense.topic));
}

const NO_SENSES: readonly Sense[] = [];
const knownUnits = new Map<string, Unit>();

function knownUnit(words: readonly string[], parts: string[], senses: readonly Sense[]): Unit {
  const label = words.join(" ");
  const unit = knownUnits.get(label) ?? toUnit(words, parts, senses);
  if (knownUnits.size > 20_000) knownUnits.clear();
  knownUnits.set(label, unit);
  return unit;
}

function toUnit(words: readonly string[], parts: string[], senses: readonly Sense[]): Unit {
  const aspect = aspectOf(senses);
  return {
    key: parts.join(" "),
    parts,
    label: words.join(" "),
    weight: unitWeight(words, senses, aspect),
    senses,
    ...(aspect === undefined ? {} : { aspect }),
  };
}

function aspectOf(senses: readonly Sense[]): Unit["aspect"] {
  const strong = senses.filter((sense) => sense.strength === 1);
  const kinds = new Set((strong.length > 0 ? strong : senses).map((sense) => lexicon().kindOf(sense.area)));
  if (kinds.size === 0 || kinds.has("subject")) return undefined;
  return kinds.has("craft") ? "craft" : "manner";
}

function unitWeight(words: readonly string[], senses: readonly Sense[], aspect: Unit["aspect"]): number {
  const word = words[0] ?? "";
  const own = words.length > 1 ? 1 : wordWeight(word);
  if (senses.length === 0) {
    if (word.length <= 2 || /^\d+$/.test(word)) return own * SHORT_WEIGHT;
    return own * WEIGHT.unknown;
  }
  if (aspect !== undefined) return Math.min(own, WEIGHT[aspect]);
  return senses.some((sense) => sense.strength === 1) ? own : Math.min(own, WEIGHT.hint);
}

/** Which areas a text is in, and how much: a weight for each area. */
export type AreaWeights = Float64Array;

export function areaWeights(units: readonly Unit[]): AreaWeights {
  const weights = new Float64Array(AREA_COUNT);
  for (const unit of units) {
    if (unit.aspect !== undefined) continue;
    for (const { area, share } of areaShares(unit.senses)) weights[area] = (weights[area] ?? 0) + share * unit.weight;
  }
  return weights;
}

interface AreaShare {
  area: number;
  share: number;
}

const knownShares = new WeakMap<readonly Sense[], readonly AreaShare[]>();

function areaShares(senses: readonly Sense[]): readonly AreaShare[] {
  const known = knownShares.get(senses) ?? shareOut(senses);
  knownShares.set(senses, known);
  return known;
}

function shareOut(senses: readonly Sense[]): AreaShare[] {
  const strongest = new Map<number, number>();
  for (const { area, strength } of senses) strongest.set(area, Math.max(strongest.get(area) ?? 0, strength));
  const sum = Math.max(
    1,
    [...strongest.values()].reduce((total, value) => total + value, 0),
  );
  return Array.from(strongest, ([area, strength]) => ({ area, share: strength / sum }));
}

/** Before the company is looked at, every sense is a little likely. */
const PRIOR = 0.12;
/** A word that merely hints at its topics may mean something else altogether. */
const SOMETHING_ELSE = 0.5;

const NONE: ReadonlyMap<number, number> = new Map();

function placeUnit(unit: Unit, company: AreaWeights): PlacedUnit {
  const [sense, another] = unit.senses;
  if (sense === undefined) return { ...unit, topics: NONE, areas: NONE };
  if (another === undefined && sense.strength === 1) {
    return { ...unit, topics: new Map([[sense.topic, 1]]), areas: new Map([[sense.area, 1]]) };
  }
  return placeAmbiguous(unit, company);
}

function placeAmbiguous(unit: Unit, company: AreaWeights): PlacedUnit {
  const own = new Map(unit.aspect === undefined ? areaShares(unit.senses).map(({ area, share }) => [area, share]) : []);
  const likely = unit.senses.map((sense) => {
    const others = Math.max(0, (company[sense.area] ?? 0) - (own.get(sense.area) ?? 0) * unit.weight);
    return { sense, likelihood: sense.strength * (PRIOR + others) };
  });
  const elsewhere = unit.senses.some((sense) => sense.strength === 1) ? 0 : SOMETHING_ELSE * PRIOR;
  const most = Math.max(elsewhere, ...likely.map((entry) => entry.likelihood));
  const topics = new Map<number, number>();
  const areas = new Map<number, number>();
  for (const { sense, likelihood } of likely) {
    topics.set(sense.topic, sense.strength * (likelihood / most));
    areas.set(sense.area, Math.max(areas.get(sense.area) ?? 0, likelihood));
  }
  const sum = [...areas.values()].reduce((total, value) => total + value, elsewhere);
  return { ...unit, topics, areas: new Map([...areas].map(([area, value]) => [area, value / sum])) };
}
