import type { TranscriptEntry } from "./entries.ts";
import { openForReading, scanLines, transcriptError } from "./scan.ts";

/**
 * The entries behind a position, and the position behind them. A line that is still being written
 * is left for the next call. A file that became shorter was compacted: nothing in it is new.
 */
export async function readEntriesFrom(
  path: string,
  position: number,
): Promise<{ entries: TranscriptEntry[]; end: number }> {
  await using handle = await openForReading(path);
  try {
    const { size } = await handle.stat();
    if (size < position) return { entries: [], end: size };
    const entries: TranscriptEntry[] = [];
    let end = position;
    for await (const { line, located } of scanLines(handle, { start: position })) {
      if (!line.terminated) break;
      if (located !== undefined) entries.push(located.entry);
      end = line.end;
    }
    return { entries, end };
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}
