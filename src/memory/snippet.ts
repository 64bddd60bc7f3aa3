/**
 * The part of a passage that shows the matches. Other `**` in the text are removed, and control characters are made
 * visible: the text may be written to deceive its reader.
 */
import { printable, printableLine } from "../base/text.ts";
import { type QueryTerm, identifierParts, isCommonWord } from "./query.ts";

export interface SnippetOptions {
  /** In characters. */
  length: number;
  /** False: on one line. */
  keepLines: boolean;
}

const MARK = "**";

export function createSnippet(
  passage: string,
  terms: readonly Pick<QueryTerm, "text">[],
  options: SnippetOptions,
): string {
  const neutral = options.keepLines ? printable(passage) : printableLine(passage);
  const text = neutral.replaceAll(MARK, "");
  const matches = findMatches(text, terms);
  const { start, end } = chooseWindow(text, matches, options.length);
  let snippet = start > 0 ? "…" : "";
  let at = start;
  for (const [from, to] of matches) {
    if (from < start || to > end) continue;
    snippet += `${text.slice(at, from)}${MARK}${text.slice(from, to)}${MARK}`;
    at = to;
  }
  return `${snippet}${text.slice(at, end)}${end < text.length ? "…" : ""}`;
}

type Match = [start: number, end: number];

const MAX_MATCHES = 200;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

/** Sorted, neither overlapping nor touching. */
function findMatches(text: string, terms: readonly Pick<QueryTerm, "text">[]): Match[] {
  const folded = fold(text);
  const found: Match[] = [];
  for (const form of termForms(terms)) {
    for (let at = folded.indexOf(form.text); at !== -1; at = folded.indexOf(form.text, at + form.text.length)) {
      if (found.length >= MAX_MATCHES) break;
      // A stem only matches at the start of a word.
      if (form.isStem && at > 0 && WORD_CHARACTER.test(folded[at - 1] ?? "")) continue;
      const end = form.isStem ? wordEnd(folded, at + form.text.length) : at + form.text.length;
      if (!found.some(([from, to]) => at < to && end > from)) found.push([at, end]);
    }
  }
  const merged: Match[] = [];
  for (const [from, to] of found.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last?.[1] === from) last[1] = to;
    else merged.push([from, to]);
  }
  return merged;
}

/** Longest first, to mark a whole term instead of its parts. */
function termForms(terms: readonly Pick<QueryTerm, "text">[]): { text: string; isStem: boolean }[] {
  const whole = new Set<string>();
  const stems = new Set<string>();
  for (const { text } of terms) {
    whole.add(fold(text.normalize("NFC")));
    const words = text.match(/[\p{L}\p{N}]+/gu) ?? [];
    // The "the" of a phrase is everywhere.
    const telling = words.filter((word) => !isCommonWord(word.toLowerCase()));
    for (const word of telling.length === 0 ? words : telling) {
      for (const part of [word, ...identifierParts(word)]) stems.add(stem(fold(part)));
    }
  }
  return [
    ...longestFirst(whole).map((text) => ({ text, isStem: false })),
    ...longestFirst(stems).map((text) => ({ text, isStem: true })),
  ];
}

function longestFirst(forms: ReadonlySet<string>): string[] {
  return [...forms].filter((form) => form !== "").sort((a, b) => b.length - a.length);
}

/** Simpler than the index's stemmer: it only decides which words are marked. */
function stem(word: string): string {
  const cut = word.replace(/(?:ations?|ings?|ness|ments?|ies|ed|es|s|e|y)$/, "");
  return cut.length >= 4 ? cut : word;
}

const LONGEST_ENDING = 12;

function wordEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && end - from < LONGEST_ENDING && WORD_CHARACTER.test(text[end] ?? "")) end += 1;
  return end;
}

/** Lower case without accents, character by character, so that positions stay the same. */
function fold(text: string): string {
  return text.replace(/[A-Z]|[^\0-\x7f]/g, (character) => {
    const base = (character.normalize("NFD")[0] ?? character).toLowerCase();
    return base.length === 1 ? base : character;
  });
}

/** The window with the most matches, with some text before them. */
function chooseWindow(text: string, matches: readonly Match[], length: number): { start: number; end: number } {
  if (text.length <= length) return { start: 0, end: text.length };
  let best = 0;
  let bestCount = 0;
  for (const [index, [from]] of matches.entries()) {
    const count = matches.slice(index).filter(([, to]) => to <= from + length * 0.8).length;
    if (count > bestCount) [best, bestCount] = [from, count];
  }
  const wanted = Math.min(Math.max(0, best - Math.floor(length * 0.2)), text.length - length);
  return { start: whole(text, wanted), end: whole(text, wanted + length) };
}

/** Avoids cutting a surrogate pair. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000 ? at + 1 : at;
}
