/** DLQ and "dead letter queue": a short form that the other text writes out is hardly ever an accident. */

const SMALL_WORDS = new Set(["of", "the", "and", "for", "to", "a", "an", "in", "on"]);
const MIN_LETTERS = 3;

export interface Initials {
  /** Short forms, lower case. */
  shortForms: ReadonlySet<string>;
  /** The first letters of all words in a row, and the same without small words. */
  rows: readonly string[];
}

/** Longer texts are cut. */
const MAX_TEXT = 400;

export function readInitials(text: string): Initials {
  const words = text.slice(0, MAX_TEXT).match(/[\p{L}\p{N}]+/gu) ?? [];
  return {
    shortForms: new Set(words.filter(isShortForm).map(plainForm)),
    rows: [firstLetters(words), firstLetters(words.filter((word) => !SMALL_WORDS.has(word.toLowerCase())))],
  };
}

/** How many short forms of a text others write out, or the other way round. */
export function writtenOut(one: Initials, others: readonly Initials[]): number {
  const used = new Set(others.flatMap(({ shortForms }) => [...shortForms]));
  const isIn = (form: string, { rows }: Initials): boolean => rows.some((row) => row.includes(form));
  const mine = [...one.shortForms].filter((form) => !used.has(form) && others.some((other) => isIn(form, other)));
  const theirs = [...used].filter((form) => !one.shortForms.has(form) && isIn(form, one));
  return mine.length + theirs.length;
}

function firstLetters(words: readonly string[]): string {
  return words.map((word) => (word[0] ?? "").toLowerCase()).join("");
}

/** In capitals, or without a vowel: KYC, CDRs, scd2, dlq. */
function isShortForm(word: string): boolean {
  if (plainForm(word).length < MIN_LETTERS || word.length > 6) return false;
  return /^[A-Z]{3,}s?\d*$/.test(word) || /^[bcdfghjklmnpqrstvwxz]{3,5}\d?$/.test(word);
}

function plainForm(word: string): string {
  return word.replace(/s?\d*$/, "").toLowerCase();
}
