/** The parent's end of a process that contends for the lease. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { LeaseLine, LeaseTask } from "./lease-child.ts";
import { programFile } from "./run-child.ts";

export interface Contender {
  /** Everything that it has said so far. */
  readonly lines: readonly LeaseLine[];
  signal(signal: NodeJS.Signals): void;
  /** Ends it, paused or not, and resolves when it is gone. */
  kill(): Promise<void>;
  /** What went wrong when it ended by itself. */
  readonly failure: string | undefined;
}

export function startContender(task: LeaseTask, compileCache: string): Contender {
  const child = spawn(process.execPath, [programFile("lease-child"), JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const lines: LeaseLine[] = [];
  let rest = "";
  let errors = "";
  let failure: string | undefined;
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((line) => JSON.parse(line) as LeaseLine));
  });
  void closed.then(([code, signal]) => {
    if (signal !== "SIGKILL") failure = `a contender ended by itself (${signal ?? `code ${code}`}): ${errors}`;
  });
  return {
    lines,
    signal: (signal) => void child.kill(signal),
    kill: async () => {
      child.kill("SIGKILL");
      await closed;
    },
    get failure() {
      return failure;
    },
  };
}
