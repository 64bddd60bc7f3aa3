/**
 * Reads many files: here, one after the other, or in threads that also redact and split the texts while this one
 * writes. A thread waits when it is `AHEAD` messages ahead, so memory stays bounded.
 */
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import { type FilePart, type ReadJob, readFileParts } from "./read-file.ts";
import { lengthOf } from "./sources.ts";
import { type WordReader, createWordReader } from "./text-words.ts";

/** One part of a file, or its end. */
export interface Reading {
  /** Index of the job. */
  job: number;
  part?: FilePart | undefined;
  failed?: string | undefined;
  /** Nothing of this file follows. */
  isDone: boolean;
}

export type NumberedJob = ReadJob & { job: number };

export async function* readHere(jobs: readonly ReadJob[]): AsyncGenerator<Reading> {
  const words = createWordReader();
  for (const [job, given] of jobs.entries()) {
    yield* readJob({ ...given, job }, words);
    await nextTick();
  }
}

export async function* readJob(job: NumberedJob, words: WordReader): AsyncGenerator<Reading> {
  let isDone = false;
  try {
    for await (const part of readFileParts(job, words)) {
      isDone = part.isLast;
      yield { job: job.job, part, isDone };
    }
    if (!isDone) yield { job: job.job, isDone: true };
  } catch (error) {
    yield { job: job.job, failed: errorMessage(error), isDone: true };
  }
}

/** Messages that a thread may send before the first one is written. */
export const AHEAD = 2;
const MAX_THREADS = 4;
const GROUP_BYTES = 4 * 1024 * 1024;
const GROUP_FILES = 64;
/** A thread has this many groups, so that it never waits for the next one. */
const GROUPS_AHEAD = 2;
/** Texts are short-lived: a larger young generation only takes more memory, a smaller one copies them too often. */
const LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };

export interface ThreadMessage {
  readings: Reading[];
  /** The last message of a group. */
  endsGroup: boolean;
}

/** In any order, but the parts of a file in theirs. */
export async function* readInThreads(jobs: readonly ReadJob[]): AsyncGenerator<Reading> {
  const groups = groupJobs(jobs);
  let openGroups = groups.length;
  const arrived: { message: ThreadMessage; worker: Worker }[] = [];
  let news = Promise.withResolvers<void>();
  let failure: unknown;
  const workers = Array.from({ length: Math.min(availableParallelism(), MAX_THREADS, groups.length) }, () => {
    const program = new URL(`./read-thread${extname(import.meta.url)}`, import.meta.url);
    const worker = new Worker(program, { execArgv: [], resourceLimits: LIMITS });
    worker.on("error", (error) => {
      failure ??= error;
      news.resolve();
    });
    worker.on("message", (message: ThreadMessage) => {
      arrived.push({ message, worker });
      news.resolve();
    });
    return worker;
  });
  const handOut = (worker: Worker): void => {
    const group = groups.shift();
    if (group !== undefined) worker.postMessage(group);
  };
  try {
    for (let round = 0; round < GROUPS_AHEAD; round += 1) for (const worker of workers) handOut(worker);
    while (openGroups > 0) {
      const next = arrived.shift();
      if (failure !== undefined) throw threadFailed(failure);
      if (next === undefined) {
        await news.promise;
        news = Promise.withResolvers();
        continue;
      }
      const { message, worker } = next;
      if (message.endsGroup) handOut(worker);
      yield* message.readings;
      worker.postMessage("more");
      if (message.endsGroup) openGroups -= 1;
    }
  } finally {
    await Promise.all(workers.map(async (worker) => await worker.terminate()));
  }
}

function groupJobs(jobs: readonly ReadJob[]): NumberedJob[][] {
  const groups: NumberedJob[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const [job, given] of jobs.entries()) {
    const last = groups.at(-1);
    const size = Math.max(0, lengthOf(given.file) - (given.known?.offset ?? 0));
    if (last === undefined || bytes + size > GROUP_BYTES || last.length >= GROUP_FILES) {
      groups.push([{ ...given, job }]);
      bytes = size;
    } else {
      last.push({ ...given, job });
      bytes += size;
    }
  }
  return groups;
}

function threadFailed(cause: unknown): HoldfastError {
  const hint = "Try again; results so far are kept. If memory is short, close other programs first.";
  return new HoldfastError("unavailable", "read-thread-failed", "A thread that reads for the search index failed", {
    hint,
    cause,
  });
}
