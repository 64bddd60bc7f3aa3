/**
 * The part of a passage that shows why it was found. Matches stand between `**`; other `**` of the text
 * are taken out, so that a mark is a mark. Control characters are made visible: the text may have been
 * written to deceive whoever reads it.
 */
import { printable, printableLine } from "../base/printable.ts";
import type { QueryTerm } from "./query.ts";
import { identifierParts } from "./word-forms.ts";

export interface SnippetOptions {
  length: number;
  /** False: on one line. */
  keepLines: boolean;
}

const MARK = "**";

export function createSnippet(passage: string, terms: readonly QueryTerm[], options: SnippetOptions): string {
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

/** In order, none within another. */
function findMatches(text: string, terms: readonly QueryTerm[]): Match[] {
  const folded = fold(text);
  const found: Match[] = [];
  for (const form of termForms(terms)) {
    for (let at = folded.indexOf(form.text); at !== -1; at = folded.indexOf(form.text, at + form.text.length)) {
      if (found.length >= MAX_MATCHES) break;
      // A stem stands for a word only where a word begins.
      if (form.isStem && at > 0 && WORD_CHARACTER.test(folded[at - 1] ?? "")) continue;
      const end = form.isStem ? wordEnd(folded, at + form.text.length) : at + form.text.length;
      if (!found.some(([from, to]) => at < to && end > from)) found.push([at, end]);
    }
  }
  return found.sort((a, b) => a[0] - b[0]);
}

/** The longest first, so that a whole term is marked rather than its parts. */
function termForms(terms: readonly QueryTerm[]): { text: string; isStem: boolean }[] {
  const whole = new Set<string>();
  const stems = new Set<string>();
  for (const { text } of terms) {
    whole.add(fold(text.normalize("NFC")));
    for (const word of text.match(/[\p{L}\p{N}]+/gu) ?? []) {
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

/** Rougher than the index's own stemmer: it only decides what is marked. */
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

/** Small letters without accents, each in the place of the one it was. */
function fold(text: string): string {
  return text.replace(/[A-Z]|[^\0-\x7f]/g, (character) => {
    const base = (character.normalize("NFD")[0] ?? character).toLowerCase();
    return base.length === 1 ? base : character;
  });
}

/** Where most matches are close together, a little text before them. */
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

/** Not through the middle of a character. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit < 0xe000 ? at + 1 : at;
}
