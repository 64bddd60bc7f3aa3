/**
 * The scorer knows English. In another language a look-alike ("Problem", "final", "die", "error") means nothing to
 * it, so a sentence that is not English is left alone.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";

/** "other": more foreign than English function words, or a script that English does not use. "mixed": some. */
export function languageOf(text: string): "english" | "mixed" | "other" {
  const sample = text.slice(0, 2000).toLowerCase();
  const foreignScript = sample.match(/[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc]/g)?.length ?? 0;
  if (foreignScript > 0 && foreignScript * 4 >= (sample.match(/[a-z]/g)?.length ?? 0)) return "other";
  let english = 0;
  let other = 0;
  for (const word of sample.match(/[\p{L}']+/gu) ?? []) {
    const spoken = spokenIn(word);
    english += spoken.english;
    other += spoken.other;
  }
  if (other >= Math.max(english * 0.8, english > 0 ? 1.1 : 0.1)) return "other";
  return other > 0 || foreignScript > 0 || text.length > sample.length ? "mixed" : "english";
}

interface Spoken {
  english: number;
  other: number;
}

const NEITHER: Spoken = { english: 0, other: 0 };
let known: Map<string, Spoken> | undefined;

/** How much a word speaks for English, and how much for another language. */
function spokenIn(word: string): Spoken {
  known ??= readFunctionWords();
  const listed = known.get(word);
  if (listed !== undefined) return listed;
  if (/(?:n't|'s|'re|'ve|'ll|'m)$/.test(word)) return { english: 1, other: 0 };
  const elided = /^(?:l|d|j|c|n|s|qu)'/.exec(word)?.[0] ?? "";
  if (elided !== "") return { english: 0, other: 1 + (known.get(word.slice(elided.length))?.other ?? 0) };
  return /[à-öø-ÿąęłńśźżčřšžğış]/.test(word) ? { english: 0, other: 0.5 } : NEITHER;
}

function readFunctionWords(): Map<string, Spoken> {
  const lists = JSON.parse(readFileSync(dataFile("function-words.json"), "utf8")) as { english: string; other: string };
  return new Map<string, Spoken>([
    ...lists.other.split(" ").map((word): [string, Spoken] => [word, { english: 0, other: 1 }]),
    ...lists.english.split(" ").map((word): [string, Spoken] => [word, { english: 1, other: 0 }]),
  ]);
}
