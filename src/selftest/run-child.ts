/** Starts a child program of this folder, reads its output and waits for its end. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface ChildOptions {
  /** Kill the child this long after its first line. Default: it kills itself. */
  killAfterMs?: number | undefined;
  /** Node's compile cache, shared by all children: it halves the start time. */
  compileCache: string;
  /** Folder of the program. Default: this one. */
  programs?: string | undefined;
}

export interface ChildRun {
  output: string;
  /** False if the child ended on its own. */
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

/** Below `folder`, unless NODE_COMPILE_CACHE is set. */
export function compileCacheIn(folder: string): string {
  return process.env["NODE_COMPILE_CACHE"] || join(folder, "compile-cache");
}

/** With the extension of this file; a named folder holds compiled programs. */
export function programFile(program: string, folder?: string): string {
  if (folder !== undefined) return join(folder, `${program}.js`);
  return fileURLToPath(new URL(`./${program}${extname(import.meta.url)}`, import.meta.url));
}
