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

/** One session beside the task. */
export type ComparedSession = ReturnType<typeof compareSessions>[number];

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
) {
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
    const inFileNames = reading.stems.map((stem) => bestLikeness(stem, doc.fileNames));
    const coverage = coverages[at] ?? 0;
    const repeated = repeatedShare(doc, reading, vocabulary);
    const isOnBranch = context.currentBranch !== undefined && session.branch === context.currentBranch;
    const featureBranch = Number(isOnBranch && !SHARED_BRANCHES.test(session.branch));
    const recent = session === newest ? recencyOf(session, sessions, context) : 0;
    const features = {
      bias: 1,
      /** The session is on the current branch, which is not shared like `main`. */
      featureBranch,
      sharedBranch: Number(isOnBranch && featureBranch === 0),
      /** The coverage is nearly complete. */
      knowsAll: RARE_FEATURE * Math.max(0, coverage - 0.6),
      /** The task repeats what the session was started for, nearly word for word. */
      repeats: RARE_FEATURE * Math.max(0, Math.sqrt(coverage * repeated) - 0.7),
      /** The coverage by words that no other candidate knows. */
      distinct: sum(distinct) / reading.total,
      /** The z-score of the coverage among the candidates. */
      standsOut: zScore(coverages, at),
      /** Words of the task in names of touched files. */
      fileNames: Math.min(2, weighed(inFileNames, reading)),
      /** The task names a touched file. */
      namesFile: Number(namesFile(task, session)),
      /** A short task with words like "same" and "next", for the newest session on the branch if it is recent. */
      refersBack: recent * reading.brevity * reading.reference,
      /** A task without a word of its own, for the same session. */
      noTopic: RARE_FEATURE * recent * Number(reading.stems.length === 0),
      /** A short task, for sessions on the feature branch. */
      shortOnBranch: featureBranch * reading.brevity,
      /** The task is worded like a continuation. Counts less where the session knows its words. */
      wording: reading.wording * (1 - coverage),
      wordingOnBranch: featureBranch * reading.wording * (1 - coverage),
    };
    return {
      features,
      /** Words of the task that the session knows, the most telling first. */
      shared: sharedWords(own, reading),
      /** The rarity of the words that the session knows, as a share of all words of the task. */
      coverage,
      /** The share of what the session was started for that the task repeats. */
      repeated,
      /** How many telling words of the task people wrote in the session. */
      sharedCount: tellingWords(reading, (stem) => bestLikeness(stem, doc.said) > PART_OF_WORD).size,
      /** The task refers to something said before, and this is the session that was used last. */
      refersBack: features.refersBack >= REFERS_BACK || features.noTopic > 0,
      /** So little else is in the task that it can hardly be about anything else. */
      isFollowUp: recent >= REFERS_BACK && isFollowUp(features.refersBack, own, reading),
    };
  });
}

type TaskReading = ReturnType<typeof readTask>;

function readTask(task: string, vocabulary: Vocabulary) {
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
    /** As written in the task, by position in `stems`. */
    words: [...stems.values()],
    /** By position in `stems`: 1 for a word that is in no collection. */
    rarity,
    /** The rarity of all words together. */
    total: sum(rarity) + 1e-6,
    /** 1 for a task of one or two words, towards 0 for a long one. */
    brevity: 1 / (1 + Math.max(0, length - 2) / 4),
    /** 1 if the task begins with a word that refers to something before, or has two of them. */
    reference: Math.min(1, referring / 2),
    wording: Math.max(-MAX_WORDING, Math.min(MAX_WORDING, wording)),
  };
}

function rarityOf(stem: string, { collections, frequencies }: Vocabulary): number {
  const rarest = Math.log((collections + 1) / 0.5);
  return Math.max(0.02, Math.log((collections + 1) / ((frequencies.get(stem) ?? 0) + 0.5)) / rarest);
}

type SessionDoc = ReturnType<typeof readSession>;

function readSession(session: DiscoveredSession, { currentBranch, commitSubjects = [] }: RelevanceContext) {
  const { title, firstMessage, lastTask, lastPrompt, prompts, branch, repoPath, filesTouched } = session;
  const isShared = SHARED_BRANCHES.test(branch);
  const commits = branch === currentBranch && !isShared ? commitSubjects.slice(0, 10) : [];
  const written = [title, firstMessage, lastTask, ...prompts, lastPrompt];
  const text = [...written, ...commits].join("\n");
  const paths = filesTouched.slice(-MAX_FILES).map(({ path }) => {
    return (path.startsWith(`${repoPath}/`) ? path.slice(repoPath.length + 1) : path).replace(/\.\w+$/, "");
  });
  // The first part of a branch name says what kind it is, or whose.
  const branchName = isShared ? "" : branch.replace(/^[\p{L}\d]+\//u, "");
  return {
    session,
    /** Stems of each source: what people wrote and committed, paths, the branch. */
    fields: [text, paths.join(" "), branchName].map(stemSet),
    /** Stems of everything that people wrote, and of its title. */
    said: stemSet(written.join("\n")),
    /** Stems of the text that it was started with. */
    start: stemSet(firstMessage),
    fileNames: stemSet(paths.map(fileName).join(" ")),
    initials: initialLetters(initialWords(text)),
    shortForms: new Set(shortFormsOf(text)),
  };
}

function stemSet(text: string): ReadonlySet<string> {
  return new Set(stemsOf(text).keys());
}

function initialLetters(words: readonly string[]): string {
  return words.map((word) => word[0]).join("");
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
  const own = initialLetters(words);
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
