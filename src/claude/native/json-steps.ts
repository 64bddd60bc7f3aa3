/**
 * Single steps through the bytes of a JSON text. `text` holds the same bytes as one character each:
 * searching a string for a quote is several times faster than searching a Buffer, and reading a byte
 * from a Buffer is faster than reading it from a string, so both are at hand.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const BACKSLASH = 0x5c;
export const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;

/** The answer of a step that found no end. */
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

/** From behind the opening quote to behind the closing one. */
export function skipString(bytes: Uint8Array, text: string, start: number, end: number): number {
  let quote = text.indexOf('"', start);
  while (quote !== -1 && quote < end) {
    if (bytes[quote - 1] !== BACKSLASH || !isEscaped(bytes, start, quote)) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return DAMAGED;
}

/** Whether an odd number of backslashes stands before `quote`. */
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

/** Where two lines ran into each other, a string seems to end in the middle of a word. */
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

/** Numbers, true, false and null: whatever stands before the next comma or bracket. */
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
