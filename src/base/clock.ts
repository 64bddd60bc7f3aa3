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

/** Local time to the second, in a form that sorts: 2026-11-15 20:14:34. */
export function localTime(at: number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
  // Not by a locale: loading one takes longer than most of what a hook does.
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":")}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

/** An instant as part of a file name: ISO 8601 without the colons that some systems refuse. */
export function fileStamp(at: number): string {
  return new Date(at).toISOString().replaceAll(":", "-");
}
