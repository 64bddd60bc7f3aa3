/**
 * Brings what is known of transcripts up to date. Runs in the main thread for a few files and in
 * worker threads for many; everything that comes in and goes out can be sent between them.
 *
 * Files that are read together and begin alike, a session and its forks, come back with their messages: whose
 * each is can then be told without reading them again.
 */
import { readSync } from "node:fs";
import { errorMessage } from "../../base/errors.ts";
import { openNativeFileSync } from "../native/layout.ts";
import { type FileScanner, createFileScanner } from "../native/scan-file.ts";
import type { SessionScan } from "../native/session-scan.ts";
import { createUsageReader } from "../native/usage-reader.ts";
import type { MessageUsage, UsageLedger } from "../native/usage.ts";
import type { FileStamp } from "./find-files.ts";
import { type StoredScan, restoreScan, serializeScan } from "./stored-scan.ts";

export interface ScanJob {
  /** Given back with the result. */
  id: number;
  path: string;
  /** What an earlier scan left, if the file may have grown since. */
  previous?: KnownScan | undefined;
  /** Whether each message is wanted in any case, not only their sums. */
  withMessages: boolean;
  /** Whether nothing is wanted but what was used. */
  usageOnly: boolean;
}

export interface KnownScan extends StoredScan {
  inode: number;
  size: number;
  fingerprint: string;
}

export type ScanResult = { id: number; bytesRead: number } & (
  | { outcome: "scanned"; file: ScannedFile }
  /** It vanished, or became something else than a file. */
  | { outcome: "gone" }
  | { outcome: "failed"; reason: string }
);

export interface ScannedFile {
  stamp: FileStamp;
  /** Both are missing when the file was read for its usage alone. */
  fingerprint?: string;
  stored?: StoredScan;
  rootUuid?: string | undefined;
  firstMessageId?: string | undefined;
  openedAt?: number | undefined;
  lastAt?: number | undefined;
  cwds: string[];
  entrypoint?: string | undefined;
  originMarker?: string | undefined;
  usage: string;
  /** Of the lines that were read; of all when the file was read from its start. */
  messages?: [messageId: string, usage: MessageUsage][];
  fromStart: boolean;
}

/** How much of the start and of the end of what was read shows whether it still is the same file. */
const CHECKED_BYTES = 512;
const scratch = new Uint8Array(CHECKED_BYTES);
const words = new Int32Array(scratch.buffer);

/** One for each way to read a file. */
export interface Scanners {
  everything: FileScanner;
  usage: FileScanner;
}

export function createScanners(): Scanners {
  return { everything: createFileScanner(), usage: createFileScanner({ reader: createUsageReader() }) };
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

/** A file that was read from its start, with all its messages. */
interface FreshScan {
  file: ScannedFile;
  ledger: UsageLedger;
}

/** What a fork has in common with the session that it was made of. */
function forkKeys({ rootUuid, firstMessageId }: ScannedFile): string[] {
  return [
    ...(rootUuid === undefined ? [] : [`root ${rootUuid}`]),
    ...(firstMessageId === undefined ? [] : [`message ${firstMessageId}`]),
  ];
}

/** Adds to `fresh` where the messages are at hand. */
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
    // What is added meanwhile belongs to the next scan, which the stamp will ask for.
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

/** What lists show, and what it takes to go on later. */
function describe(
  descriptor: number,
  scan: SessionScan,
): Pick<ScannedFile, "entrypoint" | "fingerprint" | "originMarker" | "stored"> {
  const { facts, ...stored } = serializeScan(scan);
  const { entrypoint, originMarker } = facts;
  return { fingerprint: fingerprint(descriptor, scan.offset), stored, entrypoint, originMarker };
}

/** The earlier scan, when the file has grown since and is otherwise the same. */
function continuable(descriptor: number, stamp: FileStamp, previous: KnownScan): SessionScan | undefined {
  // Same size at another time: somebody wrote into the middle of it.
  if (stamp.inode !== previous.inode || stamp.size <= previous.size) return undefined;
  const scan = restoreScan(previous);
  if (scan === undefined || stamp.size < scan.offset) return undefined;
  return fingerprint(descriptor, scan.offset) === previous.fingerprint ? scan : undefined;
}

/** Of the first bytes and of the last ones before `offset`. */
function fingerprint(descriptor: number, offset: number): string {
  const length = Math.min(CHECKED_BYTES, offset);
  const head = hash(readSync(descriptor, scratch, 0, length, 0));
  const tail = hash(readSync(descriptor, scratch, 0, length, offset - length));
  return `${head.toString(36)}.${tail.toString(36)}`;
}

/** FNV-1a over the words of `scratch`: it has to notice other content, not to withstand somebody who forges it. */
function hash(length: number): number {
  scratch.fill(0, length);
  let value = 0x811c9dc5 ^ length;
  for (const word of words) value = mix(Math.imul(value ^ word, 0x01000193));
  return value >>> 0;
}

/** A product's low bits know nothing of the high ones. */
function mix(value: number): number {
  return value ^ (value >>> 15);
}
