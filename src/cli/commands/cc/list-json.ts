/**
 * All sessions as JSON for a program. What is printed is what `printJson` would print, but ten thousand
 * sessions are tens of megabytes: most of it goes as text from the index to the reader, piece by piece.
 */
import type { DiscoveryTexts } from "../../../claude/discovery/discover.ts";
import { writeOut } from "../../output.ts";

const CHUNK_LENGTH = 256 * 1024;

/** `onNone` is called before anything is written. */
export async function writeSessions({ rows, activeCount }: DiscoveryTexts, onNone: () => void): Promise<void> {
  let total = 0;
  let text = '{"schema":1,"sessions":[';
  for (const row of rows) {
    text += total === 0 ? row : `,${row}`;
    total += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await writeOut(text);
    text = "";
  }
  if (total === 0) onNone();
  await writeOut(`${text}],"total":${total},"activeCount":${activeCount}}\n`);
}
