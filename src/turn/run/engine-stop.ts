/**
 * Ending an engine that does not end by itself. An engine is told by its signal; one that takes no
 * notice is left behind some seconds later, so that no engine can hold a session for ever.
 */
import type { HoldfastError } from "../../base/errors.ts";

/** How long an engine may take to end after it was told to. */
export const LEAVE_AFTER_MS = 5000;

export const LEFT = Symbol("left behind");

export interface EngineStop extends Disposable {
  /** Aborted by the turn's own signal, by the time limit, or by `stop`. */
  readonly signal: AbortSignal;
  stop(cause: HoldfastError): void;
  /** What made the engine stop; undefined while nothing did, or when somebody asked for it. */
  readonly cause: HoldfastError | undefined;
  /** The next step of the engine, or `LEFT` when it was told to end and did not. */
  orLeft<T>(step: Promise<T>): Promise<T | typeof LEFT>;
}

export interface EngineStopOptions {
  /** The person, the pipeline or a lost lease. */
  signal: AbortSignal;
  timeLimit: { ms: number; error: () => HoldfastError };
  leaveAfterMs: number;
}

/** Timers of Node overflow beyond this. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createEngineStop({ signal, timeLimit, leaveAfterMs }: EngineStopOptions): EngineStop {
  const controller = new AbortController();
  let cause: HoldfastError | undefined;
  let leaving: NodeJS.Timeout | undefined;
  let isLeft = false;
  let leave: (() => void) | undefined;

  const end = (reason: unknown): void => {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    leaving = setTimeout(() => {
      isLeft = true;
      leave?.();
    }, leaveAfterMs);
  };
  const stop = (error: HoldfastError): void => {
    if (!controller.signal.aborted) cause = error;
    end(error);
  };
  const onAbort = (): void => end(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const limit = setTimeout(() => stop(timeLimit.error()), Math.min(timeLimit.ms, LONGEST_TIMER_MS));

  return {
    signal: controller.signal,
    stop,
    get cause() {
      return cause;
    },
    orLeft: (step) =>
      new Promise((resolve, reject) => {
        leave = () => resolve(LEFT);
        step.then(resolve, reject);
        if (isLeft) leave();
      }),
    [Symbol.dispose]: () => {
      clearTimeout(limit);
      clearTimeout(leaving);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
