/**
 * Removes secrets before text is logged, exported, indexed or handed on. `redact/rules.ts` is the table of rules.
 * Redacting twice changes nothing, and the time is linear in the length of the text.
 */
import { SECRET_FIELD, applyRules } from "./redact/rules.ts";
import { REDACTED } from "./redact/strength.ts";

export function redactText(text: string): string {
  if (text === "") return text;
  return redactAs(text, inPlainSigns(text));
}

/** A character of a plain form that is not in the text that people see. */
const DROPPED = "\0";
// oxlint-disable-next-line no-misleading-character-class, no-control-regex -- each of them is meant alone
const INVISIBLE = /[\0\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]/g;

// oxlint-disable-next-line no-control-regex -- all of ASCII but \0
const PLAIN = /^[\x01-\x7f]*$/;

/** Typographic quotes, wide blanks and full-width characters become what a keyboard types. The length stays. */
function inPlainSigns(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(INVISIBLE, DROPPED)
    .replace(/[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g, " ")
    .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCodePoint((wide.codePointAt(0) ?? 0) - 0xfe_e0))
    .replace(/« | »/g, (sign) => (sign === " »" ? '" ' : ' "'))
    .replace(/[“”„«»「」『』]/g, '"')
    .replace(/[‘’‚‹›]/g, "'");
}

/** Redacts a plain form of a text, and puts the signs of the text back into the rest. */
function redactAs(text: string, form: string): string {
  const plain = form.replaceAll(DROPPED, "");
  const redacted = redactPlain(plain);
  if (redacted === plain) return text;
  const all = plain.length === form.length ? [] : [...form.split("").keys()];
  const places = all.filter((at) => form.charAt(at) !== DROPPED);
  let end = 0;
  const pieces = redacted.split(REDACTED).map((piece) => {
    const start = plain.indexOf(piece, end);
    end = start + piece.length;
    return piece && text.slice(places[start] ?? start, (places[end - 1] ?? end - 1) + 1);
  });
  return pieces.join(REDACTED);
}

/** Certificates and public keys look random but are not secrets. */
const PUBLIC_BLOCK =
  /(-----BEGIN (?:CERTIFICATE|[A-Z0-9 ]{0,20}PUBLIC KEY|PGP [SM])[A-Z ]{0,20}-----[^-]{0,20000}-----END )/;

function redactPlain(text: string): string {
  let result = text;
  // One match can cover the label of another secret, so a changed text is searched again.
  for (let round = 0; round < 5; round++) {
    const pieces = result.includes("-----BEGIN ") ? result.split(PUBLIC_BLOCK) : [result];
    const next = pieces.map((piece, at) => (at % 2 === 1 ? piece : applyRules(piece))).join("");
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
  const namesSecret = "name" in value && typeof value.name === "string" && isSecretField(value.name);
  const entries = Object.entries(value).map(([name, inner]: [string, unknown]) => {
    const isSecret = isSecretField(name) || (namesSecret && name === "value");
    return [name, typeof inner === "string" && isSecret ? REDACTED : redactValue(inner)];
  });
  return Object.fromEntries(entries);
}

const isSecretField = (name: string): boolean => SECRET_FIELD.test(inPlainSigns(name).replaceAll(DROPPED, ""));
