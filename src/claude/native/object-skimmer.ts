/**
 * Finds chosen members of a JSON object in its bytes without building the object. Most bytes of a
 * Claude Code transcript are tool output that nobody asks for here; they are stepped over, not decoded.
 *
 * The walk follows the structure, so text inside a string can never pass for a member. It checks
 * that strings end and brackets balance, which finds every torn line, and does not check more: a value
 * that is not looked at may be malformed in itself. Nesting costs no stack.
 */

export interface ObjectSkimmer<Name extends string> {
  /** Looks at the object that fills `bytes` from `start` to `end`. False when it is no object, or damaged. */
  skim(bytes: Buffer, start: number, end: number): boolean;
  /** Whether the last skimmed object has the member with a value other than null. */
  has(name: Name): boolean;
  isTrue(name: Name): boolean;
  /** The member's value if it is a string. */
  text(name: Name): string | undefined;
  /** The member's value if it is a number that can count something, else 0. */
  count(name: Name): number;
  /** The member's value, fully parsed; undefined when it is missing or malformed. */
  parse(name: Name): unknown;
  /** Whether the bytes of the member's value contain `needle`. */
  mentions(name: Name, needle: Buffer): boolean;
  /** Skims the member's value with another skimmer. */
  into(name: Name, skimmer: ObjectSkimmer<string>): boolean;
}

/** Holds the last object's places: one skimmer per level, and none shared between concurrent walks. */
export function createObjectSkimmer<const Name extends string>(names: readonly Name[]): ObjectSkimmer<Name> {
  const wanted = wantedKeys(names);
  const slots = new Map<string, number>(names.map((name, slot) => [name, slot]));
  const starts = new Int32Array(names.length);
  const ends = new Int32Array(names.length);
  // The text decoded last per member: folder, branch and version rarely change from line to line.
  const previous: ({ bytes: Buffer; text: string | undefined } | undefined)[] = names.map(() => undefined);
  let source: Buffer = Buffer.alloc(0);

  const slotOf = (name: Name): number => slots.get(name) ?? -1;
  const startOf = (slot: number): number => starts[slot] ?? 0;
  const endOf = (slot: number): number => ends[slot] ?? 0;

  return {
    skim(bytes, start, end) {
      source = bytes;
      starts.fill(0);
      ends.fill(0);
      let at = skipSpace(bytes, start, end);
      if (bytes[at] !== OPEN_BRACE || at >= end) return false;
      at = skipSpace(bytes, at + 1, end);
      if (bytes[at] === CLOSE_BRACE && at < end) return skipSpace(bytes, at + 1, end) === end;
      while (at < end) {
        const keyEnd = bytes[at] === QUOTE ? skipString(bytes, at + 1, end) : DAMAGED;
        if (keyEnd === DAMAGED) return false;
        const slot = findKey(wanted, bytes, at + 1, keyEnd - 1);
        at = skipSpace(bytes, keyEnd, end);
        if (at >= end || bytes[at] !== COLON) return false;
        const valueStart = skipSpace(bytes, at + 1, end);
        const valueEnd = skipValue(bytes, valueStart, end);
        if (valueEnd === DAMAGED) return false;
        if (slot !== undefined) {
          starts[slot] = valueStart;
          ends[slot] = valueEnd;
        }
        at = skipSpace(bytes, valueEnd, end);
        if (at >= end) return false;
        if (bytes[at] === CLOSE_BRACE) return skipSpace(bytes, at + 1, end) === end;
        if (bytes[at] !== COMMA) return false;
        at = skipSpace(bytes, at + 1, end);
      }
      return false;
    },
    has(name) {
      const slot = slotOf(name);
      return endOf(slot) > startOf(slot) && source[startOf(slot)] !== LETTER_N;
    },
    isTrue(name) {
      const slot = slotOf(name);
      return endOf(slot) > startOf(slot) && source[startOf(slot)] === LETTER_T;
    },
    text(name) {
      const slot = slotOf(name);
      const start = startOf(slot);
      const end = endOf(slot);
      if (end === start || source[start] !== QUOTE) return undefined;
      const known = previous[slot];
      if (known !== undefined && isAt(source, start, end, known.bytes)) return known.text;
      const text = decodeText(source, start, end);
      // A copy of a long text would keep memory for a repetition that does not come.
      if (end - start <= REPEATED_TEXT_BYTES) {
        previous[slot] = { bytes: Buffer.from(source.subarray(start, end)), text };
      }
      return text;
    },
    count(name) {
      const slot = slotOf(name);
      return decodeCount(source, startOf(slot), endOf(slot));
    },
    parse(name) {
      const slot = slotOf(name);
      const [start, end] = [startOf(slot), endOf(slot)];
      return end === start ? undefined : parseJson(source.toString("utf8", start, end));
    },
    mentions(name, needle) {
      const slot = slotOf(name);
      return source.subarray(startOf(slot), endOf(slot)).includes(needle);
    },
    into(name, skimmer) {
      const slot = slotOf(name);
      return skimmer.skim(source, startOf(slot), endOf(slot));
    },
  };
}

