/** How long a silent model is waited for. The time runs only while somebody waits. */

export interface Patience {
  /** Aborted with a `TimeoutError` when the time is up. */
  signal: AbortSignal;
  /** Something came. */
  touch(): void;
  while<T>(waiting: () => Promise<T>): Promise<T>;
}

export interface PatienceLimits {
  /** Until the first byte of an answer. */
  firstByteMs: number;
  /** Between two pieces of it. */
  silenceMs: number;
}

export const DEFAULT_PATIENCE: PatienceLimits = { firstByteMs: 60_000, silenceMs: 60_000 };

export function createPatience({ firstByteMs, silenceMs }: PatienceLimits): Patience {
  const controller = new AbortController();
  let limit = firstByteMs;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  const start = (): void => {
    stop();
    timer = setTimeout(() => {
      controller.abort(new DOMException(`Nothing came for ${limit / 1000} s.`, "TimeoutError"));
    }, limit);
  };
  return {
    signal: controller.signal,
    touch: () => {
      limit = silenceMs;
      if (timer !== undefined) start();
    },
    while: async (waiting) => {
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
