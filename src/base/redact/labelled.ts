/** A secret behind its name: in settings, data, headers, addresses, markup, calls and flags. */
import type { Cue, Span } from "./cue.ts";
import type { Value } from "./value.ts";
import { isCodeOrSeed } from "./codes.ts";
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
  const isArgument = /[(,][ \t]*$/.test(text.slice(cue.nameEnd, at));
  if (isArgument && !isNoWord(value.text)) return undefined;
  return wholeValue(text, value);
}

const SEPARATOR =
  /(?:(?:\\{0,4}["'`\]*]){0,4}(?: \([^()\n]{1,40}\))?[ \t]{0,10}(?:[:=]{1,3}(?!>)|：)|["'`]?[ \t]{0,10}=>(?=[ \t]{0,10}["'`]))\*{0,2}(?:[ \t]{0,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,20}|[ \t]{0,10})/y;
const CELL = /[*`]{0,2}[ \t]{1,20}\|[ \t]{1,20}/y;
const CALL = /\([ \t]{0,4}(?=["'`])/y;
/** `setenv("DB_PASSWORD", "…")`, from the end of the name. */
const NEXT_ARGUMENT = /["'][ \t]{0,4},[ \t]{0,20}(?=["'`])/y;
/** What is translated is what a person reads. */
const FIRST_ARGUMENT = /(?<=[\w$])(?<!\b(?:t|_|__|gettext|trans(?:late)?))\(\s{0,20}["'][\w.: -]{0,60}$/;
const VALUE_FIELD = /\\{0,4}["'`]?[,\s]{1,40}\\{0,4}["'`]?value\\{0,4}["'`]?\s{0,4}[:=]\s{0,4}/iy;
const TAG = /[^<>\n]{0,120}>(?=[^<>\n]{1,400}<\/)/y;
const ATTRIBUTE = /["'][^<>\n]{0,80}>(?=[^<>\n]{1,400}<\/)/y;
const SPACE = /[ \t]{1,10}/y;

function valuePlace(text: string, cue: Cue): number | undefined {
  const { end, nameStart, nameEnd } = cue;
  const before = text.charAt(nameStart - 1);
  if (before === "<") return endOf(TAG, text, nameEnd) ?? endOf(VALUE_FIELD, text, nameEnd);
  return (
    endOf(SEPARATOR, text, nameEnd) ??
    endOf(VALUE_FIELD, text, nameEnd) ??
    endOf(ATTRIBUTE, text, nameEnd) ??
    (isFirstArgument(text, nameStart) ? endOf(NEXT_ARGUMENT, text, nameEnd) : undefined) ??
    (nameEnd === end && cue.kind !== "weak" ? endOf(CALL, text, nameEnd) : undefined) ??
    (before === "|" || text.startsWith("| ", nameStart - 2) ? endOf(CELL, text, nameEnd) : undefined) ??
    (isStatement(text, cue) ? endOf(SPACE, text, nameEnd) : undefined)
  );
}

/** Names behind which a blank is enough: flags, and words that only settings have. */
const STATEMENT = /^(?:-|(?:requirepass|auth_pass|bindpw|rootpw)$)/;

function isStatement(text: string, { start, nameStart, nameEnd }: Cue): boolean {
  if (STATEMENT.test(text.slice(nameStart, nameEnd))) return true;
  if (!/^identified/i.test(text.slice(start, start + 10))) return false;
  // SQL. Much else is identified by something.
  return (
    /^IDENTIFIED.{0,60}\s["']$/.test(text.slice(start, nameEnd + 2)) ||
    /\b(?:create|alter)\suser\s(?:if\s(?:not\s)?exists\s)?\S{1,100}\s$/i.test(
      text.slice(Math.max(0, start - 140), start),
    )
  );
}

function isFirstArgument(text: string, nameStart: number): boolean {
  const before = text.charAt(nameStart - 1);
  if (before !== '"' && before !== "'" && before !== ".") return false;
  return FIRST_ARGUMENT.test(text.slice(Math.max(0, nameStart - 90), nameStart));
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
  if (isPath(written) && !(cue.kind === "secret" && isBase64(written))) return false;
  if (cue.kind === "password") return isPassword(text, cue, value);
  if (cue.kind === "secret") return isSecret(text, cue, value);
  return cue.kind === "code" ? isCodeOrSeed(written) : isWeak(text, cue, value);
}

/** A slash is one of its signs. */
function isBase64(written: string): boolean {
  return /^[A-Za-z0-9+/]{40,512}={0,2}$/.test(written) && /[a-z][A-Z]/.test(written) && /\d/.test(written);
}

/** Almost anything can be a password; a sentence about one, or a variable that holds one, is none. */
function isPassword(text: string, cue: Cue, value: Value): boolean {
  const { text: written, isQuoted } = value;
  const isSentence = /^\p{L}[\p{L}'’]*(?:[ ,]+[\p{L}'’]+)+[.!?…:]?$/u.test(written);
  if (isSentence) return isQuoted && /phrase$/i.test(text.slice(cue.start, cue.end));
  if (!/^\p{L}+[.,:!?]*$/u.test(written)) return written.length >= 4 && (isQuoted || !/^\d{1,3}[.,]?$/.test(written));
  if (namesItself(text, cue, written)) return false;
  if (written.length < (isQuoted || isWholeLine(text, cue, value) ? 4 : 6)) return false;
  return isQuoted || !isFollowedByWord(text, value) || isEnvironment(text, cue);
}

/** As in a file of settings. */
function isWholeLine(text: string, { nameStart }: Cue, { end }: Value): boolean {
  return (
    /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, nameStart - 20), nameStart)) &&
    /^(?:[ \t]*\r?\n|$)/.test(text.slice(end, end + 8))
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
  if (written.length < 6 || /\s/.test(written)) return isQuoted && isNoise(written);
  if (isMeasure(written)) return /key$/i.test(text.slice(cue.start, cue.end)) && /^\d{8,}$/.test(written);
  if (!isQuoted && namesItself(text, cue, written) && /^[A-Za-z_$][\w$]*[A-Za-z]$/.test(written)) return false;
  const isNamed = isEnvironment(text, cue) || isComposed(text, cue);
  if (isHash(written)) return isNamed || written.length >= 16;
  if (isNoWord(written)) return isNamed || written.length >= 8;
  if (isEnvironment(text, cue) || /^[\w-]{32,}$/.test(written)) return true;
  return isQuoted && isNamed && cue.end === cue.nameEnd && written.length >= 8 && !/^[A-Z_]+$/.test(written);
}

/** Signs, digits and letters in no order, as programs draw them: blanks may be among them. */
function isNoise(written: string): boolean {
  const signs = written.match(/[^\p{L}\d\s.,:;/_-]/gu)?.length ?? 0;
  return written.length >= 16 && /\d/.test(written) && signs >= written.length / 8;
}

/** As variables of the environment are called. */
function isEnvironment(text: string, { nameStart, nameEnd }: Cue): boolean {
  return /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(text.slice(nameStart, nameEnd)) && text.charAt(nameEnd) === "=";
}

/** `client_secret`, `accessToken`, `api-key`: a name for a value rather than a word. */
function isComposed(text: string, { nameStart, nameEnd }: Cue): boolean {
  return /[a-z][A-Z]|[_-]/.test(text.slice(nameStart, nameEnd));
}

function isWeak(text: string, cue: Cue, { text: written }: Value): boolean {
  const word = text.slice(cue.start, cue.end).toLowerCase();
  if (word === "authorization") return isNoWord(written);
  if (word === "pass" || word === "pw" || word === "mdp") return looksSecret(written);
  if (word === "key" || word === "salt")
    return isComposed(text, cue) && (/^[0-9a-f]{32,128}$/.test(written) || isNoise(written));
  if (/^si[gd]/.test(word))
    return written.length >= 16 && (looksSecret(written, true) || /^[0-9a-f]{32,}$/.test(written));
  return written.length >= 6 && looksSecret(written, true);
}
