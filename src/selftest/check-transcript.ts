/**
 * Compares a window's transcript with what was acknowledged. A compaction moves the beginning of the
 * conversation into archives beside the file: the file and its archives each hold one unbroken piece
 * of it, together they hold all of it, and the file holds its end.
 */
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { readTranscript } from "../transcript/reader.ts";
import { messageText } from "../transcript/text.ts";

export interface TranscriptCheck {
  /** How many of the texts are there: all of the expected ones, and perhaps some of the possible ones. */
  found: number;
  problems: string[];
}

/** `possible` are texts of an append that was in flight: any number of the first ones may be there. */
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

export interface TranscriptTexts {
  texts: string[];
  /** Where the line of each text ends. */
  ends: number[];
  /** Where the last line that holds no message ends: what a window begins with. */
  endOfPreamble: number;
  complaints: string[];
}

export async function readTexts(path: string): Promise<TranscriptTexts> {
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
    if (position === undefined) return `holds "${text.slice(0, 20)}", which nobody wrote there`;
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
