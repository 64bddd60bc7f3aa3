/** The matter of a sentence, as its telling words, and the overlap of two sentences. Works in any language. */
import { readFileSync } from "node:fs";
import { dataFile } from "../base/package.ts";

export type Matter = ReadonlySet<string>;

const WORD = /[\p{L}\p{N}][\p{L}\p{N}_./:@#-]*[\p{L}\p{N}_]|\p{Lo}/gu;
const HAN = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
const MIN_LENGTH = 3;

export function matterOf(text: string): Matter {
  const found = new Set<string>();
  for (const word of text.toLowerCase().match(WORD) ?? []) {
    if (HAN.test(word)) for (let at = 0; at + 1 < word.length; at += 1) found.add(word.slice(at, at + 2));
    else if (word.length >= MIN_LENGTH && !isCommon(word)) found.add(stem(word));
  }
  return found;
}

/** The share of the smaller one's words that both have, 0 to 1; 0 with fewer than `least` in common. */
export function overlap(a: Matter, b: Matter, least = 1): number {
  const [small, large] = a.size <= b.size ? [a, b] : [b, a];
  let common = 0;
  for (const word of small) if (large.has(word)) common += 1;
  return small.size === 0 || common < Math.min(least, small.size) ? 0 : common / small.size;
}

/** Makes "retries" and "retry", "logged" and "logging" equal. */
function stem(word: string): string {
  if (word.length <= 4 || /[^\p{L}]/u.test(word)) return word;
  return word.replace(/(?:ies|ied|ying|y)$/, "i").replace(/(?:ing|ed|es|s|er|ion|en|e)$/, "");
}

let common: ReadonlySet<string> | undefined;

/** Function words and words without a specific meaning. */
function isCommon(word: string): boolean {
  common ??= readCommon();
  return common.has(word);
}

function readCommon(): ReadonlySet<string> {
  const lists = JSON.parse(readFileSync(dataFile("function-words.json"), "utf8")) as Record<string, string>;
  return new Set(Object.values(lists).flatMap((list) => list.split(" ")));
}
