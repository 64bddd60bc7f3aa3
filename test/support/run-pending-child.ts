import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { PendingChildTask } from "../contract/pending-child.ts";

const SCRIPT = fileURLToPath(new URL("../contract/pending-child.ts", import.meta.url));

export interface PendingChild {
  /** To its end, by itself or by its own hand; everything it said. */
  finished(): Promise<unknown[]>;
  /** Killed as soon as it has said `last`; everything it said until it was dead. */
  killAfter(last: unknown): Promise<unknown[]>;
}

export function spawnPendingChild(task: PendingChildTask): PendingChild {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(task)], { stdio: ["ignore", "pipe", "pipe"] });
  const said: unknown[] = [];
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  const closed = once(child, "close") as Promise<[number | null, string | null]>;
  let last: unknown;
  createInterface({ input: child.stdout }).on("line", (line) => {
    said.push(JSON.parse(line));
    if (last !== undefined && said.at(-1) === last) child.kill("SIGKILL");
  });
  const end = async (): Promise<unknown[]> => {
    const [code, signal] = await closed;
    if (code !== 0 && signal !== "SIGKILL") throw new Error(`The child process failed (code ${code}): ${errors}`);
    return said;
  };
  return {
    finished: end,
    killAfter: async (value) => {
      last = value;
      return await end();
    },
  };
}
