/** Applies the rules of `data/secret-rules.txt`. `judge.ts` decides whether a match is a secret. */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";
import { lazily } from "../text.ts";
import * as judge from "./judge.ts";
import { createCandidates } from "./candidates.ts";
import { ANY_HEAD, redactColumns } from "./columns.ts";
import { CLAUSE_START, PASSWORD, REDACTED, SECRET, TABLE, anyOf, oneOf } from "./strength.ts";

/** A field that holds nothing but a secret. */
export const SECRET_FIELD = new RegExp(`^(?:${oneOf("field")}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

type Rule = Readonly<{ expression: string; apply: (text: string) => string }>;
/** `find` makes its expression on the first call: compiling all of them takes as long as a short command. */
type Place = Readonly<{ find: () => RegExp; isSecret: judge.Judge }>;
type Span = readonly [start: number, end: number];
type Locate = (match: RegExpExecArray, text: string, done: number) => Span | undefined;

/** Sections of the file, and the flags of their expressions. */
const FLAGS = { exact: "g", loose: "gi", codes: "gi", after: "iy", before: "i", near: "gi", last: "g" };
type Section = keyof typeof FLAGS;
const isSection = (name: string): name is Section => name in FLAGS;

/** In the tables, ` … ` means any options between two words. */
const OPTIONS = String.raw`\s(?:[^\n|;]{0,200}?\s)??`;

const JUDGES: ReadonlyMap<string, judge.Judge> = new Map(Object.entries(judge));
const parts = new Map(tables());
/** Rules for the places beside a label, and all rules in the order in which they are applied. */
const places: Place[] = [];
const rules: Rule[] = [];
readRules(readFileSync(dataFile("secret-rules.txt"), "utf8"));
rules.push({ expression: ANY_HEAD, apply: redactColumns });
const findCandidates = createCandidates(ruleExpressions);

function readRules(file: string): void {
  let section = "";
  for (const line of file.split("\n")) {
    const [, name = "", expression = ""] = /^ *(\w+) (.+)$/.exec(line) ?? [];
    const isSecret = JUDGES.get(name);
    if (/^\[\w+\]$/.test(line)) section = line.slice(1, -1);
    else if (section === "") parts.set(name, expression);
    else if (line.startsWith("  ") && isSection(section) && isSecret !== undefined) {
      for (const row of rowsOf(expression)) addRule(section, row, isSecret);
    }
  }
}

function addRule(section: Section, expression: string, isSecret: judge.Judge): void {
  const find = finder(expression, FLAGS[section]);
  if (section === "after" || section === "before") {
    if (places.length === 0) rules.push(ruleOf("{LABEL}", finder("{LABEL}", "gi"), secretAtLabel));
    places.push({ find, isSecret });
    return;
  }
  const locate: Locate = (match, text) => secretIn(text, match, match.index, isSecret);
  const nearLabel: Locate = (match, text, done) => (HAS_LABEL.test(text) ? locate(match, text, done) : undefined);
  rules.push(ruleOf(expression, find, section === "near" ? nearLabel : locate));
}

function ruleOf(expression: string, find: () => RegExp, locate: Locate): Rule {
  return { expression, apply: (text) => redactMatches(text, find(), locate) };
}

export function ruleExpressions(): string[] {
  return rules.map(({ expression }) => expand(expression));
}

/** A rule for each row of a table, because most texts can match few of them. */
function rowsOf(expression: string): string[] {
  const table = expression.includes("{SHAPE}") ? TABLE.shapes : expression.includes("{TOOL}") ? TABLE.tools : undefined;
  if (table === undefined) return [expression];
  const rows = Object.values(table).map((row) => `(?:${row.replaceAll(" … ", OPTIONS)})`);
  return rows.map((row) => expression.replace(/\{(?:SHAPE|TOOL)\}/, () => row));
}

function tables(): [string, string][] {
  const tokens = Object.values(TABLE.tokens).map((row) => {
    const [alphabet = "", length = "", prefix = ""] = row.split(" ");
    return `(?:${prefix})(?=[${TABLE.alphabets[alphabet]}]{${length}})`;
  });
  return [
    ["TOKEN", anyOf(tokens)],
    ["FUNCTION_WORD", [...CLAUSE_START].join("|")],
  ];
}

function finder(expression: string, flags: string): () => RegExp {
  return lazily(() => new RegExp(expand(expression), flags));
}

function expand(expression: string): string {
  return expression.replaceAll(/\{([A-Za-z]\w*)\}/g, (_, name: string) => expand(parts.get(name) ?? oneOf(name)));
}

const HAS_LABEL = new RegExp(`${PASSWORD}|${SECRET}|${oneOf("other")}`, "i");

export function applyRules(text: string): string {
  let result = text;
  let candidates = findCandidates(text);
  for (const [index, { apply }] of rules.entries()) {
    if (candidates?.[index] === 0) continue;
    const next = apply(result);
    if (next !== result) candidates = findCandidates(next);
    result = next;
  }
  return result;
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
