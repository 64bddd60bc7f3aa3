/**
 * A file lock that is kept beyond the call that took it: for a run, or for as long as a persistent
 * session lives. The rules are those of `withFileLock`: a dead process loses it at once, a living one
 * never. Waiting is first come, first served within this process, and can be cancelled.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { ensurePrivateFolder } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import { type WaitLimits, cancelled, createWaitLine, throwIfCancelled, waitedTooLong } from "./wait-line.ts";

export interface HeldLock {
  /** True when somebody else had it first, so that the world may have changed. */
  waited: boolean;
  release(): Promise<void>;
}

export interface LockWait {
  signal?: AbortSignal | undefined;
  /** How long to wait for whoever has it. */
  timeoutMs: number;
  /** Called when the wait begins; the pid is that of the process that has the lock. */
  onBusy?: ((holder: { pid: number }) => void) | undefined;
}

const POLL_MS = 100;

/** One line for all runners of this process, as the lock files are the same for all of them. */
const line = createWaitLine();

export async function holdLock(path: string, wait: LockWait): Promise<HeldLock> {
  let waited = false;
  const busy = (pid: number): void => {
    waited = true;
    wait.onBusy?.({ pid });
  };
  const deadline = performance.now() + wait.timeoutMs;
  const leave = await line.enter(path, { signal: wait.signal, deadline, onWait: () => busy(process.pid) });
  try {
    // After the place in the line is taken: how long this takes must not decide who comes first.
    await ensurePrivateFolder(dirname(path));
    const release = await takeFileLock(path, { signal: wait.signal, deadline }, busy);
    return { waited, release: once(() => release().finally(leave)) };
  } catch (error) {
    leave();
    throw error;
  }
}

async function takeFileLock(
  path: string,
  limits: WaitLimits,
  busy: (pid: number) => void,
): Promise<() => Promise<void>> {
  try {
    return await keepFileLock(path, 0, systemClock);
  } catch (error) {
    const holder = lockHolder(error);
    if (holder === undefined) throw error;
    if (limits.deadline <= performance.now()) throw waitedTooLong(holder);
    busy(holder.pid);
  }
  throwIfCancelled(limits.signal);
  const clock: Clock = { ...systemClock, sleep: async (ms) => await systemClock.sleep(ms, limits.signal) };
  try {
    return await keepFileLock(path, Math.max(0, limits.deadline - performance.now()), clock);
  } catch (error) {
    if (limits.signal?.aborted === true) throw cancelled();
    const holder = lockHolder(error);
    throw holder === undefined ? error : waitedTooLong(holder);
  }
}

/** Takes the lock and keeps the task that runs under it going until the release. */
async function keepFileLock(path: string, timeoutMs: number, clock: Clock): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const task = withFileLock(path, { timeoutMs, pollIntervalMs: POLL_MS, clock }, async () => {
    taken.resolve();
    await over.promise;
  });
  await Promise.race([taken.promise, task]);
  return async () => {
    over.resolve();
    await task;
  };
}

function lockHolder(error: unknown): { pid: number } | undefined {
  if (!(error instanceof HoldfastError) || error.code !== "lock-timeout") return undefined;
  const pid = error.data["pid"];
  return { ...error.data, pid: typeof pid === "number" ? pid : 0 };
}

function once(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= action());
}
