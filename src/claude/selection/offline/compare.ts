/** One task against one session: what they share, as features, and in words. */
import { featuresOf, type Sight } from "./features.ts";
import { startsAnew } from "./follow-up.ts";
import { type Initials, writtenOut } from "./initials.ts";
import { wordWeight } from "./lexicon/common-words.ts";
import { hasManyUses } from "./lexicon/many-uses.ts";
import { indexUnits, type Meeting, type UnitIndex } from "./likeness.ts";
import type { SessionReading } from "./session-reading.ts";
import { specificLikeness } from "./specific.ts";
import { readText } from "./text-reading.ts";
import { type AreaWeights, areaWeights, type PlacedUnit, placeUnits } from "./units.ts";
import { isEverydayPart, type Words } from "./words.ts";

interface TaskReading {
  taken: Words;
  units: readonly PlacedUnit[];
  areas: AreaWeights;
  index: UnitIndex;
  pairs: ReadonlySet<string>;
  initials: Initials;
  /** It says itself that it is something else. */
  isNew: boolean;
}

export interface Comparison {
  /** In the order of FEATURE_NAMES. */
  features: number[];
  /** They share what only related work shares. */
  isSpecific: boolean;
  /** Stems of words that both use. */
  shared: ReadonlySet<string>;
  /** One of them is distinctive. */
  sharesWord: boolean;
  reasoning: string;
}

export const NOTHING_IN_COMMON = "nothing in common";

export function readTask(task: string): TaskReading {
  const { taken, units: written, pairs, initials } = readText(task);
  const areas = areaWeights(written);
  const units = placeUnits(written, areas);
  return { taken, units, areas, index: indexUnits(units, () => 1), pairs, initials, isNew: startsAnew(task) };
}

const SPECIFIC = 0.7;

/** `all`: the sessions it stands among. */
export function compareTask(task: TaskReading, session: SessionReading, all: readonly SessionReading[]): Comparison {
  const specific = specificLikeness(task.taken, session);
  const meetings = shareOut(task.units.map((unit) => session.index.bestMatch(unit)));
  const isElsewhere = specific.likeness === 0;
  const sight: Sight = {
    meetings: meetings.map((meeting) => ({ meeting, weight: meeting.unit.weight * rarity(meeting.unit.key, all) })),
    backward: coverBack(task.index, session),
    sharedPairs: [...task.pairs].filter((pair) => session.pairs.has(pair)).length,
    writtenOut: writtenOut(task.initials, session.initials),
    areaAgreement: agreement(task.areas, session.areas),
    restAgreement: restAgreement(task, session, meetings),
    specific,
    otherFile: isElsewhere && task.taken.paths.length > 0 && session.files.length > 0,
    otherName: isElsewhere && task.taken.identifiers.size > 0 && session.identifiers.size > 0,
    isNew: task.isNew,
    codes: task.taken.codes.size,
  };
  const isSpecific = specific.likeness >= SPECIFIC;
  const shared = sharedWords(task, session);
  return {
    features: featuresOf(sight),
    isSpecific,
    shared,
    sharesWord: [...shared].some((word) => isDistinctive(word, task, session, all)),
    reasoning: isSpecific ? specific.reasoning : explain(meetings),
  };
}

/** For a word that is met by what has met another one already. */
const SHARED = 0.45;

/** One word of the session cannot stand for several of the task: the best of them has it. */
function shareOut(meetings: readonly Meeting[]): Meeting[] {
  const taken = new Map<string, Meeting>();
  for (const meeting of meetings) {
    if (meeting.other === undefined) continue;
    const rival = taken.get(meeting.other.key);
    if (rival === undefined || rival.likeness * rival.unit.weight < meeting.likeness * meeting.unit.weight)
      taken.set(meeting.other.key, meeting);
  }
  return meetings.map((meeting) =>
    meeting.other === undefined || taken.get(meeting.other.key) === meeting
      ? meeting
      : { ...meeting, likeness: meeting.likeness * SHARED },
  );
}

