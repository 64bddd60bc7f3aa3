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

type Rule = Readonly<{ section: Section; expression: string; isSecret: judge.Judge }>;
type Step = Readonly<{ expression: string; apply: (text: string) => string }>;
type Span = readonly [start: number, end: number];
type Locate = (match: RegExpExecArray, text: string, done: number) => Span | undefined;

/** Sections of the file, and the flags of their expressions. */
const FLAGS = { exact: "g", loose: "gi", codes: "gi", after: "iy", before: "i", near: "gi", last: "g" };
type Section = keyof typeof FLAGS;
const isSection = (name: string): name is Section => name in FLAGS;

/** Sections that only some texts need. */
const NEEDED: Partial<Record<Section, RegExp>> = {
  codes: /\d[\d-]|[a-z0-9]{16}|(?:[A-Z2-7]{4} ){3}|[a-z0-9]{4}-[a-z0-9]{4}|recover|backup/i,
  near: new RegExp(`${PASSWORD}|${SECRET}|${oneOf("other")}`, "i"),
};

/** In the tables, ` … ` means any options between two words. */
const OPTIONS = String.raw`\s(?:[^\n|;]{0,200}?\s)??`;

const JUDGES: ReadonlyMap<string, judge.Judge> = new Map(Object.entries(judge));
const parts = new Map(tables());
const rules = readRules(readFileSync(dataFile("secret-rules.txt"), "utf8"));
const places = rules
  .filter(({ section }) => section === "after" || section === "before")
  .map(({ section, expression, isSecret }) => ({ find: finder(expression, FLAGS[section]), isSecret }));
const steps = stepsOf((expression) => [expression]);
/** With a step for each row of a table, because most texts can match few of them. */
const stepsForMany = lazily(() => {
  const many = stepsOf(rowsOf);
  return { steps: many, findCandidates: createCandidates(many.map(({ expression }) => expand(expression))) };
});
let expectsMany = false;

/** Prepares for megabytes of text: they take a fifth of the time, and preparing takes a moment and some memory. */
export function expectManyTexts(): void {
  expectsMany = true;
}

export function applyRules(text: string): string {
  return expectsMany ? applyCandidates(text) : steps.reduce((result, { apply }) => apply(result), text);
}

function applyCandidates(text: string): string {
  const { steps: many, findCandidates } = stepsForMany();
  let result = text;
  let candidates = findCandidates(text);
  for (const [index, { apply }] of many.entries()) {
    if (candidates[index] === 0) continue;
    const next = apply(result);
    if (next !== result) candidates = findCandidates(next);
    result = next;
  }
  return result;
}

export function ruleExpressions(): string[] {
  return stepsForMany().steps.map(({ expression }) => expand(expression));
}

function readRules(file: string): Rule[] {
  const found: Rule[] = [];
  let section = "";
  for (const line of file.split("\n")) {
    const [, name = "", expression = ""] = /^ *(\w+) (.+)$/.exec(line) ?? [];
    const isSecret = JUDGES.get(name);
    if (/^\[\w+\]$/.test(line)) section = line.slice(1, -1);
    else if (section === "") parts.set(name, expression);
    else if (line.startsWith("  ") && isSection(section) && isSecret !== undefined) {
      found.push({ section, expression, isSecret });
    }
  }
  return found;
}

/** All rules in the order in which they are applied. */
function stepsOf(rows: (expression: string) => string[]): Step[] {
  const of = (wanted: Section): Step[] =>
    rules
      .filter(({ section }) => section === wanted)
      .flatMap(({ expression, isSecret }) =>
        rows(expression).map((row) =>
          stepOf(wanted, row, (match, text) => secretIn(text, match, match.index, isSecret)),
        ),
      );
  return [
    ...of("exact"),
    ...of("loose"),
    ...of("codes"),
    stepOf("loose", "{LABEL}", secretAtLabel),
    ...of("near"),
    ...of("last"),
    { expression: ANY_HEAD, apply: redactColumns },
  ];
}

/** Makes its expression when it is needed: compiling all of them takes as long as a short command. */
function stepOf(section: Section, expression: string, locate: Locate): Step {
  const find = finder(expression, FLAGS[section]);
  const apply = (text: string): string =>
    NEEDED[section]?.test(text) === false ? text : redactMatches(text, find(), locate);
  return { expression, apply };
}

function rowsOf(expression: string): string[] {
  const table = expression.includes("{SHAPE}") ? TABLE.shapes : expression.includes("{TOOL}") ? TABLE.tools : undefined;
  if (table === undefined) return [expression];
  return Object.values(table).map((row) => expression.replace(/\{(?:SHAPE|TOOL)\}/, () => `(?:${withOptions(row)})`));
}

function withOptions(row: string): string {
  return row.replaceAll(" … ", OPTIONS);
}

function tables(): [string, string][] {
  const tokens = Object.values(TABLE.tokens).map((row) => {
    const [alphabet = "", length = "", prefix = ""] = row.split(" ");
    return `(?:${prefix})(?=[${TABLE.alphabets[alphabet]}]{${length}})`;
  });
  return [
    ["TOKEN", anyOf(tokens)],
    ["SHAPE", anyOf(TABLE.shapes)],
    ["TOOL", withOptions(anyOf(TABLE.tools))],
    ["FUNCTION_WORD", [...CLAUSE_START].join("|")],
  ];
}

function finder(expression: string, flags: string): () => RegExp {
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
