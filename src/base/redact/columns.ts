/** Secrets in columns whose heads name them: tables, comma-separated values, rows put into a database. */
import { REDACTED } from "./rules.ts";
import { isRandom, strengthOf } from "./judge.ts";

// oxfmt-ignore
const HEADS = {
  any: /(?:pass(?:wor[dt]|wd|phrase|code|e)?|kennwort|pwd?|ña|senha|woord|secret|token|key)[\s"'`*]{0,20}(?:[|,;\t)\r\n]|  )/i,
  password: /^(?:\w{1,20}[ _])?(?:pass(?:wor[dt]|wd|phrase|code)|kennwort|pwd|mot de passe|contraseña|senha|wachtwoord)$/i,
  pass: /^(?:pass|pw)$/i, // a password if a user is beside it, else often the result of a test
  secret: /^(?:(?:api|access|auth|client|bot|refresh|secret|private|signing|deploy|service|personal)[ _-]?){1,2}(?:secret|token|key)$|^secret$/i,
  user: /^(?:\w{1,20}_)?(?:user(?:[ _]?(?:name|id))?|log-?in|account|e-?mail|benutzer(?:name)?|konto|utilisateur|usuario|ssid)$/i,
  owner: /^(?:host(?:name)?|server|service|site|system|device|database|db|env(?:ironment)?|url|name|network|role|dienst)$/i,
};
/** At least two spaces between columns. */
const DIVIDERS = [/(\|)/, /(\t)/, /(,)/, /(;)/, /( {2,})/];
const ONE_WORD = /^\s?\S+\s*$/;
const QUOTED = /(?<![^|,;\t ])(?:"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*')(?![^|,;\t \r])/g;
const INSERTED =
  /(\(([^()\n]{1,300})\)\s{0,4}VALUES\s{0,4})((?:\((?:'(?:[^'\\\n]|\\.){0,1000}'|"(?:[^"\\\n]|\\.){0,1000}"|[^()'"\n]){1,1000}\)[\s,]{0,4}){1,1000})/gi;
const TUPLE = /(?<=\()(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^()'"])+(?=\))/g;

export function redactColumns(text: string): string {
  if (!HEADS.any.test(text)) return text;
  let redactRow: ReturnType<typeof readHeads>;
  const lines = text.split("\n").map((line) => {
    if (line.length > 1000 || (redactRow !== undefined && /^[\s|:+-]{3,}$/.test(line))) return line;
    const redacted = redactRow?.(line);
    if (redacted !== undefined) return redacted;
    redactRow = DIVIDERS.map((divider) => readHeads(line, divider)).find((found) => found);
    return line;
  });
  return lines.join("\n").replace(INSERTED, (match: string, start: string, names: string, rows: string) => {
    const redact = readHeads(`${names.replaceAll(/\s*,\s*/g, ",")},`, /(,)/, 1);
    return redact === undefined ? match : start + rows.replace(TUPLE, (row) => redact(row) ?? row);
  });
}

/** Gives what redacts a row, which is `undefined` for a line that is not a row of the table. */
function readHeads(line: string, divider: RegExp, least?: number): ((row: string) => string | undefined) | undefined {
  const withoutPrefix = line.replace(/^[^|,;\t]*[\]:>)] /, ""); // `[10:42] Lena: `
  const heads = withoutPrefix.split(divider).filter((_, at) => at % 2 === 0);
  if (heads.length < 2 || !heads.every((head) => /^[\p{L}\w .:"'`*()-]{0,60}\r?$/u.test(head))) return undefined;
  const names = heads.map((head) => head.replaceAll(/^[\s"'`*]+|[\s"'`*]+$/g, ""));
  const isTable = !/[,;]/.test(divider.source);
  // With spaces after commas, as in a sentence.
  const mayBeProse = !isTable && heads.some((head) => /^\s/.test(head));
  if (mayBeProse && !heads.every((head) => ONE_WORD.test(head))) return undefined;
  const hasUser = names.some((name) => HEADS.user.test(name));
  const weakest = !mayBeProse && (hasUser || names.some((name) => HEADS.owner.test(name))) ? 1 : 3;
  const judges = names.map((name) => {
    if (HEADS.password.test(name) || (hasUser && HEADS.pass.test(name)))
      return (cell: string) => strengthOf(cell) >= weakest;
    if (isTable && HEADS.secret.test(name)) return (cell: string) => strengthOf(cell) === 4;
    return isTable && /^token$/i.test(name) ? isRandom : undefined;
  });
  if (judges.every((judge) => judge === undefined)) return undefined;
  return (row) => {
    // A divider between quotes is part of the cell.
    const masked = row.replaceAll(QUOTED, (quoted) => "_".repeat(quoted.length));
    let at = 0;
    const pieces = masked.split(divider).map(({ length }) => row.slice(at, (at += length)));
    const count = (pieces.length + 1) / 2;
    const areWords = count === heads.length && pieces.every((piece) => ONE_WORD.test(piece));
    if (mayBeProse ? !areWords : count < (least ?? heads.length)) return undefined;
    return pieces.map((piece, index) => (index % 2 === 0 ? redactCell(piece, judges[index / 2]) : piece)).join("");
  };
}

function redactCell(cell: string, isSecret: ((cell: string) => boolean) | undefined): string {
  const [, before = "", written = "", after = ""] = /^(\s*["'`*]{0,2})(.*?)(["'`*]{0,2}\s*)$/s.exec(cell) ?? [];
  const isOne = /["']/.test(before) || !/\s/.test(written);
  return isOne && isSecret?.(written) === true ? before + REDACTED + after : cell;
}
