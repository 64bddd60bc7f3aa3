/**
 * Marks resolved blockers. A later accomplishment resolves a blocker if both name the same thing (a file, an identifier,
 * enough words) and it says that the thing works. "That did the trick" names nothing and resolves the newest open
 * blocker nearby. A resolved blocker stays resolved.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import type { PatternNote } from "./note.ts";

/** Number of notes that count as nearby. */
const NEARBY = 8;

/** Notes are in their order. */
export function resolveBlockers(notes: readonly PatternNote[]): PatternNote[] {
  const marked = [...notes];
  const topics = marked.map((note) => (isOpen(note) ? topicOf(note.content) : undefined));
  for (const [index, note] of marked.entries()) {
    if (note.type !== "accomplishment" || !marked.slice(0, index).some(isOpen)) continue;
    const place = findBlocker(marked, topics, index, reportsIn(note.content));
    const blocker = place === undefined ? undefined : marked[place];
    if (place === undefined || blocker === undefined) continue;
    marked[place] = { ...blocker, resolved: true, resolvedBy: note.sourceEntryId };
  }
  return marked;
}

export interface Topic {
  words: ReadonlySet<string>;
  /** Paths, code, issue numbers: one in common is enough. */
  names: ReadonlySet<string>;
  /** Three digits or more, which distinguish things of one kind. */
  numbers: ReadonlySet<string>;
}

function isOpen({ type, resolved }: PatternNote): boolean {
  return type === "blocker" && resolved !== true;
}

/** A report of finished work. */
interface Done extends Topic {
  saysItWorks: boolean;
}

/** The whole sentence and each clause: "The CI works again, Bob restarted the database" is about the CI. */
function reportsIn(content: string): Done[] {
  const clauses = content.split(CLAUSE_END);
  const whole = toDone(content, topicOf(content));
  return clauses.length === 1 ? [whole] : [whole, ...clauses.map((clause) => toDone(clause, readTopic(clause)))];
}

function toDone(text: string, topic: Topic): Done {
  return { ...topic, saysItWorks: WORKS.test(text) && !DENIES.test(text) };
}

const CLAUSE_END = /[,;:]\s+|\s+(?:because|since|after|but|it was)\s+/;
const DENIES = /\b(?:not|never|cannot|yet)\b|n't\b/i;

/** Its place among the notes. */
function findBlocker(
  notes: readonly PatternNote[],
  topics: readonly (Topic | undefined)[],
  from: number,
  reports: readonly Done[],
): number | undefined {
  const self = notes[from];
  let best: number | undefined;
  let bestScore = 0;
  let newest: number | undefined;
  for (let index = from - 1; index >= 0; index -= 1) {
    const note = notes[index];
    const topic = topics[index];
    if (note === undefined || topic === undefined || !isOpen(note)) continue;
    // A sentence can report both, and then does not resolve its own blocker.
    if (note.sourceEntryId === self?.sourceEntryId && note.content === self.content) continue;
    if (from - index <= NEARBY) newest ??= index;
    const score = Math.max(...reports.map((done) => likeness(topic, done)));
    if (score <= bestScore) continue;
    best = index;
    bestScore = score;
  }
  return best ?? (isOnlyThatItWorks(reports) ? newest : undefined);
}

function isOnlyThatItWorks(reports: readonly Done[]): boolean {
  const namesNothing = reports.every(({ words, names }) => words.size + names.size === 0);
  return namesNothing && reports.some(({ saysItWorks }) => saysItWorks);
}

/** 0 when they are about different things. */
function likeness(blocker: Topic, done: Done): number {
  const names = shared(blocker.names, done.names);
  const words = shared(blocker.words, done.words);
  if (names > 0) return 2 + names + words;
  const smaller = Math.min(blocker.words.size, done.words.size);
  if (words === 0 || isOfOthers(blocker, done)) return 0;
  const ratio = words / smaller;
  if (!done.saysItWorks) return words >= 3 && ratio >= 0.75 ? ratio : 0;
  // Two things that share half of their name may differ: one is down, the other is up.
  return words >= 2 ? (ratio >= 0.4 ? words * ratio : 0) : ratio === 1 ? 1 : 0;
}

