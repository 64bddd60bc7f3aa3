/** The thread that keeps the search index up to date, so that turns do not wait for it. */
import { parentPort, workerData } from "node:worker_threads";
import { errorMessage } from "../base/errors.ts";
import { silentLogger } from "../base/log.ts";
import type { IndexThreadData, IndexThreadReport } from "./live-search.ts";
import { openPersonSearch } from "./search.ts";

/** How often it reports how far it is. */
const SLICE_MS = 2000;

const data = workerData as IndexThreadData;
const closing = new AbortController();
const opened = await openPersonSearch({ ...data, logger: silentLogger });
let refreshing: Promise<void> | undefined;
let encoding: Promise<void> | undefined;

parentPort?.on("message", (message: "refresh" | "close") => {
  if (message === "refresh") refreshing ??= refresh();
  else void close();
});

function report(message: Omit<IndexThreadReport, "isIdle">): void {
  parentPort?.postMessage({ ...message, isIdle: refreshing === undefined && encoding === undefined });
}

async function refresh(): Promise<void> {
  let news: Omit<IndexThreadReport, "isIdle"> = {};
  try {
    while (!closing.signal.aborted) {
      news = { refreshed: await opened.refresh({ budgetMs: SLICE_MS, signal: closing.signal }) };
      if (news.refreshed?.complete === true) break;
      report(news);
    }
    encoding ??= encode();
  } catch (error) {
    news = { problem: errorMessage(error) };
  }
  refreshing = undefined;
  report(news);
}

/** Here, so that a question does not wait for new sessions. Only a configured model has a progress worth telling. */
async function encode(): Promise<void> {
  let news: Omit<IndexThreadReport, "isIdle"> = {};
  try {
    const meaning = await opened.index.encode({ budgetMs: Number.POSITIVE_INFINITY, signal: closing.signal });
    if (data.config.search.embeddings !== undefined) news = { meaning };
  } catch (error) {
    news = { problem: errorMessage(error) };
  }
  encoding = undefined;
  report(news);
}

async function close(): Promise<void> {
  closing.abort();
  await Promise.all([refreshing, encoding]);
  opened.close();
  parentPort?.close();
}
