import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ClaudeCodeResult, RunnerEvent } from "../../src/claude/runner/runner-contract.ts";
import type { RunnerChildTask } from "./runner-child.ts";

type ChildLine = RunnerEvent | { type: "result"; result: ClaudeCodeResult };

export interface RunnerChild extends AsyncDisposable {
  pid: number;
  /** The first event, past or future, of this type. */
  event<Type extends ChildLine["type"]>(type: Type): Promise<ChildLine & { type: Type }>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const SCRIPT = fileURLToPath(new URL("./runner-child.ts", import.meta.url));

export function startRunnerChild(task: RunnerChildTask): RunnerChild {
  const child = spawn(process.execPath, [SCRIPT, JSON.stringify(task)], { stdio: ["ignore", "pipe", "pipe"] });
  const closed = once(child, "close");
  const lines: ChildLine[] = [];
  const waiting = new Set<() => void>();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line) as ChildLine);
    for (const look of waiting) look();
  });
  const find = async (type: string): Promise<ChildLine> =>
    await new Promise((resolve) => {
      const look = (): void => {
        const found = lines.find((line) => line.type === type);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return {
    pid: child.pid ?? 0,
    event: async <Type extends ChildLine["type"]>(type: Type) => {
      const ended = closed.then(() => Promise.reject(new Error(`The runner child ended without ${type}: ${errors}`)));
      return (await Promise.race([find(type), ended])) as ChildLine & { type: Type };
    },
    kill: async (signal) => {
      child.kill(signal);
      await closed;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
