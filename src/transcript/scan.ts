/**
 * The lines of a transcript as entries of version 3, forward and backward, for files of any version. Both directions
 * give the same entries with the same ids. Holds one line at a time.
 */
import { type FileHandle, open, stat } from "node:fs/promises";
import { HoldfastError, fileError, systemErrorCode, undefinedOn } from "../base/errors.ts";
import type { JsonRecord } from "../base/json-record.ts";
import { type Line, type ReadLinesOptions, readLines, readLinesBackward } from "../base/jsonl.ts";
import { decodeEntry, parseLine } from "./codec.ts";
import type { TranscriptEntry, TranscriptHeader } from "./entries.ts";
import { countedFirstKept, idOfPlace, migrateRecord, needsMigration } from "./migrations.ts";

export interface LocatedEntry {
  entry: TranscriptEntry;
  offset: number;
  /** Where the next line starts. */
  end: number;
  /** True if the line has an older form. */
  migrated: boolean;
}

export interface ScannedLine {
  line: Line;
  header?: TranscriptHeader | undefined;
  located?: LocatedEntry | undefined;
  /** The problem with the line, if any. There may still be an entry. */
  reason?: string | undefined;
}

/** Every complete line in order. An unterminated last line comes with its bytes only. */
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
    // Only compactions of version 1 refer to lines by number, so newer files need no offsets.
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
  /** Where to begin: the end of a line. Default: the end of the file. */
  end?: number | undefined;
  /** Where to stop. A line that reaches back to it may be cut and is skipped. Default: the beginning. */
  start?: number | undefined;
  onProblem?: OnProblem | undefined;
  onTorn?: ((bytes: number) => void) | undefined;
}

/** Every entry from last to first. Reads no more of the file than is consumed. */
export async function* scanEntriesBackward(
  handle: FileHandle,
  options: BackwardOptions = {},
): AsyncGenerator<LocatedEntry> {
  // An entry without a parent id. It waits for the previous entry.
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
    if (hasPlace(record)) yield located;
    else waiting = located;
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
  const { entry, reason = whyNoPlace(record, migrated) } = decodeEntry(
    hasPlace(record) ? current : { ...current, parentId },
  );
  return { line, reason, located: entry && { entry, offset: line.offset, end: line.end, migrated } };
}

/** False if the line names no parent. Then the parent is the previous line. */
function hasPlace({ id, parentId }: JsonRecord): boolean {
  return id !== undefined && (parentId === null || typeof parentId === "string");
}

/** Old forms are plain lists without parents. */
function whyNoPlace(record: JsonRecord, migrated: boolean): string | undefined {
  if (migrated || hasPlace(record)) return undefined;
  return "entry without a parentId; it is taken to follow the entry before it";
}

/** Version 1 counts readable lines; the header is number 0. */
async function offsetOfCountedLine(handle: FileHandle, index: number): Promise<number | undefined> {
  let count = 0;
  for await (const line of readLines(handle)) {
    if (!line.terminated || parseLine(line).kind === "problem") continue;
    if (count++ === index) return line.offset;
  }
  return undefined;
}

const HEADER_LINES = 64;
/** Headers are short, and every turn reads one. */
const HEADER_CHUNK_BYTES = 4096;

/** The header must be the first readable line. */
export type FileHead = Awaited<ReturnType<typeof scanHead>>;

export async function scanHead(handle: FileHandle) {
  let count = 0;
  for await (const { header, located } of scanLines(handle, { chunkBytes: HEADER_CHUNK_BYTES })) {
    if (header !== undefined) return { header, recognised: true, isOldForm: false };
    if (located !== undefined) {
      return { header: undefined, recognised: true, isOldForm: located.migrated && count === 0 };
    }
    if (++count === HEADER_LINES) break;
  }
  return { header: undefined, recognised: false, isOldForm: false };
}

const WINDOW_ENTRIES = 64;
const WINDOW_BYTES = 1024 * 1024;

/** The last entries, newest first: enough to continue a file of any size. */
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
 * The entry to continue from: the last one that was not written by a holder that had lost the lease. Such a line has a
 * lower epoch than earlier lines and is an unreported side branch.
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
    // First, because opening a named pipe would block.
    if (!(await stat(path)).isFile()) {
      throw new HoldfastError("usage", "not-a-file", `${path} is not a regular file`, {
        hint: "Give the path of a transcript, a .jsonl file.",
        data: { path },
      });
    }
    return await open(path, "r");
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}

export async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  return await undefinedOn(openForReading(path), "not-found");
}

export function transcriptError(error: unknown, action: string, path: string): HoldfastError {
  if (systemErrorCode(error) !== "ENOENT") return fileError(error, action, path);
  return new HoldfastError("not-found", "transcript-missing", `There is no transcript ${path}`, {
    hint: "`holdfast doctor` lists entries without transcripts. An archived transcript can be restored.",
    data: { path },
    cause: error,
  });
}

/** A problem in a transcript. Problems are reported, not thrown, and everything else is still read. */
export interface TranscriptProblem {
  reason: string;
  offset?: number | undefined;
  /** Counted from 1. Missing if the file was not read from its beginning. */
  line?: number | undefined;
  /** The file, if it is not the requested one: a parent, an archive, a saved tail. */
  file?: string | undefined;
  /** True if nothing is missing because of it. */
  harmless?: true | undefined;
  /** True if the entry's parent is missing: the conversation is cut off here. */
  gap?: true | undefined;
}

/** True if messages may be missing. */
export function isLoss({ harmless }: TranscriptProblem): boolean {
  return harmless !== true;
}

export type OnProblem = (problem: TranscriptProblem) => void;

/** A file full of garbage must not fill the memory with reports. */
const MAX_LISTED = 1000;

export interface ProblemList {
  readonly problems: TranscriptProblem[];
  /** Includes problems that are not listed. */
  problemCount: number;
}

export function createProblemList(): ProblemList {
  return { problems: [], problemCount: 0 };
}

export function addProblem(list: ProblemList, problem: TranscriptProblem): void {
  list.problemCount++;
  if (list.problems.length < MAX_LISTED) list.problems.push(problem);
}
