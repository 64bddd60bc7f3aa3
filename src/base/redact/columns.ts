/** Secrets in columns whose heads name them: of tables, of comma-separated values, of rows put into a database. */
import type { Span } from "./cue.ts";
import { REDACTED } from "./mark.ts";
import { looksSecret } from "./value.ts";

const NAME = String.raw`[ \t]{0,20}["'\x60*]{0,2}(?:user_?)?(?:password|passwd|passwort|kennwort|pwd|passphrase|passcode)["'\x60*]{0,2}[ \t]{0,20}`;
/** Such a head behind the one before it, from which the first group divides it. */
const HEAD = new RegExp(String.raw`([|,;\t])${NAME}(?=[|,;\t)\r\n]|$)`, "gi");
const SECRET_HEAD = new RegExp(String.raw`^${NAME}\r?$`, "i");
const LONGEST_LINE = 1000;
const MOST_ROWS = 200;

export function redactColumns(text: string): string {
  let result = "";
  let done = 0;
  // Up to here the lines were read: whether they are rows or not, none of them is a line of heads.
  let read = 0;
  let hasTuples: boolean | undefined;
  HEAD.lastIndex = 0;
  for (let head = HEAD.exec(text); head !== null; head = HEAD.exec(text)) {
    const divider = head[1] ?? "|";
    hasTuples ??= /\)\s{0,4}VALUES/i.test(text);
    const tuples = hasTuples && divider === "," ? inTuples(text, HEAD.lastIndex) : undefined;
    const rows = tuples ?? (head.index < read ? undefined : inRows(text, head.index, divider));
    read = Math.max(read, rows?.end ?? 0);
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
const TUPLE = /\(([^()\n]{1,1000})\)[\s,]{0,4}/y;

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
    secrets.push(...secretsIn(row, end + 1, ",", columns));
    end = TUPLE.lastIndex;
  }
  return { secrets, end };
}

const SOME_HEAD = /^[\w .:"'`*()-]{0,60}\r?$/;
const RULE = /^[\s|:-]{3,}$/;

/** The lines below, as long as they have no fewer cells than the line of the heads. */
function inRows(text: string, head: number, divider: string): Rows {
  const before = text.slice(Math.max(0, head - LONGEST_LINE), head);
  const start = head - before.length + before.lastIndexOf("\n") + 1;
  const line = lineAt(text, start);
  const heads = line.split(divider);
  const secrets: Span[] = [];
  let end = start + (line.length || LONGEST_LINE) + 1;
  // People write a blank behind a comma.
  const isProse = /[,;]/.test(divider) && heads.some((cell) => /^\s/.test(cell));
  if (line === "" || isProse || !heads.every((cell) => SOME_HEAD.test(cell))) return { secrets, end };
  const columns = secretColumns(heads);
  for (let rows = 0; rows < MOST_ROWS; rows++) {
    const row = lineAt(text, end);
    if (row.split(divider).length < heads.length) break;
    if (!RULE.test(row)) secrets.push(...secretsIn(row, end, divider, columns));
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

function secretsIn(row: string, rowStart: number, divider: string, columns: ReadonlySet<number>): readonly Span[] {
  const found: Span[] = [];
  let at = rowStart;
  for (const [column, cell] of row.split(divider).entries()) {
    const [, opening = "", written = ""] = /^(\s*["'`*]{0,2})(\S*?)["'`*]{0,2}\s*$/.exec(cell) ?? [];
    const start = at + opening.length;
    if (columns.has(column) && looksSecret(written)) found.push({ start, end: start + written.length });
    at += cell.length + divider.length;
  }
  return found;
}
