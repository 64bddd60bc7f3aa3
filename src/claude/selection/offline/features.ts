/**
 * What speaks for a session and against it, as numbers that mean something on their own. How much each
 * of them counts is in weights.ts, learned from labelled cases by scripts/train-relevance.ts.
 */
import { hasManyUses } from "./lexicon/many-uses.ts";
import type { Meeting } from "./likeness.ts";
import type { Specific } from "./specific.ts";

/** One task beside one session. */
export interface Sight {
  /** What meets each unit of the task, and how much that unit says. */
  meetings: readonly { meeting: Meeting; weight: number }[];
  /** The share of the session's best matching text that the task covers, and how much of it is left. */
  backward: { share: number; unmet: number };
  /** Words side by side in both. */
  sharedPairs: number;
  /** Short forms in one that the other writes out. */
  writtenOut: number;
  /** How much the fields of work agree, 0 to 1: of all, and of what is left without the words that both use. */
  areaAgreement: number;
  restAgreement: number;
  specific: Specific;
  /** The task names a file, or a name in the code, and the session knows others only. */
  otherFile: boolean;
  otherName: boolean;
  /** The task says itself that it is something else. */
  isNew: boolean;
  /** Issue numbers and error codes that the task names. */
  codes: number;
}

type Feature = (sight: Sight) => number;

const FEATURES = {
  /** Always 1: how much evidence is needed at all. */
  bias: () => 1,
  "task covered": (sight) => Math.min(1, met(sight) / neededOf(sight)),
  "session covered": (sight) => sight.backward.share,
  "task uncovered": (sight) => Math.min(4, unmet(sight)) / 4,
  "session uncovered": (sight) => Math.min(4, sight.backward.unmet) / 4,
  "same words": (sight) => Math.min(2, metBy(sight, isSame)),
  "same words of unknown meaning": (sight) =>
    Math.min(
      2,
      metBy(sight, (one) => isSame(one) && !isKnown(one)),
    ),
  "same words in other senses": (sight) => Math.min(2, lostSense(sight)),
  "same terms of several words": (sight) =>
    Math.min(
      2,
      metBy(sight, (one) => isSame(one) && one.unit.parts.length > 1),
    ),
  "parts of terms": (sight) => Math.min(2, metBy(sight, isNearly)),
  "other words for it": (sight) => Math.min(2, metBy(sight, isSynonym)),
  "close words for it": (sight) => Math.min(2, metBy(sight, isClose)),
  "closest word for it": (sight) => Math.max(0, ...metEach(sight, isClose)),
  "best meeting": (sight) => Math.max(0, ...metEach(sight, isTelling)),
  "several meetings": (sight) => Number(tellingCount(sight) >= 2),
  "many meetings": (sight) => Number(tellingCount(sight) >= 3),
  "several words met": (sight) => Number(wordsMet(sight) >= 2),
  "many words met": (sight) => Number(wordsMet(sight) >= 3),
  "nothing left over": (sight) => Number(met(sight) >= 0.5 && tellingLeft(sight) < 0.35),
  "manner of work": (sight) =>
    Math.min(
      1,
      metBy(sight, (one) => one.unit.aspect !== undefined),
    ),
  "only where files are": (sight) =>
    Math.min(
      1,
      metBy(sight, (one) => isTelling(one) && one.likeness < 0.6),
    ),
  "words side by side": (sight) => Math.min(2, sight.sharedPairs),
  "short form written out": (sight) => Math.min(1, sight.writtenOut),
  "fields agree": (sight) => sight.areaAgreement,
  "fields of the rest agree": (sight) => sight.restAgreement,
  "same words of many uses": (sight) =>
    Math.min(
      2,
      metBy(sight, (one) => isSame(one) && hasManyUses(one.unit.key)),
    ),
  "same words while the rest agrees": (sight) => Math.min(2, metBy(sight, isSame)) * sight.restAgreement,
  "same words in agreeing fields": (sight) => Math.min(2, metBy(sight, isSame)) * sight.areaAgreement,
  "other words in agreeing fields": (sight) => Math.min(2, metBy(sight, isSynonym)) * sight.areaAgreement,
  "near file": (sight) => sight.specific.file,
  "another issue": (sight) => Number(sight.specific.contradicts),
  "other files": (sight) => Number(sight.otherFile),
  "other names in the code": (sight) => Number(sight.otherName),
  "codes unknown there": (sight) => Number(sight.codes > 0 && sight.specific.code === 0),
  "says it is new": (sight) => Number(sight.isNew),
} satisfies Record<string, Feature>;

export type FeatureName = keyof typeof FEATURES;
export const FEATURE_NAMES = Object.keys(FEATURES) as FeatureName[];

export function featuresOf(sight: Sight): number[] {
  return FEATURE_NAMES.map((name) => FEATURES[name](sight));
}

function isSame({ by, unit }: Meeting): boolean {
  return by === "same" && unit.aspect === undefined;
}

function isNearly({ by, unit }: Meeting): boolean {
  return (by === "part" || by === "spelling") && unit.aspect === undefined;
}

function isKnown({ unit }: Meeting): boolean {
  return unit.senses.length > 0;
}

function isSynonym({ by, unit }: Meeting): boolean {
  return by === "topic" && unit.aspect === undefined;
}

function isClose(meeting: Meeting): boolean {
  return isSynonym(meeting) && (meeting.closeness ?? 0) >= 0.8;
}

function isTelling({ unit }: Meeting): boolean {
  return unit.aspect === undefined;
}

function metEach({ meetings }: Sight, which: (meeting: Meeting) => boolean): number[] {
  return meetings.filter(({ meeting }) => which(meeting)).map(({ meeting, weight }) => weight * meeting.likeness);
}

function metBy(sight: Sight, which: (meeting: Meeting) => boolean): number {
  return metEach(sight, which).reduce((sum, value) => sum + value, 0);
}

function met(sight: Sight): number {
  return metBy(sight, () => true);
}

function unmet(sight: Sight): number {
  return sight.meetings.reduce((sum, { weight }) => sum + weight, 0) - met(sight);
}

/** How much of the task's subject nothing meets. */
function tellingLeft({ meetings }: Sight): number {
  return meetings.reduce(
    (sum, { meeting, weight }) => sum + (isTelling(meeting) ? weight * (1 - meeting.likeness) : 0),
    0,
  );
}

/** A long task need not be covered as a whole. */
function neededOf({ meetings }: Sight): number {
  const sum = meetings.reduce((total, { weight }) => total + weight, 0);
  return Math.max(0.6, Math.min(sum, 1 + (sum - 1) * 0.57));
}

function lostSense({ meetings }: Sight): number {
  return meetings.reduce(
    (sum, { meeting, weight }) => sum + (meeting.by === "same" ? weight * (1 - meeting.likeness) : 0),
    0,
  );
}

/** Of the session: one word of it may meet many of the task. */
function wordsMet({ meetings }: Sight): number {
  const met = meetings.filter(({ meeting, weight }) => isTelling(meeting) && meeting.likeness * weight >= 0.2);
  return new Set(met.flatMap(({ meeting }) => meeting.other?.key ?? [])).size;
}

function tellingCount(sight: Sight): number {
  return metEach(sight, isTelling).filter((value) => value >= 0.25).length;
}
