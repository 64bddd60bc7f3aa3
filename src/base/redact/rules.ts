/** Applies the rules of `data/secret-rules.txt`. `judge.ts` decides whether a match is a secret. */
import { lazily } from "../text.ts";
import { redactColumns } from "./columns.ts";
import * as judge from "./judge.ts";
import { CLAUSE_START, PASSWORD, REDACTED, SECRET, linesOf, oneOf } from "./strength.ts";

/** A field that holds nothing but a secret. */
export const SECRET_FIELD = new RegExp(`^(?:${oneOf("field")}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

type Span = readonly [start: number, end: number];
type Locate = (match: RegExpExecArray, text: string, done: number) => Span | undefined;
/** A rule is tried only on a text with one of its words. Its expression is compiled when it is needed. */
type Rule = Readonly<{ words: readonly Word[]; find: () => RegExp; locate: Locate }>;
type Word = Readonly<{ word: string; pairs: readonly number[] }>;

const OPTIONS = String.raw`\s(?:[^\n|;]{0,200}?\s)??`;
const GIVEN = String.raw`(?!["']?\[redacted)(?:{QUOTED}|[^\s"'\x60-][^\s"'\x60]{2,255})`;
const JUDGES: ReadonlyMap<string, judge.Judge> = new Map(Object.entries(judge));

const parts = new Map(linesOf("parts").map(([name = "", expression = ""]) => [name, expression]));
parts.set("FUNCTION_WORD", [...CLAUSE_START].join("|"));
const commands = linesOf("commands").map(([words = "", start = ""]) => [
  words,
  "isGiven",
  `(\\b(?:${start.replaceAll(" … ", OPTIONS)}))${GIVEN}`,
]);
/** Marks the pairs of characters in a text; see `pairAt`. */
const seen = new Uint8Array(4096);
const rules: readonly Rule[] = [
  ...rulesOf(linesOf("long"), "g", () => secretInRun),
  ...rulesOf([...commands, ...linesOf("exact")], "g"),
  ...rulesOf([...linesOf("loose"), ...linesOf("codes")], "gi"),
  ...rulesOf(linesOf("label"), "gi", () => secretAtLabel),
  ...rulesOf(linesOf("near"), "gi"),
  ...rulesOf(linesOf("last"), "g"),
];
const places = (["after", "before"] as const).flatMap((section) =>
  linesOf(section).map(([name, expression]) => ({
    find: finder(expression, section === "after" ? "iy" : "i"),
    isSecret: judgeOf(name),
  })),
);
const known = lazily(() => {
  const tokens = linesOf("tokens").map(([characters, least, prefix]) => `(?:${prefix})(?=[${characters}]{${least}})`);
  const token = String.raw`{START}(${tokens.join("|")})[\w-]{6,4096}(?:[.=]{1,2}[\w-]{1,4096}){0,5}={0,2}`;
  return new RegExp([expand(token), ...linesOf("runs").map(([, shape]) => shape)].join("|"));
});

export function applyRules(text: string): string {
  let result = text;
  let has = wordFinder(text);
  for (const { words, find, locate } of rules) {
    if (!words.some(has)) continue;
    const next = redactMatches(result, find(), locate);
    if (next !== result) has = wordFinder(next);
    result = next;
  }
  return redactColumns(result);
}

/** Tells whether the text has a word. The pairs of characters in the text rule out most words without a search. */
function wordFinder(text: string): (word: Word) => boolean {
  const lower = text.toLowerCase();
  seen.fill(0);
  for (let at = 1; at < lower.length; at++) seen[pairAt(lower, at)] = 1;
  return ({ word, pairs }) => pairs.every((pair) => seen[pair] === 1) && lower.includes(word);
}

/** A number for a character and the one before it. Different pairs may share one. */
function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at - 1) * 31 + text.charCodeAt(at)) % seen.length;
}

function toWord(word: string): Word {
  return { word, pairs: Array.from({ length: Math.max(0, word.length - 1) }, (_, at) => pairAt(word, at + 1)) };
}

function rulesOf(lines: readonly string[][], flags: string, locator = locatorOf): Rule[] {
  return lines.map(([words = "", name, expression]) => ({
    words: words.split("|").map((word) => toWord(word.trim())),
    find: finder(expression, flags),
    locate: locator(judgeOf(name)),
  }));
}

function judgeOf(name = ""): judge.Judge {
  return JUDGES.get(name) ?? judge.isReal;
}

function locatorOf(isSecret: judge.Judge): Locate {
  return (match, text) => secretIn(text, match, match.index, isSecret);
}

function finder(expression = "", flags: string): () => RegExp {
  return lazily(() => new RegExp(expand(expression), flags));
}

function expand(expression: string): string {
  return expression.replaceAll(/\{([A-Za-z]\w*)\}/g, (_, name: string) => expand(parts.get(name) ?? oneOf(name)));
}

function redactMatches(text: string, find: RegExp, locate: Locate): string {
  let result = "";
  let done = 0;
  find.lastIndex = 0;
  for (let match = find.exec(text); match !== null; match = find.exec(text)) {
    const span = locate(match, text, done);
    if (span === undefined) {
      find.lastIndex = match.index + Math.max(1, (match[1] ?? match[0]).length);
      continue;
    }
    result += text.slice(done, span[0]) + REDACTED;
    done = span[1];
    find.lastIndex = Math.max(done, find.lastIndex);
  }
  return result + text.slice(done);
}

/** A token or another known shape in a run of characters without a blank. */
function secretInRun(run: RegExpExecArray, text: string): Span | undefined {
  const match = known().exec(run[0]);
  if (match === null) return undefined;
  match.index += run.index;
  return secretIn(text, match, match.index, judge.isReal);
}

/** The first secret after a label or before it. */
function secretAtLabel(label: RegExpExecArray, text: string, done: number): Span | undefined {
  const from = Math.max(done, label.index - 200);
  const before = text.slice(from, label.index);
  for (const { find, isSecret } of places) {
    const place = find();
    place.lastIndex = label.index + label[0].length;
    const match = place.exec(place.sticky ? text : before);
    if (match === null) continue;
    if (!place.sticky) match.index += from;
    const span = secretIn(text, match, place.sticky ? label.index : match.index, isSecret);
    if (span !== undefined) return span;
  }
  return undefined;
}

const IN_QUOTES = /^(\\{0,3}["'`])(.*?)(\\{0,3}["'`])$/s;
const STOPS = ".,;:?)]}*";

/** The value of a match, without its quotes and the signs after it, if the judge agrees. */
function secretIn(text: string, match: RegExpExecArray, label: number, isSecret: judge.Judge): Span | undefined {
  const start = match.index + (match[1] ?? "").length;
  const end = match[2] === undefined ? match.index + match[0].length : start + match[2].length;
  const found = text.slice(start, end);
  const [, open = "", inner = found, close = ""] = IN_QUOTES.exec(found) ?? [];
  let length = inner.length;
  while (STOPS.includes(inner.charAt(length - 1) || " ")) length--;
  const after = (close || inner.slice(length)) + text.slice(end, end + 60);
  if (length === 0 || found.includes(REDACTED) || (open === "" && /^[([{]/.test(after))) return undefined;
  const secret = inner.slice(0, length).replaceAll(/["'`]\s*[+.\\&]\s*["'`]/g, "");
  const before = text.slice(Math.max(0, label - 1000), label);
  if (!isSecret(secret, { kept: text.slice(label, start), before, after, isQuoted: open !== "" })) return undefined;
  return [start + open.length, start + open.length + length];
}
