/**
 * Turns what people type into expressions for SQLite's full-text search. Every term is quoted, so no character is taken
 * for an operator. `"exact phrase"` keeps words in order, `-word` excludes passages, `word*` finds its beginnings.
 */

export interface QueryTerm {
  text: string;
  /** A quoted phrase. */
  exact: boolean;
  /** Also words that begin with it. */
  prefix: boolean;
}

export interface ParsedQuery {
  wanted: QueryTerm[];
  unwanted: QueryTerm[];
}

const MAX_QUERY = 2000;
const MAX_TERMS = 24;
const MAX_TERM = 200;
// oxlint-disable-next-line no-control-regex -- control characters are exactly what this takes out
const CONTROL = /[\u0000-\u001f\u007f]/g;
const TERM = /(?<![^\s])(-?)"([^"]*)"?|(\S+)/gu;
const PREFIX = /^([\p{L}\p{N}_./-]*[\p{L}\p{N}])\*$/u;

export function parseQuery(text: string): ParsedQuery {
  const query: ParsedQuery = { wanted: [], unwanted: [] };
  const cleaned = text.slice(0, MAX_QUERY).toWellFormed().replace(CONTROL, " ");
  for (const [, minus, quoted, plain] of cleaned.matchAll(TERM)) {
    const isNegated = quoted === undefined ? /^-[\p{L}\p{N}]/u.test(plain ?? "") : minus === "-";
    const given = (quoted ?? (isNegated ? plain?.slice(1) : plain) ?? "").trim().slice(0, MAX_TERM).toWellFormed();
    const start = quoted === undefined ? PREFIX.exec(given)?.[1] : undefined;
    const term = start ?? given;
    if (term === "" || query.wanted.length + query.unwanted.length >= MAX_TERMS) continue;
    const parsed = { text: term, exact: quoted !== undefined, prefix: start !== undefined };
    (isNegated ? query.unwanted : query.wanted).push(parsed);
  }
  return query;
}

/** The terms that carry meaning. If there are none, all of them. */
export function tellingTerms({ wanted }: ParsedQuery): QueryTerm[] {
  const telling = wanted.filter(({ text, exact }) => exact || !isCommonWord(bare(text)));
  return telling.length === 0 ? wanted : telling;
}

export function isCommonWord(word: string): boolean {
  return COMMON_WORDS.has(word);
}

function bare(text: string): string {
  return text.toLowerCase().replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");
}

const COMMON_WORDS: ReadonlySet<string> = new Set(
  (
    "a about again all also am an and any are as at be because been before but by can could did do does doing done for " +
    "from get give go got had has have having how i i'd i'm i've if in into is it it's its just let like made make me " +
    "my need no not of on once one or our out over please session so some somewhere that that's the their them then " +
    "there these they thing this those time to told up us was we we'd we'll we're we've were what what's when where " +
    "where's which while who why will with without would you your"
  ).split(" "),
);

/** Expression for a term as it was typed. Undefined: it has no word. */
export function termExpression({ text, exact, prefix }: QueryTerm): string | undefined {
  const { phrases, identifier } = queryPhrases(text);
  if (phrases.length === 0) return undefined;
  const whole = phrases.map((words) => phrase(words) + (prefix ? " *" : "")).join(" AND ");
  if (exact || identifier === undefined || phrases.length > 1) return `(${whole})`;
  return `(${whole} OR ${phrase(identifier)}${prefix ? " *" : ""})`;
}

/** Excludes passages with one of these terms. */
export function without(expression: string, unwanted: readonly QueryTerm[]): string {
  const negative = unwanted.flatMap((term) => termExpression(term) ?? []);
  return negative.length === 0 ? expression : `(${expression}) NOT (${negative.join(" OR ")})`;
}

export function phrase(words: readonly string[]): string {
  return `"${words.join(" ").replaceAll('"', '""')}"`;
}

/** The words of a term, in order. */
export function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFC")
      .replace(SPACELESS, " ")
      .match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? []
  );
}

const MIN_SCAN = 3;

/** Whether a passage can contain the term although no word of it matches. */
export function isWorthScanning({ text }: QueryTerm): boolean {
  return Array.from(text).length >= MIN_SCAN && /[^\p{L}\p{M}\p{N}]/u.test(text);
}

export function isSearchable({ wanted }: ParsedQuery): boolean {
  return wanted.some((term) => termExpression(term) !== undefined || isWorthScanning(term));
}

/*
 * Extra words for what the tokenizer cannot find. They are computed the same way for texts and queries:
 *
 * - parts of an identifier: `getUserName` → `get User Name` (the tokenizer itself splits at `_`, `-`, `.`)
 * - scripts without spaces: each pair of characters, and each character
 * - emoji: a word with their code point
 */
const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu;
const EMOJI = /\p{Extended_Pictographic}|[\u{1f1e6}-\u{1f1ff}]/gu;
/** No emoji and no script without spaces is below, or is among quotes, dashes and other punctuation. */
const BEYOND_LATIN = /[^\0-\u0dff\u2000-\u206f]|[©®‼⁉]/u;
/** A part that starts inside a word, as in `getUser` and `HTTPServer`. */
const PART_BEGINS = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const CAMEL_PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+|\p{N}+|\p{Lu}/gu;
const LONGEST_WORD = 200;

/** Whether a text may have emoji or a script without spaces. */
export function hasUnspacedScript(text: string): boolean {
  return BEYOND_LATIN.test(text);
}

export function withoutUnspaced(text: string): string {
  return text.replace(SPACELESS, " ");
}

/** Words for the emoji and the scripts without spaces of a text. */
export function spacedParts(text: string): string[] {
  const parts: string[] = [];
  for (const [run] of text.matchAll(SPACELESS)) parts.push(pairs(run).join(" "), Array.from(run).join(" "));
  for (const [emoji] of text.matchAll(EMOJI)) parts.push(emojiWord(emoji));
  return parts;
}

/** The word itself if it has no parts. */
export function identifierParts(word: string): string[] {
  if (word.length > LONGEST_WORD || !PART_BEGINS.test(word)) return [word];
  return word.match(CAMEL_PART) ?? [word];
}

/** Lists of consecutive words. Together they cover the term. */
function queryPhrases(term: string): { phrases: string[][]; identifier?: string[] | undefined } {
  const text = term.normalize("NFC").replaceAll("\0", " ");
  const phrases: string[][] = [];
  for (const [run] of text.matchAll(SPACELESS)) phrases.push(Array.from(run).length === 1 ? [run] : pairs(run));
  for (const [emoji] of text.matchAll(EMOJI)) phrases.push([emojiWord(emoji)]);
  const plain = wordsOf(text);
  if (plain.length === 0) return { phrases };
  phrases.push(plain);
  const parts = plain.flatMap((word) => identifierParts(word));
  return parts.length > plain.length ? { phrases, identifier: parts } : { phrases };
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}

function emojiWord(emoji: string): string {
  return `emoji${emoji.codePointAt(0)?.toString(16) ?? ""}`;
}
