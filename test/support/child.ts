/**
 * Programs of this folder that run as a separate process: `await using child = startChild("lock", task)`. A program
 * gets its task as JSON in its one argument and prints one JSON value a line.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import { hostname } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type FaultPoint, installFaultAction } from "../../src/base/faults.ts";
import type { ClaudeProcessOptions } from "../../src/claude/runner/process/claude-process.ts";
import type { SpawnOptions } from "../../src/claude/runner/runner-contract.ts";
import type { SearchSources } from "../../src/memory/sources.ts";
import type { Leased } from "../../src/store/queues.ts";
import type { StoreKind } from "../../src/store/store.ts";
import type { TestRunnerSetup } from "./runner-home.ts";

/** What each program can do. */
export interface ChildTasks {
  lock: { path: string } & (
    | { task: "hold"; options?: { staleMs?: number } }
    | { task: "hold-often"; holdMs: number }
    | { task: "die-at"; point: FaultPoint }
    | { task: "contend"; marker: string; times: number; deadPid: number }
  );
  store: { kind: StoreKind; home: string } & (
    | { task: "die-with-lease"; leased: Leased }
    | { task: "count"; name: string; updates: number }
    | { task: "append"; start: number }
    | { task: "contend"; name: string; ttlMs: number }
    | { task: "enqueue"; name: string; count: number }
    | { task: "turns"; epoch: number; turns: number; transcript: string; dieAfter?: TurnStep; dieInTurn?: number }
  );
  transcript: { path: string } & (
    | { task: "append"; name: string; count: number; text?: string }
    | { task: "compact" | "create" | "work"; point: FaultPoint; occurrence: number }
  );
  home:
    | { task: "index"; path: string; sources: SearchSources }
    | { task: "import"; from: string; home: string; point: FaultPoint; occurrence: number }
    | HomeTask;
  claude:
    | { task: "process"; options: ClaudeProcessOptions; message: string }
    | { task: "runner"; setup: TestRunnerSetup; options: Omit<SpawnOptions, "onEvent" | "signal"> };
}

/** Killed at the fault point, if there is one. */
type HomeTask = { kind: StoreKind; home: string; point?: FaultPoint; occurrence?: number } & (
  | { task: "doctor" }
  | { task: "capture"; key: string }
);

export type TurnStep = "enqueued" | "drained" | "written" | "acknowledged";

export interface Child extends AsyncDisposable {
  process: ChildProcess;
  pid: number;
  /** Everything printed so far. */
  lines: unknown[];
  /** The first line, past or future, that fits. Default: any. Rejects when the child ends without it. */
  line(fits?: (line: unknown) => boolean): Promise<unknown>;
  /** Resolves when the child has ended well or was killed; rejects when it failed. */
  ended(): Promise<0 | "SIGKILL">;
  kill(signal: NodeJS.Signals): void;
}

export function startChild<Program extends keyof ChildTasks>(program: Program, task: ChildTasks[Program]): Child {
  const child = spawn(process.execPath, childArguments(program, task), { stdio: "pipe" });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const lines: unknown[] = [];
  const watchers = new Set<() => void>();
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  createInterface(child.stdout).on("line", (line) => {
    lines.push(JSON.parse(line));
    for (const look of watchers) look();
  });
  const ended = async (): Promise<0 | "SIGKILL"> => {
    const [code, signal] = await closed;
    if (code === 0 || signal === "SIGKILL") return signal === "SIGKILL" ? signal : 0;
    throw new Error(`The ${program} child failed (${code ?? signal}): ${errors}`);
  };
  const find = async (fits: (line: unknown) => boolean): Promise<unknown> =>
    await new Promise((resolve) => {
      const look = (): void => {
        const index = lines.findIndex(fits);
        if (index === -1) return;
        watchers.delete(look);
        resolve(lines[index]);
      };
      watchers.add(look);
      look();
    });
  return {
    process: child,
    pid: child.pid ?? 0,
    lines,
    line: async (fits = () => true) => {
      const early = ended().then(() => Promise.reject(new Error(`The ${program} child ended early: ${errors}`)));
      return await Promise.race([find(fits), early]);
    },
    ended,
    kill: (signal) => void child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

/** For Node: the program and its task. */
export function childArguments<Program extends keyof ChildTasks>(
  program: Program,
  task: ChildTasks[Program],
): string[] {
  return [fileURLToPath(new URL(`./${program}-child.ts`, import.meta.url)), JSON.stringify(task)];
}

/** In a program: its own task. Saves the compiled code first: a killed process saves none when it ends. */
export function childTask<Program extends keyof ChildTasks>(_program: Program): ChildTasks[Program] {
  flushCompileCache();
  return JSON.parse(process.argv[2] ?? "") as ChildTasks[Program];
}

/** In a program: prints a value. It is out when this returns, so a kill cannot take it back. */
export function report(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`);
}

/** In a program: kills it when it passes the point for the n-th time. */
export function dieAt(point: FaultPoint | undefined, occurrence = 1): void {
  let left = occurrence;
  installFaultAction((passed) => {
    if (passed !== point || --left > 0) return;
    process.kill(process.pid, "SIGKILL");
    for (;;);
  });
}

/** The content of a lock file whose process has ended, as either program writes it. */
export function abandonedLock(deadPid: number, form: "holdfast" | "openclaw"): string {
  if (form === "openclaw") return JSON.stringify({ pid: deadPid, startedAt: Date.now() });
  const nonce = randomBytes(8).toString("hex");
  return JSON.stringify({ pid: deadPid, startedAt: "earlier", host: hostname(), nonce });
}

/** The pid of a process that has ended. */
export async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid ?? 0;
}
