/** Time comes in through this interface, so that tests can hold it, move it and turn it back. */
import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since the epoch. May jump in either direction. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** An instant as part of a file name: ISO 8601 without the colons that some systems refuse. */
export function fileStamp(at: number): string {
  return new Date(at).toISOString().replaceAll(":", "-");
}
