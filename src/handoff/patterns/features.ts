/**
 * What of a sentence speaks for or against each type. First what is cheap to see, for every sentence: its
 * words, their parts ("N be bad"), a word beside a part ("not good"), its place in the message. Then, where
 * those leave a doubt, what is looked for: the cues it contains ("blocker:stuck"), how the clause of each is
 * meant (a cue in a question counts as that, "blocker@question"), and which cues the rest of the message has
 * ("before blocker"). How much each counts is in data/pattern-weights.tsv.
 */
import { type Clause, clausesOf, maskOf, type Stance, STANCES, stancesAt } from "./clauses.ts";
import type { Cue } from "./cues/cue.ts";
import { DECISION_CUES } from "./cues/decision.ts";
import { FAILURE_CUES } from "./cues/failure.ts";
import { INSIGHT_CUES } from "./cues/insight.ts";
import { OBSTACLE_CUES } from "./cues/obstacle.ts";
import { SCOPE_CUES } from "./cues/scope.ts";
import { SETTLED_CUES } from "./cues/settled.ts";
import { TASK_CUES } from "./cues/task.ts";
import { PATTERN_TYPES, type PatternType } from "./note.ts";
import { expression } from "./pattern.ts";
import { matches } from "./plain.ts";
import { isPresent } from "./presence.ts";
import type { Sentence } from "./sentences.ts";
import { END, type KnownWord, partNumber, readWords, shapeOf, START, type Words } from "./shape.ts";

/** Takes a sentence's features one by one. */
export interface FeatureSink {
  /** A word, alone and beside the parts before and after it. */
  word: (word: KnownWord, before: number, after: number) => void;
  part: (part: number) => void;
  /** The first two parts in a row, and all three unless the third is 0. */
  run: (first: number, second: number, third: number) => void;
  named: (name: string) => void;
}

/** Where a sentence stands in its message. */
export interface Place {
  role: "user" | "assistant";
  index: number;
  count: number;
  /** The message is about a text or a tale: what stands in that is not news. */
  isAboutText: boolean;
  /** Another sentence of it asks something. */
  asksElsewhere: boolean;
}

const ABOUT_TEXT = expression(
  "about-text",
  String.raw`\b(?:story|stories|scene|novel|poem|lyrics|song|character|protagonist|dialogue|joke|metaphor|draft|wording|worksheet|exercise|sentences?|paragraph|template|skeleton|headline|title|caption|slogan|brochure|slides?|quiz|card|prompt|pretend|imagine|role-?play|rephrase|rewrite|translate|proofread|transition|synonyms?|example|examples|sample|fictional|hypothetical\w*|options for|risks you|phrases?|reply to|how do (?:i|you) (?:say|tell))\b`,
);

/** Where each sentence of a message stands. */
export function placesOf(sentences: readonly Sentence[], role: "user" | "assistant"): Place[] {
  const isAboutText = sentences.some((sentence) => matches(sentence, ABOUT_TEXT));
  const asking = sentences.filter(({ isQuestion }) => isQuestion).length;
  return sentences.map(({ isQuestion }, index) => ({
    role,
    index,
    count: sentences.length,
    isAboutText,
    asksElsewhere: asking > (isQuestion ? 1 : 0),
  }));
}

const CUES: readonly Cue[] = [
  ...FAILURE_CUES,
  ...OBSTACLE_CUES,
  ...DECISION_CUES,
  ...SETTLED_CUES,
  ...INSIGHT_CUES,
  ...SCOPE_CUES,
  ...TASK_CUES,
];

/** Stances that do not take a cue's force away, only weaken it. */
const WEAKENING_STANCES: readonly Stance[] = ["consequence", "reported", "past", "general"];

