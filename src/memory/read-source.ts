/**
 * Reads the passages of a file line by line from an offset. An unfinished last line is skipped, because it may still
 * be written, except in a copy. Only one line is in memory at a time. Lines over `MAX_LINE` and unreadable lines are
 * counted and skipped.
 */
import type { FileHandle } from "node:fs/promises";
import { type Line, readLines } from "../base/jsonl.ts";
import { decodeEntry, parseLine } from "../transcript/codec.ts";
import { idOfPlace, migrateRecord, needsMigration } from "../transcript/migrations.ts";
import { entryPassages, instant, markdownPassages } from "./passages.ts";
import { createNativeLineReader } from "./read-native.ts";
import type { LineReader, ReadStep } from "./read-step.ts";
import { createToolCallReader } from "./tool-calls.ts";
import type { SourceFile } from "./sources.ts";
import { isUnpackingError, readPartLines } from "../claude/archive/archive-part.ts";
import { isFlushEntry, saidText } from "../transcript/messages.ts";

interface ReadFrom {
  offset: number;
  lines: number;
  folder?: string | undefined;
  /** The session's owner is already known. */
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

/** Reports the rest after a damaged place as one unreadable line. */
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

/** Reads lines of Holdfast's transcripts, of every version. */
function createOwnLineReader(folderBefore: string | undefined): LineReader {
  let folder = folderBefore;
  const readCalls = createToolCallReader();
  return (line, place) => {
    const parsed = parseLine(line);
    if (parsed.kind === "problem") return line.bytes.length === 0 ? {} : { damaged: true };
    if (parsed.kind === "header") {
      folder = parsed.header.cwd === "" ? undefined : parsed.header.cwd;
      return { folder };
    }
    const { record } = parsed;
    const whereabouts = { id: idOfPlace(line.offset), parentId: null, firstKeptEntryId: undefined };
    const { entry } = decodeEntry(needsMigration(record) ? migrateRecord(record, whereabouts) : record);
    if (entry === undefined) return { damaged: true };
    // A flush ends up in the memory files, which are indexed themselves.
    if (entry.type !== "message" || isFlushEntry(entry)) return {};
    const { message } = entry;
    if (message.role !== "user" && message.role !== "assistant") return {};
    const facts = { ...place, entryId: entry.id, at: instant(entry.timestamp), folder };
    const passages = entryPassages(saidText(entry), { ...facts, role: message.role });
    const calls = readCalls(message.content, folder);
    passages.push(...entryPassages(calls.text, { ...facts, role: "tool" }));
    return { passages, edits: calls.edits };
  };
}
