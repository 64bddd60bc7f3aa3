/**
 * The features of a sentence that the scorer weighs: its words and word classes (data/pattern-words.json), short
 * runs of both, whether a telling word is denied, asked, supposed or planned in its clause, and its place in the
 * message. A feature is a string, so that `explain` can name it.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";
import type { Sentence } from "./sentences.ts";

export interface Place {
  role: "user" | "assistant";
  index: number;
  count: number;
  /** Another sentence of the message is a question. */
  asksElsewhere: boolean;
}

export function placesOf(sentences: readonly Sentence[], role: Place["role"]): Place[] {
  const asking = sentences.filter(({ isQuestion }) => isQuestion).length;
  return sentences.map(({ isQuestion }, index) => ({
    role,
    index,
    count: sentences.length,
    asksElsewhere: asking > (isQuestion ? 1 : 0),
  }));
}

const MAX_WORDS = 80;
const TOKEN = /[a-z_][a-z_0-9'-]*|\d[\w.%:]*|[,!?:;()+]|\.(?=.)/g;

export function featuresOf(sentence: Sentence, place: Place): string[] {
  const words = (sentence.plain.match(TOKEN) ?? []).slice(0, MAX_WORDS);
  const classes = words.map(classOf);
  const found = new Set<string>();
  addWords(words, classes, found);
  addShape(classes, found);
  addStances(classes, sentence.isQuestion, found);
  addPlace(sentence, place, found);
  return [...found];
}

function addWords(words: readonly string[], classes: readonly string[], found: Set<string>): void {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    // The value of a number does not help with other messages.
    if (classes[at] === "#") continue;
    found.add(word);
    found.add(`${classes[at - 1] ?? "^"}|${word}`);
    found.add(`${word}|${classes[at + 1] ?? "$"}`);
    const next = words[at + 1];
    if (next !== undefined && classes[at + 1] !== "#") found.add(`${word} ${next}`);
  }
}

/** Runs of classes. Several nouns in a row count as one. */
function addShape(classes: readonly string[], found: Set<string>): void {
  const shape = ["^"];
  for (const one of classes) if (one !== "N" || shape.at(-1) !== "N") shape.push(one);
  shape.push("$");
  for (let at = 0; at + 1 < shape.length; at += 1) {
    const [first, second, third] = [shape[at], shape[at + 1], shape[at + 2]];
    found.add(`<${first}>`);
    found.add(`<${first} ${second}>`);
    if (third !== undefined) found.add(`<${first} ${second} ${third}>`);
  }
}

/** Classes whose meaning depends on the clause: "not broken", "if it fails", "will be done". */
const TELLING = new Set(["bad", "good", "done", "choose", "past", "stay"]);
const STANCES = new Set([
  "not",
  "no",
  "if",
  "when",
  "maybe",
  "modal",
  "will",
  "need",
  "why",
  "because",
  "please",
  "can",
  "they",
]);
const CLAUSE_ENDS = new Set([",", ";", ":", ".", "(", ")", "but", "so"]);

function addStances(classes: readonly string[], isQuestion: boolean, found: Set<string>): void {
  let held: string[] = isQuestion ? ["?"] : [];
  for (const one of classes) {
    if (CLAUSE_ENDS.has(one)) held = isQuestion ? ["?"] : [];
    else if (STANCES.has(one)) held.push(one);
    else if (TELLING.has(one)) {
      for (const stance of held) found.add(`${stance}~${one}`);
      if (held.length === 0) found.add(`~${one}`);
    }
  }
}

const COUNTS = ["", "@alone", "@of two", "@of three", "@of many"];

function addPlace(sentence: Sentence, { role, index, count, asksElsewhere }: Place, found: Set<string>): void {
  found.add(`@${role}`);
  found.add(index === 0 ? "@first" : index === count - 1 ? "@last" : "@inside");
  found.add(COUNTS[Math.min(count, 4)] ?? "");
  if (asksElsewhere) found.add("@asks elsewhere");
  if (sentence.isItem) found.add("@item");
  if (sentence.checked !== undefined) found.add(sentence.checked ? "@checked" : "@unchecked");
  if (sentence.section !== undefined) found.add(`@section ${sentence.section}`);
  if (sentence.introducesEvidence) found.add("@evidence after");
  if (sentence.followsAgreement) found.add("@after agreement");
  if (sentence.isQuestion) found.add("@question");
}

let classes: Map<string, string> | undefined;

function classOf(word: string): string {
  classes ??= readClasses();
  const known = classes.get(word);
  if (known !== undefined) return known;
  const found = shapeOf(word);
  if (classes.size < MAX_KNOWN) classes.set(word, found);
  return found;
}

/** Limit of the cache. */
const MAX_KNOWN = 50_000;

function readClasses(): Map<string, string> {
  const lists = JSON.parse(readFileSync(dataFile("pattern-words.json"), "utf8")) as Record<string, string>;
  return new Map(Object.entries(lists).flatMap(([name, list]) => list.split(" ").map((word) => [word, name] as const)));
}

function shapeOf(word: string): string {
  if (/^\d/.test(word)) return "#";
  if (/^[^a-z_]/.test(word)) return word;
  if (word.length > 3 && word.endsWith("ed")) return "ed";
  if (word.length > 4 && word.endsWith("ing")) return "ing";
  if (word.length > 4 && word.endsWith("ly")) return "ly";
  if (word.length > 3 && word.endsWith("s") && !word.endsWith("ss")) return "s";
  return "N";
}
