import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import type { FaultPoint } from "../../src/base/faults.ts";

export type LockChildTask = { path: string } & (
  | { task: "hold"; options?: { staleMs?: number } }
  | { task: "hold-often"; holdMs: number }
  | { task: "die-at"; point: FaultPoint }
  | { task: "contend"; marker: string; times: number; deadPid: number }
);

export interface LockChild extends AsyncDisposable {
  process: ChildProcess;
  pid: number;
  /** Resolves when the child has said that it holds the lock. */
  held(): Promise<void>;
  /** Resolves when the child has ended; rejects when it failed. */
  ended(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

const SCRIPT = fileURLToPath(new URL("./lock-child.ts", import.meta.url));

export function startLockChild(task: LockChildTask): LockChild {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(task)], { stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const said = once(child.stdout, "data");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  const ended = async (): Promise<void> => {
    const [code, signal] = await closed;
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The lock child failed (code ${code}): ${errors}`);
  };
  return {
    process: child,
    pid: child.pid ?? 0,
    held: async () => {
      await Promise.race([said, ended().then(() => Promise.reject(new Error("The lock child ended early")))]);
    },
    ended,
    kill: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** The content of a lock file whose process has ended, as either program writes it. */
export function abandonedLock(deadPid: number, form: "holdfast" | "openclaw"): string {
  if (form === "openclaw") return JSON.stringify({ pid: deadPid, startedAt: Date.now() });
  return JSON.stringify({
    pid: deadPid,
    startedAt: "earlier",
    host: hostname(),
    nonce: randomBytes(8).toString("hex"),
  });
}

/** The pid of a process that has ended. */
export async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? 0;
}
