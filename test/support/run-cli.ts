/** Runs the real command line from dist/ in a scratch home. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** What stdout holds, parsed. */
  json: () => unknown;
}

export interface CliOptions {
  home: string;
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
  /** After how long it is killed, for what might never end. Left out: never. */
  timeoutMs?: number;
}

export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: options.cwd ?? options.home,
    env: { ...process.env, HOLDFAST_HOME: options.home, NO_COLOR: "1", ...options.env },
    stdio: "pipe",
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs, killSignal: "SIGKILL" }),
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as unknown };
}
