/**
 * The right to write: one run at a time on a lane (a worktree, or a label in it), one process at a time
 * on a native session. Both are file locks, so a process that dies gives them back at once and one that
 * is paused keeps them. Always the lane first, then the session: nobody waits in a circle.
 *
 * A person's own `claude` knows nothing of these locks. Its list of running processes is asked after the
 * session's lock is taken, because whoever was faster than us is in it by then.
 */
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileExists } from "../../base/files.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { type HeldLock, holdLock } from "./held-lock.ts";
import { laneLockFile, sessionLockFile } from "./lease-files.ts";
import type { Holder, Lane } from "./runner-contract.ts";
import { type ReadRunning, waitForWriters } from "./second-writers.ts";

export interface LeaseWait {
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  onBusy?: ((holder: Holder) => void) | undefined;
}

/** The lane of a folder: labels and worktrees are lanes of their own, subfolders are not. */
export async function laneOf(repoPath: string, label: string | undefined): Promise<Lane> {
  try {
    const worktree = await worktreeOf(await realpath(repoPath));
    return { worktree, ...(label === undefined ? {} : { label }) };
  } catch (error) {
    throw fileError(error, "use repo", repoPath);
  }
}

/** The folder above that has a `.git`, which is a file in a linked worktree; the path itself when none has. */
async function worktreeOf(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await fileExists(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return path;
  }
}

export async function leaseLane(locksFolder: string, lane: Lane, wait: LeaseWait): Promise<HeldLock> {
  const onBusy = ({ pid }: { pid: number }): void => wait.onBusy?.({ kind: "holdfast", pid });
  return await holdLock(laneLockFile(locksFolder, lane), { ...wait, onBusy });
}

/** Waits for whoever has the session, with or without a lease. */
export async function leaseSession(
  locksFolder: string,
  sessionId: string,
  read: ReadRunning,
  wait: LeaseWait,
): Promise<HeldLock> {
  const deadline = performance.now() + wait.timeoutMs;
  const lock = await holdLock(sessionLockFile(locksFolder, sessionId), {
    signal: wait.signal,
    timeoutMs: wait.timeoutMs,
    onBusy: ({ pid }) => wait.onBusy?.({ kind: "holdfast", pid, sessionId }),
  });
  try {
    const timeoutMs = Math.max(0, deadline - performance.now());
    const waited = await waitForWriters(read, sessionId, { ...wait, timeoutMs });
    return { ...lock, waited: lock.waited || waited };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

export function sessionInUse(holder: Holder): HoldfastError {
  const who = holder.kind === "person" ? "a `claude` that Holdfast did not start" : "another Holdfast run";
  return new HoldfastError("locked", "session-in-use", `The session is in use by ${who} (process ${holder.pid}).`, {
    hint: "End it there, wait for it (--on-running queue), or work on a copy (--on-running fork).",
    data: { ...holder },
  });
}
