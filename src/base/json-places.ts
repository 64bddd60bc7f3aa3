/**
 * Edits a JSON5 text: inserts, replaces or removes single values and keeps every other character, such as comments,
 * spacing and trailing commas. The text must be valid JSON5.
 */
import { isDeepStrictEqual } from "node:util";
import JSON5 from "json5";
import { isRecord } from "./json-record.ts";

interface JsonPlace {
  kind: "object" | "array" | "other";
  start: number;
  end: number;
  /** Of an object or array. */
  members: Member[];
}

interface Member {
  /** Missing in arrays. */
  name?: string | undefined;
  start: number;
  /** Without the comma. */
  end: number;
  value: JsonPlace;
}

interface Token {
  type: "blank" | "comment" | "string" | "mark" | "word";
  text: string;
  start: number;
  end: number;
}

/** More than any edit takes. */
const MAX_STEPS = 10_000;

/** The text with the wanted value, changed where it differs. An empty text becomes formatted JSON. */
export function editJson(text: string, wanted: object): string {
  if (text.trim() === "") return `${JSON.stringify(wanted, undefined, 2)}\n`;
  let edited = text;
  for (let step = 0; step < MAX_STEPS; step++) {
    const value: unknown = JSON5.parse(edited);
    if (isDeepStrictEqual(value, wanted)) return edited;
    edited = fixFirst(edited, readPlaces(edited), value, wanted);
  }
  throw new Error("the text cannot be edited");
}

/** Fixes the first difference between the value at a place and the wanted one. */
function fixFirst(text: string, place: JsonPlace, value: unknown, wanted: unknown): string {
  if (isRecord(value) && isRecord(wanted)) {
    const surplus = place.members.findLast(({ name = "" }) => !Object.hasOwn(wanted, name));
    if (surplus !== undefined) return cutMember(text, surplus);
    for (const [name, inner] of Object.entries(wanted)) {
      const member = place.members.findLast((each) => each.name === name);
      if (member === undefined) return addMember(text, place, inner, name);
      if (!isDeepStrictEqual(value[name], inner)) return fixFirst(text, member.value, value[name], inner);
    }
  }
  if (Array.isArray(value) && Array.isArray(wanted)) {
    const at = value.findIndex((item, index) => !isDeepStrictEqual(item, wanted[index]));
    const member = place.members[at];
    if (member === undefined) return addMember(text, place, wanted[value.length]);
    if (value.length > wanted.length) return cutMember(text, member);
    if (value.length === wanted.length) return fixFirst(text, member.value, value[at], wanted[at]);
  }
  return replaceValue(text, place, wanted);
}

function readPlaces(text: string): JsonPlace {
  const tokens = tokensOf(text).filter(isSignificant);
  let at = 0;
  const next = (): Token => {
    const token = tokens[at++];
    if (token === undefined) throw new Error("the text ends too early");
    return token;
  };
  const readValue = (): JsonPlace => {
    const first = next();
    const kind = KINDS[first.text] ?? "other";
    if (kind === "other") return { kind, start: first.start, end: first.end, members: [] };
    const members: Member[] = [];
    for (;;) {
      const token = tokens[at];
      if (token?.text === CLOSING[kind]) return { kind, start: first.start, end: next().end, members };
      if (token?.text === ",") at++;
      else members.push(kind === "array" ? readElement() : readProperty());
    }
  };
  const readElement = (): Member => {
    const value = readValue();
    return { start: value.start, end: value.end, value };
  };
  const readProperty = (): Member => {
    const key = next();
    next();
    const value = readValue();
    return { name: nameOf(key), start: key.start, end: value.end, value };
  };
  return readValue();
}

const KINDS: Readonly<Record<string, "object" | "array">> = { "{": "object", "[": "array" };
const CLOSING = { object: "}", array: "]" } as const;

