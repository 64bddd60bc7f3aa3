/**
 * Who may write to a transcript file. Tasks of this process on one file run one after the other.
 * Without a fence a file lock excludes other processes for the length of one task; with a fence the
 * session's lease excludes them already, and an append costs no lock file.
 */
import { resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { withFileLock } from "../base/lock-file.ts";
import { createKeyedMutex } from "../base/mutex.ts";

/** Rejects with kind `fenced` when the writer no longer holds the lease of the session. */
export type Fence = () => Promise<void> | void;

export interface AccessOptions {
  clock: Clock;
  fence?: Fence | undefined;
}

const tasks = createKeyedMutex();

export async function withWriteAccess<T>(path: string, options: AccessOptions, task: () => Promise<T>): Promise<T> {
  const { fence } = options;
  if (fence === undefined) return await withExclusiveAccess(path, options, task);
  return await tasks.run(resolve(path), async () => {
    await fence();
    return await task();
  });
}

/** For work that replaces the file: also holders of a lease keep writers without one away. */
export async function withExclusiveAccess<T>(path: string, options: AccessOptions, task: () => Promise<T>): Promise<T> {
  const key = resolve(path);
  return await tasks.run(key, async () => {
    return await withFileLock(`${key}.lock`, { clock: options.clock }, async () => {
      await options.fence?.();
      return await task();
    });
  });
}

/** For work on an open file that needs no more than its turn. */
export async function inTurn<T>(path: string, task: () => Promise<T>): Promise<T> {
  return await tasks.run(resolve(path), task);
}
