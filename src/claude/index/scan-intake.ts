/**
 * Reads files and writes what they say into the index. Every batch of results is one transaction, so a refresh
 * that dies has lost its last batch only.
 */
import type { DatabaseSync } from "node:sqlite";
import type { ChangedFile } from "./compare-folders.ts";
import type { FileRows } from "./file-rows.ts";
import type { FolderRows } from "./folder-rows.ts";
import { runTransaction } from "./index-database.ts";
import type { RefreshOptions, RefreshReport } from "./native-index.ts";
import { createProgress } from "./progress.ts";
import type { ScanResult } from "./scan-job.ts";
import { type SizedJob, createScanPool } from "./scan-pool.ts";

/** How many results are written in one transaction. Fewer would write the same pages of the index more often. */
const BATCH_FILES = 1000;

export interface ScanIntake extends AsyncDisposable {
  /** Takes on files to read. What they say is written at the earliest when this thread has time. */
  add(files: readonly ChangedFile[]): void;
  /** Resolves when all of them are read and written. */
  finish(): Promise<void>;
  /** The rows that were written. */
  written: Set<number>;
}

export interface ScanIntakeParts {
  database: DatabaseSync;
  rows: FileRows;
  folders: FolderRows;
  report: RefreshReport;
  threads: number | undefined;
}

export function createScanIntake(parts: ScanIntakeParts, { onProgress, signal }: RefreshOptions): ScanIntake {
  const { database, rows, folders, report, threads } = parts;
  const progress = createProgress(onProgress);
  const written = new Set<number>();
  const files: ChangedFile[] = [];
  let pending: ScanResult[] = [];

  const write = (results: readonly ScanResult[]) => {
    const touched = new Set<string>();
    for (const result of results) {
      const changed = files[result.id];
      if (changed === undefined) continue;
      report.bytesRead += result.bytesRead;
      if (result.outcome === "failed") report.failed.push({ path: changed.file.path, reason: result.reason });
      if (result.outcome !== "scanned") continue;
      const id = rows.write(changed.file, result.file);
      if (result.file.messages !== undefined) rows.writeMessages(id, result.file);
      written.add(id);
      touched.add(changed.file.folder);
      report.filesRead += 1;
    }
    for (const folder of touched) folders.forget(folder);
  };
  const flush = () => {
    const results = inOrder(pending);
    pending = [];
    if (results.length > 0) runTransaction(database, () => write(results));
  };
  const onResults = (results: readonly ScanResult[]) => {
    pending.push(...results);
    progress.add(results.length, sumBytes(results.map(({ id }) => files[id] ?? { bytes: 0 })));
    if (pending.length >= BATCH_FILES) flush();
  };
  const pool = createScanPool({ onResults, threads, signal });

  return {
    written,
    add(more) {
      const first = files.length;
      files.push(...more);
      progress.expect(more.length, sumBytes(more));
      pool.add(more.map((file, index) => toJob(file, first + index, rows)));
    },
    async finish() {
      await pool.finish();
      flush();
      if (files.length > 0) progress.report();
    },
    [Symbol.asyncDispose]: async () => await pool[Symbol.asyncDispose](),
  };
}

/** As the files lie in their folders: neighbours in the index are written together. */
function inOrder(results: readonly ScanResult[]): ScanResult[] {
  return results.toSorted((a, b) => a.id - b.id);
}

function toJob({ file, known, bytes, withMessages, usageOnly }: ChangedFile, id: number, rows: FileRows): SizedJob {
  return {
    id,
    path: file.path,
    folder: file.folder,
    bytes,
    withMessages,
    usageOnly,
    ...(known === undefined ? {} : { previous: rows.readScan(known.id) }),
  };
}

function sumBytes(files: readonly { bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
