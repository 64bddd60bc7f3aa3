/**
 * Reads a transcript from where its scan stopped, synchronously: it is meant for worker threads. Lines are
 * looked at where they lie in one buffer that is used for every chunk of every file.
 *
 * Only whole lines are taken in. Claude Code may be writing the last one at this moment: as long as it is
 * no whole JSON object, its bytes are left for the next scan.
 */
import { readSync } from "node:fs";
import { MAX_LINE_BYTES } from "../../base/jsonl.ts";
import { type LineReader, createLineReader } from "./line-reader.ts";
import { type SessionScan, createSessionScan } from "./session-scan.ts";
import { settleUsage } from "./settle-usage.ts";
import type { UsageLedger } from "./usage.ts";

export interface FileScan {
  /** To be continued later. */
  scan: SessionScan;
  /** Usage of the messages on the lines that were read this time. */
  ledger: UsageLedger;
  /** False when there were so many messages that the ledger has only the last of them. */
  isWhole: boolean;
  /** The bytes after the last whole line: a line that is being written, or was torn off. */
  tornBytes: number;
  bytesRead: number;
}

export interface ScanOptions {
  /** A scan of the start of the same file. It is continued in place. */
  from?: SessionScan | undefined;
  /** Read no further than this. */
  end?: number;
  /** False when the sums are enough: then memory stays small however many messages there are. */
  keepMessages?: boolean;
}

export interface FileScanner {
  /** Undefined when `from` cannot be continued with what was added: then the file has to be read from its start. */
  scan(file: number, options?: ScanOptions): FileScan | undefined;
}

export interface FileScannerOptions {
  /** What is made of the lines. Left out: everything that is known of a session. */
  reader?: LineReader;
  maxLineBytes?: number;
  chunkBytes?: number;
}

/** Strings up to this length cost V8 next to nothing to make; beyond 128 KiB they would be ten times as dear. */
const CHUNK_BYTES = 96 * 1024;
/** How many messages are held before they are summed up. */
const MAX_MESSAGES = 20_000;
const NEWLINE = 0x0a;
const ZERO = "\0";
/** Never smaller: file systems lose whole blocks. */
const ZERO_BLOCK_BYTES = 512;

export function createFileScanner(options: FileScannerOptions = {}): FileScanner {
  const { reader = createLineReader(), maxLineBytes = MAX_LINE_BYTES, chunkBytes = CHUNK_BYTES } = options;
  const usual = Buffer.allocUnsafe(Math.min(chunkBytes, maxLineBytes));

  return {
    scan(file, { from, end = Number.MAX_SAFE_INTEGER, keepMessages = true } = {}) {
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

/** False when a last line that was believed to be whole goes on, or an old message comes again. */
function readAll({ file, end, usual, maxLineBytes, maxMessages, reader, result }: Reading): boolean {
  const { scan } = result;
  let chunk = usual;
  /** How much of the chunk is filled; it starts at `scan.offset`. */
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

/** Takes in every line of the chunk that has its newline, and returns where the last of them ends. */
function readLines(reader: LineReader, offset: number, chunk: Buffer, filled: number): number {
  const text = chunk.toString("latin1", 0, filled);
  const hasZeros = hasBlockOfZeros(chunk, filled);
  let from = 0;
  for (;;) {
    const newline = text.indexOf("\n", from);
    if (newline === -1) return from;
    const isSound = !hasZeros || !text.slice(from, newline).includes(ZERO);
    if (!isSound || !reader.read(chunk, text, from, newline))
      reader.reject(offset + from, "not a complete JSON object");
    from = newline + 1;
  }
}

/** What a power cut leaves of lines; inside of a string nothing else would show it. */
function hasBlockOfZeros(chunk: Buffer, filled: number): boolean {
  for (let at = 0; at < filled; at += ZERO_BLOCK_BYTES) if (chunk[at] === 0) return true;
  return false;
}

/** Some tools write files without a last newline; a line that is a whole object loses nothing by being believed. */
function readLastLine(reader: LineReader, result: FileScan, chunk: Buffer, filled: number): void {
  const text = chunk.toString("latin1", 0, filled);
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

/** Where the line after an endless one starts; undefined when that one has no end yet. */
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
