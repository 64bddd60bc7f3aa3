/** Starts a child program of this folder, reads what it says and sees it die. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ChildOptions {
  /** Kill the child this long after its first line. Left out: it dies by itself. */
  killAfterMs?: number | undefined;
  /** Where Node keeps compiled code from one child to the next: starting takes half the time. */
  compileCache: string;
  /** The folder of the program. Left out: this one. */
  programs?: string | undefined;
}

export interface ChildRun {
  output: string;
  /** False when the child came to its end. */
  killed: boolean;
}

export async function runChild(program: string, task: unknown, options: ChildOptions): Promise<ChildRun> {
  const child = spawn(process.execPath, [programFile(program, options.programs), JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: options.compileCache },
  });
  let output = "";
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const isFirst = output === "";
    output += chunk;
    if (isFirst && options.killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), options.killAfterMs);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code !== 0 && signal !== "SIGKILL") throw new Error(`The child failed (${signal ?? `code ${code}`}): ${errors}`);
  return { output, killed: signal === "SIGKILL" };
}

/** Below `folder`, unless there is one that more than these children share. */
export function compileCacheIn(folder: string): string {
  return process.env["NODE_COMPILE_CACHE"] || join(folder, "compile-cache");
}

/** TypeScript beside TypeScript, compiled beside compiled; a folder that is named holds compiled ones. */
export function programFile(program: string, folder?: string): string {
  if (folder !== undefined) return join(folder, `${program}.js`);
  return fileURLToPath(new URL(`./${program}${extname(import.meta.url)}`, import.meta.url));
}
