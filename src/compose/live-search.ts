/** Search in a long-running process: a thread keeps the index up to date, and queries read it. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { lazy, within } from "../base/async.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import type { MeaningStatus } from "../memory/meaning.ts";
import type { RefreshReport } from "../memory/refresh.ts";
import type { SearchParts } from "../rpc/rpc-parts.ts";
import type { OpenSearchOptions } from "./search.ts";

export interface LiveSearch extends SearchParts {
  /** Indexes in the background from now on. */
  start(): void;
  close(): Promise<void>;
}

/** How long a query waits for the newest changes. */
const QUERY_REFRESH_MS = 150;
/** The first query also waits for the thread to start. */
const FIRST_QUERY_MS = 1000;
/** Queries that follow each other, as while typing, share one look at the files. */
const FRESH_MS = 2000;
const BACKGROUND_MS = 60_000;

export function createLiveSearch(options: OpenSearchOptions & { clock: Clock; logger: Logger }): LiveSearch {
  const { clock } = options;
  const opening = lazy(async () => await (await import("./search.ts")).openPersonSearch(options));
  const thread = createIndexThread(options);
  let timer: NodeJS.Timeout | undefined;

  const isFresh = (): boolean => {
    const last = thread.last();
    return last?.refreshed.complete === true && clock.now() - last.at < FRESH_MS;
  };
  /** The index, after the newest changes if they take little time, and what it has not read yet. */
  const upToDate = async () => {
    const patience = thread.last() === undefined ? FIRST_QUERY_MS : QUERY_REFRESH_MS;
    if (!isFresh()) await within(patience, thread.refresh());
    const opened = await opening.get();
    await opened.index.renew();
    const { complete = false, pendingFiles = 0, pendingBytes = 0 } = thread.last()?.refreshed ?? {};
    return { opened, complete, pendingFiles, pendingBytes };
  };

  return {
    query: async (query) => {
      const { opened, complete, pendingFiles } = await upToDate();
      return { ...(await opened.query(query)), complete, pendingFiles };
    },
    status: async () => {
      const { opened, ...indexing } = await upToDate();
      return { ...opened.index.counts(), ...indexing, embeddings: thread.meaning() };
    },
    start: () => {
      timer ??= setInterval(() => void thread.refresh(), BACKGROUND_MS).unref();
    },
    close: async () => {
      clearInterval(timer);
      await thread.close();
      (await opening.made())?.close();
    },
  };
}

export type IndexThreadData = Pick<OpenSearchOptions, "home" | "config" | "env">;

export interface IndexThreadReport {
  refreshed?: RefreshReport | undefined;
  meaning?: MeaningStatus | undefined;
  problem?: string | undefined;
  /** It has nothing left to do. */
  isIdle: boolean;
}

interface IndexThread {
  /** Resolves when everything is indexed, or when it failed. Calls during a refresh share it. */
  refresh(): Promise<void>;
  last(): { at: number; refreshed: RefreshReport } | undefined;
  meaning(): MeaningStatus | undefined;
  close(): Promise<void>;
}

const MEMORY_MB = 256;
/** An idle thread takes memory; starting one takes a tenth of a second. */
const IDLE_MS = 10_000;

function createIndexThread(options: OpenSearchOptions & { clock: Clock; logger: Logger }): IndexThread {
  const { home, config, env, clock, logger } = options;
  let worker: Worker | undefined;
  let last: ReturnType<IndexThread["last"]>;
  let meaning: MeaningStatus | undefined;
  let running: PromiseWithResolvers<void> | undefined;
  let idle: NodeJS.Timeout | undefined;

  const finish = (): void => {
    running?.resolve();
    running = undefined;
  };
  const start = (): Worker => {
    const program = new URL(`./index-thread${extname(import.meta.url)}`, import.meta.url);
    const data: IndexThreadData = { home, config, env: { ...(env ?? process.env) } };
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MB };
    const started = new Worker(program, { workerData: data, execArgv: [], resourceLimits }).on("error", (error) => {
      logger.warn("the search index could not be updated", { error });
    });
    started.on("exit", () => {
      if (worker !== started) return;
      worker = undefined;
      finish();
    });
    started.on("message", ({ refreshed, problem, isIdle, ...more }: IndexThreadReport) => {
      if (problem !== undefined) logger.warn("the search index is not up to date", { problem });
      for (const { path, reason } of refreshed?.failed ?? []) logger.warn("not searchable", { path, reason });
      if (refreshed !== undefined) last = { at: clock.now(), refreshed };
      if (more.meaning !== undefined) {
        ({ meaning } = more);
        logger.info("encoded sessions for search", { ...meaning });
      }
      if (refreshed?.complete === true || problem !== undefined) finish();
      clearTimeout(idle);
      if (isIdle) idle = setTimeout(() => void end(), IDLE_MS).unref();
    });
    started.unref();
    return started;
  };
  const end = async (): Promise<void> => {
    clearTimeout(idle);
    const ending = worker;
    if (ending === undefined) return;
    worker = undefined;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    ending.ref();
    ending.postMessage("close");
    await ended;
    finish();
  };

  return {
    last: () => last,
    meaning: () => meaning,
    refresh: async () => {
      if (running === undefined) {
        clearTimeout(idle);
        running = Promise.withResolvers();
        worker ??= start();
        worker.postMessage("refresh");
      }
      await running.promise;
    },
    close: end,
  };
}
