/**
 * Ids for new entries: an instant in milliseconds, its low 32 bits as eight hexadecimal digits. The
 * instant is the clock's, or one more than that of the last entry when the clock stands still or
 * jumps back, so it grows from entry to entry of a file. That makes a new id unique without knowing
 * every id of the file: what is older than the tail has an earlier instant. Two limits remain, and
 * both are harmless here, because a parent is the nearest entry before its child with that id: the
 * digits start over after 49 days, and other tools take random ids (those in the tail are avoided).
 */
import type { TranscriptEntry } from "./entries.ts";

export interface EntryIds {
  /** Makes the ids continue after these entries of the tail. */
  continueAfter(tail: readonly TranscriptEntry[]): void;
  next(now: number): string;
}

export function createEntryIds(): EntryIds {
  let taken: ReadonlySet<string> = new Set();
  let last = Number.NEGATIVE_INFINITY;
  return {
    continueAfter(tail) {
      taken = new Set(tail.map(({ id }) => id));
      for (const { timestamp } of tail) {
        const instant = Date.parse(timestamp);
        if (instant > last) last = instant;
      }
    },
    next(now) {
      last = Math.max(Math.floor(now), last + 1);
      while (taken.has(idOfInstant(last))) last++;
      return idOfInstant(last);
    },
  };
}

const RANGE = 2 ** 32;

function idOfInstant(instant: number): string {
  return (((instant % RANGE) + RANGE) % RANGE).toString(16).padStart(8, "0");
}
