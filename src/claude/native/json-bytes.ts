/**
 * Steps over and decodes JSON values in bytes, without building objects. `text` always holds the same bytes with one
 * character each: searching a string for a quote is several times faster than searching a Buffer, while reading single
 * bytes is faster from a Buffer.
 */
import { parseJson } from "../../base/json-record.ts";

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Returned by a step that found no end. */
export const DAMAGED = -1;

export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) break;
    at += 1;
  }
  return at;
}

export function skipValue(bytes: Uint8Array, text: string, start: number, end: number): number {
  if (start >= end) return DAMAGED;
  const byte = bytes[start];
  if (byte === QUOTE) return skipString(bytes, text, start + 1, end);
  return byte === OPEN_BRACE || byte === OPEN_BRACKET
    ? skipNested(bytes, text, start, end)
    : skipLiteral(bytes, start, end);
}

/** `start` is after the opening quote; returns the place after the closing one. */
export function skipString(bytes: Uint8Array, text: string, start: number, end: number): number {
  let quote = text.indexOf('"', start);
  while (quote !== -1 && quote < end) {
    if (bytes[quote - 1] !== BACKSLASH || !isEscaped(bytes, start, quote)) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return DAMAGED;
}

/** Whether an odd number of backslashes precedes `quote`. */
function isEscaped(bytes: Uint8Array, start: number, quote: number): boolean {
  let at = quote - 1;
  while (at >= start && bytes[at] === BACKSLASH) at -= 1;
  return (quote - 1 - at) % 2 === 1;
}

function skipNested(bytes: Uint8Array, text: string, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    at += 1;
    if (byte === QUOTE) {
      at = skipString(bytes, text, at, end);
      if (at === DAMAGED || at >= end || !mayFollowString(bytes[at])) return DAMAGED;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return DAMAGED;
}

/** Where one line runs into another, a string seems to end in the middle of a word. */
function mayFollowString(byte: number | undefined): boolean {
  return (
    byte === COMMA ||
    byte === COLON ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET ||
    byte === SPACE ||
    byte === 0x09 ||
    byte === 0x0a ||
    byte === 0x0d
  );
}

/** A number, true, false or null ends before the next comma, bracket or space. */
function skipLiteral(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE) break;
    if (byte === QUOTE || byte === COLON) return DAMAGED;
    at += 1;
  }
  return at === start ? DAMAGED : at;
}

/** 0 unless the value is a non-negative safe integer. */
export function decodeCount(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) {
      const other = Number(bytes.toString("latin1", start, end));
      return other > 0 && Number.isSafeInteger(other) ? other : 0;
    }
    value = value * 10 + (byte - DIGIT_0);
  }
  return Number.isSafeInteger(value) ? value : 0;
}

/** Decodes a JSON string, quotes included; undefined for a malformed one. */
export function decodeText(bytes: Buffer, start: number, end: number): string | undefined {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte >= 0x80) {
      const value = parseJson(bytes.toString("utf8", start, end));
      return typeof value === "string" ? value : undefined;
    }
  }
  // A slice of the chunk's string would keep the whole chunk in memory.
  return latin1(bytes, start + 1, end - 1);
}

/** `toString` calls these; for short texts the detour costs more than the work. */
interface SliceableBuffer extends Buffer {
  latin1Slice(start: number, end: number): string;
  utf8Slice(start: number, end: number): string;
}

export function latin1(bytes: Buffer, start: number, end: number): string {
  return (bytes as SliceableBuffer).latin1Slice(start, end);
}

export function utf8(bytes: Buffer, start: number, end: number): string {
  return (bytes as SliceableBuffer).utf8Slice(start, end);
}

/** `"2026-11-15T18:13:04.760Z"` with its quotes. */
const USUAL_LENGTH = 26;

/** A timestamp in ms. Undefined for any other value. The usual form is decoded by hand, which is faster. */
export function decodeInstant(bytes: Buffer, start: number, end: number): number | undefined {
  if (end === start || bytes[start] !== QUOTE) return undefined;
  const usual = end - start === USUAL_LENGTH ? decodeUsual(bytes, start + 1) : Number.NaN;
  const at = Number.isNaN(usual) ? Date.parse(bytes.toString("utf8", start + 1, end - 1)) : usual;
  return Number.isNaN(at) ? undefined : at;
}

/** NaN for any other form. */
function decodeUsual(bytes: Buffer, at: number): number {
  if (bytes[at + 4] !== 0x2d || bytes[at + 10] !== 0x54 || bytes[at + 19] !== 0x2e || bytes[at + 23] !== 0x5a)
    return Number.NaN;
  const month = readDigits(bytes, at + 5, 2);
  const day = readDigits(bytes, at + 8, 2);
  const hour = readDigits(bytes, at + 11, 2);
  const minute = readDigits(bytes, at + 14, 2);
  const second = readDigits(bytes, at + 17, 2);
  if (!(month > 0 && month <= 12 && day > 0 && day <= 28 && hour < 24 && minute < 60 && second < 60)) return Number.NaN;
  return Date.UTC(readDigits(bytes, at, 4), month - 1, day, hour, minute, second, readDigits(bytes, at + 20, 3));
}

/** NaN unless all of them are digits. */
function readDigits(bytes: Buffer, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at += 1) {
    const digit = (bytes[at] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
