/**
 * Compares a transcript with the acknowledged texts, and damages transcripts as a power cut would. A compaction moves the
 * beginning of the conversation into archives: the file and each archive hold one contiguous part, together they hold
 * everything, and the file holds the end.
 */
import { readdir, appendFile, stat, truncate } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileExists } from "../base/files.ts";
import { agentLayout } from "../config/layout.ts";
import { transcriptFileName } from "../transcript/paths.ts";
import { readTranscript } from "../transcript/reader.ts";
import { type Expectation, type ExpectedSession, sessionOf } from "./expectation.ts";
import type { Operation, Random } from "./operations.ts";
import { messageText } from "../transcript/messages.ts";

interface TranscriptCheck {
  /** Number of texts found: all expected ones, perhaps some possible ones. */
  found: number;
  problems: string[];
}

/** `possible` are the texts of an append in flight: any number of the first ones may be there. */
export async function checkTranscript(
  path: string,
  bakFolder: string,
  expected: readonly string[],
  possible: readonly string[],
): Promise<TranscriptCheck> {
  const positions = new Map([...expected, ...possible].map((text, index) => [text, index]));
  const problems: string[] = [];
  const pieces: Piece[] = [];
  for (const file of [path, ...(await archivesOf(basename(path), bakFolder))]) {
    const { texts, complaints } = await readTexts(file);
    problems.push(...complaints);
    const piece = pieceOf(texts, positions);
    if (typeof piece === "string") problems.push(`${basename(file)} ${piece}`);
    else pieces.push(piece);
  }
  const [current] = pieces;
  const found = current?.end ?? 0;
  if (found < expected.length) {
    problems.push(`${basename(path)} ends after ${found} of ${expected.length} acknowledged messages`);
  }
  const uncovered = firstGap(pieces, found);
  if (uncovered !== undefined) problems.push(`message ${uncovered} of ${basename(path)} is neither there nor archived`);
  return { found: Math.max(found, expected.length), problems };
}

async function archivesOf(name: string, folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.filter((candidate) => candidate.startsWith(`${name}.bak.`)).map((candidate) => join(folder, candidate));
}

interface TranscriptTexts {
  texts: string[];
  /** End offset of each text's line. */
  ends: number[];
  /** End offset of the last line that is not a message. */
  endOfPreamble: number;
  complaints: string[];
}

async function readTexts(path: string): Promise<TranscriptTexts> {
  const reading = readTranscript(path);
  const read: TranscriptTexts = { texts: [], ends: [], endOfPreamble: 0, complaints: [] };
  try {
    for await (const item of reading) {
      if (item.kind === "entry" && item.entry.type === "message") {
        read.texts.push(messageText(item.entry.message));
        read.ends.push(item.end);
      } else read.endOfPreamble = item.end;
    }
  } catch (error) {
    read.complaints.push(`${basename(path)} cannot be read: ${String(error)}`);
    return read;
  }
  const { header, problems } = reading.report;
  if (header === undefined) read.complaints.push(`${basename(path)} has no header`);
  for (const { reason, line } of problems) read.complaints.push(`${basename(path)} line ${line ?? "?"}: ${reason}`);
  return read;
}

interface Piece {
  start: number;
  end: number;
}

function pieceOf(texts: readonly string[], positions: ReadonlyMap<string, number>): Piece | string {
  const start = positions.get(texts[0] ?? "") ?? 0;
  for (const [index, text] of texts.entries()) {
    const position = positions.get(text);
    if (position === undefined) return `holds "${text.slice(0, 20)}", which was never written there`;
    if (position !== start + index) return `has "${text.slice(0, 20)}" twice or in the wrong place`;
  }
  return { start, end: start + texts.length };
}

function firstGap(pieces: readonly Piece[], end: number): number | undefined {
  let covered = 0;
  for (const piece of pieces.toSorted((a, b) => a.start - b.start)) {
    if (piece.start > covered) return covered;
    covered = Math.max(covered, piece.end);
  }
  return covered < end ? covered : undefined;
}

/**
 * Cuts the transcript of the append in flight at a random byte; false if there is nothing to cut. After a power cut only
 * unsynced bytes may be missing, and an acknowledged append was synced.
 */
export async function cutPower(
  home: string,
  expectation: Expectation,
  inFlight: Operation | undefined,
  random: Random,
): Promise<boolean> {
  if (inFlight?.name !== "append") return false;
  const session = sessionOf(expectation, inFlight.key);
  const path = transcriptOf(home, session);
  if (path === undefined) return false;
  const syncedEnd = await endOfAcknowledged(path, session);
  const { size } = await stat(path);
  if (syncedEnd === undefined || syncedEnd >= size) return false;
  await truncate(path, random.whole(syncedEnd, size - 1));
  return true;
}

/** Appends half a line to a live session's transcript and returns the key of the session. */
export async function tearTail(home: string, expectation: Expectation): Promise<string | undefined> {
  for (const session of expectation.sessions.values()) {
    const path = transcriptOf(home, session);
    if (session.state !== "live" || path === undefined || !(await fileExists(path))) continue;
    await appendFile(path, '{"type":"message","id":"0badcafe","parentId":null,"timest');
    return session.key;
  }
  return undefined;
}

function transcriptOf(home: string, { current }: ExpectedSession): string | undefined {
  if (current === undefined) return undefined;
  return join(agentLayout(home, "main").sessionsFolder, transcriptFileName(current));
}

async function endOfAcknowledged(path: string, session: ExpectedSession): Promise<number | undefined> {
  const { texts, ends, endOfPreamble } = await readTexts(path);
  const acknowledged = session.windows.get(session.current ?? "") ?? [];
  const last = acknowledged.at(-1);
  return last === undefined ? endOfPreamble : ends[texts.lastIndexOf(last)];
}
