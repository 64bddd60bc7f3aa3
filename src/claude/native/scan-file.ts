/**
 * Reads a transcript from the offset of its scan, synchronously, for worker threads. One buffer serves every chunk of
 * every file, and lines are read in place. Claude Code may be writing the last line right now: until it is a complete
 * JSON object, its bytes are left for the next scan.
 */
import { readSync, realpathSync } from "node:fs";
import { MAX_LINE_BYTES } from "../../base/jsonl.ts";
import { latin1 } from "./json-bytes.ts";
import { type LineReader, createLineReader } from "./line-reader.ts";
import { type SessionScan, createSessionScan } from "./session-scan.ts";
import { type UsageLedger, settleUsage } from "./usage.ts";
import { resolve } from "node:path";
import { HoldfastError } from "../../base/errors.ts";
import { readMarker } from "../attribution.ts";
import { openNativeFileSync, projectFolderName } from "./layout.ts";

export interface FileScan {
  scan: SessionScan;
  /** Usage of the messages on the lines read this time. */
  ledger: UsageLedger;
  /** False when there were too many messages and the ledger has only the last of them. */
  isWhole: boolean;
  /** Bytes after the last complete line, which is still being written or was cut off. */
  tornBytes: number;
  bytesRead: number;
}

export interface ScanOptions {
  /** An earlier scan of the same file. It is modified. */
  from?: SessionScan | undefined;
  /** Read no further than this. Default: the end of the file. */
  end?: number | undefined;
  /** False: sums are enough, so memory stays small for any number of messages. Default: true. */
  keepMessages?: boolean | undefined;
}

export interface FileScannerOptions {
  /** Default: a reader for all facts of a session. */
  reader?: LineReader | undefined;
  maxLineBytes?: number | undefined;
  chunkBytes?: number | undefined;
}

/** V8 makes strings of this size almost for free; beyond 128 KiB they cost ten times as much. */
const CHUNK_BYTES = 96 * 1024;
/** Messages held before they are summed up. */
const MAX_MESSAGES = 20_000;
const NEWLINE = 0x0a;
const ZERO = 0;
/** File systems lose whole blocks, of at least this size. */
const ZERO_BLOCK_BYTES = 512;

export function createFileScanner(options: FileScannerOptions = {}) {
  const { reader = createLineReader(), maxLineBytes = MAX_LINE_BYTES, chunkBytes = CHUNK_BYTES } = options;
  const usual = Buffer.allocUnsafe(Math.min(chunkBytes, maxLineBytes));

  return {
    /** Undefined when `from` cannot be continued: then the file has to be read from its start. */
    scan(file: number, scanOptions: ScanOptions = {}): FileScan | undefined {
      const { from, end = Number.MAX_SAFE_INTEGER, keepMessages = true } = scanOptions;
      const scan = from ?? createSessionScan();
      const result: FileScan = { scan, ledger: new Map(), isWhole: true, tornBytes: 0, bytesRead: 0 };
      reader.begin(scan, result.ledger);
      const maxMessages = keepMessages ? Infinity : MAX_MESSAGES;
      const isSound = readAll({ file, end, usual, maxLineBytes, maxMessages, reader, result });
      return isSound && settleUsage(scan, result.ledger) ? result : undefined;
    },
  };
}

interface Reading {
  file: number;
  end: number;
  usual: Buffer;
  maxLineBytes: number;
  maxMessages: number;
  reader: LineReader;
  result: FileScan;
}

/** False when the last line was not complete after all, or an old message appears again. */
function readAll({ file, end, usual, maxLineBytes, maxMessages, reader, result }: Reading): boolean {
  const { scan } = result;
  let chunk = usual;
  /** Bytes of the chunk in use. The chunk starts at `scan.offset`. */
  let filled = 0;
  for (;;) {
    const position = scan.offset + filled;
    const wanted = Math.min(chunk.length - filled, end - position);
    const got = wanted <= 0 ? 0 : readSync(file, chunk, filled, wanted, position);
    if (got === 0) break;
    result.bytesRead += got;
    filled += got;
    if (scan.lineOpen && chunk[0] !== NEWLINE) return false;
    scan.lineOpen = false;
    const used = readLines(reader, scan.offset, chunk, filled);
    scan.offset += used;
    if (result.ledger.size > maxMessages) {
      if (!settleUsage(scan, result.ledger)) return false;
      result.ledger.clear();
      result.isWhole = false;
    }
    chunk.copyWithin(0, used, filled);
    filled -= used;
    if (filled < usual.length) {
      if (chunk !== usual) chunk.copy(usual, 0, 0, filled);
      chunk = usual;
    } else if (filled === chunk.length && chunk.length < maxLineBytes) {
      chunk = enlarge(chunk, maxLineBytes);
    } else if (filled === chunk.length) {
      filled = 0;
      const next = findNextLine(file, scan.offset + chunk.length, end, usual, result);
      if (next === undefined) return true;
      chunk = usual;
      reader.reject(scan.offset, "too long");
      scan.offset = next;
    }
  }
  if (filled > 0) readLastLine(reader, result, chunk, filled);
  return true;
}

