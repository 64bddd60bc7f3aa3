/**
 * The main thread's side of the worker thread that writes. Requests of one tick are sent together, and so are the answers to one
 * commit, because waking a thread costs more than the work. Answers may come in any order.
 */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type ErrorReport, HoldfastError, errorMessage, fileError } from "../../base/errors.ts";
import type { WriteArguments, WriteName, WriteResult } from "../operations.ts";
import type { StoreChange } from "../store.ts";
import type { OnCommitted } from "./changes.ts";
import type { Executor } from "./executor.ts";
import type { WriteCommand } from "./writes.ts";

export interface ThreadOptions {
  path: string;
  writer: string;
}

export type ThreadTask = WriteCommand | { viewPath: string };

export interface ThreadRequest {
  id: number;
  task: ThreadTask;
}

/** `close` has no answer; the thread ends. */
export type ThreadMessage = ThreadRequest[] | "close";

export type ThreadAnswer =
  | { id: number; value: unknown }
  | { id: number; error: ErrorReport }
  | { changes: StoreChange[] };

/**
 * How many answers are handled in one turn of the event loop. Each one continues a session's turn, and a hundred at
 * once would block all other work.
 */
const MAX_ANSWERS_PER_TICK = 16;
/** From this many requests on, a commit does not wait for more. */
const ENOUGH_FOR_A_COMMIT = 48;

/** Starts the thread with the first request. It keeps the process alive only while a request is open. */
export function createThreadClient(options: ThreadOptions, onChanges: (changes: readonly StoreChange[]) => void) {
  let outgoing: ThreadRequest[] = [];
  /** Answers that are not handled yet. Requests made while they are handled are sent together. */
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
    if ("error" in answer) request?.reject(toError(answer.error));
    else request?.resolve(answer.value);
  };
  const handOut = (): void => {
    for (const answer of incoming.splice(0, MAX_ANSWERS_PER_TICK)) onAnswer(answer);
    if (incoming.length > 0) setImmediate(handOut);
    if (outgoing.length >= ENOUGH_FOR_A_COMMIT) flush();
    else if (incoming.length === 0 && outgoing.length > 0) setImmediate(flush);
  };
  const onEnd = (ended: Worker, cause: unknown) => {
    // A failed thread ends twice, with an error and an exit. By then the next request may have replaced it.
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
  const flush = (): void => {
    const requests = outgoing;
    outgoing = [];
    if (requests.length > 0) worker?.postMessage(requests satisfies ThreadMessage);
  };
  const request = async (task: ThreadTask): Promise<unknown> =>
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
    close: async (): Promise<void> => {
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

/** TypeScript when run from source, JavaScript when built. */
function threadFile(): URL {
  return new URL(`./sqlite-thread${extname(import.meta.url)}`, import.meta.url);
}

function threadEnded(path: string, cause: unknown): HoldfastError {
  // Such a thread never started, so nothing was written. Node reports the reason in the message only.
  const code = /initialization failure: (E[MN]FILE)/.exec(errorMessage(cause))?.[1];
  if (code !== undefined) return fileError(Object.assign(new Error(code, { cause }), { code }), "open", path);
  return new HoldfastError("unavailable", "store-thread-ended", `The thread that works on ${path} has ended`, {
    hint: "The write may or may not have been done: read before trying again.",
    data: { path },
    cause,
  });
}

export function createThreadExecutor(options: ThreadOptions, onCommitted: OnCommitted): Executor {
  const { request, close } = createThreadClient(options, onCommitted);
  return {
    write: async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
      (await request({ name, arguments: given })) as WriteResult<Name>,
    writeView: async (viewPath) => void (await request({ viewPath })),
    close,
  };
}

/** Errors lose their class between threads. */
function toError({ kind, code, message, hint, data }: ErrorReport): Error {
  return kind === "internal" ? new Error(message) : new HoldfastError(kind, code, message, { hint, data });
}
