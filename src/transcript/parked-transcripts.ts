/**
 * Transcripts that stay open between the turns of their sessions. Opening one and reading its conversation
 * costs a dozen trips to other threads and time that grows with the conversation; a session that goes on
 * needs neither. Invariants:
 * - What is parked is used only while the file at its path is the very file that was left, to the byte as
 *   far as size and times can tell. Anything else is closed and opened anew.
 * - One owner at a time: whoever takes a transcript has it alone until it is parked again.
 * - Bounded in files and bytes, and let go of when nobody wanted it for a while.
 */
import { type Stats, fstatSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { LogState } from "./log-state.ts";

export interface ParkedTranscripts {
  /** Undefined when it is not here, or no longer the file that was left. */
  take(path: string): LogState | undefined;
  /** The file must be on disk as far as it has to be. */
  park(path: string, state: LogState): void;
  close(): Promise<void>;
}

export interface ParkedTranscriptsOptions {
  /** Left out: 256. */
  maxFiles?: number;
  /** Of files whose conversation is kept. Left out: 16 MB. */
  maxBytes?: number;
  /** How long nobody has to want one until it is closed. Left out: a minute. */
  idleMs?: number;
}

interface Parked {
  state: LogState;
  stats: Stats;
  at: number;
}

const MEGABYTE = 1024 * 1024;

export function createParkedTranscripts(options: ParkedTranscriptsOptions = {}): ParkedTranscripts {
  const { maxFiles = 256, maxBytes = 16 * MEGABYTE, idleMs = 60_000 } = options;
  /** The one that was parked first comes first. */
  const parked = new Map<string, Parked>();
  const closing = new Set<Promise<void>>();
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const remove = (path: string, { stats }: Parked): void => {
    parked.delete(path);
    bytes -= stats.size;
  };
  const letGo = ({ appender }: LogState): void => {
    // Everything is synced: nothing is lost by a file that cannot be closed.
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
      letGo(first.state);
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
    take: (given) => {
      const path = resolve(given);
      const found = parked.get(path);
      if (found === undefined) return undefined;
      remove(path, found);
      if (isUnchanged(path, found.stats)) return found.state;
      letGo(found.state);
      return undefined;
    },
    park: (given, state) => {
      const path = resolve(given);
      const stats = isClosed || parked.has(path) ? undefined : statsAsLeft(state);
      if (stats === undefined || stats.size > maxBytes) return letGo(state);
      parked.set(path, { state, stats, at: performance.now() });
      bytes += stats.size;
      evict(() => parked.size > maxFiles || bytes > maxBytes);
      schedule();
    },
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      evict(() => true);
      await Promise.all(closing);
    },
  };
}

/** Undefined when somebody wrote since. In this order: what is written in between is seen here or by `take`. */
function statsAsLeft({ appender }: LogState): Stats | undefined {
  try {
    const stats = fstatSync(appender.handle.fd);
    return appender.compare() === "unchanged" ? stats : undefined;
  } catch {
    return undefined;
  }
}

/** Synchronous on purpose: one look at a cached name costs less than a trip to another thread. */
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
