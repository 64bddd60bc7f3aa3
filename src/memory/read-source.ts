/**
 * The passages of a file, line by line from a given place. Only finished lines are read: somebody may
 * be writing the last one at this moment, unless it is a copy. One line is held at a time, and none that is longer than
 * `MAX_LINE`: it is counted and passed over, as are lines that cannot be read.
 */
import type { FileHandle } from "node:fs/promises";
import { type Line, readLines } from "../base/jsonl.ts";
import { isUnpackingError, readPartLines } from "../claude/archive/read-part.ts";
import { decodeEntry, parseLine } from "../transcript/codec.ts";
import { idOfPlace, migrateRecord, needsMigration } from "../transcript/migrations.ts";
import { isFlushEntry, saidText } from "../transcript/turn-mark.ts";
import { markdownPassages } from "./markdown-passages.ts";
import { createNativeLineReader } from "./native-line.ts";
import { entryPassages } from "./passages.ts";
import { type LineRole, type ReadStep, instant } from "./read-step.ts";
import type { SourceFile } from "./sources.ts";

export interface ReadFrom {
  offset: number;
  lines: number;
  folder?: string;
  /** Whose session it is has been read already. */
  settled: boolean;
}

const MAX_LINE = 16 * 1024 * 1024;
const MAX_MEMORY_FILE = 8 * 1024 * 1024;

export async function* readSource(
  handle: FileHandle,
  file: Pick<SourceFile, "kind" | "size" | "modifiedAt" | "copyOf">,
  from: ReadFrom,
): AsyncGenerator<ReadStep> {
  if (file.kind === "memory") {
    yield await readMemory(handle, file);
    return;
  }
  const read = file.kind === "native" ? createNativeLineReader(from.settled) : createOwnLineReader(from.folder);
  let count = from.lines;
  const isCopy = file.copyOf !== undefined;
  const range = { start: from.offset, maxLineBytes: MAX_LINE };
  const lines = isCopy ? linesOfCopy(handle, range) : readLines(handle, { ...range, end: file.size });
  for await (const line of lines) {
    if (!line.terminated && !isCopy) return;
    count += 1;
    const step: ReadStep = { end: line.end, lines: 1, passages: [] };
    if (line.oversized) yield { ...step, skipped: true };
    else yield { ...step, ...read(line, { line: count, endLine: count, offset: line.offset }) };
  }
}

/** What is behind a damaged place cannot be had: it counts as one more line that is not readable. */
async function* linesOfCopy(handle: FileHandle, range: { start: number; maxLineBytes: number }): AsyncGenerator<Line> {
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

async function readMemory(handle: FileHandle, file: { size: number; modifiedAt: number }): Promise<ReadStep> {
  const step: ReadStep = { end: file.size, lines: 0, passages: [] };
  if (file.size > MAX_MEMORY_FILE) return { ...step, skipped: true };
  const content = Buffer.alloc(file.size);
  const { bytesRead } = await handle.read(content, 0, file.size, 0);
  const at = Math.round(file.modifiedAt);
  const passages = markdownPassages(content.toString("utf8", 0, bytesRead)).map((passage) => ({ ...passage, at }));
  return { ...step, passages };
}

/** Lines of Holdfast's transcripts, of every version. */
function createOwnLineReader(folderBefore: string | undefined): LineRole {
  let folder = folderBefore;
  return (line, place) => {
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return line.bytes.length === 0 ? {} : { damaged: true };
    if (parsed.kind === "header") {
      folder = parsed.header.cwd === "" ? undefined : parsed.header.cwd;
      return folder === undefined ? {} : { folder };
    }
    const { record } = parsed;
    const whereabouts = { id: idOfPlace(line.offset), parentId: null, firstKeptEntryId: undefined };
    const { entry } = decodeEntry(needsMigration(record) ? migrateRecord(record, whereabouts) : record);
    if (entry === undefined) return { damaged: true };
    // What was saved is found in the memory itself.
    if (entry.type !== "message" || isFlushEntry(entry)) return {};
    const { message } = entry;
    if (message.role !== "user" && message.role !== "assistant") return {};
    const passages = entryPassages(saidText(entry), {
      ...place,
      role: message.role,
      entryId: entry.id,
      ...instant(entry.timestamp),
      ...(folder === undefined ? {} : { folder }),
    });
    return { passages };
  };
}
