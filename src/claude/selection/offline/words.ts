/**
 * The words of a text for comparison: identifiers and paths split, stop words removed, abbreviations written out,
 * and each word reduced to a stem. Scripts without spaces give pairs of characters.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../../base/package.ts";
import { lazily } from "../../../base/text.ts";

/** Longer texts are cut: the beginning says what it is about. */
const MAX_TEXT = 2_000;
const NO_SPACES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
const WORD = /[\p{L}\p{M}\p{N}]+(?:['’]\p{L}+)?/gu;

export const wordLists = lazily(() => {
  const file = readFileSync(dataFile("relevance-words.json"), "utf8");
  const { stopWords = "", references = "", abbreviations = "" } = JSON.parse(file) as Record<string, string>;
  const pairs = abbreviations.split("|").map((row) => row.split(" "));
  return {
    stopWords: new Set(stopWords.split(" ")),
    /** Words that refer to what was said before: "now", "same", "weiter". */
    references: new Set(references.split(" ")),
    abbreviations: new Map(pairs.map(([short = "", ...words]) => [short, words.map(stem)])),
  };
});

/** Lower-case words in their order, with stop words. */
export function wordsOf(text: string): string[] {
  const words = splitIdentifiers(text.slice(0, MAX_TEXT)).match(WORD) ?? [];
  return words.flatMap((word) => (NO_SPACES.test(word) ? characterPairs(word) : word.toLowerCase()));
}

function splitIdentifiers(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/_/g, " ")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
}

function characterPairs(word: string): string[] {
  const characters = Array.from(word);
  return characters.length < 3 ? [word] : characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** The content words by their stems. */
export function stemsOf(text: string): Map<string, string> {
  const { stopWords, references, abbreviations } = wordLists();
  const stems = new Map<string, string>();
  for (const word of wordsOf(text)) {
    if (word.length < 2 || stopWords.has(word) || references.has(word)) continue;
    const written = abbreviations.get(word) ?? abbreviations.get(word.replace(/s$/, "")) ?? [stem(word)];
    for (const one of written) stems.set(one, word);
  }
  return stems;
}

const ENDINGS: readonly (readonly [string, string])[] = [
  ["ies", "y"],
  ["sses", "ss"],
  ["ations", "ate"],
  ["ation", "ate"],
  ["ments", ""],
  ["ment", ""],
  ["ings", ""],
  ["ing", ""],
  ["ed", ""],
  ["ers", "er"],
  ["ions", "ion"],
  ["es", "e"],
  ["s", ""],
];

/** The same for most forms of an English word; it need not be a word. */
export function stem(word: string): string {
  const plain = word.replace(/['’].*$/, "");
  if (plain.length <= 3 || !/^[a-z]+$/.test(plain)) return plain;
  const found = ENDINGS.find(([ending]) => plain.endsWith(ending) && plain.length - ending.length >= 3);
  const keeps = found?.[0] === "s" && /(?:ss|us|is)$/.test(plain);
  let stemmed = found === undefined || keeps ? plain : plain.slice(0, -found[0].length) + found[1];
  if (stemmed.length > 4) stemmed = stemmed.replace(/([^aeiouls])\1$/, "$1");
  for (const ending of [/ion$/, /e$/, /er$/, /or$/]) if (stemmed.length > 4) stemmed = stemmed.replace(ending, "");
  return stemmed.length > 4 ? stemmed.replace(/y$/, "i") : stemmed;
}

/** How alike two stems are, 0 to 1: equal, one begins the other, or they share most groups of three letters. */
export function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length < 4 || /\d/.test(short)) return 0;
  if (long.startsWith(short)) return short.length / long.length;
  if (long.length > 2 * short.length) return 0;
  const [left, right] = [trigrams(a), trigrams(b)];
  let shared = 0;
  for (const gram of left) if (right.has(gram)) shared++;
  const jaccard = shared / (left.size + right.size - shared);
  return jaccard >= 0.45 ? jaccard : 0;
}

const knownTrigrams = new Map<string, ReadonlySet<string>>();

function trigrams(word: string): ReadonlySet<string> {
  const known = knownTrigrams.get(word);
  if (known !== undefined) return known;
  const framed = `^${word}$`;
  const grams = new Set(Array.from({ length: framed.length - 2 }, (_, at) => framed.slice(at, at + 3)));
  if (knownTrigrams.size > 20_000) knownTrigrams.clear();
  knownTrigrams.set(word, grams);
  return grams;
}

/** The words whose first letters make a short form: "queue of dead letters" without "of". */
export function initialWords(text: string): string[] {
  return wordsOf(text).filter((word) => !/^(?:of|the|and|for|to|an?|in|on)$/.test(word));
}

/** Words in capitals or without a vowel: KYC, dlq. */
export function shortFormsOf(text: string): string[] {
  const words = text.slice(0, MAX_TEXT).match(/\b[A-Za-z]{3,5}\b/g) ?? [];
  const short = words.filter((word) => /^(?:[A-Z]+s?|[bcdfghjklmnpqrstvwxz]+)$/.test(word));
  return short.map((word) => word.replace(/s$/, "").toLowerCase());
}
