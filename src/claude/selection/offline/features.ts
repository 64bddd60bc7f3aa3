/**
 * What the offline scorer sees: a row of numbers per session, each about 0 to 1. Words of the task count by how rare
 * they are, and more if only one candidate knows them: look-alikes share words. A short task that refers to something
 * said before belongs to the newest session on the branch.
 */
import type { DiscoveredSession } from "../../discovered-session.ts";
import type { RelevanceContext } from "../selection.ts";
import { initialWords, likeness, shortFormsOf, stem, stemsOf, wordLists, wordsOf } from "./words.ts";

/** Learned from collections of sessions of different people. */
export interface Vocabulary {
  collections: number;
  /** By stem: in how many collections it occurs. */
  frequencies: ReadonlyMap<string, number>;
  /** By word: above 0 if tasks with it mostly continue earlier work, below 0 if they mostly start new work. */
  wording: ReadonlyMap<string, number>;
}

export interface ComparedSession {
  features: Record<FeatureName, number>;
  /** Words of the task that the session knows, the most telling first. */
  shared: string[];
  /** The rarity of the words that the session knows, as a share of all words of the task. */
  coverage: number;
  /** The share of what the session was started for that the task repeats. */
  repeated: number;
  /** How many telling words of the task people wrote in the session. */
  sharedCount: number;
  /** The task refers to something said before, and this is the session that was used last. */
  refersBack: boolean;
  /** So little else is in the task that it can hardly be about anything else. */
  isFollowUp: boolean;
}

type FeatureName =
  | "bias"
  /** The session is on the current branch, which is not shared like `main`. */
  | "featureBranch"
  | "sharedBranch"
  /** The coverage is nearly complete: the rarity of the words that the session knows, as a share of all. */
  | "knowsAll"
  /** The task repeats what the session was started for, nearly word for word. */
  | "repeats"
  /** The coverage by words that no other candidate knows. */
  | "distinct"
  /** The z-score of the coverage among the candidates. */
  | "standsOut"
  /** Words of the task in names of touched files. */
  | "fileNames"
  /** The task names a touched file. */
  | "namesFile"
  /** A short task with words like "same" and "next", for the newest session on the branch if it is recent. */
  | "refersBack"
  /** A task without a word of its own, for the same session. */
  | "noTopic"
  /** A short task, for sessions on the feature branch. */
  | "shortOnBranch"
  /** The task is worded like a continuation. Counts less where the session knows its words. */
  | "wording"
  | "wordingOnBranch";

const HOUR = 3_600_000;
const SHARED_BRANCHES = /^(?:main|master|develop|dev|development|trunk|staging|production|release|next|head|)$/i;
const MAX_FILES = 30;
/** The sum of a few words' evidence for a continuation. */
const MAX_WORDING = 1.5;

/** A larger range, so that the penalty on weights does not hold back what few cases show. */
const RARE_FEATURE = 5;

export function compareSessions(
  task: string,
  sessions: readonly DiscoveredSession[],
  context: RelevanceContext,
  vocabulary: Vocabulary,
): ComparedSession[] {
  const reading = readTask(task, vocabulary);
  const newest = newestOnBranch(sessions, context.currentBranch);
  const docs = sessions.map((session) => readSession(session, context));
  const known = docs.map((doc) => knownWords(task, reading, doc));
  const coverages = known.map((row) => weighed(row, reading) / reading.total);
  return docs.map((doc, at) => {
    const { session } = doc;
    const own = known[at] ?? [];
    const distinct = own.map(
      (value, word) => Math.max(0, value - mostOfOthers(known, at, word)) * (reading.rarity[word] ?? 0),
    );
    const coverage = coverages[at] ?? 0;
    const repeated = repeatedShare(doc, reading, vocabulary);
    const isOnBranch = context.currentBranch !== undefined && session.branch === context.currentBranch;
    const featureBranch = Number(isOnBranch && !SHARED_BRANCHES.test(session.branch));
    const recent = session === newest ? recencyOf(session, sessions, context) : 0;
    const features = {
      bias: 1,
      featureBranch,
      sharedBranch: Number(isOnBranch && featureBranch === 0),
      knowsAll: RARE_FEATURE * Math.max(0, coverage - 0.6),
      repeats: RARE_FEATURE * Math.max(0, Math.sqrt(coverage * repeated) - 0.7),
      distinct: sum(distinct) / reading.total,
      standsOut: zScore(coverages, at),
      fileNames: Math.min(
        2,
        weighed(
          reading.stems.map((stem) => bestLikeness(stem, doc.fileNames)),
          reading,
        ),
      ),
      namesFile: Number(namesFile(task, session)),
      refersBack: recent * reading.brevity * reading.reference,
      noTopic: RARE_FEATURE * recent * Number(reading.stems.length === 0),
      shortOnBranch: featureBranch * reading.brevity,
      wording: reading.wording * (1 - coverage),
      wordingOnBranch: featureBranch * reading.wording * (1 - coverage),
    } satisfies Record<FeatureName, number>;
    return {
      features,
      shared: sharedWords(own, reading),
      coverage,
      repeated,
      sharedCount: tellingWords(reading, (stem) => bestLikeness(stem, doc.said) > PART_OF_WORD).size,
      refersBack: features.refersBack >= REFERS_BACK || features.noTopic > 0,
      isFollowUp: recent >= REFERS_BACK && isFollowUp(features.refersBack, own, reading),
    };
  });
}

