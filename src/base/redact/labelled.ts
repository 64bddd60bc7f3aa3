/** A secret behind its name: in settings, data, headers, addresses, markup, calls and flags. */
import type { Cue, Span } from "./cue.ts";
import type { Value } from "./value.ts";
import { isRandomRun } from "./random-run.ts";
import {
  isCode,
  isHash,
  isMeasure,
  isNoWord,
  isPath,
  isPlaceholder,
  isWord,
  looksSecret,
  readValue,
  redactedPart,
  wholeValue,
} from "./value.ts";

/** Names that only begin with the word and hold something about it. */
const ABOUT =
  /(?:count|cost|price|len|length|limit|usage|used|budget|total|size|type|kind|name|path|file|dir|url|uri|endpoint|at|by|age|date|time|expir\w*|ttl|field|regex|pattern|policy|hint|label|manager|store|service|handler|error|state|status|reset|strength|rules?|rotation|schema|input|reader|source|ref|map|list|window|per\w*|id)s?$|provider/i;

export function labelledSecret(text: string, cue: Cue): Span | undefined {
  const suffix = text.slice(cue.end, cue.nameEnd);
  if (cue.kind === "login" || ABOUT.test(suffix)) return undefined;
  const word = text.slice(cue.start, cue.end).toLowerCase();
  // Of those a program counts.
  if (word === "token" && /^s$/i.test(suffix)) return undefined;
  const at = valuePlace(text, cue);
  if (at === undefined) return undefined;
  if (word === "cookie") return cookieValues(text, at);
  const value = readValue(text, word === "authorization" ? behindScheme(text, at) : at);
  if (value === undefined) return undefined;
  const redacted = redactedPart(value);
  if (redacted !== undefined) return redacted;
  if (!isSecretOf(text, cue, value)) return undefined;
  if (text.charAt(at - 1) === "(" && (cue.kind === "weak" || !isNoWord(value.text))) return undefined;
  return wholeValue(text, value);
}

