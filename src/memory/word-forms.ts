/**
 * What the tokenizer of the index cannot find by itself, as words that it can. The same forms are made
 * of a text when it is indexed and of a query when it is asked:
 *
 * - the parts of an identifier: `getUserName` → `get User Name` (at `_`, `-`, `.` it splits by itself)
 * - scripts without spaces: each pair of neighbouring characters, and each character
 * - emoji: a word with their number
 */

export interface WordForms {
  /** The text without what only `parts` can find. */
  text: string;
  parts: string;
}

const SPACELESS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々〆]+/gu;
const EMOJI = /\p{Extended_Pictographic}|[\u{1f1e6}-\u{1f1ff}]/gu;
const WORD = /[\p{L}\p{N}]+/gu;
/** A letter that begins a part inside a word, as in `getUser` and `HTTPServer`. */
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

/** The word itself when it has no parts. */
export function identifierParts(word: string): string[] {
  if (word.length > LONGEST_WORD || !PART_BEGINS.test(word)) return [word];
  return word.match(CAMEL_PART) ?? [word];
}

/** Each a list of words that must follow each other; together they are all that `term` asks for. */
export function queryPhrases(term: string): { phrases: string[][]; identifier?: string[] } {
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
