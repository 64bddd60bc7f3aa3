/**
 * Everything a row knows about a session, read for comparison: what people wrote, what it was called,
 * its branch, the files it touched. Where a word stands decides how much it counts.
 */
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext } from "../selection.ts";
import type { Initials } from "./initials.ts";
import { indexUnits, type UnitIndex } from "./likeness.ts";
import { readName, readPath, readText, type TextReading } from "./text-reading.ts";
import { type AreaWeights, areaWeights, type PlacedUnit, placeUnits, type Unit } from "./units.ts";

export interface SessionReading {
  /** Those that can meet the task. */
  units: PlacedUnit[];
  /** Which areas it is in, and how much. */
  areas: AreaWeights;
  index: UnitIndex;
  fieldWeight: (key: string) => number;
  /** Each of what people wrote. */
  texts: (readonly Unit[])[];
  /** Words side by side in what people wrote and in names of files. */
  pairs: Set<string>;
  initials: Initials[];
  identifiers: Set<string>;
  codes: Set<string>;
  files: { path: string; weight: number }[];
}

const FIELD = { text: 1, prompt: 0.95, branch: 0.85, edited: 0.8, read: 0.55, commit: 0.5 };
const MAX_PROMPTS = 7;
const MAX_FILES = 25;
const MAX_NAME = 300;
const MAX_PROMPT = 300;
/** Branches that everything happens on. */
const SHARED_BRANCH = /^(?:main|master|develop|dev|development|trunk|staging|production|head|release|next)$/i;

/** `canMeet`: whether a unit is worth a closer look. */
export function readSession(
  session: DiscoveredSession,
  context: RelevanceContext,
  canMeet: (unit: Unit) => boolean,
): SessionReading {
  const found = collect();
  const headlines = [session.title, session.firstMessage, session.lastTask, session.lastPrompt, session.label];
  for (const text of new Set(headlines)) if (text !== undefined) found.addText(text, FIELD.text);
  for (const text of someOf(session.prompts)) {
    if (!headlines.includes(text)) found.addText(text.slice(0, MAX_PROMPT), FIELD.prompt);
  }
  for (const branch of new Set([session.branch, ...session.branches])) {
    if (!SHARED_BRANCH.test(branch))
      found.addReading(readText(branch.slice(0, MAX_NAME).replaceAll("/", " ")), FIELD.branch);
  }
  for (const file of session.filesTouched.slice(-MAX_FILES))
    found.addFile(inRepo(file.path, session), file.edited ? FIELD.edited : FIELD.read);
  if (session.branch === context.currentBranch && !SHARED_BRANCH.test(session.branch)) {
    for (const subject of (context.commitSubjects ?? []).slice(0, 10))
      found.addUnits(readText(subject.slice(0, MAX_PROMPT)), FIELD.commit);
  }
  return found.finish(canMeet);
}

function inRepo(path: string, { repoPath }: DiscoveredSession): string {
  return (path.startsWith(`${repoPath}/`) ? path.slice(repoPath.length + 1) : path).slice(-MAX_NAME);
}

interface Collector {
  addText(text: string, weight: number): void;
  addReading(reading: TextReading, weight: number): void;
  addUnits(reading: TextReading, weight: number): void;
  addFile(path: string, weight: number): void;
  finish(canMeet: (unit: Unit) => boolean): SessionReading;
}

function collect(): Collector {
  const units = new Map<string, Unit>();
  const weights = new Map<string, number>();
  const texts: (readonly Unit[])[] = [];
  const pairs = new Set<string>();
  const identifiers = new Set<string>();
  const codes = new Set<string>();
  const initials: Initials[] = [];
  const files: { path: string; weight: number }[] = [];
  /** Files of one session lie in the same folders: each name counts once. */
  const names = new Map<string, number>();

  const fieldWeight = (key: string): number => weights.get(key) ?? 0;
  const addUnits = (reading: TextReading, weight: number): void => {
    for (const pair of reading.pairs) pairs.add(pair);
    for (const unit of reading.units) {
      units.set(unit.key, unit);
      if (fieldWeight(unit.key) < weight) weights.set(unit.key, weight);
    }
  };
  const addReading = (reading: TextReading, weight: number): void => {
    addUnits(reading, weight);
    for (const code of reading.taken.codes) codes.add(code);
  };
  return {
    addUnits,
    addReading,
    addText: (text, weight) => {
      const reading = readText(text);
      addReading(reading, weight);
      texts.push(reading.units);
      initials.push(reading.initials);
      for (const identifier of reading.taken.identifiers) identifiers.add(identifier);
      for (const path of reading.taken.paths) files.push({ path, weight });
    },
    addFile: (path, weight) => {
      files.push({ path, weight });
      const { segments, name } = readPath(path);
      for (const segment of segments) if ((names.get(segment) ?? 0) < weight) names.set(segment, weight);
      if (name.length >= 8) identifiers.add(name);
    },
    finish: (canMeet) => {
      for (const [segment, weight] of names) addUnits(readName(segment), weight);
      const all = [...units.values()];
      const areas = areaWeights(all);
      const placed = placeUnits(all.filter(canMeet), areas);
      return {
        areas,
        units: placed,
        index: indexUnits(placed, fieldWeight),
        fieldWeight,
        texts,
        pairs,
        initials,
        identifiers,
        codes,
        files,
      };
    },
  };
}

/** The first prompts say what it was to be, the last ones what it became. */
function someOf(prompts: readonly string[]): readonly string[] {
  return prompts.length <= MAX_PROMPTS ? prompts : [...prompts.slice(0, 3), ...prompts.slice(3 - MAX_PROMPTS)];
}
