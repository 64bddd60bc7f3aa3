/**
 * Vectors of English words, learned from technical documentation (`scripts/train-word-vectors.ts`): words that occur
 * beside the same words have similar vectors. They connect a question with a text that shares no word with it.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../base/package.ts";
import type { Encoder } from "./meaning.ts";
import { identifierParts, isCommonWord } from "./query.ts";

const FILE = "word-vectors.bin";
/** A word of this rank counts half as much as a rare one. */
const HALF_RANK = 75;

/** Loads the vectors with the first call of `encode`. */
export function createWordEncoder(): Encoder {
  let loaded: LoadedVectors | undefined;
  return {
    name: "words",
    isLocal: true,
    encode: async (texts) => {
      const vectors = (loaded ??= readVectors());
      return await Promise.resolve({ vectors: texts.map((text) => meanVector(vectors, text)) });
    },
  };
}

interface LoadedVectors {
  dimensions: number;
  ranks: ReadonlyMap<string, number>;
  numbers: Int8Array;
}

function readVectors(): LoadedVectors {
  const bytes = readFileSync(dataFile(FILE));
  const end = bytes.indexOf("\n");
  const words = bytes.toString("utf8", 0, end).split(" ");
  const numbers = new Int8Array(bytes.buffer, bytes.byteOffset + end + 1, bytes.length - end - 1);
  return { dimensions: numbers.length / words.length, ranks: new Map(words.map((word, at) => [word, at])), numbers };
}

/** Words that come up often count a little more. Undefined: no word is known. */
function meanVector({ dimensions, ranks, numbers }: LoadedVectors, text: string): Float32Array | undefined {
  const times = new Map<number, number>();
  for (const word of vectorWords(text)) {
    const rank = rankOf(ranks, word);
    if (rank !== undefined) times.set(rank, (times.get(rank) ?? 0) + 1);
  }
  if (times.size === 0) return undefined;
  const sum = new Float32Array(dimensions);
  for (const [rank, count] of times) {
    const weight = ((rank + 1) / (rank + 1 + HALF_RANK)) * (1 + Math.log(count));
    const from = rank * dimensions;
    for (let at = 0; at < dimensions; at += 1) sum[at] = (sum[at] ?? 0) + weight * (numbers[from + at] ?? 0);
  }
  return sum;
}

const ENDINGS = ["s", "es", "ed", "ing", "er", "ly"];

function rankOf(ranks: ReadonlyMap<string, number>, word: string): number | undefined {
  const forms = [
    word,
    ...ENDINGS.filter((ending) => word.endsWith(ending)).map((ending) => word.slice(0, -ending.length)),
  ];
  return forms.map((form) => ranks.get(form)).find((rank) => rank !== undefined);
}

/** In lower case, without words that carry no meaning. Parts of an identifier count as words. */
export function vectorWords(text: string): string[] {
  const words: string[] = [];
  for (const [word] of text.matchAll(/[A-Za-z]{2,40}/g)) {
    for (const part of identifierParts(word)) {
      const folded = part.toLowerCase();
      if (folded.length > 1 && !isCommonWord(folded)) words.push(folded);
    }
  }
  return words;
}
