/**
 * The lines of a transcript as entries of version 3, forward and backward, whatever version the file
 * has. Both directions give the same entries with the same ids. One line is held at a time.
 */
import { type FileHandle, open, stat } from "node:fs/promises";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import type { JsonRecord } from "../base/json-record.ts";
import { type Line, type ReadLinesOptions, readLines, readLinesBackward } from "../base/jsonl.ts";
import { decodeEntry, parseLine } from "./codec.ts";
import type { TranscriptEntry, TranscriptHeader } from "./entries.ts";
import { countedFirstKept, idOfPlace, migrateRecord, needsMigration } from "./migrations.ts";
import type { OnProblem } from "./problems.ts";

export interface LocatedEntry {
  entry: TranscriptEntry;
  offset: number;
  /** Where the next line starts. */
  end: number;
  /** True when the line stands in the file in an older form. */
  migrated: boolean;
}

export interface ScannedLine {
  line: Line;
  header?: TranscriptHeader;
  located?: LocatedEntry;
  /** What is wrong with the line; an entry may be there nevertheless. */
  reason?: string;
}

/** Every complete line in order; the last one may come unterminated and then has nothing but bytes. */
export async function* scanLines(
  handle: FileHandle,
  options: Pick<ReadLinesOptions, "start" | "chunkBytes"> = {},
): AsyncGenerator<ScannedLine> {
  const offsets: number[] = [];
  let countable = true;
  let previousId: string | null = null;
  for await (const line of readLines(handle, options)) {
    if (!line.terminated) {
      yield { line };
      continue;
    }
    const parsed = parseLine(line);
    if (parsed.kind === "problem") {
      yield { line, reason: parsed.reason };
      continue;
    }
    // Only compactions of version 1 count lines, so nothing is remembered for newer files.
    if (countable) offsets.push(line.offset);
    if (parsed.kind === "header") {
      if (parsed.header.version > 1) countable = false;
      yield { line, header: parsed.header };
      continue;
    }
    const counted = countedFirstKept(parsed.record);
    const keptOffset = counted === undefined ? undefined : offsets[counted];
    const scanned = decodeRecord(line, parsed.record, keptOffset, previousId);
    previousId = scanned.located?.entry.id ?? previousId;
    yield scanned;
  }
}

export interface BackwardOptions {
  /** Where to begin; must be the end of a line. Left out: the end of the file. */
  end?: number;
  /** Where to stop; a line that reaches back to it may be cut and is left out. Left out: the beginning. */
  start?: number;
  onProblem?: OnProblem;
  onTorn?: (bytes: number) => void;
}

/** Every entry from the last to the first; reads no more of the file than is consumed. */
export async function* scanEntriesBackward(
  handle: FileHandle,
  options: BackwardOptions = {},
): AsyncGenerator<LocatedEntry> {
  // A line without a parent of its own, waiting for the entry before it to become known.
  let waiting: LocatedEntry | undefined;
  const { start = 0, end } = options;
  for await (const line of readLinesBackward(handle, end === undefined ? { start } : { start, end })) {
    if (start > 0 && line.offset === start) break;
    if (!line.terminated) {
      options.onTorn?.(line.end - line.offset);
      continue;
    }
    const parsed = parseLine(line);
    if (parsed.kind === "problem") options.onProblem?.({ reason: parsed.reason, offset: line.offset });
    if (parsed.kind !== "record") continue;
    const { record } = parsed;
    const counted = countedFirstKept(record);
    const keptOffset = counted === undefined ? undefined : await offsetOfCountedLine(handle, counted);
    const { located, reason } = decodeRecord(line, record, keptOffset, null);
    if (reason !== undefined) options.onProblem?.({ reason, offset: line.offset });
    if (located === undefined) continue;
    if (waiting !== undefined) {
      waiting.entry.parentId = located.entry.id;
      yield waiting;
      waiting = undefined;
    }
    if (record["id"] === undefined) waiting = located;
    else yield located;
  }
  if (waiting !== undefined) yield waiting;
}

