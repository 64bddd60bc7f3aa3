/** Secrets in columns whose heads name them: of tables, of comma-separated values, of rows put into a database. */
import type { Span } from "./cue.ts";
import { REDACTED } from "./mark.ts";
import { looksSecret } from "./value.ts";

const WORD = "(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd)";
/** Quicker to look for than where it stands, and most texts have none. */
const ANY_WORD = new RegExp(WORD, "i");
const NAME = String.raw`[ \t]{0,20}["'\x60*]{0,2}(?:user_?)?${WORD}["'\x60*]{0,2}[ \t]{0,20}`;
/** Such a head behind the one before it, or the first of its line or its list. One of the groups is the divider. */
const HEAD = new RegExp(String.raw`([|,;\t])${NAME}(?=[|,;\t)\r\n]|$)|(?:^|[\n(])${NAME}(?=([|,;\t)]))`, "gi");
const SECRET_HEAD = new RegExp(String.raw`^${NAME}\r?$`, "i");
const LONGEST_LINE = 1000;

export function redactColumns(text: string): string {
  if (!ANY_WORD.test(text)) return text;
  let result = "";
  let done = 0;
  // Up to here the lines were read: whether they are rows or not, none of them is a line of heads.
  let read = 0;
  let hasTuples: boolean | undefined;
  HEAD.lastIndex = 0;
  for (let head = HEAD.exec(text); head !== null; head = HEAD.exec(text)) {
    const divider = head[1] ?? head[2] ?? "|";
    const headEnd = HEAD.lastIndex;
    hasTuples ??= /\)\s{0,4}VALUES/i.test(text);
    const tuples = hasTuples && /[,)]/.test(divider) ? inTuples(text, headEnd) : undefined;
    const rows = tuples ?? (headEnd < read || divider === ")" ? undefined : inRows(text, headEnd, divider));
    read = Math.max(read, rows?.end ?? 0);
    // Those of the other heads of the list were found along with these.
    if (tuples !== undefined) HEAD.lastIndex = tuples.end;
    for (const { start, end } of rows?.secrets ?? []) {
      if (start < done) continue;
      result += text.slice(done, start) + REDACTED;
      done = end;
    }
  }
  return done === 0 ? text : result + text.slice(done);
}

interface Rows {
  secrets: readonly Span[];
  /** How far was read. */
  end: number;
}

const VALUES = /[^()\n]{0,300}\)\s{0,4}VALUES\s{0,4}(?=\()/iy;
/** A bracket between quotes does not end it. */
const TUPLE = /\(((?:'(?:[^'\\\n]|\\.){0,1000}'|"(?:[^"\\\n]|\\.){0,1000}"|[^()'"\n]){1,1000})\)[\s,]{0,4}/y;

/** `(name, password) VALUES ('…', '…'), ('…', '…')` */
function inTuples(text: string, headEnd: number): Rows | undefined {
  VALUES.lastIndex = headEnd;
  if (!VALUES.test(text)) return undefined;
  const close = text.indexOf(")", headEnd);
  const before = text.slice(Math.max(0, close - LONGEST_LINE), close);
  const columns = secretColumns(before.slice(before.lastIndexOf("(") + 1).split(","));
  const secrets: Span[] = [];
  TUPLE.lastIndex = VALUES.lastIndex;
  let end = TUPLE.lastIndex;
  for (let row = TUPLE.exec(text)?.[1]; row !== undefined; row = TUPLE.exec(text)?.[1]) {
    secrets.push(...secretsIn(cellsOf(row, ","), end + 1, columns));
    end = TUPLE.lastIndex;
  }
  return { secrets, end };
}

const SOME_HEAD = /^[\w .:"'`*()-]{0,60}\r?$/;
const RULE = /^[\s|:-]{3,}$/;

/** The lines below, as long as they have no fewer cells than the line of the heads. */
function inRows(text: string, headEnd: number, divider: string): Rows {
  const before = text.slice(Math.max(0, headEnd - LONGEST_LINE), headEnd);
  const start = headEnd - before.length + before.lastIndexOf("\n") + 1;
  const line = lineAt(text, start);
  const heads = line.split(divider);
  const columns = secretColumns(heads);
  const secrets: Span[] = [];
  let end = start + (line.length || LONGEST_LINE) + 1;
  // People write a blank behind a comma, and so do some programs.
  const mayBeProse = /[,;]/.test(divider) && heads.some((cell) => /^\s/.test(cell));
  if (columns.size === 0 || !heads.every((cell) => SOME_HEAD.test(cell))) return { secrets, end };
  if (mayBeProse && !areWords(heads)) return { secrets, end };
  for (;;) {
    const row = lineAt(text, end);
    const cells = cellsOf(row, divider);
    if (cells.length < heads.length) break;
    if (mayBeProse && (cells.length > heads.length || !areWords(cells))) break;
    if (!RULE.test(row)) secrets.push(...secretsIn(cells, end, columns));
    end += row.length + 1;
  }
  return { secrets, end };
}

/** Nothing if it is longer than a row would be. */
function lineAt(text: string, start: number): string {
  const [line = ""] = text.slice(start, start + LONGEST_LINE).split("\n", 1);
  return line.length < LONGEST_LINE ? line : "";
}

function secretColumns(heads: readonly string[]): ReadonlySet<number> {
  return new Set(heads.flatMap((head, column) => (SECRET_HEAD.test(head) ? [column] : [])));
}

/** One each, the first of them at the very beginning: in a sentence or in code there would be more, or none. */
function areWords(cells: readonly string[]): boolean {
  return cells.every((cell, column) => (column === 0 ? /^\S+\s*$/ : /^\s?\S+\s*$/).test(cell));
}

const QUOTED = / *(?:"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*') *\r?/y;

/** A divider between quotes is a part of the cell. */
function cellsOf(row: string, divider: string): readonly string[] {
  if (!/["']/.test(row)) return row.split(divider);
  const cells: string[] = [];
  let start = 0;
  while (start <= row.length) {
    QUOTED.lastIndex = start;
    const quotedEnd = QUOTED.test(row) ? QUOTED.lastIndex : start;
    const isWhole = quotedEnd === row.length || row.startsWith(divider, quotedEnd);
    const next = row.indexOf(divider, isWhole ? quotedEnd : start);
    const end = next < 0 ? row.length : next;
    cells.push(row.slice(start, end));
    start = end + divider.length;
  }
  return cells;
}

function secretsIn(cells: readonly string[], rowStart: number, columns: ReadonlySet<number>): readonly Span[] {
  const found: Span[] = [];
  let at = rowStart;
  for (const [column, cell] of cells.entries()) {
    const written = cell.trim().replaceAll(/^["'`*]{1,2}|["'`*]{1,2}$/g, "");
    const start = at + cell.indexOf(written);
    const isOne = /^\s*["']/.test(cell) || !/\s/.test(written);
    if (columns.has(column) && isOne && looksSecret(written)) found.push({ start, end: start + written.length });
    at += cell.length + 1;
  }
  return found;
}
