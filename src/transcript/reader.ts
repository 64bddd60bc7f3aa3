/**
 * Reads a transcript from either end. Nothing is skipped silently: the report lists everything unreadable. Bytes after
 * the last newline are ignored, because a writer may be busy with them. Holds one line in memory, and a few bytes per
 * entry to recognize repeated ids.
 */
import { nodeZlib } from "../base/builtin.ts";
import { undefinedOn } from "../base/errors.ts";
import { type TranscriptEntry, type TranscriptHeader, TRANSCRIPT_VERSION } from "./entries.ts";
import { isFlushEntry, saidText } from "./messages.ts";
import {
  type OnProblem,
  type ProblemList,
  type ScannedLine,
  type TranscriptProblem,
  addProblem,
  createProblemList,
  openForReading,
  scanEntriesBackward,
  scanHead,
  scanLines,
  transcriptError,
} from "./scan.ts";

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

/** Iterate it once. The report is complete at the end. */
export interface TranscriptReading extends AsyncIterable<TranscriptItem> {
  readonly report: ReadReport;
}

export interface ReadOptions {
  onProblem?: OnProblem | undefined;
}

export function readTranscript(path: string, options: ReadOptions = {}): TranscriptReading {
  const report: ReadReport = { ...createProblemList(), header: undefined, lines: 0, entries: 0, tornBytes: 0 };
  return { report, [Symbol.asyncIterator]: () => readItems(path, report, options) };
}

async function* readItems(path: string, report: ReadReport, options: ReadOptions): AsyncGenerator<TranscriptItem> {
  await using handle = await openForReading(path);
  const acceptEntry = createTreeCheck();
  try {
    for await (const scanned of scanLines(handle)) {
      const { line, header, located } = scanned;
      if (!line.terminated) {
        report.tornBytes = line.end - line.offset;
        continue;
      }
      const number = ++report.lines;
      const place = { line: number, offset: line.offset };
      const note: Note = (reason, rest) => {
        const problem = { ...place, reason, ...rest };
        addProblem(report, problem);
        options.onProblem?.(problem);
      };
      if (scanned.reason !== undefined) note(scanned.reason);
      if (number === 1 && header === undefined) note("the first line is not a header", HARMLESS);
      if (header !== undefined && acceptHeader(report, header, note)) {
        yield { kind: "header", header, ...place, end: line.end };
      }
      if (located !== undefined && acceptEntry(scanned, note)) {
        report.entries++;
        yield { kind: "entry", entry: located.entry, ...place, end: line.end };
      }
    }
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}

type Note = (reason: string, rest?: Pick<TranscriptProblem, "harmless" | "gap">) => void;

const HARMLESS = { harmless: true } as const;

function acceptHeader(report: ReadReport, header: TranscriptHeader, note: Note): boolean {
  if (report.header !== undefined) {
    note("another header in the middle of the file");
    return false;
  }
  report.header = header;
  if (header.version > TRANSCRIPT_VERSION) {
    note(`version ${header.version} is newer than ${TRANSCRIPT_VERSION}; some of it may not be understood`, HARMLESS);
  }
  return true;
}

/**
 * The returned function reports a wrong place of an entry. It returns false if the entry only repeats an earlier line. A
 * parent comes before its child, so every cycle has an entry whose parent was not seen yet.
 */
function createTreeCheck(): (scanned: ScannedLine, note: Note) => boolean {
  const seen = new Map<string | number, number>();
  const { crc32 } = nodeZlib();
  return ({ line, located }, note) => {
    if (located === undefined) return false;
    const { id, parentId } = located.entry;
    const checksum = crc32(line.bytes) | 0;
    const earlier = seen.get(compactId(id));
    if (earlier === checksum) {
      // pi appends everything again to a file without an answer.
      note(`repeats entry ${id}`, HARMLESS);
      return false;
    }
    if (earlier !== undefined) note(`entry ${id} has the id of an earlier, different entry`);
    if (parentId === id) note(`entry ${id} is its own parent`);
    else if (parentId !== null && !seen.has(compactId(parentId))) {
      note(`parent ${parentId} of entry ${id} is missing, or comes later and closes a cycle`, { gap: true });
    }
    seen.set(compactId(id), checksum);
    return true;
  };
}

/** Numbers take a third of the memory of text. */
function compactId(id: string): string | number {
  return /^[0-9a-f]{8}$/.test(id) ? Number.parseInt(id, 16) : id;
}

export interface TranscriptTail extends ProblemList {
  header: TranscriptHeader | undefined;
  /** In the order of the file. */
  entries: { entry: TranscriptEntry; offset: number; end: number }[];
  /** True if no entry precedes them. */
  complete: boolean;
  tornBytes: number;
}

/** The last `count` entries. Takes the same time for files of any size. */
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
        addProblem(tail, { reason: `repeats entry ${entry.id}`, offset, ...HARMLESS });
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

const FIRST_ENTRIES = 50;
const PREVIEW_LENGTH = 120;

/** The person's first message. Undefined if there is none, or no transcript. */
export async function firstUserText(path: string): Promise<string | undefined> {
  return await undefinedOn(findFirstUserText(path), "not-found");
}

async function findFirstUserText(path: string): Promise<string | undefined> {
  let read = 0;
  for await (const item of readTranscript(path)) {
    if (item.kind !== "entry") continue;
    const said = spoken(item.entry);
    if (said?.role === "user") return said.text;
    if (++read >= FIRST_ENTRIES) break;
  }
  return undefined;
}

/** The last message of the person or the agent, on one line. */
export async function lastMessagePreview(path: string): Promise<string | undefined> {
  const [last] = await lastMessages(path, { limit: 1, maxChars: PREVIEW_LENGTH });
  return last?.text;
}

export interface PreviewItem {
  role: string;
  text: string;
}

/** Oldest first. */
export async function lastMessages(
  path: string,
  { limit, maxChars }: { limit: number; maxChars: number },
): Promise<PreviewItem[]> {
  // Other kinds of entries are between the messages.
  const tail = await undefinedOn(readTail(path, limit * 8 + 20), "not-found");
  return (tail?.entries ?? [])
    .flatMap(({ entry }) => spoken(entry) ?? [])
    .slice(-limit)
    .map(({ role, text }) => ({ role, text: shorten(text, maxChars) }));
}

function spoken(entry: TranscriptEntry): PreviewItem | undefined {
  if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
  const { role } = entry.message;
  if (role !== "user" && role !== "assistant") return undefined;
  const text = saidText(entry).trim();
  return text === "" ? undefined : { role, text };
}

function shorten(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}

/**
 * The entries after a position, and the next position. An unfinished line is left for the next call. A shorter file was
 * compacted and has nothing new.
 */
export async function readEntriesFrom(
  path: string,
  position: number,
): Promise<{ entries: TranscriptEntry[]; end: number }> {
  await using handle = await openForReading(path);
  try {
    const { size } = await handle.stat();
    if (size < position) return { entries: [], end: size };
    const entries: TranscriptEntry[] = [];
    let end = position;
    for await (const { line, located } of scanLines(handle, { start: position })) {
      if (!line.terminated) break;
      if (located !== undefined) entries.push(located.entry);
      end = line.end;
    }
    return { entries, end };
  } catch (error) {
    throw transcriptError(error, "read", path);
  }
}
