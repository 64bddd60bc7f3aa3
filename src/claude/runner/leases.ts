/**
 * The right to write: one run at a time per lane, one process at a time per native session. Both are
 * file locks: a dead process loses its lock at once, a paused one keeps it. The lane is always taken
 * before the session, so two runs cannot deadlock.
 *
 * A `claude` that a person started knows nothing of these locks. Claude Code's list of running processes
 * is read after the session lock is taken, because by then it contains any process that started earlier.
 */
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TOO_LATE, createKeyedMutex, raceAbort, within } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { HoldfastError, fileError, hasCode } from "../../base/errors.ts";
import { ensurePrivateFolder, fileExists } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import type { RunningSession } from "../native/layout.ts";
import { laneLockFile, sessionLockFile } from "./run-files.ts";
import type { Holder, Lane, ReadRunning } from "./runner-contract.ts";
import { printableLine } from "../../base/text.ts";

export interface HeldLock {
  /** True when another process held it first, so the project may have changed. */
  waited: boolean;
  release(): Promise<void>;
}

export interface LeaseWait {
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  /** Called when the wait begins and when the holder changes. Optional. */
  onBusy?: ((holder: Holder) => void) | undefined;
}

/** The lane of a folder. Subfolders of a worktree share its lane. */
export async function laneOf(repoPath: string, label: string | undefined): Promise<Lane> {
  try {
    const worktree = await worktreeOf(await realpath(repoPath));
    return { worktree, label };
  } catch (error) {
    throw fileError(error, "use repo", repoPath);
  }
}

