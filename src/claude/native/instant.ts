/** Instants as Claude Code writes them, read without making a string of each. */

export interface InstantReader {
  /** In ms; undefined when the JSON value from `start` to `end` is no string with an instant in it. */
  read(bytes: Buffer, start: number, end: number): number | undefined;
}

/** `"2026-11-15T18:13:04.760Z"`, quotes included. */
const USUAL_LENGTH = 26;
const DAY_LENGTH = 10;
const QUOTE = 0x22;
const DIGIT_0 = 0x30;

export function createInstantReader(): InstantReader {
  // The lines of a session are mostly of one day.
  const knownDay = Buffer.alloc(DAY_LENGTH);
  let dayAt = Number.NaN;

  const isKnownDay = (bytes: Buffer, start: number): boolean => {
    for (let index = DAY_LENGTH - 1; index >= 0; index -= 1) {
      if (bytes[start + index] !== knownDay[index]) return false;
    }
    return true;
  };

  return {
    read(bytes, start, end) {
      if (end - start === USUAL_LENGTH) {
        if (!isKnownDay(bytes, start + 1)) {
          bytes.copy(knownDay, 0, start + 1, start + 1 + DAY_LENGTH);
          dayAt = Date.parse(knownDay.toString("latin1"));
        }
        const time = readTime(bytes, start + 1 + DAY_LENGTH);
        if (time !== undefined && !Number.isNaN(dayAt)) return dayAt + time;
      }
      if (end === start || bytes[start] !== QUOTE) return undefined;
      const at = Date.parse(bytes.toString("utf8", start + 1, end - 1));
      return Number.isNaN(at) ? undefined : at;
    },
  };
}

/** `T18:13:04.760Z`; undefined for anything else, which the slow way then judges. */
function readTime(bytes: Buffer, at: number): number | undefined {
  const usual = bytes[at] === 0x54 && bytes[at + 3] === 0x3a && bytes[at + 6] === 0x3a && bytes[at + 9] === 0x2e;
  if (!usual || bytes[at + 13] !== 0x5a) return undefined;
  const hours = readDigits(bytes, at + 1, 2);
  const minutes = readDigits(bytes, at + 4, 2);
  const seconds = readDigits(bytes, at + 7, 2);
  const milliseconds = readDigits(bytes, at + 10, 3);
  if (!(hours < 24 && minutes < 60 && seconds < 60 && milliseconds < 1000)) return undefined;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}

/** NaN when one of them is none. */
function readDigits(bytes: Buffer, start: number, count: number): number {
  let value = 0;
  for (let at = start; at < start + count; at += 1) {
    const digit = (bytes[at] ?? 0) - DIGIT_0;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
