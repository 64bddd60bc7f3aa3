/**
 * Fairness between processes that want the same lock file. Whoever polls every few milliseconds
 * hardly ever meets the instant between the release and the next acquisition of a busy holder. So
 * a waiter leaves a note beside the lock, and a holder that finds one at the end of a long run
 * lets the others go first. A lost or left-over note costs one pause or one longer wait, no more.
 */
import { unlink, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { PRIVATE_FILE } from "./files.ts";

export interface LockTurns {
  /** Says that somebody waits for the lock. */
  ask(path: string): Promise<void>;
  /** Takes the note back when the wait is over; whoever else waits writes it again at the next poll. */
  withdraw(path: string): Promise<void>;
  /** To be called after each release. */
  released(path: string, pollIntervalMs: number): Promise<void>;
  /** Waits while it is the others' turn. */
  wait(path: string): Promise<void>;
}

/** How long one process may take and release the lock again and again before it makes room. */
const RUN_MS = 250;
/** Runs are forgotten together beyond this number; that only resets who has had how long a turn. */
const MAX_RUNS = 1000;

interface Run {
  startedAt: number;
  releasedAt: number;
  pausedUntil: number;
}

export function createLockTurns(): LockTurns {
  const runs = new Map<string, Run>();
  const asking = new Set<string>();
  return {
    async ask(path) {
      asking.add(path);
      await writeFile(notePath(path), "", { mode: PRIVATE_FILE }).catch(() => undefined);
    },
    async withdraw(path) {
      if (asking.delete(path)) await takeNote(path);
    },
    async wait(path) {
      if (runs.size > MAX_RUNS) runs.clear();
      const now = performance.now();
      const run = runs.get(path);
      if (run !== undefined && run.pausedUntil > now) await delay(run.pausedUntil - now);
      const continues = run !== undefined && run.pausedUntil === 0 && now - run.releasedAt < RUN_MS;
      runs.set(path, { startedAt: continues ? run.startedAt : performance.now(), releasedAt: 0, pausedUntil: 0 });
    },
    async released(path, pollIntervalMs) {
      const now = performance.now();
      const run = runs.get(path) ?? { startedAt: now, releasedAt: now, pausedUntil: 0 };
      const asked = now - run.startedAt >= RUN_MS && (await takeNote(path));
      // Two polls: everybody who waits has looked at least once by then.
      runs.set(path, { ...run, releasedAt: now, pausedUntil: asked ? performance.now() + 2 * pollIntervalMs : 0 });
    },
  };
}

function notePath(path: string): string {
  return `${path}.wanted`;
}

async function takeNote(path: string): Promise<boolean> {
  return await unlink(notePath(path)).then(
    () => true,
    () => false,
  );
}
