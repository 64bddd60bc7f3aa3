/**
 * Reading a transcript as it stands, from either end. Nothing is skipped silently: what cannot be
 * served is in the report. Bytes after the last newline are never served, because a writer may be in
 * the middle of them. Memory: one line, and a few bytes per entry to recognise repeated ids.
 */
import { crc32 } from "node:zlib";
import { TRANSCRIPT_VERSION, type TranscriptEntry, type TranscriptHeader } from "./entries.ts";
import { type OnProblem, type ProblemList, addProblem, createProblemList } from "./problems.ts";
import { type ScannedLine, openForReading, scanEntriesBackward, scanHead, scanLines, transcriptError } from "./scan.ts";

export type TranscriptItem =
  | { kind: "header"; header: TranscriptHeader; line: number; offset: number; end: number }
  | { kind: "entry"; entry: TranscriptEntry; line: number; offset: number; end: number };

export interface ReadReport extends ProblemList {
  header: TranscriptHeader | undefined;
  lines: number;
  entries: number;
  /** Bytes after the last newline. */
  tornBytes: number;
}

/** Iterate it once; the report is complete when the iteration has ended. */
export interface TranscriptReading extends AsyncIterable<TranscriptItem> {
  readonly report: ReadReport;
}

export interface ReadOptions {
  onProblem?: OnProblem;
}

export function readTranscript(path: string, options: ReadOptions = {}): TranscriptReading {
  const report: ReadReport = { ...createProblemList(), header: undefined, lines: 0, entries: 0, tornBytes: 0 };
  return { report, [Symbol.asyncIterator]: () => readItems(path, report, options) };
}

async function* readItems(path: string, report: ReadReport, options: ReadOptions): AsyncGenerator<TranscriptItem> {
  await using handle = await openForReading(path);
  const tree = createTreeCheck();
  try {
    for await (const scanned of scanLines(handle)) {
      const { line, header, located } = scanned;
      if (!line.terminated) {
        report.tornBytes = line.end - line.offset;
        continue;
      }
      const number = ++report.lines;
      const place = { line: number, offset: line.offset };
      const note = (reason: string): void => {
        const problem = { ...place, reason };
        addProblem(report, problem);
        options.onProblem?.(problem);
      };
      if (scanned.reason !== undefined) note(scanned.reason);
      if (number === 1 && header === undefined) note("the first line is not a header");
      if (header !== undefined && acceptHeader(report, header, note)) {
        yield { kind: "header", header, ...place, end: line.end };
      }
      if (located !== undefined && tree.accept(scanned, note)) {
        report.entries++;
        yield { kind: "entry", entry: located.entry, ...place, end: line.end };
      }
    }
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}

type Note = (reason: string) => void;

function acceptHeader(report: ReadReport, header: TranscriptHeader, note: Note): boolean {
  if (report.header !== undefined) {
    note("another header in the middle of the file");
    return false;
  }
  report.header = header;
  if (header.version > TRANSCRIPT_VERSION) {
    note(`version ${header.version} is newer than ${TRANSCRIPT_VERSION}; some of it may not be understood`);
  }
  return true;
}

interface TreeCheck {
  /** Notes what is wrong with the entry's place; false when it only repeats an earlier line. */
  accept(scanned: ScannedLine, note: Note): boolean;
}

/** A parent must stand before its child, so a cycle always has an entry whose parent was not seen yet. */
function createTreeCheck(): TreeCheck {
  const seen = new Map<string | number, number>();
  return {
    accept({ line, located }, note) {
      if (located === undefined) return false;
      const { id, parentId } = located.entry;
      const checksum = crc32(line.bytes) | 0;
      const earlier = seen.get(compactId(id));
      if (earlier === checksum) {
        // pi appends all it has again when a file it opened holds no answer yet.
        note(`repeats entry ${id}`);
        return false;
      }
      if (earlier !== undefined) note(`entry ${id} has the id of an earlier, different entry`);
      if (parentId === id) note(`entry ${id} is its own parent`);
      else if (parentId !== null && !seen.has(compactId(parentId))) {
        note(`parent ${parentId} of entry ${id} is missing, or comes later and closes a cycle`);
      }
      seen.set(compactId(id), checksum);
      return true;
    },
  };
}

/** A million ids as numbers take a third of the memory that they take as text. */
function compactId(id: string): string | number {
  return /^[0-9a-f]{8}$/.test(id) ? Number.parseInt(id, 16) : id;
}

export interface TranscriptTail extends ProblemList {
  header: TranscriptHeader | undefined;
  /** In the order of the file. */
  entries: { entry: TranscriptEntry; offset: number; end: number }[];
  /** True when there is nothing before the first of them. */
  complete: boolean;
  tornBytes: number;
}

/** The last `count` entries; takes the same time for a file of any size. */
export async function readTail(path: string, count: number): Promise<TranscriptTail> {
  await using handle = await openForReading(path);
  const list = createProblemList();
  const tail: TranscriptTail = { ...list, header: undefined, entries: [], complete: true, tornBytes: 0 };
  const seen = new Map<string, number>();
  try {
    tail.header = (await scanHead(handle)).header;
    const entries = scanEntriesBackward(handle, {
      onProblem: (problem) => addProblem(tail, problem),
      onTorn: (bytes) => {
        tail.tornBytes = bytes;
      },
    });
    for await (const { entry, offset, end } of entries) {
      if (tail.entries.length >= count) {
        tail.complete = false;
        break;
      }
      if (seen.get(entry.id) === end - offset) {
        addProblem(tail, { reason: `repeats entry ${entry.id}`, offset });
        continue;
      }
      seen.set(entry.id, end - offset);
      tail.entries.push({ entry, offset, end });
    }
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
  tail.entries.reverse();
  tail.problems.reverse();
  return tail;
}