function decodeRecord(
  line: Line,
  record: JsonRecord,
  keptOffset: number | undefined,
  parentId: string | null,
): ScannedLine {
  const migrated = needsMigration(record);
  const current = migrated
    ? migrateRecord(record, {
        id: idOfPlace(line.offset),
        parentId,
        firstKeptEntryId: keptOffset === undefined ? undefined : idOfPlace(keptOffset),
      })
    : record;
  const { entry, reason } = decodeEntry(current);
  return {
    line,
    ...(entry === undefined ? {} : { located: { entry, offset: line.offset, end: line.end, migrated } }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** Version 1 counts the readable lines from the header on, the header being number 0. */
async function offsetOfCountedLine(handle: FileHandle, index: number): Promise<number | undefined> {
  let count = 0;
  for await (const line of readLines(handle)) {
    if (!line.terminated || parseLine(line).kind === "problem") continue;
    if (count++ === index) return line.offset;
  }
  return undefined;
}

/** How many lines at the beginning are looked at for a header before the file counts as having none. */
const HEADER_LINES = 64;
/** A header is short, and every turn looks at it. */
const HEADER_CHUNK_BYTES = 4096;

export interface FileHead {
  header: TranscriptHeader | undefined;
  /** True when one of the first lines is a header or an entry: the file is a transcript at all. */
  recognised: boolean;
}

/** The header is the first readable line, if that is a header. */
export async function scanHead(handle: FileHandle): Promise<FileHead> {
  let count = 0;
  for await (const { header, located } of scanLines(handle, { chunkBytes: HEADER_CHUNK_BYTES })) {
    if (header !== undefined) return { header, recognised: true };
    if (located !== undefined) return { header: undefined, recognised: true };
    if (++count === HEADER_LINES) break;
  }
  return { header: undefined, recognised: false };
}

const WINDOW_ENTRIES = 64;
const WINDOW_BYTES = 1024 * 1024;

/** The last few entries, newest first: as many as are needed to continue the file, whatever its size. */
export async function scanTailWindow(handle: FileHandle, options: BackwardOptions = {}): Promise<LocatedEntry[]> {
  for await (const newest of scanEntriesBackward(handle, options)) {
    const start = Math.max(0, newest.offset - WINDOW_BYTES);
    const window = [newest];
    for await (const located of scanEntriesBackward(handle, { ...options, start, end: newest.offset })) {
      window.push(located);
      if (window.length >= WINDOW_ENTRIES) break;
    }
    return window;
  }
  return [];
}

/**
 * The entry to continue from: the last one that was not written by a holder who had lost the lease.
 * Such a line carries a lower epoch than lines before it and is a side branch that nobody was told of.
 */
export function leafOfWindow(window: readonly LocatedEntry[]): LocatedEntry | undefined {
  const newest = newestEpoch(window);
  return window.find(({ entry }) => entry.leaseEpoch === undefined || entry.leaseEpoch >= newest);
}

export function newestEpoch(window: readonly LocatedEntry[]): number {
  return Math.max(...window.map(({ entry }) => entry.leaseEpoch ?? Number.NEGATIVE_INFINITY));
}

export async function openForReading(path: string): Promise<FileHandle> {
  try {
    // Looked at first, because opening a named pipe would wait for its other end.
    if (!(await stat(path)).isFile()) {
      throw new HoldfastError("usage", "not-a-file", `${path} is not a regular file`, {
        hint: "Name the transcript itself, a .jsonl file.",
        data: { path },
      });
    }
    return await open(path, "r");
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}

export function transcriptError(error: unknown, action: string, path: string): HoldfastError {
  if (systemErrorCode(error) !== "ENOENT") return fileError(error, action, path);
  return new HoldfastError("not-found", "transcript-missing", `There is no transcript ${path}`, {
    hint: "`holdfast doctor` lists entries without transcripts; an archived one can be restored.",
    data: { path },
    cause: error,
  });
}
