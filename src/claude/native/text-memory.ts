/**
 * Strings of a JSON text, decoded. Remembers the last one of every member: folder, branch and version
 * rarely change from line to line, and comparing bytes costs less than making a string.
 */
import { BACKSLASH } from "./json-steps.ts";
import { parseJson } from "./parse-json.ts";

export interface TextMemory {
  /** The JSON string from `start` to `end`, quotes included; undefined when it is malformed. */
  text(slot: number, bytes: Buffer, start: number, end: number): string | undefined;
}

/** A copy of a longer text would keep memory for a repetition that does not come. */
const MAX_BYTES = 512;

export function createTextMemory(slots: number): TextMemory {
  const kept = Buffer.alloc(slots * MAX_BYTES);
  const lengths = new Int32Array(slots);
  const texts: (string | undefined)[] = Array.from({ length: slots });

  const isKept = (slot: number, bytes: Buffer, start: number, end: number): boolean => {
    if (lengths[slot] !== end - start) return false;
    const from = slot * MAX_BYTES;
    // From the back: ids, times and paths differ there first.
    for (let index = end - start - 1; index >= 0; index -= 1) {
      if (kept[from + index] !== bytes[start + index]) return false;
    }
    return true;
  };

  return {
    text(slot, bytes, start, end) {
      if (isKept(slot, bytes, start, end)) return texts[slot];
      const text = decode(bytes, start, end);
      if (end - start <= MAX_BYTES) {
        // Most are a few dozen bytes, for which a call of `copy` would take longer.
        const shift = slot * MAX_BYTES - start;
        for (let at = start; at < end; at += 1) kept[at + shift] = bytes[at] ?? 0;
        lengths[slot] = end - start;
        texts[slot] = text;
      }
      return text;
    },
  };
}

function decode(bytes: Buffer, start: number, end: number): string | undefined {
  for (let at = start + 1; at < end - 1; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === BACKSLASH || byte >= 0x80) {
      const value = parseJson(bytes.toString("utf8", start, end));
      return typeof value === "string" ? value : undefined;
    }
  }
  // Not a slice of the chunk as a string: it would keep all of that in memory.
  return (bytes as SliceableBuffer).latin1Slice(start + 1, end - 1);
}

/** What `toString("latin1")` ends up calling; for short texts the way there costs more than the work. */
interface SliceableBuffer extends Buffer {
  latin1Slice(start: number, end: number): string;
}
