/**
 * New entries: their ids, their place in the tree and their bytes.
 * An id is an instant in milliseconds, its low 32 bits as eight hexadecimal digits. It is the clock's time, or one more
 * than that of the last entry, so it grows from entry to entry. That makes it unique without reading the whole file.
 * The digits repeat after 49 days and other tools use random ids; both are harmless, because a parent is the nearest
 * entry with its id before the child.
 */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { MAX_LINE_BYTES } from "../base/jsonl.ts";
import { encodeEntry } from "./codec.ts";
import type { DraftEntry, TranscriptEntry } from "./entries.ts";

export function placeEntries(
  drafts: readonly DraftEntry[],
  leafId: string | undefined,
  ids: EntryIds,
  { clock, epoch }: { clock: Clock; epoch?: number | undefined },
): TranscriptEntry[] {
  let parentId = leafId ?? null;
  return drafts.map((draft) => {
    const now = clock.now();
    // Type and place first, as other tools do, so that the beginning of a line shows its kind.
    const place = { type: draft.type, id: ids.next(now), parentId, timestamp: new Date(now).toISOString() };
    parentId = place.id;
    const entry = { ...place, ...draft, ...(epoch === undefined ? {} : { leaseEpoch: epoch }) };
    return entry satisfies TranscriptEntry;
  });
}

export function encodeEntries(entries: readonly TranscriptEntry[]): Buffer[] {
  const lines = entries.map(encodeOrRefuse);
  const longest = Math.max(...lines.map((line) => line.length));
  if (longest > MAX_LINE_BYTES) {
    throw new HoldfastError("usage", "entry-too-large", `An entry of ${longest} bytes is too large to read back`, {
      hint: `Store large data in a file and name it in the entry. An entry may have up to ${MAX_LINE_BYTES} bytes.`,
    });
  }
  return lines;
}

function encodeOrRefuse(entry: TranscriptEntry): Buffer {
  try {
    return Buffer.from(encodeEntry(entry));
  } catch (error) {
    throw new HoldfastError("usage", "entry-not-json", "An entry cannot be written as JSON", {
      hint: "An entry may contain only JSON values: no cycles, no big integers.",
      cause: error,
    });
  }
}

export type EntryIds = ReturnType<typeof createEntryIds>;

export function createEntryIds() {
  let taken: ReadonlySet<string> = new Set();
  let last = Number.NEGATIVE_INFINITY;
  return {
    /** New ids follow these entries of the tail. */
    continueAfter(tail: readonly TranscriptEntry[]): void {
      taken = new Set(tail.map(({ id }) => id));
      for (const { timestamp } of tail) {
        const instant = Date.parse(timestamp);
        if (instant > last) last = instant;
      }
    },
    next(now: number): string {
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