/** The nearest parent folder with a `.git` (a file in a linked worktree), else the path. */
async function worktreeOf(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    if (await fileExists(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return path;
  }
}

export async function leaseLane(locksFolder: string, lane: Lane, wait: LeaseWait): Promise<HeldLock> {
  return await holdLock(laneLockFile(locksFolder, lane), wait);
}

/** Waits for any holder, whether Holdfast or a person started it. */
export async function leaseSession(
  locksFolder: string,
  sessionId: string,
  read: ReadRunning,
  wait: LeaseWait,
): Promise<HeldLock> {
  const deadline = performance.now() + wait.timeoutMs;
  const lock = await holdLock(sessionLockFile(locksFolder, sessionId), wait);
  try {
    const timeoutMs = Math.max(0, deadline - performance.now());
    const waited = await waitForWriters(read, sessionId, { ...wait, timeoutMs });
    return { ...lock, waited: lock.waited || waited };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

const LOCK_POLL_MS = 100;

interface WaitLimits {
  signal: AbortSignal | undefined;
  /** On the scale of `performance.now()`. */
  deadline: number;
}

/** Callers of each lock, shared by all runners of this process. The first has the lock. */
const lines = createKeyedMutex();

/** Takes a file lock and holds it until `release`. First come, first served within this process. */
async function holdLock(path: string, { signal, timeoutMs, onBusy }: LeaseWait): Promise<HeldLock> {
  throwIfCancelled(signal);
  const limits = { signal, deadline: performance.now() + timeoutMs };
  let waited = false;
  const busy = (pid: number): void => {
    waited = true;
    onBusy?.({ kind: "holdfast", pid });
  };
  const turn = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  // A caller that gives up keeps its place, and passes it on at once.
  void lines.run(path, async () => {
    turn.resolve();
    await over.promise;
  });
  try {
    if ((await within(0, turn.promise)) === TOO_LATE) {
      busy(process.pid);
      await waitInLine(turn.promise, limits);
    }
    // Only now: the time this takes must not change the order of the line.
    await ensurePrivateFolder(dirname(path));
    const release = await takeFileLock(path, limits, busy);
    let released: Promise<void> | undefined;
    return { waited, release: () => (released ??= release().finally(over.resolve)) };
  } catch (error) {
    over.resolve();
    throw error;
  }
}

async function waitInLine(turn: Promise<void>, { signal, deadline }: WaitLimits): Promise<void> {
  const waiting = signal === undefined ? turn : raceAbort(turn, signal).catch(() => Promise.reject(cancelled()));
  const end = await within(timerDelay(deadline - performance.now()), waiting);
  if (end === TOO_LATE) throw waitedTooLong({ pid: process.pid });
}

/** Tries once, reports the holder, then waits for it. */
async function takeFileLock(
  path: string,
  { signal, deadline }: WaitLimits,
  busy: (pid: number) => void,
): Promise<() => Promise<void>> {
  const clock: Clock = { ...systemClock, sleep: async (ms) => await systemClock.sleep(ms, signal) };
  for (let timeoutMs = 0; ; timeoutMs = Math.max(0, deadline - performance.now())) {
    try {
      return await keepFileLock(path, timeoutMs, clock);
    } catch (error) {
      const holder = lockHolder(error);
      if (holder !== undefined && performance.now() < deadline) busy(holder.pid);
      throwIfCancelled(signal);
      if (holder === undefined) throw error;
      if (performance.now() >= deadline) throw waitedTooLong(holder);
    }
  }
}

/** `withFileLock` releases when its task ends, so the task runs until `release` is called. */
async function keepFileLock(path: string, timeoutMs: number, clock: Clock): Promise<() => Promise<void>> {
  const taken = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const task = withFileLock(path, { timeoutMs, pollIntervalMs: LOCK_POLL_MS, clock }, async () => {
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
  if (!hasCode(error, "lock-timeout")) return undefined;
  const pid = error.data["pid"];
  return { ...error.data, pid: typeof pid === "number" ? pid : 0 };
}

/** A timer set for longer than this would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Brings a configured duration into the range that timers accept. */
export function timerDelay(ms: number): number {
  return Number.isFinite(ms) ? Math.min(MAX_TIMER_MS, Math.max(1, ms)) : MAX_TIMER_MS;
}

/** Running processes that have the session open, except `ownPid`. */
export async function findWriters(read: ReadRunning, sessionId: string, ownPid?: number): Promise<RunningSession[]> {
  return (await read()).filter((running) => running.sessionId === sessionId && running.pid !== ownPid);
}

const WRITER_POLL_MS = 250;

/** Resolves when no process has the session open; true when one had. */
export async function waitForWriters(read: ReadRunning, sessionId: string, wait: LeaseWait): Promise<boolean> {
  const deadline = performance.now() + wait.timeoutMs;
  let lastPid: number | undefined;
  for (;;) {
    const [writer] = await findWriters(read, sessionId);
    if (writer === undefined) return lastPid !== undefined;
    if (performance.now() >= deadline) throw waitedTooLong({ pid: writer.pid, sessionId });
    if (writer.pid !== lastPid) wait.onBusy?.(toHolder(writer));
    lastPid = writer.pid;
    await sleepOrCancel(WRITER_POLL_MS, wait.signal);
  }
}

export async function sleepOrCancel(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await systemClock.sleep(ms, signal).catch(() => {
    throw cancelled();
  });
}

export function toHolder({ pid, sessionId, status, startedAt }: RunningSession): Holder {
  const holder: Holder = { kind: "person", pid, sessionId, status };
  if (startedAt === undefined) return holder;
  return { ...holder, since: new Date(startedAt).toISOString(), heldMs: Math.max(0, Date.now() - startedAt) };
}

const WATCH_POLL_MS = 1500;

/**
 * Calls `onWriter` once per process that opens the session in `own`. Claude Code does not lock transcripts: two
 * writers create two branches, and one of them is lost. Returns a function that ends the watch.
 */
export function watchForWriters(
  read: ReadRunning,
  own: () => { pid: number; sessionId: string },
  onWriter: (writer: RunningSession) => void,
): () => void {
  const known = new Set<number>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const { pid, sessionId } = own();
    try {
      for (const writer of await findWriters(read, sessionId, pid)) {
        if (!known.has(writer.pid)) onWriter(writer);
        known.add(writer.pid);
      }
    } catch {
      // The list could not be read this time; the next poll may succeed.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), WATCH_POLL_MS).unref();
  void look();
  return () => clearInterval(timer);
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

export function cancelled(): HoldfastError {
  return new HoldfastError("interrupted", "run-cancelled", "The run was cancelled before it started.", {
    hint: "Nothing was sent to Claude Code. Start the task again when you want it.",
  });
}

export function waitedTooLong(holder?: Record<string, unknown>): HoldfastError {
  return new HoldfastError("locked", "queue-timeout", "Another run is still using this repo or session.", {
    hint: "Wait for it, stop it with `holdfast cc kill`, or run alongside it with --fork, --label or in a worktree.",
    data: holder,
  });
}

export function sessionInUse(holder: Holder): HoldfastError {
  const who = holder.kind === "person" ? "a `claude` that Holdfast did not start" : "another Holdfast run";
  return new HoldfastError("locked", "session-in-use", `The session is in use by ${who} (process ${holder.pid}).`, {
    hint: "End it there, wait for it (--on-running queue), or work on a copy (--on-running fork).",
    data: { ...holder },
  });
}

/** Only the chat itself may write to the session of a chat. */
export function sessionOfChat(sessionId: string, conversation: string): HoldfastError {
  const which = conversation === "unknown" ? "an agent's chat" : `the chat ${printableLine(conversation, 100)}`;
  return new HoldfastError("forbidden", "session-of-chat", `Session ${sessionId} belongs to ${which}.`, {
    hint: "The chat would see everything written to this session. Work on a copy (--fork), or write to the chat itself.",
    data: { sessionId, conversation },
  });
}
