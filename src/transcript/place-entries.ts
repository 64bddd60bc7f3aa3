/** New entries: their place in the tree, and the bytes that stand in the file for them. */
import type { Clock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { MAX_LINE_BYTES } from "../base/jsonl.ts";
import { encodeEntry } from "./codec.ts";
import type { DraftEntry, TranscriptEntry } from "./entries.ts";
import type { EntryIds } from "./entry-ids.ts";

export function placeEntries(
  drafts: readonly DraftEntry[],
  leafId: string | undefined,
  ids: EntryIds,
  { clock, epoch }: { clock: Clock; epoch?: number | undefined },
): TranscriptEntry[] {
  let parentId = leafId ?? null;
  return drafts.map((draft) => {
    const now = clock.now();
    // Type and place first, as other tools write them: the beginning of a line tells what it is.
    const place = { type: draft.type, id: ids.next(now), parentId, timestamp: new Date(now).toISOString() };
    parentId = place.id;
    const entry = { ...place, ...draft, ...(epoch === undefined ? {} : { leaseEpoch: epoch }) };
    return entry satisfies TranscriptEntry;
  });
}

/** One buffer for each entry. */
export function encodeEntries(entries: readonly TranscriptEntry[]): Buffer[] {
  const lines = entries.map(encodeOrRefuse);
  const longest = Math.max(...lines.map((line) => line.length));
  if (longest > MAX_LINE_BYTES) {
    throw new HoldfastError("usage", "entry-too-large", `An entry of ${longest} bytes is too large to be read again`, {
      hint: `Keep large data in a file and name it in the entry; an entry may have ${MAX_LINE_BYTES} bytes.`,
    });
  }
  return lines;
}

function encodeOrRefuse(entry: TranscriptEntry): Buffer {
  try {
    return Buffer.from(encodeEntry(entry));
  } catch (error) {
    throw new HoldfastError("usage", "entry-not-json", "An entry cannot be written as JSON", {
      hint: "An entry may hold only what JSON can: no cycles, no big integers.",
      cause: error,
    });
  }
}
