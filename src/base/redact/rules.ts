/** Applies the rules of `data/secret-rules.txt`. `judge.ts` decides whether a match is a secret. */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";
import * as judge from "./judge.ts";
import { type Find, finder } from "./needed-texts.ts";
import { CLAUSE_START, PASSWORD, SECRET, TABLE, anyOf, oneOf } from "./strength.ts";

export const REDACTED = "[redacted]";

/** A field that holds nothing but a secret. */
export const SECRET_FIELD = new RegExp(`^(?:${oneOf("field")}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

type Rule = Readonly<{ find: Find; isSecret: judge.Judge }>;
type Span = readonly [start: number, end: number];

/** Sections of the file, and the flags of their expressions. */
const FLAGS = { exact: "g", loose: "gi", codes: "gi", after: "iy", before: "i", near: "gi", last: "g" };
type Section = keyof typeof FLAGS;
const isSection = (name: string): name is Section => name in FLAGS;

const JUDGES: ReadonlyMap<string, judge.Judge> = new Map(Object.entries(judge));
const parts = new Map(tables());
const rules = readRules(readFileSync(dataFile("secret-rules.txt"), "utf8"));
const placesOfSecrets = [...rules.after, ...rules.before];
const findLabel = finder(expand("{LABEL}"), "gi");

function readRules(file: string): Record<Section, Rule[]> {
  const found = { exact: [], loose: [], codes: [], after: [], before: [], near: [], last: [] } as Record<
    Section,
    Rule[]
  >;
  let section = "";
  for (const line of file.split("\n")) {
    const [, name = "", expression = ""] = /^ *(\w+) (.+)$/.exec(line) ?? [];
    const isSecret = JUDGES.get(name);
    if (/^\[\w+\]$/.test(line)) section = line.slice(1, -1);
    else if (section === "") parts.set(name, expression);
    else if (line.startsWith("  ") && isSection(section) && isSecret !== undefined) {
      for (const one of rowsOf(expression))
        found[section].push({ find: finder(expand(one), FLAGS[section]), isSecret });
    }
  }
  return found;
}

/** A rule for each row of a table, because most texts can match few of them. */
function rowsOf(expression: string): string[] {
  const [, name = ""] = /\{(SHAPE|TOOL)\}/.exec(expression) ?? [];
  const rows = name === "SHAPE" ? Object.values(TABLE.shapes) : name === "TOOL" ? tools() : [];
  return rows.length === 0 ? [expression] : rows.map((row) => expression.replace(`{${name}}`, () => `(?:${row})`));
}

/** Options of tools. In the data, ` … ` means any options between two words. */
function tools(): string[] {
  return Object.values(TABLE.tools).map((row) => row.replaceAll(" … ", String.raw`\s(?:[^\n|;]{0,200}?\s)??`));
}

function tables(): [string, string][] {
  const tokens = Object.values(TABLE.tokens).map((row) => {
    const [alphabet = "", length = "", prefix = ""] = row.split(" ");
    return `(?:${prefix})(?=[${TABLE.alphabets[alphabet]}]{${length}})`;
  });
  const words = [...CLAUSE_START].join("|");
  return [
    ["TOKEN", anyOf(tokens)],
    ["FUNCTION_WORD", words],
  ];
}

function expand(expression: string): string {
  return expression.replaceAll(/\{([A-Za-z]\w*)\}/g, (_, name: string) => expand(parts.get(name) ?? oneOf(name)));
}

const findOther = finder(`${PASSWORD}|${SECRET}|${oneOf("other")}`, "i");

/** Most texts need only some of the rules. */
export function applyRules(text: string): string {
  const shapes = [...rules.exact, ...rules.loose, ...rules.codes].reduce(applyRule, text);
  const labelled = redactMatches(shapes, findLabel(shapes), secretAtLabel);
  const hasLabel = findOther(labelled)?.test(labelled) === true;
  return [...(hasLabel ? rules.near : []), ...rules.last].reduce(applyRule, labelled);
}

const applyRule = (text: string, { find, isSecret }: Rule): string =>
  redactMatches(text, find(text), (match) => secretIn(text, match, match.index, isSecret));

type Locate = (match: RegExpExecArray, text: string, done: number) => Span | undefined;

function redactMatches(text: string, find: RegExp | undefined, locate: Locate): string {
  if (find === undefined) return text;
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
  for (const { find, isSecret } of placesOfSecrets) {
    const place = find(text);
    if (place === undefined) continue;
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
