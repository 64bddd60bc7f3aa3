/**
 * Reads changed files and writes the results into the index. Each batch of results is one transaction, so a refresh that
 * dies loses only its last batch.
 *
 * Worker threads do the reading. They start while files are still being found, and get the next batch before the last
 * one is done, so that none of them waits. This thread reads small amounts itself, because starting a thread takes as
 * long as reading some megabytes.
 */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HoldfastError } from "../../base/errors.ts";
import type { ChangedFile } from "./find-changes.ts";
import type { IndexRows } from "./index-rows.ts";
import type { RefreshOptions, RefreshProgress, RefreshReport } from "./native-index.ts";
import { type ScanJob, type ScanResult, createScanners, runScanJobs } from "./scan-job.ts";
import { runTransaction } from "../../base/sqlite.ts";

export type ScanIntake = ReturnType<typeof createScanIntake>;

export interface ScanIntakeParts {
  database: DatabaseSync;
  rows: IndexRows;
  report: RefreshReport;
  threads: number | undefined;
}

/** Results per transaction. Smaller batches would write the same pages more often. */
const RESULTS_PER_TRANSACTION = 1000;
const PROGRESS_INTERVAL_MS = 250;

export function createScanIntake(parts: ScanIntakeParts, { onProgress, signal }: RefreshOptions) {
  const { database, rows, report, threads } = parts;
  const progress: RefreshProgress = { filesDone: 0, filesTotal: 0, bytesDone: 0, bytesTotal: 0 };
  let reportedAt = performance.now();
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
      const id = rows.writeFile(changed.file, result.file);
      if (result.file.messages !== undefined) rows.writeMessages(id, result.file);
      written.add(id);
      touched.add(changed.file.folder);
      report.filesRead += 1;
    }
    for (const folder of touched) rows.forgetFolder(folder);
  };
  const flush = () => {
    // In the order of the folders: neighbouring rows are written together.
    const results = pending.toSorted((a, b) => a.id - b.id);
    pending = [];
    if (results.length > 0) runTransaction(database, () => write(results));
  };
  const onResults = (results: readonly ScanResult[]) => {
    pending.push(...results);
    progress.filesDone += results.length;
    progress.bytesDone += sumBytes(results.map(({ id }) => files[id] ?? { bytes: 0 }));
    if (performance.now() - reportedAt >= PROGRESS_INTERVAL_MS) {
      reportedAt = performance.now();
      onProgress?.({ ...progress });
    }
    if (pending.length >= RESULTS_PER_TRANSACTION) flush();
  };
  const pool = createScanPool({ onResults, threads, signal });

  return {
    /** Ids of the written rows. */
    written,
    /** Adds files to read. Their results are written when this thread is idle. */
    add(more: readonly ChangedFile[]): void {
      const first = files.length;
      files.push(...more);
      progress.filesTotal += more.length;
      progress.bytesTotal += sumBytes(more);
      pool.add(more.map((file, index) => toJob(file, first + index, rows)));
    },
    /** Resolves when all files are read and written. */
    async finish(): Promise<void> {
      await pool.finish();
      flush();
      if (files.length > 0) onProgress?.({ ...progress });
    },
    [Symbol.asyncDispose]: async () => await pool[Symbol.asyncDispose](),
  };
}

function toJob({ file, known, bytes, withMessages, usageOnly }: ChangedFile, id: number, rows: IndexRows): SizedJob {
  const previous = known === undefined ? undefined : rows.readScan(known.id);
  return { id, path: file.path, folder: file.folder, bytes, withMessages, usageOnly, previous };
}

