/** What a window has cost, as far as its answers carry a price. */
import { HoldfastError, systemErrorCode } from "../base/errors.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { openForReading, scanEntriesBackward } from "../transcript/scan.ts";

export interface WindowCost {
  usd: number;
  /** False: the transcript is long, and only its newest part was counted. */
  complete: boolean;
}

/** Enough for thousands of answers, read within some hundredths of a second. */
const COUNTED_BYTES = 4 * 1024 * 1024;

/** Undefined when there is no transcript or it cannot be read. */
export async function readWindowCost(path: string, countedBytes = COUNTED_BYTES): Promise<WindowCost | undefined> {
  try {
    await using handle = await openForReading(path);
    const { size } = await handle.stat();
    const start = Math.max(0, size - countedBytes);
    let usd = 0;
    for await (const { entry } of scanEntriesBackward(handle, { start })) usd += costOf(entry);
    return { usd, complete: start === 0 };
  } catch (error) {
    if (error instanceof HoldfastError || systemErrorCode(error) !== undefined) return undefined;
    throw error;
  }
}

function costOf(entry: TranscriptEntry): number {
  if (entry.type !== "message" || entry.message.role !== "assistant") return 0;
  // Other tools write answers too, not all of them with a price.
  const total: unknown = entry.message.usage?.cost?.total;
  return typeof total === "number" && Number.isFinite(total) && total > 0 ? total : 0;
}
