/** Starts the child programs of this folder, and holds the code that they share. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { silentLogger } from "../base/log.ts";
import { type OpenAgentOptions, openAgent } from "../compose/agent.ts";
import { DEFAULT_CONFIG, type Durability } from "../config/config.ts";
import type { AgentHandle } from "../session/agent-handle.ts";
import type { StoreKind } from "../store/store.ts";

export interface ChildPrograms {
  /** Node's compile cache, shared by all children: it halves the start time. */
  compileCache: string;
  /** Folder of the compiled programs. Default: the programs beside this file. */
  programs?: string | undefined;
}

/** `Line`: what the program prints, one JSON value a line. */
export interface Child<Line> {
  /** Its output so far. Omits a line that the kill cut off. */
  readonly lines: readonly Line[];
  signal(signal: NodeJS.Signals): void;
  /** Resolves to whether it was killed. Rejects if it failed. */
  readonly ended: Promise<boolean>;
}

/** `killAfterMs` counts from the first line of output. Default: the child is not killed. */
export function startChild<Line>(
  program: string,
  task: unknown,
  { compileCache, programs }: ChildPrograms,
  killAfterMs?: number,
): Child<Line> {
  const child = spawn(process.execPath, [programFile(program, programs), JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const lines: Line[] = [];
  let rest = "";
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    if (lines.length === 0 && killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), killAfterMs);
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((line) => JSON.parse(line) as Line));
  });
  const ended = closed.then(([code, signal]) => {
    if (code === 0 || signal === "SIGKILL") return signal === "SIGKILL";
    throw new Error(`A child failed (${signal ?? `code ${code}`}): ${errors}`);
  });
  ended.catch(() => undefined);
  return { lines, ended, signal: (signal) => void child.kill(signal) };
}

/** Below `folder`, unless NODE_COMPILE_CACHE is set. */
export function compileCacheIn(folder: string): string {
  return process.env["NODE_COMPILE_CACHE"] || join(folder, "compile-cache");
}

/** With the extension of this file; a named folder holds compiled programs. */
export function programFile(program: string, folder?: string): string {
  if (folder !== undefined) return join(folder, `${program}.js`);
  return fileURLToPath(new URL(`./${program}${extname(import.meta.url)}`, import.meta.url));
}

export async function openHome(
  home: string,
  kind: StoreKind,
  { view, durability = "turn", ...options }: Partial<OpenAgentOptions> & { view: boolean; durability?: Durability },
): Promise<AgentHandle> {
  return await openAgent({
    ...options,
    home,
    config: { ...DEFAULT_CONFIG, store: { kind, view }, transcript: { durability } },
    logger: silentLogger,
  });
}

/** Synchronous: a killed process would lose buffered output. */
export function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
