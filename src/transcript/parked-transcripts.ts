/**
 * Transcripts that stay open between turns, because opening and reading one takes a dozen thread switches and time that
 * grows with the conversation. Invariants:
 * - A parked transcript is used only while the file at its path is unchanged in identity, size and times. Otherwise it
 *   is closed and opened again.
 * - There is one owner at a time, from `take` to `park`.
 * - The number of files and bytes is bounded, and unused files are closed after a while. A process whose parked files
 *   took all descriptors could accept no connection, and would not even notice.
 */
import { type Stats, fstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { openFileLimit } from "../base/processes.ts";
import type { Appender } from "./appender.ts";
import type { KeptEntries } from "./context.ts";
import type { TranscriptHeader } from "./entries.ts";
import type { EntryIds } from "./new-entries.ts";

export type ParkedTranscripts = ReturnType<typeof createParkedTranscripts>;

export interface ParkedTranscriptsOptions {
  /** Default: an eighth of what the process may open, at most 256. */
  maxFiles?: number | undefined;
  /** Total size of the parked files. Default: 16 MB. */
  maxBytes?: number | undefined;
  /** Unused files are closed after this time. Default: 1 min. */
  idleMs?: number | undefined;
}

interface Parked {
  state: LogState;
  stats: Stats;
  at: number;
}

const MEGABYTE = 1024 * 1024;

export function createParkedTranscripts(options: ParkedTranscriptsOptions = {}) {
  const {
    maxFiles = Math.min(256, Math.floor(openFileLimit() / 8)),
    maxBytes = 16 * MEGABYTE,
    idleMs = 60_000,
  } = options;
  /** In the order of parking. */
  const parked = new Map<string, Parked>();
  const closing = new Set<Promise<void>>();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const remove = (path: string, { stats }: Parked): void => {
    parked.delete(path);
    bytes -= stats.size;
  };
  const closeFile = ({ appender }: LogState): void => {
    // Everything is synced, so a failing close loses nothing.
    const closed = appender
      .close()
      .catch(() => undefined)
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const evict = (isTooMuch: (first: Parked) => boolean): void => {
    for (const [path, first] of parked) {
      if (!isTooMuch(first)) break;
      remove(path, first);
      closeFile(first.state);
    }
  };
  const sweep = (): void => {
    timer = undefined;
    const before = performance.now() - idleMs;
    evict(({ at }) => at <= before);
    schedule();
  };
  const schedule = (): void => {
    if (parked.size > 0) timer ??= setTimeout(sweep, idleMs).unref();
  };

  return {
    /** Undefined if it is not parked, or if the file has changed. */
    take: (given: string): LogState | undefined => {
      const path = resolve(given);
      const found = parked.get(path);
      if (found === undefined) return undefined;
      remove(path, found);
      if (isUnchanged(path, found.stats)) return found.state;
      closeFile(found.state);
      return undefined;
    },
    /** The data must be synced as far as durability requires. */
    park: (given: string, state: LogState): void => {
      const path = resolve(given);
      const stats = isClosed || parked.has(path) ? undefined : statsAsLeft(state);
      if (stats === undefined || stats.size > maxBytes) return closeFile(state);
      parked.set(path, { state, stats, at: performance.now() });
      bytes += stats.size;
      evict(() => parked.size > maxFiles || bytes > maxBytes);
      schedule();
    },
    close: async (): Promise<void> => {
      isClosed = true;
      clearTimeout(timer);
      evict(() => true);
      await Promise.all(closing);
    },
  };
}

/** Undefined if the file has changed. In this order, a write in between is noticed here or by `take`. */
function statsAsLeft({ appender }: LogState): Stats | undefined {
  try {
    const stats = fstatSync(appender.handle.fd);
    return appender.compare() === "unchanged" ? stats : undefined;
  } catch {
    return undefined;
  }
}

/** Synchronous: a stat of a cached name costs less than a call in another thread. */
function isUnchanged(path: string, { ino, dev, size, mtimeMs, ctimeMs }: Stats): boolean {
  try {
    const now = statSync(path);
    return (
      now.ino === ino && now.dev === dev && now.size === size && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs
    );
  } catch {
    return false;
  }
}

export interface LogState {
  header: TranscriptHeader;
  appender: Appender;
  ids: EntryIds;
  leafId: string | undefined;
  /** The highest epoch of the newest lines. -Infinity if there is none. */
  newestEpoch: number;
  kept: KeptEntries | undefined;
  /** The notice of damage, if no person has written since. */
  untold: string | undefined;
}
