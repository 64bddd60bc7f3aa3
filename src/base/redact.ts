/**
 * Removes secrets before text is logged, exported, indexed or handed on. `redact/rules.ts` is the table of rules.
 * Redacting twice changes nothing, and the time is linear in the length of the text.
 */
import { redactColumns } from "./redact/columns.ts";
import { REDACTED, SECRET_FIELD, applyRules } from "./redact/rules.ts";

export function redactText(text: string): string {
  if (text === "") return text;
  const ascii = inAsciiSigns(text);
  const redacted = withSignsOf(text, ascii, redactVisible(ascii));
  const plain = inPlainLetters(redacted);
  if (plain === redacted) return redacted;
  // Scripts and emoji need invisible characters, so they stay unless they hid something.
  const again = redactVisible(inAsciiSigns(plain));
  return again === inAsciiSigns(plain) ? redacted : again;
}

/** Typographic quotes, wide blanks and full-width characters become what a keyboard types. The length stays. */
function inAsciiSigns(text: string): string {
  return text
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, " ")
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCodePoint((wide.codePointAt(0) ?? 0) - 0xfe_e0))
    .replace(/« | »/g, (sign) => (sign === " »" ? '" ' : ' "'))
    .replace(/[“”„«»「」『』]/g, '"')
    .replace(/[‘’‚‹›]/g, "'");
}

/** Puts the signs of a text back into what is left of its ASCII form. */
function withSignsOf(text: string, ascii: string, redacted: string): string {
  if (redacted === ascii) return text;
  let end = 0;
  const pieces = redacted.split(REDACTED).map((piece) => {
    const start = ascii.indexOf(piece, end);
    end = start + piece.length;
    return text.slice(start, end);
  });
  return pieces.join(REDACTED);
}

// oxlint-disable-next-line no-misleading-character-class -- each of them is meant alone
const INVISIBLE = /[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]+/g;
/** `P A S S W O R D`, `p@ssw0rd`, `pa55word`, look-alike letters. */
const DISGUISED =
  /(?<![A-Za-z0-9])[pPр][ .*_-]?[aA@4а][ .*_-]?[sS$5ѕ][ .*_-]?[sS$5ѕ][ .*_-]?[wW][ .*_-]?[oO0о][ .*_-]?[rR][ .*_-]?[dD](?![A-Za-z0-9])/g;

/** Drops zero-width characters next to a letter or a digit, and spells "password" as usual. */
function inPlainLetters(text: string): string {
  const visible = text.replace(INVISIBLE, (run, at: number) =>
    /[\p{L}\p{N}_]/u.test(text.charAt(at - 1) + text.charAt(at + run.length)) ? "" : run,
  );
  return visible.replace(DISGUISED, (word) => (/^password$/i.test(word) ? word : "password"));
}

/** Certificates and public keys look random but are not secrets. */
const PUBLIC_BLOCK =
  /(-----BEGIN (?:CERTIFICATE|[A-Z0-9 ]{0,20}PUBLIC KEY|PGP [SM])[A-Z ]{0,20}-----[^-]{0,20000}-----END )/;

function redactVisible(text: string): string {
  let result = text;
  // One match can cover the label of another secret, so a changed text is searched again.
  for (let round = 0; round < 5; round++) {
    const pieces = result.includes("-----BEGIN ") ? result.split(PUBLIC_BLOCK) : [result];
    const next = pieces.map((piece, at) => (at % 2 === 1 ? piece : redactColumns(applyRules(piece)))).join("");
    if (next === result) break;
    result = next;
  }
  return result;
}

/** Redacts every string in a JSON value, and whole fields whose names promise a secret. */
export function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  const namesSecret =
    "name" in value && typeof value.name === "string" && SECRET_FIELD.test(inPlainLetters(value.name));
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
    const isSecret = SECRET_FIELD.test(inPlainLetters(name)) || (namesSecret && name === "value");
    return [name, typeof inner === "string" && isSecret ? REDACTED : redactValue(inner)];
  });
  return Object.fromEntries(entries);
}