/** "Migration 0042" and "migration 0043" differ. */
function isOfOthers(a: Topic, b: Topic): boolean {
  return a.numbers.size > 0 && b.numbers.size > 0 && shared(a.numbers, b.numbers) === 0;
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let count = 0;
  for (const one of a) if (b.has(one)) count += 1;
  return count;
}

const NAME =
  /`[^`]{1,80}`|#\d+|\b[\w@.-]*\/[\w@./-]+|\b\w+\.(?:ts|tsx|js|jsx|py|rs|go|java|md|json|ya?ml|toml|sql|sh|csv|xlsx?|pdf)\b|\b[a-z]+[A-Z]\w+|\b\w+_\w+\b/g;

const WORKS =
  /\b(?:fix\w*|solv\w+|resolv\w+|work(?:s|ed|ing)?|pass(?:es|ed|ing)?|green|gone|back|no longer|no more|unblock\w*|trick|restor\w+|recover\w*|repair\w*|renew\w*|approv\w+|sign(?:ed|s)|got|received?|arriv\w+|answer\w+|repl(?:y|ied)|managed|succe\w+|up|again|finally|now|sorted|clear\w*|replac\w+|restart\w*|migrat\w+|compil\w+|stable|reset|unlock\w*|grant\w*|rotat\w+|upgrad\w+|revert\w*|rolled|deployed|merged|patched|came through|went through|over|good|fine|done|made|ran|sent|empt(?:y|ied)|freed|accepts?|accepted)\b/i;

interface BlockerWords {
  /** Words that do not identify a thing, like "failing" and "fixed". */
  untelling: ReadonlySet<string>;
  synonyms: ReadonlyMap<string, string>;
}

let listed: BlockerWords | undefined;

function blockerWords(): BlockerWords {
  listed ??= readBlockerWords();
  return listed;
}

function readBlockerWords(): BlockerWords {
  const file = JSON.parse(readFileSync(dataFile("blocker-words.json"), "utf8")) as {
    untelling: string;
    synonyms: Record<string, string>;
  };
  return { untelling: new Set(file.untelling.split(" ")), synonyms: new Map(Object.entries(file.synonyms)) };
}

/** The same few lines are compared with every new message. */
const KNOWN = new Map<string, Topic>();
const MAX_KNOWN = 1000;

function topicOf(content: string): Topic {
  const known = KNOWN.get(content);
  if (known !== undefined) return known;
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  const topic = readTopic(content);
  KNOWN.set(content, topic);
  return topic;
}

function readTopic(content: string): Topic {
  const names = MAY_NAME.test(content) ? (content.match(NAME) ?? []) : [];
  return {
    words: termsOf(content.toLowerCase()),
    names: new Set(names.map((name) => name.replace(/`/g, "").toLowerCase())),
    numbers: new Set(/\d{3}/.test(content) ? content.match(/\b\d{3,}\b/g) : []),
  };
}

/** A quick check, because most lines have no names. */
const MAY_NAME = /[`#/_]|\.\w|[a-z][A-Z]/;

function termsOf(text: string): Set<string> {
  const terms = (text.match(/[a-z][a-z0-9]+/g) ?? []).map(readTerm);
  return new Set(terms.filter((term) => term !== ""));
}

function readTerm(word: string): string {
  if (word === "ci" || word === "db") return word;
  const { untelling, synonyms } = blockerWords();
  if (word.length < 3 || untelling.has(word)) return "";
  const stemmed = stem(word);
  return untelling.has(stemmed) ? "" : (synonyms.get(stemmed) ?? synonyms.get(word) ?? stemmed);
}

/** Removes the commonest endings. */
function stem(word: string): string {
  if (word.length < 5) return word.replace(/s$/, "");
  return word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?:ings?|edly|ed|es|s|ly)$/, "")
    .replace(/([bdgmnprt])\1$/, "$1")
    .replace(/e$/, "");
}
