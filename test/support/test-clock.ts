import type { Clock } from "../../src/base/clock.ts";

export interface TestClock extends Clock {
  set(ms: number): void;
  advance(ms: number): void;
}

/** Time that stands still until the test moves it; sleeping moves it. */
export function createTestClock(start = Date.UTC(2026, 10, 15, 12)): TestClock {
  let current = start;
  return {
    now: () => current,
    sleep: async (ms) => {
      current += ms;
      await Promise.resolve();
    },
    set: (ms) => {
      current = ms;
    },
    advance: (ms) => {
      current += ms;
    },
  };
}
