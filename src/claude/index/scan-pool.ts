/**
 * Reads many transcripts in worker threads. Work is taken on while more of it is still being looked for, and
 * goes out in batches, the next before the last one is done, so that no thread waits. Little work is done right
 * here, and more of it here too: starting a thread takes as long as reading some megabytes.
 */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HoldfastError } from "../../base/errors.ts";
import { type ScanJob, type ScanResult, createScanners, runScanJobs } from "./scan-job.ts";

export interface SizedJob extends ScanJob {
  /** How much there is to read. */
  bytes: number;
  /** The project folder that it lies in. */
  folder: string;
}

export interface ScanPoolOptions {
  /** Takes results as they come, in no particular order. When it throws, everything ends. */
  onResults: (results: readonly ScanResult[]) => void;
  /** Left out: one per core, at most four. 0: everything in this thread. */
  threads?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface ScanPool extends AsyncDisposable {
  /** Takes on work. Threads that it is worth begin with it at once; results come when this thread has time. */
  add(jobs: readonly SizedJob[]): void;
  /** Resolves when everything has been read. More may be added afterwards. */
  finish(): Promise<void>;
}

const INLINE_BYTES = 12 * 1024 * 1024;
/** Read for usage alone so much is done before a thread, which has to compile the same code once more, would save time. */
const INLINE_USAGE_BYTES = 160 * 1024 * 1024;
/** Up to here this thread reads too, in one's place: beyond, it has enough to do with writing. */
const SHARED_BYTES = 256 * 1024 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_FILES = 256;
/** Enough for the time in which this thread looks for files or writes, and does not answer. */
const BATCHES_AHEAD = 8;
/** Where this thread reads too it answers after every batch. */
const BATCHES_AHEAD_SHARED = 3;
const MAX_THREADS = 4;
/** What a thread makes is garbage at once: more room for it would only be more memory. */
const LIMITS = { maxYoungGenerationSizeMb: 6 };

interface Batch {
  folder: string;
  jobs: ScanJob[];
  bytes: number;
}

interface PoolThread {
  worker: Worker;
  /** Batches that it has not answered yet. */
  sent: number;
}

/** Threads are started with the first work that is worth it, and kept for what follows. */
export function createScanPool(options: ScanPoolOptions): ScanPool {
  const { onResults, threads = Math.min(availableParallelism(), MAX_THREADS), signal } = options;
  const pool: PoolThread[] = [];
  const waiting: Batch[] = [];
  /** Of what was added since everything had been read; and how much of it is read for usage alone. */
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
  const isShared = (): boolean => bytes <= SHARED_BYTES && pool.length < threads;
  const startThreads = (): void => {
    if (threads === 0 || (bytes - usageBytes <= INLINE_BYTES && usageBytes <= INLINE_USAGE_BYTES)) return;
    const wanted = bytes <= SHARED_BYTES ? Math.max(1, threads - 1) : threads;
    while (pool.length < wanted) pool.push(startThread());
  };
  const startThread = (): PoolThread => {
    // Options of the process, such as `--input-type`, would be refused or useless in a thread.
    const worker = new Worker(threadFile(), { execArgv: [], resourceLimits: LIMITS });
    const thread: PoolThread = { worker, sent: 0 };
    worker.on("error", (error) => fail(threadFailed(error)));
    worker.on("message", (results: ScanResult[]) => {
      thread.sent -= 1;
      handOut();
      receive(results);
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
    add(jobs) {
      if (hasFailed) return;
      for (const job of jobs) {
        addToBatches(waiting, job);
        bytes += job.bytes;
        if (job.usageOnly) usageBytes += job.bytes;
      }
      startThreads();
      handOut();
    },
    async finish() {
      signal?.throwIfAborted();
      const onAbort = () => fail(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      // So that no thread is left with much at the end.
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

/** A failure is told to whoever waits for the end, whenever that is. */
function pendingEnd(): PromiseWithResolvers<void> {
  const end = Promise.withResolvers<void>();
  end.promise.catch(() => undefined);
  return end;
}

/** Files of one folder go together, because forks lie beside what they were made of. */
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
