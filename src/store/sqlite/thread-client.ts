/**
 * The main thread's end of a worker thread: requests out, answers in, in any order. What is asked in one
 * tick goes out together, and so do the answers to one commit: waking a thread costs more than the work.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { HoldfastError } from "../../base/errors.ts";
import type { ListQuery, StoreChange } from "../store.ts";
import type { JsonQuery } from "./list-query.ts";
import { type WireError, fromWire } from "./wire-error.ts";
import type { WriteCommand } from "./write-operations.ts";

export interface ThreadOptions {
  path: string;
  writer: string;
}

export type ThreadTask =
  | { do: "write"; command: WriteCommand }
  | { do: "list"; query: ListQuery }
  | { do: "list-json"; query: JsonQuery }
  | { do: "list-handoffs"; limit: number | undefined }
  | { do: "view"; viewPath: string };

export interface ThreadRequest {
  id: number;
  task: ThreadTask;
}

/** `close` has no answer: the thread ends. */
export type ThreadMessage = ThreadRequest[] | "close";

export type ThreadAnswer =
  | { id: number; value: unknown }
  | { id: number; error: WireError }
  | { changes: StoreChange[] };

export interface ThreadClient {
  request(task: ThreadTask): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Answers to one commit in one turn of the event loop. Each goes on with its session's turn; a hundred at once
 * would keep everything else waiting for as long as all of them take.
 */
const MOST_AT_ONCE = 16;
/** Requests that make a commit worth its while: they wait for no further ones. */
const ENOUGH_AT_ONCE = 48;

/** Starts the thread with the first request. It keeps the process alive only while a request is open. */
export function createThreadClient(
  options: ThreadOptions,
  onChanges: (changes: readonly StoreChange[]) => void,
): ThreadClient {
  let outgoing: ThreadRequest[] = [];
  /** Answers that nobody has got yet; what is asked while they are handed out goes out together. */
  const incoming: ThreadAnswer[] = [];
  const open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let worker: Worker | undefined;

  const onAnswer = (answer: ThreadAnswer) => {
    if ("changes" in answer) {
      onChanges(answer.changes);
      return;
    }
    const request = open.get(answer.id);
    open.delete(answer.id);
    if (open.size === 0) worker?.unref();
    if ("error" in answer) request?.reject(fromWire(answer.error));
    else request?.resolve(answer.value);
  };
  const handOut = (): void => {
    for (const answer of incoming.splice(0, MOST_AT_ONCE)) onAnswer(answer);
    if (incoming.length > 0) setImmediate(handOut);
    if (outgoing.length >= ENOUGH_AT_ONCE) flush();
    else if (incoming.length === 0 && outgoing.length > 0) setImmediate(flush);
  };
  const onEnd = (ended: Worker, cause: unknown) => {
    // A thread that failed is replaced by the next request, and ends once more, after its error.
    if (worker !== ended) return;
    for (const answer of incoming.splice(0)) onAnswer(answer);
    worker = undefined;
    for (const request of open.values()) request.reject(threadEnded(options.path, cause));
    open.clear();
    outgoing = [];
  };
  const start = (): Worker => {
    const started = new Worker(threadFile(), { workerData: options });
    started.on("message", (answers: ThreadAnswer[]) => {
      const isHandingOut = incoming.length > 0;
      incoming.push(...answers);
      if (!isHandingOut) handOut();
    });
    started.on("error", (error) => onEnd(started, error));
    started.on("exit", (code) => onEnd(started, code));
    return started;
  };
  const post = (requests: ThreadRequest[]): void => {
    try {
      worker?.postMessage(requests satisfies ThreadMessage);
    } catch (error) {
      // One of them holds what cannot leave this thread; the others must not suffer for it.
      const [only, ...rest] = requests;
      if (rest.length > 0) for (const one of requests) post([one]);
      else if (only !== undefined) open.get(only.id)?.reject(error as Error);
    }
  };
  const flush = (): void => {
    const requests = outgoing;
    outgoing = [];
    if (requests.length > 0) post(requests);
  };
  const request = async (task: ThreadTask) =>
    await new Promise((resolve, reject) => {
      worker ??= start();
      worker.ref();
      const id = ++lastId;
      open.set(id, { resolve, reject });
      if (outgoing.length === 0 && incoming.length === 0) process.nextTick(flush);
      outgoing.push({ id, task });
    });

  return {
    request,
    close: async () => {
      if (worker === undefined) return;
      flush();
      const ending = worker;
      const ended = new Promise((resolve) => ending.once("exit", resolve));
      ending.ref();
      ending.postMessage("close" satisfies ThreadMessage);
      await ended;
    },
  };
}

/** From source this file is TypeScript and so is the thread; when built, both are JavaScript. */
function threadFile(): URL {
  return new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url);
}

function threadEnded(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("unavailable", "store-thread-ended", `The thread that works on ${path} has ended`, {
    hint: "Whether the write was done is not known: read before trying again.",
    data: { path },
    cause,
  });
}
