/** What codes look like: of one time, for recovery, of licenses, of doors. Often in groups, with blanks between. */
import { REDACTED } from "./mark.ts";
import type { Value } from "./value.ts";
import { looksSecret } from "./value.ts";

/** Of digits, or of digits and letters as a person would not write them. */
export function isCodeOrSeed(written: string): boolean {
  if (/^\d{4,10}#?$|^[A-Z]{1,2}-\d{4,8}$|^(?=.*\d)(?=.*[A-Z])[A-Z0-9]{5}$/.test(written)) return true;
  if (isGrouped(written)) return true;
  return (
    /^[A-Z0-9-]{6,128}$|^[a-z0-9-]{8,128}$/.test(written) &&
    /\d.*[a-z-].*\d|[A-Z].*\d/i.test(written) &&
    looksSecret(written, true)
  );
}

const IN_GROUPS =
  /(?:\d{3,6}(?:[ -]\d{3,6}){1,7}|\d{3}-\d\d-\d{4}|\d{1,2}-\d{1,2}-\d{1,2}|\d\d(?: \d\d){2,4}|[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){1,7}|[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){1,7}|[A-Za-z0-9]{4,5}(?: [A-Za-z0-9]{4,5}){2,15})(?![\w-]|[.:]\w)/y;

export function groupedCode(text: string, at: number): Value | undefined {
  IN_GROUPS.lastIndex = at;
  const written = IN_GROUPS.exec(text)?.[0];
  // Digits belong together, whatever they are; letters may be words.
  if (written === undefined || !(/^[\d -]+$/.test(written) || isGrouped(written))) return undefined;
  return { start: at, end: at + written.length, text: written, isQuoted: false };
}

/** Of such numbers people make ranges and lists. */
const YEAR_OR_ROUND = /^(?:(?:19|20)\d\d|\d{1,4}00)$/;

function isGrouped(written: string): boolean {
  IN_GROUPS.lastIndex = 0;
  if (!IN_GROUPS.test(written) || IN_GROUPS.lastIndex < written.length) return false;
  const groups = written.split(/[ -]/);
  if (groups.every((group) => /^\d+$/.test(group))) return !groups.every((group) => YEAR_OR_ROUND.test(group));
  const mixed = groups.filter((group) => /\d/.test(group) && /[A-Za-z]/.test(group));
  // Between blanks there may be words: "the code is in v2x4 only".
  return written.includes(" ") ? mixed.length >= 2 && mixed.length * 3 >= groups.length : mixed.length > 0;
}

const COUNTED =
  /^ (?:rows?|lines?|files?|bytes?|[kmg]b|tests?|times?|items?|entries|records?|users?|calls?|chars?|characters?|tokens?|ms|seconds?|minutes?|days?|zeilen|dateien)\b/i;

/** "4711 rows": the number before says how many there are. */
export function isCounted(text: string, end: number): boolean {
  return COUNTED.test(text.slice(end, end + 12));
}

/** Numbers of payment cards: four groups of four digits, of which the last checks the others. */
const CARD = /\b\d{4}([ -])\d{4}\1\d{4}\1\d{4}\b/g;

export function redactCards(text: string): string {
  return text.replace(CARD, (written) => (isCardNumber(written) ? REDACTED : written));
}

function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replaceAll(/\D/g, ""), Number);
  return digits.reduce((sum, digit, at) => sum + (at % 2 === 0 ? doubled(digit) : digit), 0) % 10 === 0;
}

/** The sum of the digits of its double. */
function doubled(digit: number): number {
  return digit > 4 ? digit * 2 - 9 : digit * 2;
}
