/** Time. Code reads it through `Clock`, so that tests can stop it, move it and set it back. */
import { setTimeout as delay } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since the epoch. May jump in either direction. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const DAY_MS = 24 * 60 * 60 * 1000;

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  },
};

/** Local time to the second, sortable: 2026-11-15 20:14:34. */
export function localTime(at: number): string {
  const date = new Date(at);
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
  // Without a locale: loading one takes longer than most hooks run.
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(":")}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Formats times for a model, to the minute: `Wed 2026-11-18 01:50 UTC`. Finding the zone's name takes a moment. */
export function createMinuteFormat(): (at: number) => string {
  const zones = new Intl.DateTimeFormat("en-US", { timeZoneName: "short" });
  return (at) => {
    const zone = zones.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "local time";
    return `${DAYS[new Date(at).getDay()]} ${localTime(at).slice(0, 16)} ${zone}`;
  };
}

/** For file names: ISO 8601 without colons, which some systems refuse. */
export function fileStamp(at: number): string {
  return new Date(at).toISOString().replaceAll(":", "-");
}

/** Growing pauses between attempts, with randomness so that many waiting callers do not retry at once. */
export interface BackOffOptions {
  firstMs: number;
  maxMs: number;
  /** Returns 0 to 1. Default: `Math.random`. */
  random?: (() => number) | undefined;
}

/**
 * The pause after the n-th failure, counted from 1. Its limit doubles each time; the pause is a random part of it, at
 * least half.
 */
export function backOffMs(failures: number, { firstMs, maxMs, random = Math.random }: BackOffOptions): number {
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(Math.max(0, failures - 1), 40));
  return Math.round(full / 2 + (full / 2) * random());
}
