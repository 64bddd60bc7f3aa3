/** Secrets in columns whose heads name them: tables, comma-separated values, rows put into a database. */
import { REDACTED } from "./rules.ts";
import { isRandom, strengthOf } from "./judge.ts";

const PASSWORD = /^(?:\w{1,20}[ _])?(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd)$/i;
const SECRET =
  /^(?:(?:api|access|auth|client|bot|refresh|secret|private|signing|deploy|service|personal)[ _-]?){1,2}(?:secret|token|key)$|^secret$/i;
/** Columns that say whose password it is. */
const OWNER =
  /^(?:user(?:[ _]?(?:name|id))?|login|account|e-?mail|host(?:name)?|server|service|site|system|device|database|db|env(?:ironment)?|url|name|network|ssid)$/i;
const ANY_HEAD = /(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd|secret|token|[ _-]key)[\s"'`*]{0,20}[|,;\t)\r\n]/i;
const ONE_WORD = /^\s?\S+\s*$/;
const QUOTED = /(?<![^|,;\t ])(?:"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*')(?![^|,;\t \r])/g;
const INSERTED =
  /(\(([^()\n]{1,300})\)\s{0,4}VALUES\s{0,4})((?:\((?:'(?:[^'\\\n]|\\.){0,1000}'|"(?:[^"\\\n]|\\.){0,1000}"|[^()'"\n]){1,1000}\)[\s,]{0,4}){1,1000})/gi;
const TUPLE = /(?<=\()(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^()'"])+(?=\))/g;

interface Heads {
  divider: string;
  count: number;
  mayBeProse: boolean;
  judges: ReadonlyMap<number, (cell: string) => boolean>;
}

export function redactColumns(text: string): string {
  if (!ANY_HEAD.test(text)) return text;
  let heads: Heads | undefined;
  const lines = text.split("\n").map((line) => {
    if (line.length > 1000 || (heads !== undefined && /^[\s|:+-]{3,}$/.test(line))) return line;
    const redacted = heads === undefined ? undefined : redactRow(line, heads);
    if (redacted !== undefined) return redacted;
    heads = ["|", "\t", ",", ";"].map((divider) => readHeads(line.split(divider), divider)).find((found) => found);
    return line;
  });
  return lines.join("\n").replace(INSERTED, (match: string, start: string, names: string, rows: string) => {
    const columns = readHeads([...names.split(",").map((name) => name.trim()), ""], ",");
    if (columns === undefined) return match;
    return start + rows.replace(TUPLE, (row) => redactRow(row, { ...columns, count: 1 }) ?? row);
  });
}

function readHeads(cells: readonly string[], divider: string): Heads | undefined {
  if (cells.length < 2 || !cells.every((cell) => /^[\w .:"'`*()-]{0,60}\r?$/.test(cell))) return undefined;
  const names = cells.map((cell) => cell.replaceAll(/^[\s"'`*]+|[\s"'`*]+$/g, ""));
  const isTable = divider === "|" || divider === "\t";
  // With spaces after commas, as in a sentence.
  const mayBeProse = !isTable && cells.some((cell) => /^\s/.test(cell));
  const least = !mayBeProse && names.some((name) => OWNER.test(name)) ? 1 : 3;
  const judges = new Map<number, (cell: string) => boolean>();
  names.forEach((name, column) => {
    if (PASSWORD.test(name)) judges.set(column, (cell) => strengthOf(cell) >= least);
    else if (isTable && SECRET.test(name)) judges.set(column, (cell) => strengthOf(cell) === 4);
    else if (isTable && /^token$/i.test(name)) judges.set(column, isRandom);
  });
  if (judges.size === 0 || (mayBeProse && !cells.every((cell) => ONE_WORD.test(cell)))) return undefined;
  return { divider, count: cells.length, mayBeProse, judges };
}

/** `undefined` for a line that is not a row of the table. A divider between quotes is part of the cell. */
function redactRow(row: string, { divider, count, mayBeProse, judges }: Heads): string | undefined {
  const masked = row.replaceAll(QUOTED, (quoted) => "_".repeat(quoted.length));
  let at = 0;
  const cells = masked.split(divider).map(({ length }) => row.slice(at, (at += length + 1) - 1));
  const areWords = cells.length === count && cells.every((cell) => ONE_WORD.test(cell));
  if (mayBeProse ? !areWords : cells.length < count) return undefined;
  return cells.map((cell, column) => redactCell(cell, judges.get(column))).join(divider);
}

function redactCell(cell: string, isSecret: ((cell: string) => boolean) | undefined): string {
  const [, before = "", written = "", after = ""] = /^(\s*["'`*]{0,2})(.*?)(["'`*]{0,2}\s*)$/s.exec(cell) ?? [];
  const isOne = /["']/.test(before) || !/\s/.test(written);
  return isOne && isSecret?.(written) === true ? before + REDACTED + after : cell;
}
