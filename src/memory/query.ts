/**
 * Translates a query into expressions for SQLite's full-text search. Every term is quoted, so no character is taken
 * for an operator. All words must match; `"exact phrase"` keeps them in order, `-word` excludes passages.
 */

export interface QueryTerm {
  text: string;
  /** A quoted phrase. */
  exact: boolean;
}

export interface ParsedQuery {
  wanted: QueryTerm[];
  unwanted: QueryTerm[];
}

const MAX_QUERY = 2000;
const MAX_TERMS = 24;
const MAX_TERM = 200;
const MAX_GRAMS = 48;
// oxlint-disable-next-line no-control-regex -- control characters are exactly what this takes out
const CONTROL = /[\u0000-\u001f\u007f]/g;
const TERM = /(?<![^\s])(-?)"([^"]*)"?|(\S+)/gu;

export function parseQuery(text: string): ParsedQuery {
  const query: ParsedQuery = { wanted: [], unwanted: [] };
  const cleaned = text.slice(0, MAX_QUERY).toWellFormed().replace(CONTROL, " ");
  for (const [, minus, quoted, plain] of cleaned.matchAll(TERM)) {
    const isNegated = quoted === undefined ? /^-[\p{L}\p{N}]/u.test(plain ?? "") : minus === "-";
    const term = (quoted ?? (isNegated ? plain?.slice(1) : plain) ?? "").trim().slice(0, MAX_TERM).toWellFormed();
    if (term === "" || query.wanted.length + query.unwanted.length >= MAX_TERMS) continue;
    (isNegated ? query.unwanted : query.wanted).push({ text: term, exact: quoted !== undefined });
  }
  return query;
}

/** Expression for the table of words. Undefined: the query has no word. */
export function wordsExpression({ wanted, unwanted }: ParsedQuery, join: "AND" | "OR"): string | undefined {
  const positive = wanted.flatMap((term) => termExpression(term) ?? []);
  // A term without a word can only be found by its characters. Ignoring it would match too much.
  if (positive.length === 0 || (join === "AND" && positive.length < wanted.length)) return undefined;
  const negative = unwanted.flatMap((term) => termExpression(term) ?? []);
  const all = `(${positive.join(` ${join} `)})`;
  return negative.length === 0 ? all : `${all} NOT (${negative.join(" OR ")})`;
}

export function isSearchable(query: ParsedQuery): boolean {
  return wordsExpression(query, "OR") !== undefined || fragmentsExpression(query, "OR") !== undefined;
}

function termExpression({ text, exact }: QueryTerm): string | undefined {
  const { phrases, identifier } = queryPhrases(text);
  if (phrases.length === 0) return undefined;
  const whole = phrases.map((words) => quote(words.join(" "))).join(" AND ");
  if (exact || identifier === undefined || phrases.length > 1) return `(${whole})`;
  return `(${whole} OR ${quote(identifier.join(" "))})`;
}

/** Expression for the table of fragments. Undefined: no term has three characters. */
export function fragmentsExpression({ wanted }: ParsedQuery, join: "AND" | "OR"): string | undefined {
  const terms = wanted.flatMap(({ text }) => {
    const grams = trigrams(text);
    return grams.length === 0 ? [] : [`(${grams.map(quote).join(" AND ")})`];
  });
  return terms.length === 0 ? undefined : terms.join(` ${join} `);
}

function trigrams(term: string): string[] {
  const characters = Array.from(term.normalize("NFC"));
  const grams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(""));
  return [...new Set(grams)].slice(0, MAX_GRAMS);
}

function quote(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/**
 * Extra words for what the tokenizer cannot find. They are computed the same way for texts and queries:
 *
 * - parts of an identifier: `getUserName` → `get User Name` (the tokenizer itself splits at `_`, `-`, `.`)
 * - scripts without spaces: each pair of characters, and each character
 * - emoji: a word with their code point
 */
interface WordForms {
  /** The text without scripts that only `parts` covers. */
  text: string;
  parts: string;
}

const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu;
const EMOJI = /\p{Extended_Pictographic}|[\u{1f1e6}-\u{1f1ff}]/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** A part that starts inside a word, as in `getUser` and `HTTPServer`. */
const PART_BEGINS = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const CAMEL_PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}]+|\p{N}+|\p{Lu}/gu;
const LONGEST_WORD = 200;

export function wordForms(raw: string): WordForms {
  const text = raw.normalize("NFC").replaceAll("\0", " ");
  const parts: string[] = [];
  for (const [word] of text.matchAll(WORD)) {
    if (PART_BEGINS.test(word)) parts.push(identifierParts(word).join(" "));
  }
  for (const [run] of text.matchAll(SPACELESS)) parts.push(pairs(run).join(" "), Array.from(run).join(" "));
  for (const [emoji] of text.matchAll(EMOJI)) parts.push(emojiWord(emoji));
  return { text: text.replace(SPACELESS, " "), parts: parts.join("\n") };
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
  const plain = text.replace(SPACELESS, " ").match(/[\p{L}\p{M}\p{N}\p{Co}]+/gu) ?? [];
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