interface TaskReading {
  stems: string[];
  /** As written in the task, by position in `stems`. */
  words: string[];
  /** By position in `stems`: 1 for a word that is in no collection. */
  rarity: number[];
  /** The rarity of all words together. */
  total: number;
  /** 1 for a task of one or two words, towards 0 for a long one. */
  brevity: number;
  /** 1 if the task begins with a word that refers to something before, or has two of them. */
  reference: number;
  wording: number;
}

function readTask(task: string, vocabulary: Vocabulary): TaskReading {
  const stems = stemsOf(task);
  const rarity = [...stems.keys()].map((stem) => rarityOf(stem, vocabulary));
  const words = wordsOf(task);
  const { references } = wordLists();
  const referring =
    words.filter((word, at) => at === 0 && references.has(word)).length +
    words.filter((word) => references.has(word)).length;
  const wording = sum([...new Set(words)].map((word) => vocabulary.wording.get(word) ?? 0));
  // Not `words`: a script without spaces would look long.
  const length = task.match(/[\p{L}\p{M}\p{N}_'’]+/gu)?.length ?? 0;
  return {
    stems: [...stems.keys()],
    words: [...stems.values()],
    rarity,
    total: sum(rarity) + 1e-6,
    brevity: 1 / (1 + Math.max(0, length - 2) / 4),
    reference: Math.min(1, referring / 2),
    wording: Math.max(-MAX_WORDING, Math.min(MAX_WORDING, wording)),
  };
}

function rarityOf(stem: string, { collections, frequencies }: Vocabulary): number {
  const rarest = Math.log((collections + 1) / 0.5);
  return Math.max(0.02, Math.log((collections + 1) / ((frequencies.get(stem) ?? 0) + 0.5)) / rarest);
}

interface SessionDoc {
  session: DiscoveredSession;
  /** Stems of each source: what it was started for, what people wrote later, paths, the branch. */
  fields: ReadonlySet<string>[];
  /** Stems of everything that people wrote, and of its title. */
  said: ReadonlySet<string>;
  /** Stems of the text that it was started with. */
  start: ReadonlySet<string>;
  fileNames: ReadonlySet<string>;
  initials: string;
  shortForms: ReadonlySet<string>;
}

function readSession(session: DiscoveredSession, { currentBranch, commitSubjects = [] }: RelevanceContext): SessionDoc {
  const { title, firstMessage, lastTask, lastPrompt, prompts, branch, repoPath, filesTouched } = session;
  const isShared = SHARED_BRANCHES.test(branch);
  const commits = branch === currentBranch && !isShared ? commitSubjects.slice(0, 10) : [];
  const text = [title, firstMessage, lastTask, ...prompts, lastPrompt, ...commits].join("\n");
  const paths = filesTouched.slice(-MAX_FILES).map(({ path }) => {
    return (path.startsWith(`${repoPath}/`) ? path.slice(repoPath.length + 1) : path).replace(/\.\w+$/, "");
  });
  // The first part of a branch name says what kind it is, or whose.
  const branchName = isShared ? "" : branch.replace(/^[\p{L}\d]+\//u, "");
  const fields = [text, paths.join(" "), branchName].map((source) => new Set(stemsOf(source).keys()));
  const said = new Set(stemsOf([title, firstMessage, lastTask, ...prompts, lastPrompt].join("\n")).keys());
  const fileNames = new Set(stemsOf(paths.map(fileName).join(" ")).keys());
  const start = new Set(stemsOf(firstMessage).keys());
  return {
    session,
    fields,
    said,
    start,
    fileNames,
    initials: initialWords(text)
      .map((word) => word[0])
      .join(""),
    shortForms: new Set(shortFormsOf(text)),
  };
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** By stem of the task: how surely the session knows it, 0 to 1. */
function knownWords(task: string, { stems }: TaskReading, doc: SessionDoc): number[] {
  const byInitials = writtenOut(task, doc);
  return stems.map((stem) => {
    const likest = Math.max(...doc.fields.map((field) => bestLikeness(stem, field)));
    return byInitials.has(stem) ? Math.max(likest, INITIALS_LIKENESS) : likest;
  });
}

const INITIALS_LIKENESS = 0.9;

/** Stems of the task that the session writes out or shortens: "DLQ" and "dead letter queue". */
function writtenOut(task: string, { initials, shortForms }: SessionDoc): Set<string> {
  const words = initialWords(task);
  const own = words.map((word) => word[0]).join("");
  const expanded = shortFormsOf(task).filter((form) => !shortForms.has(form) && initials.includes(form));
  const shortened = [...shortForms].flatMap((form) => {
    const at = own.indexOf(form);
    return at < 0 ? [] : words.slice(at, at + form.length);
  });
  return new Set([...expanded, ...shortened].map(stem));
}

function bestLikeness(stem: string, others: ReadonlySet<string>): number {
  if (others.has(stem)) return 1;
  let best = 0;
  for (const other of others) best = Math.max(best, likeness(stem, other));
  return best;
}

function mostOfOthers(known: readonly number[][], own: number, word: number): number {
  return Math.max(0, ...known.map((row, at) => (at === own ? 0 : (row[word] ?? 0))));
}

function repeatedShare({ start }: SessionDoc, { stems }: TaskReading, vocabulary: Vocabulary): number {
  const task = new Set(stems);
  const weights = [...start].map((stem) => ({ stem, rarity: rarityOf(stem, vocabulary) }));
  const repeated = weights.filter(({ stem }) => bestLikeness(stem, task) > 0.5);
  return sum(repeated.map(({ rarity }) => rarity)) / (sum(weights.map(({ rarity }) => rarity)) + 1e-6);
}

function newestOnBranch(
  sessions: readonly DiscoveredSession[],
  branch: string | undefined,
): DiscoveredSession | undefined {
  const there = sessions.filter((session) => session.branch === branch);
  return there.toSorted((a, b) => b.lastModified.getTime() - a.lastModified.getTime())[0];
}

/** 1 for a session in use, 0.5 after a day. */
function recencyOf(
  session: DiscoveredSession,
  sessions: readonly DiscoveredSession[],
  { now }: RelevanceContext,
): number {
  const end = now ?? Math.max(...sessions.map(({ lastModified }) => lastModified.getTime()));
  return 1 / (1 + Math.max(0, end - session.lastModified.getTime()) / HOUR / 24);
}

/** What an unrelated session covers by accident. Included so that a single candidate can stand out. */
const BY_ACCIDENT = 0.1;

function zScore(coverages: readonly number[], at: number): number {
  const values = [...coverages, BY_ACCIDENT];
  const mean = sum(values) / values.length;
  const deviation = Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / values.length);
  return ((values[at] ?? 0) - mean) / (deviation + 0.1);
}

/** Short names such as `api.ts` prove nothing. */
const MIN_FILE_NAME = 6;

function namesFile(task: string, { filesTouched }: DiscoveredSession): boolean {
  const lower = task.toLowerCase();
  return filesTouched.some(({ path }) => {
    const name = fileName(path).toLowerCase();
    return [name, name.replace(/\.\w+$/, "")].some((form) => form.length >= MIN_FILE_NAME && lower.includes(form));
  });
}

/** Below this, the task does not refer back, or the session is too old. */
const REFERS_BACK = 0.25;

function isFollowUp(refersBack: number, known: readonly number[], reading: TaskReading): boolean {
  if (tellingWords(reading, () => true).size === 0) return true;
  return refersBack >= REFERS_BACK && tellingWords(reading, (_stem, at) => (known[at] ?? 0) <= 0.5).size <= 1;
}

/** The likeness of a word that begins a compound: "docker" and "Dockerfile". */
const PART_OF_WORD = 0.4;

/** Words that nearly every collection has tell nothing. */
const MIN_RARITY = 0.15;

/** The telling words of the task as written, so that an abbreviation counts once. */
function tellingWords(
  { stems, words, rarity }: TaskReading,
  counts: (stem: string, at: number) => boolean,
): ReadonlySet<string> {
  return new Set(words.filter((_, at) => (rarity[at] ?? 0) >= MIN_RARITY && counts(stems[at] ?? "", at)));
}

function sharedWords(known: readonly number[], { words, rarity }: TaskReading): string[] {
  const found = words.map((word, at) => ({ word, value: (known[at] ?? 0) * (rarity[at] ?? 0) }));
  const telling = found.filter(({ value }) => value >= 0.25).sort((a, b) => b.value - a.value);
  return [...new Set(telling.map(({ word }) => word))].slice(0, 4);
}

function weighed(values: readonly number[], { rarity }: TaskReading): number {
  return sum(values.map((value, at) => value * (rarity[at] ?? 0)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