/** A word that every session uses tells none of them apart. */
function rarity(key: string, all: readonly SessionReading[]): number {
  if (all.length < 3) return 1;
  const having = all.filter((reading) => reading.fieldWeight(key) > 0).length;
  return having < 2 ? 1 : 1 - 0.5 * ((having - 1) / (all.length - 1));
}

/** How much of what was asked in the session the task covers: of its best matching text. */
function coverBack(task: UnitIndex, session: SessionReading): { share: number; unmet: number } {
  const likeness = new Map(session.units.map((unit) => [unit.key, task.bestMatch(unit).likeness]));
  let best = { share: 0, unmet: 0 };
  for (const text of session.texts) {
    let sum = 0;
    let met = 0;
    for (const { key, weight } of text) {
      sum += weight;
      met += weight * (likeness.get(key) ?? 0);
    }
    const share = Math.min(1, met / Math.max(0.6, Math.min(sum, 1 + (sum - 1) * 0.57)));
    if (share > best.share) best = { share, unmet: sum - met };
  }
  return best;
}

/** Whether what is left agrees once the words that both use are taken out: those are what misleads. */
function restAgreement(task: TaskReading, session: SessionReading, meetings: readonly Meeting[]): number {
  const shared = meetings.flatMap(({ by, unit, other }) => (by === "same" || by === "part" ? [{ unit, other }] : []));
  if (shared.length === 0) return agreement(task.areas, session.areas);
  const mine = new Set(shared.map(({ unit }) => unit.key));
  const theirs = new Set(shared.flatMap(({ other }) => other?.key ?? []));
  return agreement(
    without(task.areas, areaWeights(task.units.filter((unit) => mine.has(unit.key)))),
    without(session.areas, areaWeights(session.units.filter((unit) => theirs.has(unit.key)))),
  );
}

function without(all: AreaWeights, some: AreaWeights): AreaWeights {
  return all.map((weight, area) => Math.max(0, weight - (some[area] ?? 0)));
}

/** The cosine of two texts' areas. */
function agreement(one: AreaWeights, two: AreaWeights): number {
  const product = dot(one, two);
  return product === 0 ? 0 : product / Math.sqrt(dot(one, one) * dot(two, two));
}

function dot(one: AreaWeights, two: AreaWeights): number {
  let sum = 0;
  for (let area = 0; area < one.length; area++) sum += (one[area] ?? 0) * (two[area] ?? 0);
  return sum;
}

function explain(meetings: readonly Meeting[]): string {
  const told = meetings
    .filter((meeting) => meeting.other !== undefined && meeting.unit.weight * meeting.likeness >= 0.05)
    .sort((one, two) => two.unit.weight * two.likeness - one.unit.weight * one.likeness)
    .slice(0, 4)
    .map(({ unit, other }) =>
      other === undefined || other.label === unit.label ? unit.label : `${unit.label} ~ ${other.label}`,
    );
  return told.length === 0 ? NOTHING_IN_COMMON : told.join(", ");
}

/** Of what people wrote in the session. */
function sharedWords(task: TaskReading, session: SessionReading): Set<string> {
  return new Set(task.units.flatMap(({ parts }) => parts).filter((part) => usesWord(session, part)));
}

/** A word that says something on its own, in few trades, and not in every session of the repo. */
function isDistinctive(
  word: string,
  task: TaskReading,
  session: SessionReading,
  all: readonly SessionReading[],
): boolean {
  if (word.length < 3 || hasManyUses(word)) return false;
  if (all.length >= 3 && all.every((one) => usesWord(one, word))) return false;
  return [task.units, ...session.texts].every((units) =>
    units.every(({ aspect, label, parts }) => {
      const written = label.split(" ")[parts.indexOf(word)];
      return written === undefined || (aspect === undefined && wordWeight(written) === 1 && !isEverydayPart(written));
    }),
  );
}

function usesWord({ texts }: SessionReading, word: string): boolean {
  return texts.some((units) => units.some(({ parts }) => parts.includes(word)));
}
