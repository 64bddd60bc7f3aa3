/**
 * Claude Code has no lock on a transcript: two processes that write one session make two branches of
 * it, and one of them is silently forgotten. Its own list of running processes is the only sign. It is
 * asked before a process starts, and again and again while one runs.
 */
import { systemClock } from "../../base/clock.ts";
import type { RunningSession } from "../native/running.ts";
import type { Holder } from "./runner-contract.ts";
import { cancelled, waitedTooLong } from "./wait-line.ts";

export type ReadRunning = () => Promise<RunningSession[]>;

/** Living processes that have the session, without our own. */
export async function findWriters(read: ReadRunning, sessionId: string, ownPid?: number): Promise<RunningSession[]> {
  return (await read()).filter((running) => running.sessionId === sessionId && running.pid !== ownPid);
}

export interface WriterWait {
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  /** Called when the wait begins and when another process has the session. */
  onBusy?: ((holder: Holder) => void) | undefined;
}

const WAIT_POLL_MS = 250;

/** Resolves when nobody has the session any more; true when somebody had. */
export async function waitForWriters(read: ReadRunning, sessionId: string, wait: WriterWait): Promise<boolean> {
  const deadline = performance.now() + wait.timeoutMs;
  let lastPid: number | undefined;
  for (;;) {
    const [writer] = await findWriters(read, sessionId);
    if (writer === undefined) return lastPid !== undefined;
    if (performance.now() >= deadline) throw waitedTooLong({ pid: writer.pid, sessionId });
    if (writer.pid !== lastPid) wait.onBusy?.(toHolder(writer));
    lastPid = writer.pid;
    await systemClock.sleep(WAIT_POLL_MS, wait.signal).catch(() => {
      throw cancelled();
    });
  }
}

export function toHolder(running: RunningSession): Holder {
  return {
    kind: "person",
    pid: running.pid,
    sessionId: running.sessionId,
    ...(running.status === undefined ? {} : { status: running.status }),
    ...(running.startedAt === undefined
      ? {}
      : { since: new Date(running.startedAt).toISOString(), heldMs: Math.max(0, Date.now() - running.startedAt) }),
  };
}

const WATCH_POLL_MS = 1500;

/** Says once for each process that takes a session which `own` says is ours. Returns what ends the watch. */
export function watchForWriters(
  read: ReadRunning,
  own: () => { pid: number; sessionId: string | undefined },
  onWriter: (writer: RunningSession) => void,
): () => void {
  const known = new Set<number>();
  let isLooking = false;
  const look = async (): Promise<void> => {
    const { pid, sessionId } = own();
    if (sessionId === undefined || isLooking) return;
    isLooking = true;
    try {
      for (const writer of await findWriters(read, sessionId, pid)) {
        if (!known.has(writer.pid)) onWriter(writer);
        known.add(writer.pid);
      }
    } catch {
      // The folder cannot be read this time; the next look may succeed.
    } finally {
      isLooking = false;
    }
  };
  const timer = setInterval(() => void look(), WATCH_POLL_MS);
  timer.unref();
  void look();
  return () => clearInterval(timer);
}