/** The weight of a feature for a type before training; what is not named here has none. */
export const PRIORS: Readonly<Record<PatternType, ReadonlyMap<string, number>>> = {
  blocker: priorsOf("blocker", {
    "section-blocked": 4,
    "section-planned": -2,
    "section-background": -2,
    checked: -3,
    unchecked: -1.5,
    "evidence-after": 0.8,
    "explains-condition": -1.2,
    "insight:only-when": -1.5,
    "insight:cause": -1,
    "insight:is-so-because": -0.8,
    "insight:not-the-suspect": -1.2,
    "insight:all-along": -1.2,
    "insight:apparently": -0.8,
    "scope_creep:grew": -1,
    "scope_creep:never-asked": -1,
  }),
  decision: priorsOf("decision", {
    "section-decided": 4,
    "section-planned": -1.5,
    unchecked: -2,
    "after-agreement": 1,
    "task_created:ticket": -2,
  }),
  accomplishment: priorsOf("accomplishment", {
    "section-done": 3.5,
    "fine-again": 1.5,
    "section-planned": -4,
    "section-background": -2,
    checked: 4,
    "task_created:ticket": -4,
    "task_created:noted-down": -5,
    unchecked: -4,
  }),
  insight: priorsOf("insight", { "section-learned": 3 }),
  scope_creep: priorsOf("scope_creep", {}),
  task_created: priorsOf("task_created", { unchecked: 1.5 }),
};

/** Stances that take a cue's force away, by the cue's type. What was got done needs no cues: its verbs tell it. */
const VOIDING_OF: Readonly<Partial<Record<PatternType, readonly Stance[]>>> = {
  blocker: ["question", "condition", "request", "negated", "possible", "planned", "history"],
  decision: ["question", "condition", "request", "negated", "possible", "planned", "history"],
  insight: ["question", "condition", "request", "possible", "history"],
  scope_creep: ["negated"],
  task_created: ["condition"],
};
const VOIDING: readonly number[] = PATTERN_TYPES.map((type) => maskOf(VOIDING_OF[type] ?? []));
const WEAKENING = maskOf(WEAKENING_STANCES);

/** The name of a cue's type in each stance. */
const IN_STANCE: readonly (readonly string[])[] = PATTERN_TYPES.map((type) =>
  STANCES.map((stance) => `${type}@${stance}`),
);

/** The words, which the second look needs again. */
export function readFirst(sentence: Sentence, place: Place, sink: FeatureSink): Words {
  const read = readWords(sentence.plain);
  const { words } = read;
  let before = START;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) continue;
    const { part } = word;
    // Which number it is says something about the message, not about others.
    if (part !== NUMBER) sink.word(word, before, words[index + 1]?.part ?? END);
    sink.part(part);
    before = part;
  }
  const parts = shapeOf(words);
  for (let index = 0; index + 1 < parts.length; index += 1)
    sink.run(parts[index] ?? 0, parts[index + 1] ?? 0, parts[index + 2] ?? 0);
  if (parts.includes(AGAIN) && !parts.some((part) => SPOILS_AGAIN.has(part))) sink.named("fine-again");
  readPlace(sentence, place, sink);
  return read;
}

const NUMBER = partNumber("#");
/** "The arm moves again" is good news; "it broke again", "try again" and "not again" are not. */
const AGAIN = partNumber("again");
const SPOILS_AGAIN = new Set(
  "bad not no still if will modal need please why maybe you they make ?".split(" ").map(partNumber),
);

const COUNTS = ["", "alone", "of two", "of three", "of many"];

function readPlace(sentence: Sentence, place: Place, sink: FeatureSink): void {
  const { role, index, count } = place;
  if (place.isAboutText) sink.named("about-text");
  if (place.asksElsewhere) sink.named("asks-elsewhere");
  if (role === "assistant") sink.named("assistant");
  sink.named(index === 0 ? "first" : index === count - 1 ? "last" : "inside");
  sink.named(COUNTS[Math.min(count, 4)] ?? "");
  if (sentence.isItem) sink.named("item");
  if (sentence.checked !== undefined) sink.named(sentence.checked ? "checked" : "unchecked");
  if (sentence.section !== undefined) sink.named(`section-${sentence.section}`);
  if (sentence.introducesEvidence) sink.named("evidence-after");
  if (sentence.followsAgreement) sink.named("after-agreement");
  if (sentence.isQuestion) sink.named("question");
}

