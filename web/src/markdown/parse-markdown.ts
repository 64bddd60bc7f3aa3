/**
 * The part of Markdown that agents write: paragraphs, headings, lists, quotes, fences, and within lines
 * code, emphasis and links. The text is hostile: the result is plain data that React shows as text, HTML
 * in it stays the characters that it is, and every step looks at each line a bounded number of times.
 */
import { type Inline, parseInline } from "./parse-inline.ts";

export type Block =
  | { kind: "paragraph"; content: Inline[] }
  | { kind: "heading"; level: number; content: Inline[] }
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; isOrdered: boolean; start: number; items: ListItem[] }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

export interface ListItem {
  /** How far it is indented, in steps. */
  depth: number;
  content: Inline[];
}

const MAX_QUOTES = 4;
const MAX_COLUMNS = 30;

export function parseMarkdown(text: string, level = 0): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    const { block, next } = readBlock(lines, at, level);
    blocks.push(block);
    at = next;
  }
  return blocks;
}

interface Read {
  block: Block;
  next: number;
}

function readBlock(lines: readonly string[], at: number, level: number): Read {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence !== null) return readFence(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const [, marks = "#", words = ""] = heading;
    return { block: { kind: "heading", level: marks.length, content: parseInline(words) }, next: at + 1 };
  }
  if (RULE.test(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (line.startsWith(">") && level < MAX_QUOTES) return readQuote(lines, at, level);
  if (ITEM.test(line)) return readList(lines, at);
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return readTable(lines, at);
  return readParagraph(lines, at);
}

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]{0,30})[^`]*$/;
const HEADING = /^(#{1,6})[ \t]+(.+)$/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*$/;
const ITEM = /^([ \t]{0,20})(?:([-*+])|(\d{1,9})[.)])[ \t]+(.*)$/;
const TABLE_RULE = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

/** A fence that is not closed reaches to the end: so it looks right while it is being written. */
function readFence(lines: readonly string[], at: number, [, marks = "```", language = ""]: RegExpExecArray): Read {
  let next = at + 1;
  while (next < lines.length && !isFenceEnd(lines[next] ?? "", marks)) next++;
  return { block: { kind: "code", language, text: lines.slice(at + 1, next).join("\n") }, next: next + 1 };
}

function isFenceEnd(line: string, marks: string): boolean {
  const trimmed = line.trim();
  return trimmed.startsWith(marks) && trimmed === marks.charAt(0).repeat(trimmed.length);
}

function readQuote(lines: readonly string[], at: number, level: number): Read {
  let next = at;
  while (next < lines.length && (lines[next] ?? "").startsWith(">")) next++;
  const inner = lines.slice(at, next).map((line) => line.replace(/^> ?/, ""));
  return { block: { kind: "quote", blocks: parseMarkdown(inner.join("\n"), level + 1) }, next };
}

function readList(lines: readonly string[], at: number): Read {
  const items: { depth: number; text: string }[] = [];
  const first = ITEM.exec(lines[at] ?? "");
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const found = ITEM.exec(line);
    const last = items.at(-1);
    if (found !== null) {
      const indent = (found[1] ?? "").replaceAll("\t", "  ").length;
      items.push({ depth: Math.min(4, Math.floor(indent / 2)), text: found[4] ?? "" });
    } else if (line.trim() === "" && ITEM.test(lines[next + 1] ?? "")) {
      continue;
    } else if (last !== undefined && /^[ \t]+\S/.test(line) && !FENCE.test(line)) {
      last.text += `\n${line.trim()}`;
    } else {
      break;
    }
  }
  const block: Block = {
    kind: "list",
    isOrdered: first?.[3] !== undefined,
    start: Number(first?.[3] ?? 1),
    items: items.map(({ depth, text }) => ({ depth, content: parseInline(text) })),
  };
  return { block, next };
}

function readTable(lines: readonly string[], at: number): Read {
  let next = at + 2;
  while (next < lines.length && (lines[next] ?? "").includes("|")) next++;
  const head = splitRow(lines[at] ?? "");
  const rows = lines.slice(at + 2, next).map((line) => splitRow(line).slice(0, head.length));
  return { block: { kind: "table", head, rows }, next };
}

function splitRow(line: string): Inline[][] {
  const cells = line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|");
  return cells.slice(0, MAX_COLUMNS).map((cell) => parseInline(cell.trim()));
}

function readParagraph(lines: readonly string[], at: number): Read {
  let next = at + 1;
  while (next < lines.length && !startsBlock(lines[next] ?? "")) next++;
  return { block: { kind: "paragraph", content: parseInline(lines.slice(at, next).join("\n")) }, next };
}

function startsBlock(line: string): boolean {
  return line.trim() === "" || line.startsWith(">") || [FENCE, HEADING, RULE, ITEM].some((start) => start.test(line));
}
