/**
 * One request to a model: its answer piece by piece, or an error that says what is wrong. What can pass
 * by itself is tried again, at most twice and only while nothing was said yet.
 */
import type { Clock } from "../../base/clock.ts";
import type { HoldfastError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createBoundedFetch } from "../../models/bounded-fetch.ts";
import { isTransient, modelError } from "../../models/model-errors.ts";
import type { ModelName } from "../../models/model-name.ts";
import type { ProviderAccess } from "../../models/provider-access.ts";
import { loadSdkModel } from "../../models/sdk-model.ts";
import { raceAbort } from "../race-abort.ts";
import { type Answer, createAnswer } from "./answer.ts";
import { type PatienceLimits, createPatience } from "./patience.ts";
import type { CallOptions, StreamPart } from "./sdk-types.ts";

export interface ModelLine {
  name: ModelName;
  access: ProviderAccess;
  logger: Logger;
  clock: Clock;
  limits: PatienceLimits;
  fetch?: typeof globalThis.fetch;
}

interface TextEvent {
  type: "text";
  text: string;
}

export interface Asked {
  answer: Answer;
  /** Left out: the answer is complete. */
  error?: HoldfastError;
}

/** Far more than any answer with all that is sent around each word of it. */
const MAX_STREAM_BYTES = 64 * 1024 * 1024;
const MAX_RETRIES = 2;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_WAIT_MS = 30_000;

/** Never throws: what was said before a failure counts too. */
export async function* askModel(
  line: ModelLine,
  options: Omit<CallOptions, "abortSignal">,
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
  options: Omit<CallOptions, "abortSignal">,
  turnSignal: AbortSignal,
): AsyncGenerator<TextEvent, HoldfastError | undefined> {
  const patience = createPatience(line.limits);
  const signal = AbortSignal.any([turnSignal, patience.signal]);
  const call = { ...line.name, signal };
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined;
  try {
    const model = await loadSdkModel(
      line.access,
      line.name.model,
      boundedFetch(line, () => patience.touch()),
    );
    const opened = await patience.while(
      async () => await raceAbort(Promise.resolve(model.doStream({ ...options, abortSignal: signal })), signal),
    );
    const open = opened.stream.getReader();
    reader = open;
    for (;;) {
      const { done, value } = await patience.while(async () => await raceAbort(open.read(), signal));
      if (done) break;
      if (value.type === "error") return modelError(value.error, call);
      if (value.type === "stream-start") logWarnings(value, line.logger);
      const text = answer.add(value);
      if (text !== "") yield { type: "text", text };
    }
    return undefined;
  } catch (error) {
    return modelError(error, call);
  } finally {
    // Also when nobody wants the rest: the connection is closed, and nobody waits for that.
    void reader?.cancel().catch(() => undefined);
  }
}

function boundedFetch({ fetch }: ModelLine, onBytes: () => void): typeof globalThis.fetch {
  return createBoundedFetch({ maxBytes: MAX_STREAM_BYTES, onBytes, ...(fetch === undefined ? {} : { fetch }) });
}

function logWarnings({ warnings }: Extract<StreamPart, { type: "stream-start" }>, logger: Logger): void {
  for (const warning of warnings) logger.debug("model request adjusted", { warning });
}
