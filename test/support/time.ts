/** Time in tests: a clock that the test moves, and waiting in real time. */
import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../../src/base/async.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";

export interface TestClock extends Clock {
  set(ms: number): void;
  advance(ms: number): void;
}

/** A clock that only the test and `sleep` move. */
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

const HELD_MS = 3_599_999;
/** For the echo engine: the turn lasts until the test calls `release` of a held clock. */
export const HELD = `sleep:${HELD_MS}`;

export interface HeldClock extends Clock {
  release(): void;
}

/**
 * A clock for turns that must still run when the test has done something else, however busy the machine is. Only the
 * sleep of `HELD` is held: other loops of a gateway would spin if theirs ended at once.
 */
export function createHeldClock(clock: Clock = systemClock): HeldClock {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    now: () => clock.now(),
    sleep: async (ms, signal = new AbortController().signal) =>
      await (ms === HELD_MS ? raceAbort(promise, signal) : clock.sleep(ms, signal)),
    release: () => resolve(),
  };
}

/** CPU time of this thread in milliseconds. Unlike a duration, it does not depend on what else the machine does. */
export function cpuMs(action: () => unknown): number {
  const before = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** For things that take milliseconds, even on a busy machine. */
const SOON_MS = 30_000;

/** Resolves to the first value of `look` that is neither undefined nor false. `what` is for the error. */
export async function until<T>(
  look: () => T | Promise<T>,
  what: string | (() => string) = "",
  ms = SOON_MS,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found as Exclude<T, undefined | false>;
    if (performance.now() > deadline) {
      throw new Error(`It did not happen within ${ms} ms: ${typeof what === "string" ? what : what()}`);
    }
    await delay(10);
  }
}

/** A list that a fake server fills, for tests that wait for an item. */
export interface WatchedList<T> {
  /** Call after an item was added or changed. */
  changed(): void;
  waitFor(fits: (item: T) => boolean, timeoutMs: number): Promise<T>;
}

/** `noun` names an item in the error. */
export function watchList<T>(items: readonly T[], noun: string): WatchedList<T> {
  const watchers = new Set<() => void>();
  return {
    changed: () => {
      for (const look of watchers) look();
    },
    waitFor: async (fits, timeoutMs) =>
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`no such ${noun} within ${timeoutMs} ms; ${items.length} others came`));
        }, timeoutMs);
        const look = (): void => {
          const found = items.find(fits);
          if (found === undefined) return;
          clearTimeout(timer);
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
  };
}