/** JSON.parse that answers undefined where the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const DAMAGED = -1;
const REPEATED_TEXT_BYTES = 512;
/** How far a string is walked byte by byte before it counts as long. */
const NEAR_BYTES = 64;

interface WantedKey {
  bytes: Buffer;
  slot: number;
}

/** By length and first byte; few names share both. */
function wantedKeys(names: readonly string[]): Map<number, WantedKey[]> {
  const keys = new Map<number, WantedKey[]>();
  for (const [slot, name] of names.entries()) {
    const bytes = Buffer.from(name);
    const shape = keyShape(bytes, 0, bytes.length);
    keys.set(shape, [...(keys.get(shape) ?? []), { bytes, slot }]);
  }
  return keys;
}

function keyShape(bytes: Buffer, start: number, end: number): number {
  return (end - start) * 256 + (bytes[start] ?? 0);
}

function findKey(wanted: Map<number, WantedKey[]>, bytes: Buffer, start: number, end: number): number | undefined {
  const candidates = wanted.get(keyShape(bytes, start, end));
  if (candidates === undefined) return undefined;
  for (const key of candidates) if (isAt(bytes, start, end, key.bytes)) return key.slot;
  return undefined;
}

/** Whether the bytes from `start` to `end` are those of `expected`. */
function isAt(bytes: Buffer, start: number, end: number, expected: Buffer): boolean {
  if (expected.length !== end - start) return false;
  // From the back: ids, times and paths differ there first.
  for (let index = expected.length - 1; index >= 0; index -= 1) {
    if (expected[index] !== bytes[start + index]) return false;
  }
  return true;
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== 0x09 && byte !== 0x0d && byte !== 0x0a) break;
    at += 1;
  }
  return at;
}

function skipValue(bytes: Buffer, start: number, end: number): number {
  if (start >= end) return DAMAGED;
  const byte = bytes[start];
  if (byte === QUOTE) return skipString(bytes, start + 1, end);
  return byte === OPEN_BRACE || byte === OPEN_BRACKET ? skipNested(bytes, start, end) : skipLiteral(bytes, start, end);
}

/** From behind the opening quote to behind the closing one. */
function skipString(bytes: Buffer, start: number, end: number): number {
  const near = Math.min(end, start + NEAR_BYTES);
  let at = start;
  while (at < near) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return at + 1;
    // JSON escapes control characters: a raw one is a sign of damage, such as a block of zeros.
    if (byte < SPACE) return DAMAGED;
    at += byte === BACKSLASH ? 2 : 1;
  }
  return skipLongString(bytes, at, end);
}

/** The same with the search that Node has built in, which is worth its call for long strings only. */
function skipLongString(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1 || quote >= end) return DAMAGED;
    let backslashes = 0;
    while (quote - backslashes > at && bytes[quote - backslashes - 1] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
  return DAMAGED;
}

function skipNested(bytes: Buffer, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === QUOTE) {
      at = skipString(bytes, at, end);
      if (at === DAMAGED) return DAMAGED;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return DAMAGED;
}

/** Numbers, true, false and null: whatever stands before the next comma or bracket. */
function skipLiteral(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= SPACE) break;
    if (byte === QUOTE || byte === COLON) return DAMAGED;
    at += 1;
  }
  return at === start ? DAMAGED : at;
}

function decodeText(bytes: Buffer, start: number, end: number): string | undefined {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte >= 0x80) {
      const value = parseJson(bytes.toString("utf8", start, end));
      return typeof value === "string" ? value : undefined;
    }
  }
  return bytes.toString("latin1", start + 1, end - 1);
}

function decodeCount(bytes: Buffer, start: number, end: number): number {
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
