/**
 * Reads many transcripts in worker threads. Jobs go out in small batches, the next before the last one is
 * done, so that no thread waits and results come in a steady stream. Little work is done right here, and more
 * of it here too: starting a thread takes as long as reading some megabytes.
 */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HoldfastError } from "../../base/errors.ts";
import { createFileScanner } from "../native/scan-file.ts";
import { type ScanJob, type ScanResult, runScanJob } from "./scan-job.ts";

export interface SizedJob extends ScanJob {
  /** How much there is to read. */
  bytes: number;
}

export interface ScanPoolOptions {
  /** Left out: one per core, at most four. 0: everything in this thread. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
}

const INLINE_BYTES = 12 * 1024 * 1024;
/** Up to here this thread reads too, in one's place: beyond, it has enough to do with writing. */
const SHARED_BYTES = 256 * 1024 * 1024;
const BATCH_BYTES = 2 * 1024 * 1024;
const BATCH_FILES = 64;
/** Enough for the time in which the main thread writes and does not answer. */
const BATCHES_AHEAD = 12;
/** Where this thread reads too it answers after every batch. */
const BATCHES_AHEAD_SHARED = 2;
const MAX_THREADS = 4;

export interface ScanPool extends AsyncDisposable {
  /** Hands over results as they come, in no particular order. Ends early when `onResults` throws or on abort. */
  scan(jobs: readonly SizedJob[], onResults: OnResults): Promise<void>;
}

type OnResults = (results: readonly ScanResult[]) => void;

/** Threads are started with the first work that is worth it, and kept for what follows. */
export function createScanPool(options: ScanPoolOptions = {}): ScanPool {
  const { threads = Math.min(availableParallelism(), MAX_THREADS), signal } = options;
  const workers: Worker[] = [];
  return {
    async scan(jobs, onResults) {
      const batches = toBatches(jobs);
      const bytes = jobs.reduce((sum, job) => sum + job.bytes, 0);
      if (threads === 0 || (workers.length === 0 && bytes <= INLINE_BYTES)) {
        await scanHere(batches, onResults, signal);
        return;
      }
      const isShared = bytes <= SHARED_BYTES && workers.length < threads;
      const wanted = isShared ? Math.max(1, threads - 1) : threads;
      // Options of the process, such as `--input-type`, would be refused or useless in a thread.
      while (workers.length < wanted) workers.push(new Worker(threadFile(), { execArgv: [] }));
      await scanInThreads(workers, batches, isShared, onResults, signal);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map(async (worker) => await worker.terminate()));
    },
  };
}

/** The largest first, so that no thread is left with a long file at the end. */
function toBatches(jobs: readonly SizedJob[]): ScanJob[][] {
  const batches: ScanJob[][] = [];
  let bytes = Infinity;
  for (const job of jobs.toSorted((a, b) => b.bytes - a.bytes)) {
    const last = batches.at(-1);
    if (last === undefined || bytes + job.bytes > BATCH_BYTES || last.length === BATCH_FILES) {
      batches.push([job]);
      bytes = job.bytes;
    } else {
      last.push(job);
      bytes += job.bytes;
    }
  }
  return batches;
}

async function scanHere(
  batches: readonly ScanJob[][],
  onResults: OnResults,
  signal: AbortSignal | undefined,
): Promise<void> {
  const scanner = createFileScanner();
  for (const [index, batch] of batches.entries()) {
    if (index > 0) await nextTick();
    signal?.throwIfAborted();
    onResults(batch.map((job) => runScanJob(scanner, job)));
  }
}

async function scanInThreads(
  workers: readonly Worker[],
  batches: readonly ScanJob[][],
  isShared: boolean,
  onResults: OnResults,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (batches.length === 0) return;
  signal?.throwIfAborted();
  let next = 0;
  let open = batches.length;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const send = (worker: Worker): void => {
    const batch = batches[next];
    if (batch === undefined) return;
    next += 1;
    worker.postMessage(batch);
  };
  const receive = (results: readonly ScanResult[]): void => {
    try {
      onResults(results);
    } catch (error) {
      reject(error);
    }
    open -= 1;
    if (open === 0) resolve();
  };
  const onMessage = (worker: Worker) => (results: ScanResult[]) => {
    send(worker);
    receive(results);
  };
  const readHere = async (): Promise<void> => {
    const scanner = createFileScanner();
    for (let batch = batches[next]; batch !== undefined; batch = batches[next]) {
      next += 1;
      receive(batch.map((job) => runScanJob(scanner, job)));
      await nextTick();
    }
  };
  const onError = (error: unknown) => reject(threadFailed(error));
  const onAbort = () => reject(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  for (const worker of workers) worker.on("message", onMessage(worker)).on("error", onError);
  const inAdvance = isShared ? BATCHES_AHEAD_SHARED : BATCHES_AHEAD;
  for (let ahead = 0; ahead < inAdvance; ahead += 1) for (const worker of workers) send(worker);
  const here = isShared ? readHere() : undefined;
  try {
    await promise;
  } finally {
    // After a failure nobody takes more.
    next = batches.length;
    await here;
    signal?.removeEventListener("abort", onAbort);
    for (const worker of workers) worker.removeAllListeners("message").removeAllListeners("error");
  }
}

/** From source this file is TypeScript and so is the thread; when built, both are JavaScript. */
function threadFile(): URL {
  return new URL(`./scan-thread${extname(import.meta.url)}`, import.meta.url);
}

function threadFailed(cause: unknown): HoldfastError {
  return new HoldfastError("unavailable", "scan-thread-failed", "A thread that reads transcripts failed", {
    hint: "What was read so far is kept; try again. If memory is short, close other programs first.",
    cause,
  });
}
