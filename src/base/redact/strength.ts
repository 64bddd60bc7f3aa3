/**
 * How much a value looks like a secret. Placeholders and code never do, random text always does. In between are plain
 * words, joined words and phrases, and letters mixed with digits or signs.
 *
 * A plain word after "password is" either is the password or describes it. Words that describe are function words,
 * participles, adjectives and adverbs: known by their endings, the short ones from `data/secret-words.json`. In a
 * compound the last word decides, as in English: "case-sensitive" describes, "Marzipan-Falcon" does not.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";

export const REDACTED = "[redacted]";
const NONE = 0;
export const [WORD, JOINED, MIXED, RANDOM] = [1, 2, 3, 4];

type Lists = Readonly<Record<string, string>>;
const readText = (name: string): string => readFileSync(dataFile(name), "utf8");
const WORDS = JSON.parse(readText("secret-words.json")) as Lists;
const COMMON = JSON.parse(readText("function-words.json")) as Lists;
const setOf = (...lists: (string | undefined)[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));

const SECTIONS = new Map(
  readText("secret-rules.txt")
    .split(/^\[(?=\w+\]$)/m)
    .map((section) => [section.slice(0, section.indexOf("]")), section.split("\n").slice(1)]),
);
/** The lines of a section of the table, in columns. */
export const linesOf = (section: string): string[][] =>
  (SECTIONS.get(section) ?? []).filter((line) => /^(?!# )./.test(line)).map((line) => line.split(/ {2,}/));
/** An expression for a kind of values. */
export const valuesOf = (kind: string): string =>
  `(?:${linesOf("values")
    .flatMap(([name, expression = ""]) => (name === kind ? [expression] : []))
    .join("|")})`;

/** An expression for the words of a list. */
export const oneOf = (list: string): string => `(?:${WORDS[list]?.replaceAll(" ", "|")})`;
export const PASSWORD = oneOf("password");
export const SECRET = oneOf("secret");

/** Words that can follow a complete clause. */
export const CLAUSE_START = setOf(COMMON.english, COMMON.other, COMMON.common, WORDS.adverbs);
const ABOUT = setOf(WORDS.about, WORDS.verbs);
const IN_CODE = setOf(WORDS.about, WORDS.values);
const SENTENCE_START = setOf(...CLAUSE_START, ...ABOUT);
export const DESCRIBING = setOf(...SENTENCE_START, WORDS.describing, WORDS.values);
const DESCRIBING_END = /.{2}(?:[^e]ed|ing|[ai]ble|less|ive|ful|ous|[ao]ry|[cnrt]al|ic|[drstgc]ent|[tv]ant|lete)$/;

const PLACEHOLDER = new RegExp(`${valuesOf("placeholder")}|^(?!.*[@$\\d])${PASSWORD}$`, "i");
const CAPITALS = new RegExp(valuesOf("capitals"));
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text) || CAPITALS.test(text);
const CODE = new RegExp(valuesOf("code"));
const STANDARD = new RegExp(valuesOf("standard"), "i");
const isCode = (text: string): boolean => CODE.test(text) || STANDARD.test(text);
const NAME_IN_CODE = /^[a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:_[a-z]+)+$/;

/** Nothing in quotes or in a table is the name of a variable. */
export function strengthOf(value: string, isLiteral = false): number {
  if (value.length > 512) return /^[\w+/=.-]+$/.test(value) ? RANDOM : NONE;
  if (value.trim().length < 4 || isPlaceholder(value)) return NONE;
  if (/\s/.test(value)) return strengthOfPhrase(value.trim().split(/\s+/));
  if (isRandom(value)) return RANDOM;
  if (/[^!?][!?]$/.test(value)) return strengthOf(value.slice(0, -1), isLiteral);
  if (!isLiteral && NAME_IN_CODE.test(value)) return NONE;
  if (isHex(value) || isCode(value) || !/\p{L}/u.test(value)) return NONE;
  if (/^\p{L}+$/u.test(value) && !/\p{Ll}\p{Lu}/u.test(value)) return isWord(value) ? WORD : NONE;
  if (/\d\p{L}|\p{L}\d|[^\p{L}\d._&+/-]/u.test(value)) return MIXED;
  if (PUT_TOGETHER.test(value)) return wordsOf(value).some((word) => IN_CODE.has(word.toLowerCase())) ? NONE : JOINED;
  if (/^\p{L}+$/u.test(value)) return wordsOf(value).some((word) => IN_CODE.has(word.toLowerCase())) ? NONE : JOINED;
  return areDescribing(wordsOf(value)) && !/\W\d+$|_\d+$/.test(value) ? NONE : JOINED;
}

/** `Tulip.Tango`, `Tulip+Tango_3`: neither a compound of a sentence nor a name in code. `Settings.Default` is one. */
export const PUT_TOGETHER = /^\p{Lu}\p{Ll}+(?:[.+_&]\p{Lu}\p{Ll}+)+[._]?\d*$/u;

/** "velvet hammer sunday", but no sentence and no code. */
function strengthOfPhrase(words: readonly string[]): number {
  if (areGroups(words)) return MIXED;
  if (words.length > 7 || SENTENCE_START.has((words[0] ?? "").toLowerCase())) return NONE;
  if (words.length < 3 ? areDescribing(words) : words.filter(describes).length > words.length / 2) return NONE;
  return words.some((word) => isCode(word) && !/^\d+$/.test(word)) ? NONE : JOINED;
}

/** `7hq2 m4xk 9rtw cz3p`: as long as each other, with digits or without vowels. */
function areGroups(words: readonly string[]): boolean {
  const isOdd = words.some((word) => /[a-z]\d|\d[a-z]|^[^aeiouy\d]+$/i.test(word));
  return isOdd && words.length > 2 && words.every((word) => /^\w{4,6}$/.test(word) && word.length === words[0]?.length);
}

export const wordsOf = (value: string): readonly string[] => value.match(/\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+/gu) ?? [];
const isWord = (value: string): boolean =>
  !describes(value) && !/(?:[^f]ly|[st]ions?|ments?|it(?:y|ies)|ness|[ae]nces?)$/.test(value);

const isListed = (word: string): boolean => DESCRIBING.has(word) || DESCRIBING.has(word.replace(/s$/, ""));

/** A word that is not known to describe a password, whatever its ending. */
export const isUnlisted = (value: string): boolean =>
  /^\p{L}{4,}$/u.test(value) && !isListed(value.toLowerCase()) && !isPlaceholder(value);

export function describes(word: string): boolean {
  const lower = word.toLowerCase().replace(/[.,!?]+$/, "");
  return isListed(lower) || DESCRIBING_END.test(lower);
}

/** The last word decides ("case-sensitive"), or a listed one of two ("per-user"), or most of more. */
export function areDescribing(words: readonly string[]): boolean {
  const listed = words.filter((word) => isListed(word.toLowerCase())).length;
  return describes(words.at(-1) ?? "") || listed > (words.length < 3 ? 0 : words.length / 2);
}

/** A sign between letters or words, or a digit among letters of both cases. */
export const looksTyped = (value: string): boolean =>
  /[\p{L}\d][!@#$%^&*+=~]+[\p{L}\d]/u.test(value) ||
  PUT_TOGETHER.test(value) ||
  /^(?=.*\d)(?=.*\p{Lu}).*\p{Ll}/u.test(value);

/** Commits, checksums and ids look like this too, so it needs a label. */
export const isHex = (value: string): boolean =>
  /^(?:0x)?(?=[a-f]*\d)[0-9a-f]{7,128}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

const ID = new RegExp(valuesOf("id"), "i");

/** In names that people write, case and digits change only where a word begins. */
export function isRandom(run: string): boolean {
  if (run.length < 16 || run.length > 512 || ID.test(run) || !/[a-z]/.test(run) || !/[A-Z]/.test(run)) return false;
  const letters = run.replaceAll(/[^A-Za-z]/g, "").length;
  const groups = run.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const numbers = groups.filter((group) => /\d/.test(group)).length;
  const isLong = run.length >= 32;
  const changes = (groups.length - 1) / (run.length - 1);
  return letters >= run.length / 2 && numbers >= (isLong ? 2 : 3) && changes >= (isLong ? 0.4 : 0.5);
}

/** No name in capitals and no `OAuthTokenRequestV4`; Base32. */
const LONG =
  /^(?![A-Z]+$|[a-z]*(?:[A-Z]{1,6}[a-z]+\d?|V\d)+[A-Z]{0,6}$)[A-Za-z0-9]{24,}$|^(?=(?:[A-Z]*\d){2})[A-Z0-9]{16,}$/;
/** Hex digits or letters without any word. */
export const isOpaqueKey = (value: string): boolean =>
  !isPlaceholder(value) &&
  (/^(?:0x)?[0-9a-f]{32,128}$|^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+/]{40}$/i.test(value) ||
    isRandom(value) ||
    LONG.test(value));