const SEPARATOR =
  /(?:(?:\\{0,4}["'`\]*]){0,4}(?: \([^()\n]{1,40}\))?[ \t]{0,10}(?:[:=]{1,3}(?!>)|：)|["'`]?[ \t]{0,10}=>(?=[ \t]{0,10}["'`]))\*{0,2}(?:[ \t]{0,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,20}|[ \t]{0,10})/y;
const CELL = /[*`]{0,2}[ \t]{1,20}\|[ \t]{1,20}/y;
const CALL = /\([ \t]{0,4}(?=["'`])/y;
const VALUE_FIELD = /\\{0,4}["'`]?[,\s]{1,40}\\{0,4}["'`]?value\\{0,4}["'`]?\s{0,4}[:=]\s{0,4}/iy;
const TAG = /[^<>\n]{0,120}>(?=[^<>\n]{1,400}<\/)/y;
const ATTRIBUTE = /["'][^<>\n]{0,80}>(?=[^<>\n]{1,400}<\/)/y;
const SPACE = /[ \t]{1,10}/y;

function valuePlace(text: string, { end, nameStart, nameEnd }: Cue): number | undefined {
  const before = text.charAt(nameStart - 1);
  if (before === "<") return endOf(TAG, text, nameEnd) ?? endOf(VALUE_FIELD, text, nameEnd);
  return (
    endOf(SEPARATOR, text, nameEnd) ??
    endOf(VALUE_FIELD, text, nameEnd) ??
    endOf(ATTRIBUTE, text, nameEnd) ??
    (nameEnd === end ? endOf(CALL, text, nameEnd) : undefined) ??
    (before === "|" || text.startsWith("| ", nameStart - 2) ? endOf(CELL, text, nameEnd) : undefined) ??
    (text.charAt(nameStart) === "-" ? endOf(SPACE, text, nameEnd) : undefined)
  );
}

function endOf(sticky: RegExp, text: string, at: number): number | undefined {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : undefined;
}

const COOKIES = /(["'`]?[\w.-]{1,64}=)[^\s;,"'`]{8,4096}(?:;[ \t]?[\w.-]{1,64}(?:=[^\s;,"'`]{0,4096})?){0,30}/y;

function cookieValues(text: string, at: number): Span | undefined {
  COOKIES.lastIndex = at;
  const match = COOKIES.exec(text);
  if (match === null || !/\d/.test(match[0]) || isPlaceholder(match[0])) return undefined;
  return { start: at + (match[1]?.length ?? 0), end: at + match[0].length };
}

const SCHEME = /["'`]?[A-Za-z][\w-]{1,20}[ \t]{1,3}/y;

function behindScheme(text: string, at: number): number {
  return endOf(SCHEME, text, at) ?? at;
}

function isSecretOf(text: string, cue: Cue, value: Value): boolean {
  const { text: written, isQuoted } = value;
  if (isPlaceholder(written) || isWord(written) || (!isQuoted && isCode(written))) return false;
  if (written.length >= 16 && isRandomRun(written)) return true;
  if (isPath(written)) return false;
  if (cue.kind === "password") return isPassword(text, cue, value);
  if (cue.kind === "secret") return isSecret(text, cue, value);
  return cue.kind === "code" ? isCodeOrSeed(written) : isWeak(text, cue, value);
}

/** Almost anything can be a password; a sentence about one, or a variable that holds one, is none. */
function isPassword(text: string, cue: Cue, value: Value): boolean {
  const { text: written, isQuoted } = value;
  const isSentence = /^\p{L}[\p{L}'’]*(?:[ ,]+[\p{L}'’]+)+[.!?…:]?$/u.test(written);
  if (isSentence) return isQuoted && /phrase$/i.test(text.slice(cue.start, cue.end));
  if (!/^\p{L}+[.,:!?]*$/u.test(written)) return written.length >= 4 && (isQuoted || !/^\d{1,3}[.,]?$/.test(written));
  if (namesItself(text, cue, written)) return false;
  return (
    written.length >= (isQuoted ? 4 : 6) && (isQuoted || !isFollowedByWord(text, value) || isEnvironment(text, cue))
  );
}

/** A sentence goes on: `password: needed for the login`. */
function isFollowedByWord(text: string, { end }: Value): boolean {
  return /^ \p{Ll}/u.test(text.slice(end, end + 2));
}

/** A variable called like what it holds: `password: newPassword`. */
function namesItself(text: string, cue: Cue, written: string): boolean {
  return written.toLowerCase().includes(text.slice(cue.start, cue.end).toLowerCase());
}

function isSecret(text: string, cue: Cue, { text: written, isQuoted }: Value): boolean {
  if (written.length < 6 || /\s/.test(written)) return false;
  if (isMeasure(written)) return /key$/i.test(text.slice(cue.start, cue.end)) && /^\d{8,}$/.test(written);
  if (!isQuoted && namesItself(text, cue, written) && /^[A-Za-z_$][\w$]*[A-Za-z]$/.test(written)) return false;
  const isNamed = isEnvironment(text, cue) || isComposed(text, cue);
  if (isHash(written)) return isNamed || written.length >= 16;
  if (isNoWord(written)) return isNamed || written.length >= 8;
  if (isEnvironment(text, cue) || /^[\w-]{32,}$/.test(written)) return true;
  return isQuoted && isNamed && cue.end === cue.nameEnd && written.length >= 8 && !/^[A-Z_]+$/.test(written);
}

/** As variables of the environment are called. */
function isEnvironment(text: string, { nameStart, nameEnd }: Cue): boolean {
  return /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(text.slice(nameStart, nameEnd)) && text.charAt(nameEnd) === "=";
}

/** `client_secret`, `accessToken`, `api-key`: a name for a value rather than a word. */
function isComposed(text: string, { nameStart, nameEnd }: Cue): boolean {
  return /[a-z][A-Z]|[_-]/.test(text.slice(nameStart, nameEnd));
}

/** Of digits, or of digits and letters as a person would not write them. */
export function isCodeOrSeed(written: string): boolean {
  if (/^\d{4,10}$|^\d{3}[ -]\d{3}$|^[A-Z]{1,2}-\d{4,8}$/.test(written)) return true;
  return (
    /^[A-Z0-9-]{6,128}$|^[a-z0-9-]{8,128}$/.test(written) &&
    /\d.*[a-z-].*\d|[A-Z].*\d/i.test(written) &&
    looksSecret(written, true)
  );
}

function isWeak(text: string, cue: Cue, { text: written }: Value): boolean {
  const word = text.slice(cue.start, cue.end).toLowerCase();
  if (word === "authorization") return isNoWord(written);
  if (word === "pass" || word === "pw" || word === "mdp") return looksSecret(written);
  if (word === "key") return isComposed(text, cue) && /^[0-9a-f]{32,128}$/.test(written);
  if (/^si[gd]/.test(word))
    return written.length >= 16 && (looksSecret(written, true) || /^[0-9a-f]{32,}$/.test(written));
  return written.length >= 6 && looksSecret(written, true);
}
