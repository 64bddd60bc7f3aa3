/**
 * Reads a transcript from where its scan stopped. Only finished lines are taken in: Claude Code may be
 * writing the last one at this moment, so its bytes are left for the next scan.
 */
import { readLines } from "../../base/jsonl.ts";
import { openNativeFile } from "./layout.ts";
import { createLineReader } from "./line-reader.ts";
import { parseJson } from "./object-skimmer.ts";
import { type SessionScan, createSessionScan, restoreScan, serializeScan } from "./session-scan.ts";
import type { UsageLedger } from "./usage.ts";

export interface FileScan {
  /** Everything up to the last finished line; to be continued later. */
  scan: SessionScan;
  /** Usage of the messages on the lines that were read this time. */
  ledger: UsageLedger;
  /** The bytes after the last newline: a line that is being written, or was torn off. */
  unfinishedLine?: Buffer;
  /** How many bytes follow the last newline, also when they were too many to be held. */
  unfinishedBytes: number;
}

export interface ScanFileOptions {
  /** A scan of the start of the same file. It is continued in place. */
  from?: SessionScan | undefined;
  /** Read no further than this. */
  end?: number;
  maxLineBytes?: number;
  chunkBytes?: number;
}

/** Undefined when there is no such file. Whether it still is the file of `from` is the caller's to know. */
export async function scanTranscript(path: string, options: ScanFileOptions = {}): Promise<FileScan | undefined> {
  await using handle = await openNativeFile(path);
  if (handle === undefined) return undefined;
  const { from, ...limits } = options;
  const scan = from ?? createSessionScan();
  const result: FileScan = { scan, ledger: new Map(), unfinishedBytes: 0 };
  const reader = createLineReader(scan, result.ledger);
  for await (const line of readLines(handle, { ...limits, start: scan.offset })) {
    if (!line.terminated) {
      result.unfinishedBytes = line.end - line.offset;
      if (!line.oversized) result.unfinishedLine = line.bytes;
      break;
    }
    if (line.oversized) reader.reject(line.offset, "too long");
    else reader.read(line.bytes, 0, line.bytes.length, line.offset);
    scan.offset = line.end;
  }
  return result;
}

/**
 * The scan as it would be if the last line had its newline. Some tools write files without one; a line
 * that is whole JSON loses nothing by being believed. `file` itself stays as it is, to be continued.
 */
export function withUnfinishedLine(file: FileScan): { scan: SessionScan; ledger: UsageLedger; tornBytes: number } {
  const bytes = file.unfinishedLine;
  if (bytes === undefined || parseJson(bytes.toString("utf8")) === undefined) {
    return { scan: file.scan, ledger: file.ledger, tornBytes: file.unfinishedBytes };
  }
  const scan = restoreScan(serializeScan(file.scan)) ?? createSessionScan();
  const ledger = new Map(file.ledger);
  createLineReader(scan, ledger).read(bytes, 0, bytes.length, scan.offset);
  return { scan, ledger, tornBytes: 0 };
}
