/** Secrets in columns whose heads name them: tables, comma-separated values, rows put into a database. */
import { REDACTED } from "./rules.ts";
import { type Judge, atLeast, isRandom } from "./judge.ts";

const PASSWORD = /^(?:\w{1,20}[ _])?(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd)$/i;
const SECRET =
  /^(?:(?:api|access|auth|client|bot|refresh|secret|private|signing|deploy|service|personal)[ _-]?){1,2}(?:secret|token|key)$|^secret$/i;
/** Columns that say whose password it is. */
const OWNER =
  /^(?:user(?:[ _]?(?:name|id))?|login|account|e-?mail|host(?:name)?|server|service|site|system|device|database|db|env(?:ironment)?|url|name|network|ssid)$/i;
const ANY_HEAD = /(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd|secret|token|[ _-]key)[\s"'`*]{0,20}[|,;\t)\r\n]/i;
const RULE_LINE = /^[\s|:+-]{3,}$/;

interface Heads {
  divider: string;
  count: number;
  /** Written with blanks behind commas, as sentences are. */
  mayBeProse: boolean;
  /** By column: whether a cell holds a secret. */
  judges: ReadonlyMap<number, Judge>;
}

export function redactColumns(text: string): string {
  if (!ANY_HEAD.test(text)) return text;
  let heads: Heads | undefined;
  const lines = text.split("\n").map((line) => {
    if (line.length > 1000) return line;
    if (heads !== undefined && RULE_LINE.test(line)) return line;
    const cells = heads === undefined ? [] : cellsOf(line, heads.divider);
    if (heads !== undefined && isRow(cells, heads)) return redactCells(cells, heads);
    heads = ["|", "\t", ",", ";"].map((divider) => readHeads(line.split(divider), divider)).find((found) => found);
    return redactNamedRow(line);
  });
  return redactTuples(lines.join("\n"));
}

function readHeads(cells: readonly string[], divider: string): Heads | undefined {
  if (cells.length < 2 || !cells.every((cell) => /^[\w .:"'`*()-]{0,60}\r?$/.test(cell))) return undefined;
  const names = cells.map((cell) => cell.replaceAll(/^[\s"'`*]+|[\s"'`*]+$/g, ""));
  const isTable = divider === "|" || divider === "\t";
  const hasOwner = isTable && names.some((name) => OWNER.test(name));
  const judges = new Map(
    names.flatMap((name, column): [number, Judge][] => {
      if (PASSWORD.test(name)) return [[column, atLeast(hasOwner ? 1 : 3)]];
      if (!isTable) return [];
      return SECRET.test(name) ? [[column, atLeast(4)]] : /^token$/i.test(name) ? [[column, isRandom]] : [];
    }),
  );
  const mayBeProse = !isTable && cells.some((cell) => /^\s/.test(cell));
  if (judges.size === 0 || (mayBeProse && !cells.every(isOneWord))) return undefined;
  return { divider, count: cells.length, mayBeProse, judges };
}

function isRow(cells: readonly string[], { count, mayBeProse }: Heads): boolean {
  return mayBeProse ? cells.length === count && cells.every(isOneWord) : cells.length >= count;
}

function isOneWord(cell: string, column: number): boolean {
  return (column === 0 ? /^\S+\s*$/ : /^\s?\S+\s*$/).test(cell);
}

const QUOTED = / *(?:"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*') *\r?/y;

/** A divider between quotes is part of the cell. */
function cellsOf(row: string, divider: string): readonly string[] {
  const cells: string[] = [];
  for (let start = 0; start <= row.length; start += (cells.at(-1)?.length ?? 0) + 1) {
    QUOTED.lastIndex = start;
    const quoted = QUOTED.test(row) ? QUOTED.lastIndex : start;
    const isWhole = quoted === row.length || row.startsWith(divider, quoted);
    const end = row.indexOf(divider, isWhole ? quoted : start);
    cells.push(row.slice(start, end < 0 ? row.length : end));
  }
  return cells;
}

function redactCells(cells: readonly string[], { divider, judges }: Heads): string {
  return cells.map((cell, column) => (judges.has(column) ? redactCell(cell, judges.get(column)) : cell)).join(divider);
}

function redactCell(cell: string, isSecret: Judge | undefined): string {
  const [, before = "", written = "", after = ""] = /^(\s*["'`*]{0,2})(.*?)(["'`*]{0,2}\s*)$/s.exec(cell) ?? [];
  const isOne = /["']/.test(before) || !/\s/.test(written);
  return isOne && isSecret?.(written, "", "") === true ? before + REDACTED + after : cell;
}

/** `| password | … |` */
function redactNamedRow(line: string): string {
  const [, name = "", cell = ""] = /^\s*\|\s*([^|]{1,60}?)\s*\|\s*(\S{4,256})\s*\|?\s*$/.exec(line) ?? [];
  return PASSWORD.test(name) && atLeast(3)(cell, "", "") ? line.replace(cell, () => REDACTED) : line;
}

const INSERTED = /\(([^()\n]{1,300})\)\s{0,4}VALUES\s{0,4}(?=\()/gi;
const TUPLE = /\(((?:'(?:[^'\\\n]|\\.){0,1000}'|"(?:[^"\\\n]|\\.){0,1000}"|[^()'"\n]){1,1000})\)[\s,]{0,4}/y;

/** `(name, password) VALUES ('…', '…'), ('…', '…')` */
function redactTuples(text: string): string {
  let result = "";
  let done = 0;
  for (const { index, 0: match, 1: names = "" } of text.matchAll(INSERTED)) {
    const heads = readHeads([...names.split(",").map((name) => name.trim()), ""], ",");
    TUPLE.lastIndex = index + match.length;
    if (heads === undefined) continue;
    for (let row = TUPLE.exec(text); row !== null; row = TUPLE.exec(text)) {
      result += `${text.slice(done, row.index)}(${redactCells(cellsOf(row[1] ?? "", ","), heads)})`;
      done = row.index + (row[1]?.length ?? 0) + 2;
    }
  }
  return result + text.slice(done);
}