/** The types it has cues of, a bit for each in the order of PATTERN_TYPES. */
export function readSecond(sentence: Sentence, words: Words, role: "user" | "assistant", sink: FeatureSink): number {
  const { plain, present } = sentence;
  const clauses = clausesOf(sentence);
  let found = 0;
  for (const cue of CUES) {
    if (isPresent(present, cue.pattern)) {
      const { regexp } = cue.pattern;
      regexp.lastIndex = 0;
      for (let match = regexp.exec(plain); match !== null; match = regexp.exec(plain)) {
        found |= addCue(cue, stancesAt(clauses, match.index + leadOf(match[0])), sink);
        if (match[0] === "") regexp.lastIndex += 1;
      }
    }
    if (cue.words !== undefined) found |= addWords(cue, cue.words, words, clauses, sink);
  }
  if (role === "assistant" && clauses.some(({ text }) => /^(?:if|when|whenever|unless)\b/.test(text)))
    sink.named("explains-condition");
  return found;
}

/** A word that another one makes a name, or takes back, is not news. */
const TAKES_BACK = new Set(["not", "no", "never", "the", "a", "an", "any", "be", "to"]);

function addWords(
  cue: Cue,
  wanted: ReadonlySet<string>,
  { words, starts }: Words,
  clauses: readonly Clause[],
  sink: FeatureSink,
): number {
  let found = 0;
  for (let index = 0; index < words.length; index += 1)
    if (wanted.has(words[index]?.text ?? "") && !TAKES_BACK.has(words[index - 1]?.text ?? ""))
      found |= addCue(cue, stancesAt(clauses, starts[index] ?? 0), sink);
  return found;
}

/** A match may begin with the blank or comma before its first word. */
function leadOf(text: string): number {
  let lead = 0;
  while (lead < text.length && " ,.;:".includes(text.charAt(lead))) lead += 1;
  return lead;
}

function addCue(cue: Cue, stances: number, sink: FeatureSink): number {
  const type = PATTERN_TYPES.indexOf(cue.type);
  const held = stances & ~cue.despite;
  const voiding = held & (VOIDING[type] ?? 0);
  if (voiding !== 0) {
    addStances(type, voiding, sink);
    return 0;
  }
  sink.named(cue.feature);
  addStances(type, held & WEAKENING, sink);
  return 1 << type;
}

function addStances(type: number, mask: number, sink: FeatureSink): void {
  for (let bit = 0; bit < STANCES.length; bit += 1)
    if ((mask & (1 << bit)) !== 0) sink.named(IN_STANCE[type]?.[bit] ?? "");
}

const BEFORE = PATTERN_TYPES.map((type) => `before ${type}`);
const AFTER = PATTERN_TYPES.map((type) => `after ${type}`);

/** Which types the sentences before and after this one have cues of. */
export function readAround(found: readonly number[], index: number, sink: FeatureSink): void {
  let earlier = 0;
  let later = 0;
  for (const [place, types] of found.entries()) {
    if (place < index) earlier |= types;
    else if (place > index) later |= types;
  }
  for (let type = 0; type < PATTERN_TYPES.length; type += 1) {
    if ((earlier & (1 << type)) !== 0) sink.named(AFTER[type] ?? "");
    if ((later & (1 << type)) !== 0) sink.named(BEFORE[type] ?? "");
  }
}

function priorsOf(type: PatternType, more: Readonly<Record<string, number>>): ReadonlyMap<string, number> {
  const cues = CUES.filter((cue) => cue.type === type);
  const weakening = cues.length === 0 ? [] : WEAKENING_STANCES;
  return new Map([
    ["bias", -1.3],
    ...cues.map((cue) => [cue.feature, cue.prior] as const),
    ...weakening.map((stance) => [`${type}@${stance}`, -1.2] as const),
    ...Object.entries(more),
  ]);
}
