/** Removes secrets below a head that names them: in tables, separated values, rows inserted with SQL, and lists. */
import { JOINED, MIXED, PASSWORD, RANDOM, REDACTED, SECRET, WORD, isHex, looksTyped, strengthOf } from "./strength.ts";

const HEAD = /^[\p{L}\w .()-]{0,40}$/u;
const PASSWORD_HEAD = new RegExp(`^(?:\\w{1,20}[ _-])?${PASSWORD}s?$`, "i");
const SECRET_HEAD = new RegExp(`^(?:\\w{1,20}[ _-])?${SECRET}s?$`, "i");
const USER_HEAD = /^(?:\w{1,20}[ _-])?(?:(?:user[ _]?)?(?:name|id)|user|login|account|e-?mail|ssid|benutzer|konto)$/i;
const NOUN = `(?:${PASSWORD}|${SECRET})s`;
/** Finds a text that can have a head. */
const ANY_HEAD = `(?:${NOUN}?|(?:pass|pw)s?|stringdata)["'\`*: ]{0,8}(?:[|,;\\t)\\r\\n]|(?<= ) )`;
const HAS_HEAD = new RegExp(ANY_HEAD, "i");
const LISTED = `(?!(?:design )?tokens)(?:(?:[\\w-]{1,16}[ _-])?${NOUN}|stringData)`;
const HEADING = new RegExp(`^[# *]{0,4}${LISTED}:?[*]{0,2}$`, "i");
const ITEM = /^([ \t]{0,40}(?:[-*•] )?[\w. -]{1,24}:[ \t]{1,40}["']?)([^\s"']{8,})["']?$/;
const OTHER_ITEM = /(?:name|user|host|image|runner|from|region|type|version|provider|path|cluster)\W*$/i;
const INSERTED = /(\(([^()\n]{1,200})\)\s{0,4}VALUES\s{0,4})((?:\([^()\n]{1,500}\)[\s,;]{0,4}){1,500})/gi;
const COMMA = /(,)/;
const DIVIDERS = [/(\|)/, /(\t)/, COMMA, /(;)/, /( {2,})/];
const CELL = /^([\s"'`*>]*)(.*?)([\s"'`*]*)$/s;

/** Redacts a row. Gives `undefined` for a line that is not a row. */
type RedactRow = (row: string) => string | undefined;

export function redactColumns(text: string): string {
  if (!HAS_HEAD.test(text)) return text;
  let redactRow: RedactRow | undefined;
  const lines = text.split("\n").map((line) => {
    if (line.length > 1000 || (redactRow !== undefined && /^[\s|:>+-]{3,}$/.test(line))) return line;
    const redacted = redactRow?.(line);
    if (redacted === undefined) redactRow = readHead(line);
    return redacted ?? line;
  });
  return lines.join("\n").replace(INSERTED, (match: string, start: string, heads: string, rows: string) => {
    const redact = readHeads(heads.replaceAll(/\s*,\s*/g, ","), COMMA);
    if (redact === undefined) return match;
    return start + rows.replaceAll(/(?<=\()[^()\n]+(?=\))/g, (row) => redact(row) ?? row);
  });
}

function readHead(line: string): RedactRow | undefined {
  if (!HAS_HEAD.test(`${line}\n`)) return undefined;
  return HEADING.test(line) ? redactItem : DIVIDERS.map((divider) => readHeads(line, divider)).find(Boolean);
}

/** `- router: otterblue77` */
function redactItem(item: string): string | undefined {
  const [, name, value = ""] = ITEM.exec(item) ?? [];
  const isSecret = strengthOf(value) >= JOINED && (looksTyped(value) || /\d{2}(?:-\w)?$/.test(value));
  return name === undefined || !isSecret || OTHER_ITEM.test(name) ? name && item : name + REDACTED;
}

function readHeads(line: string, divider: RegExp): RedactRow | undefined {
  const withoutSpeaker = line.replace(/^[^|,;\t]{0,80}[\]:>)] /, ""); // `[10:42] Lena: `
  const heads = withoutSpeaker.split(divider).map((head) => CELL.exec(head)?.[2] ?? "");
  const names = heads.filter((head, at) => at % 2 === 0 && head !== "");
  const isProse = divider === COMMA && /, /.test(line);
  if (isProse || names.length < 2 || !names.every((head) => HEAD.test(head))) return undefined;
  const hasUser = names.some((head) => USER_HEAD.test(head));
  const weakest = heads.map((head) => {
    // "Pass" without a user beside it is often the result of a test.
    if (PASSWORD_HEAD.test(head) || (hasUser && /^(?:pass|pw)$/i.test(head))) return hasUser ? WORD : JOINED;
    if (!SECRET_HEAD.test(head) || divider === COMMA) return undefined;
    return /[ _-]/.test(head) ? MIXED : RANDOM;
  });
  if (weakest.every((strength) => strength === undefined)) return undefined;
  return (row) => {
    const cells = row.split(divider);
    return cells.length === heads.length ? cells.map((cell, at) => redactCell(cell, weakest[at])).join("") : undefined;
  };
}

function redactCell(cell: string, weakest: number | undefined): string {
  const [, before = "", value = "", after = ""] = CELL.exec(cell) ?? [];
  if (weakest === undefined || !(strengthOf(value, weakest === WORD) >= weakest || (weakest === MIXED && isHex(value))))
    return cell;
  return before + REDACTED + after;
}
