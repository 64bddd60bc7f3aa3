/**
 * One spelling for the scorer: lower case, contractions written out ("can't" → "can not"), and names (code,
 * addresses, paths, quotations) replaced by placeholders, so that `failed_jobs` or a quoted "it's broken"
 * claims nothing. It knows only English: in another language, "final" or "die" mean something else.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";

type Replacement = readonly [pattern: RegExp, by: string];

/** Keys, hashes, encoded data. */
const LONG_NAME = /(?<![\w+=-])[\w+=-]{64,}/g;

const NAMES: readonly Replacement[] = [
  [/`{1,2}[^`\n]{1,300}`{1,2}/g, " code_ "],
  [/\bhttps?:\/\/[^\s<>)\]]{1,2000}/g, " url_ "],
  [/\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)/g, "$1"],
  [/["“”«»„]([^"“”«»„\n]{1,400})["“”«»]/g, " quote_ "],
  [/(?<=^|[\s(:])['‘]([^'‘’\n]{2,200})['’](?=$|[\s.,;:!?)])/g, " quote_ "],
  [/(?<![\w/])(?:\.{0,2}\/)?(?:[\w@.-]{1,80}\/){1,12}[\w@.-]{0,80}\w/g, " path_ "],
  [
    /\b[\w-]{1,60}\.(?:ts|js|tsx|jsx|py|rs|go|java|md|json|ya?ml|toml|csv|xlsx?|pdf|docx?|sql|sh|txt|html|css|conf|env|parquet|png|log)\b/gi,
    " path_ ",
  ],
  [/\*\*|__|~~|(?<=\s|^)[*_](?=\w)|(?<=\w)[*](?=\s|$|[.,])/g, ""],
];

const SPELLINGS: readonly Replacement[] = [
  [/[\u2018\u2019\u02bc`´](?=\w)/g, "'"],
  [/[\u2010-\u2012]/g, "-"],
  [/\b(?:can't|cannot|cant)\b/g, "can not"],
  [/\b(?:won't|wont)\b/g, "will not"],
  [/\bain't\b/g, "is not"],
  [/\b(do|does|did|is|are|was|were|has|have|had|would|could|should|must|need)n'?t\b/g, "$1 not"],
  [/\b(i|you|we|they|who|that|there)'?ve\b/g, "$1 have"],
  [/\b(i|you|he|she|it|we|they|that|there|this|who)'ll\b/g, "$1 will"],
  [/\b(you|we|they|there|what|who|these|those)'re\b/g, "$1 are"],
  [/\b(?:im|i'm)\b/g, "i am"],
  [/\b(?:let's|lets)\b/g, "let us"],
  [/\bthats\b/g, "that is"],
  [/\b(it|that|there|what|here|he|she|who|where|how|why|everything|nothing|something|nobody|everyone)'s\b/g, "$1 is"],
  [
    /(?<=[a-z])'s (?=(?:been|gone|out|back|down|up|off|on|not|now|still|all|done|in|over|too|only|a|an|the)\b)/g,
    " is ",
  ],
  [/\b(i|you|he|she|it|we|they|that)'d\b/g, "$1 would"],
  [/\bgonna\b/g, "going to"],
  [/\bgotta\b/g, "have to"],
  [/\bwanna\b/g, "want to"],
  [/→|->/g, " arrow_ "],
  [/\bany ?more\b/g, "anymore"],
  [/[✅☑✔🟢]/gu, " done_ "],
  [/[❌✖🔴🚨]/gu, " failed_ "],
  [/[🎉🚀🥳🙌🎊💪]/gu, " hooray_ "],
];

const MAY_NAME = /["'“”«»„‘`/[*_~]|\.\w/;
/** Most sentences need no change. */
const MAY_SPELL =
  /['\u2018\u2019\u02bc`´]|->|[^\0-\x7f]|\b(?:cant|cannot|wont|im|lets|thats|gonna|gotta|wanna|any ?more|\w+(?:nt|ve))\b/;
const BLANKS = /[^\S ]\s*| \s+/g;

export function normalize(sentence: string): string {
  let text = sentence.length < 64 ? sentence : sentence.replace(LONG_NAME, " code_ ");
  if (MAY_NAME.test(text)) text = replaceAll(text, NAMES);
  text = text.toLowerCase();
  if (MAY_SPELL.test(text)) text = replaceAll(text, SPELLINGS);
  return text.replace(BLANKS, " ").trim();
}

function replaceAll(text: string, replacements: readonly Replacement[]): string {
  let result = text;
  for (const [pattern, by] of replacements) result = result.replace(pattern, by);
  return result;
}

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

/** How much a word suggests English, or another language. */
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
