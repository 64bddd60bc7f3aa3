/**
 * How long work shares the thread with turns. It is done in pieces of a few milliseconds; between them others
 * have their turn. What nobody waits for rests so long after each piece that it takes a twentieth of the time, as
 * long as people are being answered.
 */
import { setImmediate as nextTick } from "node:timers/promises";

export interface Pace {
  /** Between two pieces. Rejects when the work is no longer wanted. */
  rest(): Promise<void>;
}

/** For work that somebody waits for. */
export const PROMPT: Pace = {
  rest: async () => {
    await nextTick();
  },
};

/** A piece should take no longer (ms). */
export const PIECE_MS = 4;

export interface Pacer {
  /** For one piece of work after the other; what was begun before has ended. */
  begin(signal: AbortSignal): Pace;
  /** A person was answered just now. */
  busy(): void;
  /** Nothing rests while somebody waits. */
  hurried<T>(work: () => Promise<T>): Promise<T>;
  /** Nothing rests any more. */
  stop(): void;
}

/** So many times as long as it worked. */
const REST = 19;
/** A piece that took much longer than it should has mostly waited itself. */
const MOST_REST_MS = 250;
/** Nobody was answered for so long: nobody is held up. */
const BUSY_MS = 1_000;

export function createPacer(): Pacer {
  let busyUntil = 0;
  let hurries = 0;
  let wake: (() => void) | undefined;

  const hurry = (): void => {
    hurries += 1;
    wake?.();
  };
  const pause = async (ms: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms).unref();
    wake = resolve;
    await promise;
    clearTimeout(timer);
    wake = undefined;
  };

  return {
    begin(signal) {
      let since = performance.now();
      return {
        async rest() {
          signal.throwIfAborted();
          const worked = performance.now() - since;
          const isHeldBack = hurries === 0 && performance.now() < busyUntil;
          await (isHeldBack ? pause(Math.min(REST * worked, MOST_REST_MS)) : nextTick());
          signal.throwIfAborted();
          since = performance.now();
        },
      };
    },
    busy() {
      busyUntil = performance.now() + BUSY_MS;
    },
    async hurried(work) {
      hurry();
      try {
        return await work();
      } finally {
        hurries -= 1;
      }
    },
    stop: hurry,
  };
}
