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
const ASCII_WORD = /[A-Za-z0-9]+/g;
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const ONLY_DIGITS = /^\p{N}+$/u;

export function createWordReader(): WordReader {
  /** Each word as it was written, with its parts as text; empty if it has none. */
  const known = new Map<string, string>();
  const listed = new Set<string>();
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

  return {
    read: (raw) => {
      if (known.size > MAX_KNOWN) {
        known.clear();
        listed.clear();
      }
      const isPlain = ASCII.test(raw);
      const text = (isPlain ? raw : raw.normalize("NFC")).replaceAll("\0", " ");
      const isSpaced = isPlain || !hasUnspacedScript(text);
      const spaced = isSpaced ? text : withoutUnspaced(text);
      const parts = isSpaced ? [] : spacedParts(text);
      for (const word of spaced.match(isPlain ? ASCII_WORD : WORD) ?? []) {
        const own = known.get(word) ?? learn(word);
        if (own !== "") parts.push(own);
      }
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
