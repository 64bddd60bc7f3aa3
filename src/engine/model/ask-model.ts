/**
 * Sends one request to a model and yields its text as it arrives. A transient failure is retried at most
 * twice, and only before the model has said anything.
 */
import type { Clock } from "../../base/clock.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { isTransient, modelError } from "../../models/model-errors.ts";
import { type ProviderAccess, createBoundedFetch, loadSdkModel } from "../../models/provider-access.ts";
import type { EngineEvent } from "../engine.ts";
import { raceAbort } from "../../base/async.ts";
import { type Answer, createAnswer } from "./answer.ts";
import type { CallOptions, StreamPart } from "./to-prompt.ts";
import type { ModelName } from "../../models/model-info.ts";

export interface ModelLine {
  name: ModelName;
  access: ProviderAccess;
  logger: Logger;
  clock: Clock;
  limits: IdleLimits;
  fetch?: typeof globalThis.fetch | undefined;
}

type TextEvent = EngineEvent & { type: "text" };

export interface Asked {
  answer: Answer;
  error?: HoldfastError | undefined;
}

/** Far more than any answer takes, with protocol overhead. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_WAIT_MS = 30_000;

type Question = Omit<CallOptions, "abortSignal">;

/** Never throws: a partial answer comes with its error. */
export async function* askModel(
  line: ModelLine,
  options: Question,
  signal: AbortSignal,
  takenIds: Set<string> = new Set(),
): AsyncGenerator<TextEvent, Asked> {
  for (let attempt = 0; ; attempt++) {
    const answer = createAnswer(takenIds);
    const error = yield* streamInto(answer, line, options, signal);
    if (error === undefined) return { answer };
    const wait = retryWait(error, attempt);
    if (signal.aborted || wait === undefined || answer.hasOutput()) return { answer, error };
    line.logger.info("asking the model again", { code: error.code, attempt: attempt + 1, waitMs: wait });
    try {
      await line.clock.sleep(wait, signal);
    } catch {
      return { answer, error };
    }
  }
}

function retryWait(error: HoldfastError, attempt: number): number | undefined {
  if (attempt >= MAX_RETRIES || !isTransient(error)) return undefined;
  const said = error.data["retryAfterSeconds"];
  const wait = typeof said === "number" ? said * 1000 : FIRST_RETRY_MS * 4 ** attempt * (0.75 + Math.random() / 2);
  return wait <= MAX_RETRY_WAIT_MS ? wait : undefined;
}

async function* streamInto(
  answer: Answer,
  line: ModelLine,
  options: Question,
  turnSignal: AbortSignal,
): AsyncGenerator<TextEvent, HoldfastError | undefined> {
  const idle = createIdleTimer(line.limits);
  const signal = AbortSignal.any([turnSignal, idle.signal]);
  const call = { ...line.name, signal };
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined;
  try {
    const bounded = createBoundedFetch({ maxBytes: MAX_STREAM_BYTES, onBytes: idle.touch, fetch: line.fetch });
    const model = await loadSdkModel(line.access, line.name.model, bounded);
    const opened = await idle.while(
      async () => await raceAbort(Promise.resolve(model.doStream({ ...options, abortSignal: signal })), signal),
    );
    const open = opened.stream.getReader();
    reader = open;
    for (;;) {
      const { done, value } = await idle.while(async () => await raceAbort(open.read(), signal));
      if (done) break;
      if (value.type === "error") return modelError(value.error, call);
      if (value.type === "stream-start" && value.warnings.length > 0) {
        line.logger.debug("model request adjusted", { warnings: value.warnings });
      }
      const text = answer.add(value);
      if (text !== "") yield { type: "text", text };
    }
    return undefined;
  } catch (error) {
    return modelError(error, call);
  } finally {
    // Closes the connection, also if the consumer stopped early. Not awaited.
    void reader?.cancel().catch(() => undefined);
  }
}

export interface IdleLimits {
  firstByteMs: number;
  silenceMs: number;
}

export const DEFAULT_IDLE_LIMITS: IdleLimits = { firstByteMs: 60_000, silenceMs: 60_000 };

/** Aborts a request when the model is silent for too long. The timer runs only during `while`. */
function createIdleTimer({ firstByteMs, silenceMs }: IdleLimits) {
  const controller = new AbortController();
  let limit = firstByteMs;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  const start = (): void => {
    stop();
    timer = setTimeout(() => {
      controller.abort(new DOMException(`No data for ${limit / 1000} s.`, "TimeoutError"));
    }, limit);
  };
  return {
    signal: controller.signal,
    touch: (): void => {
      limit = silenceMs;
      if (timer !== undefined) start();
    },
    while: async <T>(waiting: () => Promise<T>): Promise<T> => {
      start();
      try {
        return await waiting();
      } finally {
        stop();
        timer = undefined;
      }
    },
  };
}
