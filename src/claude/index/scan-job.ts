/**
 * Reads transcripts, from the start or from where the last scan stopped. Runs in worker threads, and in the main thread
 * for a few files, so jobs and results can be sent between threads. Files of one batch that begin alike, a session and
 * its forks, are returned with their messages, so that they need not be read again to settle the forks.
 */
import { readSync } from "node:fs";
import { errorMessage } from "../../base/errors.ts";
import { openNativeFileSync } from "../native/layout.ts";
import { createFileScanner } from "../native/scan-file.ts";
import { type SessionScan, type StoredScan, restoreScan, serializeScan } from "../native/session-scan.ts";
import { createUsageReader } from "../native/usage-reader.ts";
import type { MessageUsage, UsageLedger } from "../native/usage.ts";

export interface ScanJob {
  /** Returned with the result. */
  id: number;
  path: string;
  /** The last scan, if there is one. */
  previous?: KnownScan | undefined;
  /** Return every message, not only sums. */
  withMessages: boolean;
  /** Read the usage only. */
  usageOnly: boolean;
}

export interface KnownScan extends StoredScan {
  inode: number;
  size: number;
  fingerprint: string;
}

export type ScanResult = { id: number; bytesRead: number } & (
  | { outcome: "scanned"; file: ScannedFile }
  /** It is no longer a file. */
  | { outcome: "gone" }
  | { outcome: "failed"; reason: string }
);

/** While these are unchanged, so is the content. */
export interface FileStamp {
  inode: number;
  size: number;
  /** In ms, with fractions. */
  modifiedAt: number;
}

export interface ScannedFile {
  stamp: FileStamp;
  /** Absent, like `stored`, when only the usage was read. */
  fingerprint?: string | undefined;
  stored?: StoredScan | undefined;
  rootUuid?: string | undefined;
  firstMessageId?: string | undefined;
  openedAt?: number | undefined;
  lastAt?: number | undefined;
  cwds: string[];
  entrypoint?: string | undefined;
  originMarker?: string | undefined;
  usage: string;
  /** Messages on the lines that were read. */
  messages?: [messageId: string, usage: MessageUsage][] | undefined;
  fromStart: boolean;
}

/** Bytes at the start and the end of the scanned part that identify a file. */
const CHECKED_BYTES = 512;
const scratch = new Uint8Array(CHECKED_BYTES);
const words = new Int32Array(scratch.buffer);

/** Most lines of this size fit, and no text is made of the whole chunk. */
const USAGE_CHUNK_BYTES = 256 * 1024;

export type Scanners = ReturnType<typeof createScanners>;

export function createScanners() {
  const usage = createFileScanner({ reader: createUsageReader(), chunkBytes: USAGE_CHUNK_BYTES });
  return { everything: createFileScanner(), usage };
}

export function runScanJobs(scanners: Scanners, jobs: readonly ScanJob[]): ScanResult[] {
  const fresh: FreshScan[] = [];
  const results = jobs.map((job) => runScanJob(scanners, job, fresh));
  const users = new Map<string, number>();
  for (const key of fresh.flatMap(({ file }) => forkKeys(file))) users.set(key, (users.get(key) ?? 0) + 1);
  for (const { file, ledger } of fresh) {
    if (forkKeys(file).some((key) => (users.get(key) ?? 0) > 1)) file.messages ??= [...ledger];
  }
  return results;
}

/** A file read from its start, with all its messages. */
interface FreshScan {
  file: ScannedFile;
  ledger: UsageLedger;
}

/** What a fork shares with its original. */
function forkKeys({ rootUuid, firstMessageId }: ScannedFile): string[] {
  return [
    ...(rootUuid === undefined ? [] : [`root ${rootUuid}`]),
    ...(firstMessageId === undefined ? [] : [`message ${firstMessageId}`]),
  ];
}

/** Adds the file to `fresh` if all its messages are known. */
function runScanJob(scanners: Scanners, job: ScanJob, fresh: FreshScan[]): ScanResult {
  const { id, path, previous, withMessages, usageOnly } = job;
  const scanner = usageOnly ? scanners.usage : scanners.everything;
  let bytesRead = 0;
  try {
    using opened = openNativeFileSync(path);
    if (opened === undefined) return { id, outcome: "gone", bytesRead };
    const { descriptor, stats } = opened;
    const stamp: FileStamp = { inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
    const from = previous === undefined ? undefined : continuable(descriptor, stamp, previous);
    // Lines added from now on change the stamp and belong to the next scan.
    const end = stats.size;
    let result = scanner.scan(descriptor, { from, end, keepMessages: withMessages });
    const fromStart = from === undefined || result === undefined;
    result ??= scanner.scan(descriptor, { end });
    if (result === undefined) throw new Error("it changed while it was read");
    const { scan, ledger, isWhole } = result;
    bytesRead = result.bytesRead;
    const file: ScannedFile = {
      stamp,
      rootUuid: scan.rootUuid,
      firstMessageId: scan.firstMessageId,
      openedAt: scan.openedAt,
      lastAt: scan.lastAt,
      cwds: scan.cwds,
      usage: JSON.stringify(scan.usage),
      fromStart,
      ...(usageOnly ? {} : describe(descriptor, scan)),
    };
    if (withMessages) file.messages = [...ledger];
    else if (fromStart && isWhole) fresh.push({ file, ledger });
    return { id, outcome: "scanned", bytesRead, file };
  } catch (error) {
    return { id, outcome: "failed", reason: errorMessage(error), bytesRead };
  }
}

/** The facts for lists and for continuing later. */
function describe(
  descriptor: number,
  scan: SessionScan,
): Pick<ScannedFile, "entrypoint" | "fingerprint" | "originMarker" | "stored"> {
  const { facts, ...stored } = serializeScan(scan);
  const { entrypoint, originMarker } = facts;
  return { fingerprint: fingerprint(descriptor, scan.offset), stored, entrypoint, originMarker };
}

/** The earlier scan, if the file only grew since then. */
function continuable(descriptor: number, stamp: FileStamp, previous: KnownScan): SessionScan | undefined {
  // Same size but another time: something in the middle was changed.
  if (stamp.inode !== previous.inode || stamp.size <= previous.size) return undefined;
  const scan = restoreScan(previous);
  if (scan === undefined || stamp.size < scan.offset) return undefined;
  return fingerprint(descriptor, scan.offset) === previous.fingerprint ? scan : undefined;
}

/** Hashes the first bytes and the last ones before `offset`. */
function fingerprint(descriptor: number, offset: number): string {
  const length = Math.min(CHECKED_BYTES, offset);
  const head = hash(readSync(descriptor, scratch, 0, length, 0));
  const tail = hash(readSync(descriptor, scratch, 0, length, offset - length));
  return `${head.toString(36)}.${tail.toString(36)}`;
}

/** FNV-1a over the words of `scratch`. It detects changes but is not safe against forgery. */
function hash(length: number): number {
  scratch.fill(0, length);
  let value = 0x811c9dc5 ^ length;
  for (const word of words) value = mix(Math.imul(value ^ word, 0x01000193));
  return value >>> 0;
}

/** Spreads the high bits, because the low bits of a product do not depend on them. */
function mix(value: number): number {
  return value ^ (value >>> 15);
}