/** Reads every terminated line of the chunk and returns where the last one ends. */
function readLines(reader: LineReader, offset: number, chunk: Buffer, filled: number): number {
  const text = reader.needsText ? latin1(chunk, 0, filled) : "";
  const hasZeros = hasBlockOfZeros(chunk, filled);
  let from = 0;
  for (;;) {
    const newline = chunk.indexOf(NEWLINE, from);
    if (newline === -1 || newline >= filled) return from;
    const isSound = !hasZeros || !chunk.subarray(from, newline).includes(ZERO);
    if (!isSound || !reader.read(chunk, text, from, newline))
      reader.reject(offset + from, "not a complete JSON object");
    from = newline + 1;
  }
}

/** A power cut leaves blocks of zeros; inside a string nothing else reveals them. */
function hasBlockOfZeros(chunk: Buffer, filled: number): boolean {
  for (let at = 0; at < filled; at += ZERO_BLOCK_BYTES) if (chunk[at] === 0) return true;
  return false;
}

/** Some tools write no newline at the end, so a complete object counts as a line. */
function readLastLine(reader: LineReader, result: FileScan, chunk: Buffer, filled: number): void {
  const text = reader.needsText ? latin1(chunk, 0, filled) : "";
  if (!hasBlockOfZeros(chunk, filled) && reader.read(chunk, text, 0, filled)) {
    result.scan.offset += filled;
    result.scan.lineOpen = true;
  } else {
    result.tornBytes = filled;
  }
}

function enlarge(chunk: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(chunk.length * 4, maxBytes));
  chunk.copy(larger);
  return larger;
}

/** Where the line after an oversized one starts; undefined when that one has no end yet. */
function findNextLine(file: number, from: number, end: number, chunk: Buffer, result: FileScan): number | undefined {
  let position = from;
  for (;;) {
    const wanted = Math.min(chunk.length, end - position);
    const got = wanted <= 0 ? 0 : readSync(file, chunk, 0, wanted, position);
    result.bytesRead += got;
    if (got === 0) {
      result.tornBytes = position - result.scan.offset;
      return undefined;
    }
    const newline = chunk.subarray(0, got).indexOf(NEWLINE);
    if (newline !== -1) return position + newline + 1;
    position += got;
  }
}

/** The facts of one transcript, in the shape that OpenClaw defines. */
export async function parseJsonlHeader(path: string) {
  const scan = scanTranscript(path);
  const [prompt] = scan.prompts;
  const first = prompt === undefined ? undefined : readMarker(prompt);
  return {
    gitBranch: scan.branches[0],
    /** Cut, and without the agent's marker. */
    firstUserMessage: first?.text,
    slug: scan.slug,
    version: scan.versions.at(-1),
    permissionMode: scan.permissionMode,
    lineCount: scan.lines,
    /** The agent in the marker of the first message. */
    originMarker: first?.agentId,
    /** Each message of this file counts once. Subagents have their own files. */
    totalInputTokens: scan.usage.reduce((sum, [, , input]) => sum + input, 0),
    totalOutputTokens: scan.usage.reduce((sum, [, , , output]) => sum + output, 0),
    compactionCount: scan.compactionCount,
  };
}

function scanTranscript(path: string): SessionScan {
  using file = openNativeFileSync(path);
  const result = file === undefined ? undefined : createFileScanner().scan(file.descriptor);
  if (result !== undefined) return result.scan;
  throw new HoldfastError("not-found", "transcript-not-found", `There is no transcript ${path}`, {
    hint: "`holdfast cc list --all` shows the paths of transcripts.",
    data: { path },
  });
}

/** The name of Claude Code's folder for sessions that were started in `path`. */
export function repoPathToSlug(path: string): string {
  try {
    return projectFolderName(realpathSync.native(path));
  } catch {
    return projectFolderName(resolve(path));
  }
}