const TOKEN =
  /(\s+)|(\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)|("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')|([{}[\],:])|[^\s{}[\],:"'/]+/gy;

function tokensOf(text: string): Token[] {
  return Array.from(text.matchAll(TOKEN), (match) => {
    const type = match[1] ? "blank" : match[2] ? "comment" : match[3] ? "string" : match[4] ? "mark" : "word";
    return { type, text: match[0], start: match.index, end: match.index + match[0].length };
  });
}

function isSignificant({ type }: Token): boolean {
  return type !== "blank" && type !== "comment";
}

function nameOf({ text }: Token): string {
  if (/^"[^\\]*"$/.test(text)) return text.slice(1, -1);
  return Object.keys(JSON5.parse<object>(`{${text}:0}`))[0] ?? "";
}

/** Adds the value as the last member, in the style of the text around it. */
function addMember(text: string, container: JsonPlace, value: unknown, name?: string): string {
  const style = styleOf(text, container);
  const key = name === undefined ? "" : `${JSON.stringify(name)}:${style.isCompact ? "" : " "}`;
  const added = `${style.before}${key}${layOut(value, style)}`;
  const tokens = tokensOf(text);
  const inside = tokens.filter(({ start, end }) => start > container.start && end < container.end);
  const lastWritten = inside.findLast(({ type }) => type !== "blank");
  const lastMember = container.members.at(-1);
  const hasComma = inside.some(
    ({ text: mark, start }) => mark === "," && start >= (lastMember?.end ?? container.start),
  );
  if (lastMember === undefined || lastWritten === undefined) {
    const from = lastWritten?.end ?? container.start + 1;
    return `${text.slice(0, from)}${added}${style.after}${text.slice(container.end - 1)}`;
  }
  // A comment after the last member stays with it.
  const behind = text.slice(lastMember.end, lastWritten.end);
  const rest = text.slice(lastWritten.end);
  return `${text.slice(0, lastMember.end)}${hasComma ? "" : ","}${behind}${added}${hasComma ? "," : ""}${rest}`;
}

function replaceValue(text: string, { start, end }: JsonPlace, value: unknown): string {
  const indent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", start - 1) + 1))?.[0] ?? "";
  const layout = text.includes("\n") ? { ...linesOf(text), indent, isCompact: false } : oneLine(text);
  return text.slice(0, start) + layOut(value, layout) + text.slice(end);
}

interface Layout {
  indent: string;
  /** Empty: everything on one line. */
  unit: string;
  lineEnd: string;
  isCompact: boolean;
}

interface Style extends Layout {
  /** White space before the new member, and after it if it is the only one. */
  before: string;
  after: string;
}

function styleOf(text: string, container: JsonPlace): Style {
  const { lineEnd, unit } = linesOf(text);
  const outer = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", container.start) + 1))?.[0] ?? "";
  const last = container.members.at(-1);
  const gap = last === undefined ? undefined : (/\s*$/.exec(text.slice(0, last.start))?.[0] ?? "");
  const isOnOneLine = gap === undefined ? !text.includes("\n") : !gap.includes("\n");
  // A line comment needs a new line after it.
  const hasLineComment = tokensOf(text.slice(container.start, container.end)).some(({ text: token }) =>
    token.startsWith("//"),
  );
  if (isOnOneLine && !hasLineComment) {
    const before = container.members.length > 1 ? (gap ?? "") : "";
    const layout = oneLine(text);
    return { ...layout, before: layout.isCompact ? before : " ", after: "" };
  }
  const indent = gap?.includes("\n") === true ? gap.slice(gap.lastIndexOf("\n") + 1) : `${outer}${unit}`;
  const after = `${lineEnd}${outer}`;
  return { before: `${lineEnd}${indent}`, after, indent, unit, lineEnd, isCompact: false };
}

function linesOf(text: string): Pick<Layout, "unit" | "lineEnd"> {
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  return { lineEnd, unit: /\n([ \t]+)\S/.exec(text)?.[1] ?? "  " };
}

function oneLine(text: string): Layout {
  const tokens = tokensOf(text);
  const isSpaced = tokens.some(({ type }, index) => type === "blank" && /^[:,]$/.test(tokens[index - 1]?.text ?? ""));
  return { indent: "", unit: "", lineEnd: "", isCompact: !isSpaced };
}

function layOut(value: unknown, { unit, lineEnd, indent, isCompact }: Layout): string {
  if (isCompact) return JSON.stringify(value);
  if (unit === "") {
    return JSON.stringify(value, undefined, 1)
      .replace(/(?<=[{[])\n\s*|\n\s*(?=[}\]])/g, "")
      .replace(/\n\s*/g, " ");
  }
  return JSON.stringify(value, undefined, unit).replaceAll("\n", `${lineEnd}${indent}`);
}

/**
 * Removes the member and one comma beside it. A line that becomes empty is removed too, and so is white space inside an
 * empty container.
 */
function cutMember(text: string, { start, end }: Pick<Member, "start" | "end">): string {
  const tokens = tokensOf(text).filter(isSignificant);
  const next = tokens.find((token) => token.start >= end);
  const previous = tokens.findLast((token) => token.end <= start);
  const comma = [next, previous].find((token) => token?.text === ",");
  const cuts = [{ start, end }, ...(comma === undefined ? [] : [comma])].sort((a, b) => b.start - a.start);
  const rest = cuts.reduce((whole, cut) => cutRange(whole, cut.start, cut.end), text);
  if (previous === undefined || !/[{[]/.test(previous.text)) return rest;
  // Comments stay, with the white space around them.
  return rest.slice(0, previous.end) + rest.slice(previous.end).replace(/^\s+(?=[}\]])/, "");
}

function cutRange(text: string, from: number, to: number): string {
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const lineEnd = text.indexOf("\n", to);
  const isAlone = text.slice(lineStart, from).trim() === "" && lineEnd !== -1 && text.slice(to, lineEnd).trim() === "";
  if (isAlone) return text.slice(0, lineStart) + text.slice(lineEnd + 1);
  const before = text.slice(0, from).trimEnd();
  // Text must not become part of a comment, and a comment must not move to another value.
  const isJoinable = !tokensOf(before).at(-1)?.text.startsWith("//") && !/^[ \t]*(?:\r?\n|\/[/*])/.test(text.slice(to));
  return (isJoinable ? before : text.slice(0, from)) + text.slice(to);
}