function sumBytes(files: readonly { bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

interface SizedJob extends ScanJob {
  /** Bytes to read. */
  bytes: number;
  /** The name of its project folder. */
  folder: string;
}

interface ScanPoolOptions {
  /** Gets results in any order. If it throws, the pool fails. */
  onResults: (results: readonly ScanResult[]) => void;
  /** Default: one per core, at most four. 0: read everything in this thread. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Below this size, worker threads save no time: each has to compile the same code again. */
const INLINE_BYTES = 12 * 1024 * 1024;
const INLINE_USAGE_BYTES = 160 * 1024 * 1024;
/** Below this size, this thread reads too and replaces one worker. Above it, this thread is busy writing all facts. */
const SHARED_BYTES = 1024 * 1024 * 1024;
/** Most folders fit, so that a fork is read with its original. */
const BATCH_BYTES = 24 * 1024 * 1024;
const BATCH_FILES = 256;
/** Batches that a worker gets in advance, because this thread is often busy and cannot send the next one. */
const BATCHES_AHEAD = 8;
/** Fewer, because this thread sends the next one after every batch that it reads itself. */
const BATCHES_AHEAD_SHARED = 2;
const MAX_THREADS = 4;
/** A thread makes only short-lived garbage, so a larger heap would only use more memory. */
const LIMITS = { maxYoungGenerationSizeMb: 16 };

interface Batch {
  folder: string;
  jobs: ScanJob[];
  bytes: number;
}

interface PoolThread {
  worker: Worker;
  /** Unanswered batches. */
  sent: number;
}

/** Starts threads with the first large work and keeps them. */
function createScanPool(options: ScanPoolOptions) {
  const { onResults, threads = Math.min(availableParallelism(), MAX_THREADS), signal } = options;
  const pool: PoolThread[] = [];
  const waiting: Batch[] = [];
  /** Bytes added since the last `finish`, and how many of them are for usage only. */
  let bytes = 0;
  let usageBytes = 0;
  let hasFailed = false;
  let done = pendingEnd();

  const fail = (reason: unknown): void => {
    hasFailed = true;
    waiting.length = 0;
    done.reject(reason);
  };
  const receive = (results: readonly ScanResult[]): void => {
    if (hasFailed) return;
    try {
      onResults(results);
    } catch (error) {
      fail(error);
    }
  };
  const mayShare = (): boolean => bytes - usageBytes <= SHARED_BYTES;
  const isShared = (): boolean => mayShare() && pool.length < threads;
  const startThreads = (): void => {
    if (threads === 0 || (bytes - usageBytes <= INLINE_BYTES && usageBytes <= INLINE_USAGE_BYTES)) return;
    const wanted = mayShare() ? Math.max(1, threads - 1) : threads;
    while (pool.length < wanted) pool.push(startThread());
  };
  const startThread = (): PoolThread => {
    // A thread would refuse options of the process such as `--input-type`.
    const worker = new Worker(threadFile(), { execArgv: [], resourceLimits: LIMITS });
    const thread: PoolThread = { worker, sent: 0 };
    worker.on("error", (cause) => {
      const hint = "Try again; results so far are kept. If memory is short, close other programs first.";
      const message = "A thread that reads transcripts failed";
      fail(new HoldfastError("unavailable", "scan-thread-failed", message, { hint, cause }));
    });
    worker.on("message", (results: string) => {
      thread.sent -= 1;
      handOut();
      receive(JSON.parse(results) as ScanResult[]);
      endIfDone();
    });
    return thread;
  };
  const handOut = (): void => {
    const ahead = isShared() ? BATCHES_AHEAD_SHARED : BATCHES_AHEAD;
    for (let sent = 0; sent < ahead; sent += 1) {
      for (const thread of pool) {
        const batch = thread.sent === sent ? waiting.shift() : undefined;
        if (batch === undefined) continue;
        thread.worker.postMessage(batch.jobs);
        thread.sent += 1;
      }
    }
  };
  const readHere = async (): Promise<void> => {
    const scanners = createScanners();
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      receive(runScanJobs(scanners, batch.jobs));
      await nextTick();
    }
  };
  const endIfDone = (): void => {
    if (waiting.length === 0 && pool.every(({ sent }) => sent === 0)) done.resolve();
  };

  return {
    /** Threads start on the jobs at once; results arrive when this thread is idle. */
    add(jobs: readonly SizedJob[]): void {
      if (hasFailed) return;
      for (const job of jobs) {
        addToBatches(waiting, job);
        bytes += job.bytes;
        if (job.usageOnly) usageBytes += job.bytes;
      }
      startThreads();
      handOut();
    },
    /** Resolves when everything has been read. More jobs may be added afterwards. */
    async finish(): Promise<void> {
      signal?.throwIfAborted();
      const onAbort = () => fail(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      // Large batches first, so that no thread is left with much work at the end.
      waiting.sort((a, b) => b.bytes - a.bytes);
      try {
        if (pool.length === 0 || isShared()) await readHere();
        endIfDone();
        await done.promise;
      } finally {
        signal?.removeEventListener("abort", onAbort);
      }
      done = pendingEnd();
      bytes = usageBytes = 0;
    },
    async [Symbol.asyncDispose]() {
      hasFailed = true;
      await Promise.all(pool.map(async ({ worker }) => await worker.terminate()));
    },
  };
}

/** Its rejection may come before anyone waits for it. */
function pendingEnd(): PromiseWithResolvers<void> {
  const end = Promise.withResolvers<void>();
  end.promise.catch(() => undefined);
  return end;
}

/** Files of one folder go together, because forks are next to their originals. */
function addToBatches(batches: Batch[], job: SizedJob): void {
  const last = batches.at(-1);
  const fits = last?.folder === job.folder && last.bytes + job.bytes <= BATCH_BYTES && last.jobs.length < BATCH_FILES;
  if (fits) {
    last.jobs.push(job);
    last.bytes += job.bytes;
  } else {
    batches.push({ folder: job.folder, jobs: [job], bytes: job.bytes });
  }
}

/** TypeScript when run from source, JavaScript when built. */
function threadFile(): URL {
  return new URL(`./scan-thread${extname(import.meta.url)}`, import.meta.url);
}
