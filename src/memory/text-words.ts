/**
 * Prepares a text for the full-text table, and collects its words for the vocabulary. Both need each word once, and most
 * words have been seen before, so one pass with a memory of words serves both.
 */
import { hasUnspacedScript, identifierParts, spacedParts, withoutUnspaced } from "./query.ts";

export interface TextWords {
  /** The text without scripts that only `parts` covers. Absent: the text as it is. */
  text?: string | undefined;
  /** Extra words for what the tokenizer cannot find (`query.ts`). */
  parts: string;
}

export interface WordReader {
  read(raw: string): TextWords;
  /** The vocabulary of the texts since the last call: folded, without words that were returned before. */
  takeVocabulary(): string[];
}

const MIN_WORD = 3;
const MAX_WORD = 64;
const MAX_KNOWN = 200_000;
const CUT_LENGTH = 13;
const ASCII = /^[\0-\x7f]*$/;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Nothing to normalize, no emoji and no script without spaces. */
const LATIN = /^[\0-\u00a8\u00aa-\u00ad\u00af-\u02ff\u2002-\u203b\u203d-\u2048\u204a-\u206f]*$/;
const LATIN_END = 0x03_00;
const IN_WORD = Uint8Array.from({ length: LATIN_END }, (_, code) =>
  /[\p{L}\p{M}\p{N}]/u.test(String.fromCodePoint(code)) ? 1 : 0,
);
const PLAIN_WORDS = 2 ** 16;
const ONLY_DIGITS = /^\p{N}+$/u;

export function createWordReader(): WordReader {
  /** Each word as it was written, with its parts as text; empty if it has none. */
  const known = new Map<string, string>();
  const listed = new Set<string>();
  /** Known words without parts, by two hashes: most words of a text are not even cut out of it. */
  const plain = new Uint32Array(PLAIN_WORDS);
  let fresh: string[] = [];

  const list = (word: string): void => {
    if (word.length < MIN_WORD || word.length > MAX_WORD) return;
    const folded = foldWord(word);
    if (ONLY_DIGITS.test(folded) || listed.has(folded)) return;
    listed.add(folded);
    fresh.push(folded);
  };
  const learn = (found: string): string => {
    // V8 keeps the whole text alive for a long word that was cut out of it.
    const word = found.length < CUT_LENGTH ? found : Buffer.from(found).toString();
    const parts = identifierParts(word);
    list(word);
    if (parts.length > 1) for (const part of parts) list(part);
    const text = parts.length > 1 ? parts.join(" ") : "";
    known.set(word, text);
    return text;
  };

  const addParts = (parts: string[], word: string): boolean => {
    const own = known.get(word) ?? learn(word);
    if (own !== "") parts.push(own);
    return own === "";
  };
  /** Only for Latin texts and their punctuation, where a character alone tells whether it is part of a word. */
  const readLatin = (text: string, parts: string[]): void => {
    let start = -1;
    let [place, check] = [0, 0];
    const finish = (end: number): void => {
      const index = (place ^ (place >>> 16)) & (PLAIN_WORDS - 1);
      if (plain[index] !== check >>> 0 && addParts(parts, text.slice(start, end))) plain[index] = check;
      start = -1;
    };
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < LATIN_END && IN_WORD[code] === 1) {
        if (start < 0) [start, place, check] = [at, 0, 0];
        place = Math.imul(place ^ code, 0x01_00_01_93);
        check = Math.imul(check + code, 0x2c_1b_3c_6d);
      } else if (start >= 0) finish(at);
    }
    if (start >= 0) finish(text.length);
  };

  return {
    read: (raw) => {
      if (known.size > MAX_KNOWN) {
        known.clear();
        listed.clear();
        plain.fill(0);
      }
      const parts: string[] = [];
      if (LATIN.test(raw)) {
        readLatin(raw, parts);
        return { text: raw.includes("\0") ? raw.replaceAll("\0", " ") : undefined, parts: parts.join("\n") };
      }
      const text = raw.normalize("NFC").replaceAll("\0", " ");
      const isSpaced = !hasUnspacedScript(text);
      const spaced = isSpaced ? text : withoutUnspaced(text);
      if (!isSpaced) parts.push(...spacedParts(text));
      for (const word of spaced.match(WORD) ?? []) addParts(parts, word);
      return { text: spaced === raw ? undefined : spaced, parts: parts.join("\n") };
    },
    takeVocabulary: () => {
      const words = fresh;
      fresh = [];
      return words;
    },
  };
}

/** Lower case without accents, as the tokenizer does. */
export function foldWord(word: string): string {
  return ASCII.test(word) ? word.toLowerCase() : word.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}
