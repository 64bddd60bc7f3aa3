/**
 * Reads the passages of a file from an offset, in parts of bounded size. An unfinished last line is skipped, because it
 * may still be written, except in a copy. Lines over `MAX_LINE` and unreadable lines are counted and skipped.
 */
import { readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { type Line, readLinesSync } from "../base/jsonl.ts";
import { decodeEntry, parseLine } from "../transcript/codec.ts";
import { isFlushEntry, saidText } from "../transcript/messages.ts";
import { idOfPlace, migrateRecord, needsMigration } from "../transcript/migrations.ts";
import { entryPassages, instant, markdownPassages } from "./passages.ts";
import { createNativeLineReader } from "./read-native.ts";
import type { LineFacts, LineReader, ReadStep, SourceFile } from "./sources.ts";
import type { WordReader } from "./text-words.ts";
import { createToolCallReader } from "./tool-calls.ts";

export interface ReadFrom {
  offset: number;
  lines: number;
  folder?: string | undefined;
  /** The session's owner is already known. */
  settled: boolean;
}

const MAX_LINE = 16 * 1024 * 1024;
const MAX_MEMORY_FILE = 8 * 1024 * 1024;

/** `source`: a descriptor, or the handle of a copy, which is decompressed. */
export async function* readSource(
  source: number | FileHandle,
  file: Pick<SourceFile, "kind" | "size" | "modifiedAt">,
  from: ReadFrom,
  words: WordReader,
): AsyncGenerator<ReadStep[]> {
  const parts = createParts(from, words);
  if (typeof source === "number" && file.kind === "memory") {
    parts.add({ end: file.size, lines: 0 }, readMemory(source, file));
    yield parts.take();
    return;
  }
  const read = file.kind === "native" ? createNativeLineReader(from.settled) : createOwnLineReader(from.folder);
  const range = { start: from.offset, maxLineBytes: MAX_LINE };
  let count = from.lines;
  const addLine = (line: Line): void => {
    count += 1;
    const facts = line.oversized
      ? ({ skipped: true } as const)
      : read(line, { line: count, endLine: count, offset: line.offset });
    parts.add({ end: line.end, lines: count }, facts);
  };
  if (typeof source === "number") {
    for (const line of readLinesSync(source, { ...range, end: file.size })) {
      if (!line.terminated) break;
      addLine(line);
      if (parts.isFull()) yield parts.take();
    }
  } else {
    for await (const line of linesOfCopy(source, range)) {
      addLine(line);
      if (parts.isFull()) yield parts.take();
    }
  }
  yield parts.take();
}

const PART_CHARACTERS = 192 * 1024;
const PART_BYTES = 8 * 1024 * 1024;
const PART_STEPS = 5000;

/** Collects steps. Most lines have no facts; they are counted with the next line that has some. */
function createParts({ offset, lines }: ReadFrom, words: WordReader) {
  let part: ReadStep[] = [];
  let [start, end, counted, count, characters] = [offset, offset, lines, lines, 0];
  const addStep = (facts: LineFacts): void => {
    const passages = (facts?.passages ?? []).map((passage) => ({ ...passage, words: words.read(passage.text) }));
    part.push({ ...facts, passages, end, lines: count - counted });
    counted = count;
    for (const { text } of passages) characters += text.length;
  };
  return {
    add: (place: { end: number; lines: number }, facts: LineFacts): void => {
      [end, count] = [place.end, place.lines];
      if (facts !== undefined) addStep(facts);
    },
    isFull: (): boolean => characters >= PART_CHARACTERS || part.length >= PART_STEPS || end - start >= PART_BYTES,
    take: (): ReadStep[] => {
      if (count > counted) addStep(undefined);
      const taken = part;
      [part, start, characters] = [[], end, 0];
      return taken;
    },
  };
}

/** Reports the rest after a damaged place as one unreadable line. */
async function* linesOfCopy(handle: FileHandle, range: { start: number; maxLineBytes: number }): AsyncGenerator<Line> {
  // Most people have no archive.
  const { isUnpackingError, readPartLines } = await import("../claude/archive/archive-part.ts");
  let end = range.start;
  try {
    for await (const line of readPartLines(handle, range)) {
      ({ end } = line);
      yield line;
    }
  } catch (error) {
    if (!isUnpackingError(error)) throw error;
    yield { bytes: Buffer.from("{"), offset: end, end, terminated: false, oversized: false };
  }
}

function readMemory(descriptor: number, file: { size: number; modifiedAt: number }): LineFacts {
  if (file.size > MAX_MEMORY_FILE) return { skipped: true };
  const content = Buffer.alloc(file.size);
  const bytesRead = readSync(descriptor, content, 0, file.size, 0);
  const at = Math.round(file.modifiedAt);
  return { passages: markdownPassages(content.toString("utf8", 0, bytesRead)).map((passage) => ({ ...passage, at })) };
}

/** Reads lines of Holdfast's transcripts, of every version. */
function createOwnLineReader(folderBefore: string | undefined): LineReader {
  let folder = folderBefore;
  const readCalls = createToolCallReader();
  return (line, place) => {
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return line.bytes.length === 0 ? undefined : { damaged: true };
    if (parsed.kind === "header") {
      folder = parsed.header.cwd === "" ? undefined : parsed.header.cwd;
      return { folder };
    }
    const { record } = parsed;
    const whereabouts = { id: idOfPlace(line.offset), parentId: null, firstKeptEntryId: undefined };
    const { entry } = decodeEntry(needsMigration(record) ? migrateRecord(record, whereabouts) : record);
    if (entry === undefined) return { damaged: true };
    // A flush ends up in the memory files, which are indexed themselves.
    if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
    const { message } = entry;
    if (message.role !== "user" && message.role !== "assistant") return undefined;
    const facts = { ...place, entryId: entry.id, at: instant(entry.timestamp), folder };
    const passages = entryPassages(saidText(entry), { ...facts, role: message.role });
    const calls = readCalls(message.content, folder);
    passages.push(...entryPassages(calls.text, { ...facts, role: "tool" }));
    return { passages, edits: calls.edits };
  };
}
