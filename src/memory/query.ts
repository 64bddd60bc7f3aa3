/**
 * What a person or a model typed, as expressions of SQLite's full-text search. The text is data: every
 * term reaches SQLite in quotes, so that no character of it can be taken for an operator.
 *
 * Words are looked for together. `"exact phrase"` keeps words in order, `-word` rules passages out.
 */
import { queryPhrases } from "./word-forms.ts";

export interface QueryTerm {
  text: string;
  /** Written in quotes: words that follow each other. */
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

/** For the table of words; undefined when nothing in the query is a word. */
export function wordsExpression({ wanted, unwanted }: ParsedQuery, join: "AND" | "OR"): string | undefined {
  const positive = wanted.flatMap((term) => termExpression(term) ?? []);
  // A sign that is no word can only be found by its characters; leaving it out would find too much.
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

/** For the table of fragments; undefined when no term has three characters. */
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
