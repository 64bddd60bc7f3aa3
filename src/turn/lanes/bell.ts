/** Wakes one waiter. A ring that nobody waited for is not lost: it counts for the next wait. */
export interface Bell {
  ring(): void;
  /** Whether it rang since the last `reset`. */
  readonly hasRung: boolean;
  reset(): void;
  /** Resolves at a ring, after the time, or with the promise, whatever comes first. */
  wait(options: { ms?: number; until?: Promise<unknown> | undefined }): Promise<void>;
}

export function createBell(): Bell {
  let hasRung = false;
  let wakeUp: (() => void) | undefined;
  return {
    ring: () => {
      hasRung = true;
      wakeUp?.();
    },
    get hasRung() {
      return hasRung;
    },
    reset: () => {
      hasRung = false;
    },
    wait: async ({ ms, until }) => {
      if (hasRung) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wakeUp = resolve;
      const timer = ms === undefined ? undefined : setTimeout(resolve, Math.min(ms, LONGEST_TIMER_MS));
      const stop = (): void => resolve();
      void until?.then(stop, stop);
      await promise;
      clearTimeout(timer);
      wakeUp = undefined;
    },
  };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;
