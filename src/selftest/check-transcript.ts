/** Reads the messages of a transcript, and damages transcripts as a power cut would. */
import { appendFile, readdir, stat, truncate } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileExists } from "../base/files.ts";
import { agentLayout } from "../config/layout.ts";
import { messageText } from "../transcript/messages.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { readTranscript } from "../transcript/reader.ts";
import { type HomeState, type SessionState, sessionOf } from "./expectation.ts";
import { type Operation, type Random, placeOfText } from "./operations.ts";

/**
 * A compaction moves the beginning of the conversation into archives in `bakFolder`. Each file must hold a contiguous
 * part of the conversation, and the transcript must hold the end.
 */
export async function readWindowTexts(path: string, bakFolder: string, problems: string[]): Promise<string[]> {
  const name = basename(path);
  const names = (await readdir(bakFolder)).filter((file) => file.startsWith(`${name}.bak.`));
  const current = (await readTexts(path, problems)).texts;
  const archives: string[][] = [];
  for (const file of names) archives.push((await readTexts(join(bakFolder, file), problems)).texts);
  const inOrder = [...new Set([current, ...archives].flat())].toSorted((a, b) => placeOfText(a) - placeOfText(b));
  const holds = (texts: readonly string[], start: number): boolean =>
    texts.every((text, index) => text === inOrder[start + index]);
  if (!holds(current, inOrder.length - current.length)) {
    problems.push(`${name} does not hold the end of its conversation`);
  }
  for (const [index, texts] of archives.entries()) {
    if (!holds(texts, inOrder.indexOf(texts[0] ?? ""))) problems.push(`${names[index]} has a gap`);
  }
  return inOrder;
}

/** The messages, the end offset of each, and that of the last line that is none. */
async function readTexts(path: string, problems: string[]) {
  const name = basename(path);
  const reading = readTranscript(path);
  const read = { texts: [] as string[], ends: [] as number[], endOfPreamble: 0 };
  let place = 0;
  try {
    for await (const item of reading) {
      if (item.kind !== "entry" || item.entry.type !== "message") {
        read.endOfPreamble = item.end;
        continue;
      }
      const text = messageText(item.entry.message);
      if (placeOfText(text) <= place) problems.push(`${name} has "${text.slice(0, 20)}" twice or in the wrong place`);
      place = placeOfText(text);
      read.texts.push(text);
      read.ends.push(item.end);
    }
  } catch (error) {
    problems.push(`${name} cannot be read: ${String(error)}`);
    return read;
  }
  if (reading.report.header === undefined) problems.push(`${name} has no header`);
  for (const { reason, line } of reading.report.problems) problems.push(`${name} line ${line ?? "?"}: ${reason}`);
  return read;
}

/**
 * Cuts the transcript of the append in flight at a random byte; false if there is nothing to cut. After a power cut only
 * unsynced bytes may be missing, and an acknowledged append was synced.
 */
export async function cutPower(
  home: string,
  state: HomeState,
  inFlight: Operation | undefined,
  random: Random,
): Promise<boolean> {
  if (inFlight?.name !== "append") return false;
  const session = sessionOf(state, inFlight.key);
  const path = transcriptOf(home, session);
  if (path === undefined) return false;
  const { texts, ends, endOfPreamble } = await readTexts(path, []);
  const last = session.windows[session.current ?? ""]?.at(-1);
  const syncedEnd = last === undefined ? endOfPreamble : ends[texts.lastIndexOf(last)];
  const { size } = await stat(path);
  if (syncedEnd === undefined || syncedEnd >= size) return false;
  await truncate(path, random.whole(syncedEnd, size - 1));
  return true;
}

/** Appends half a line to a live session's transcript and returns the key of the session. */
export async function tearTail(home: string, { sessions }: HomeState): Promise<string | undefined> {
  for (const [key, session] of Object.entries(sessions)) {
    const path = transcriptOf(home, session);
    if (session.state !== "live" || path === undefined || !(await fileExists(path))) continue;
    await appendFile(path, '{"type":"message","id":"0badcafe","parentId":null,"timest');
    return key;
  }
  return undefined;
}

function transcriptOf(home: string, { current }: SessionState): string | undefined {
  if (current === undefined) return undefined;
  return join(agentLayout(home, "main").sessionsFolder, transcriptFileName(current));
}
