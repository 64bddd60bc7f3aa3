/**
 * Ending a `claude` that Holdfast did not start: only when asked for by force, and only a process that
 * Claude Code's own list names, with the start time that it had when it wrote itself there. A pid that
 * was given to another process meanwhile is never signalled.
 */
import { systemClock } from "../../base/clock.ts";
import { systemErrorCode } from "../../base/errors.ts";
import { sessionInUse } from "./session-lease.ts";
import { type ReadRunning, findWriters, toHolder } from "./second-writers.ts";

export interface KillOptions {
  /** Also end a `claude` that a person has started. */
  force?: boolean;
  /** How long each signal may take. Default 5 s. */
  graceMs?: number;
}

export interface KilledSession {
  sessionId?: string;
  pid: number;
  /** `signal`: a person's own. */
  by: "holdfast" | "signal";
}

export async function endPersonsClaude(
  read: ReadRunning,
  sessionId: string,
  { force = false, graceMs = 5000 }: KillOptions,
): Promise<KilledSession[]> {
  const writers = await findWriters(read, sessionId);
  const [first] = writers;
  if (first !== undefined && !force) throw sessionInUse(toHolder(first));
  for (const { pid } of writers) {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      if (!(await isStillThere(read, sessionId, pid))) break;
      sendSignal(pid, signal);
      await waitUntilGone(read, sessionId, pid, graceMs);
    }
  }
  const left = new Set((await findWriters(read, sessionId)).map(({ pid }) => pid));
  return writers.filter(({ pid }) => !left.has(pid)).map(({ pid }) => ({ sessionId, pid, by: "signal" }));
}

async function isStillThere(read: ReadRunning, sessionId: string, pid: number): Promise<boolean> {
  return (await findWriters(read, sessionId)).some((writer) => writer.pid === pid);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemErrorCode(error) !== "ESRCH") throw error;
  }
}

const POLL_MS = 100;

async function waitUntilGone(read: ReadRunning, sessionId: string, pid: number, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  while (performance.now() < deadline && (await isStillThere(read, sessionId, pid))) await systemClock.sleep(POLL_MS);
}
