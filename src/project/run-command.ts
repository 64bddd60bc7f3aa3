/**
 * Runs `git` and `gh` for us. Invariants:
 * - An argument vector, never a shell. The program comes from an absolute folder of PATH: a `.` there
 *   would let a repo bring its own `git`.
 * - Nothing runs longer or prints more than its limit. What is over its limit is killed with all its
 *   children, and so is what is still running when this process ends.
 * - It never throws: what went wrong is part of the result.
 */
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { nodeChildProcess } from "../base/builtin.ts";
import { errorMessage } from "../base/errors.ts";

export interface CommandOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  maxOutputBytes: number;
}

export interface CommandResult {
  /** What was printed; with `too-much-output` the beginning of it. */
  stdout: Buffer;
  stderr: string;
  exitCode?: number;
  /** Missing when the program ran to its end, whatever its exit code. */
  failure?: "missing" | "not-started" | "timeout" | "too-much-output" | "killed";
}

export interface RunningCommand {
  result: Promise<CommandResult>;
  /** Nobody waits for it any more: it may go on, and does not keep this process alive. */
  letGo(): void;
  /** Ends it with all its children. */
  stop(): void;
}

const MAX_STDERR_BYTES = 8_192;

export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const path = await findProgram(program, options.env);
  if (path === undefined) return failed("missing", `${program} is not on PATH`);
  return await startCommand(path, args, options).result;
}

/** The program's file on PATH; undefined when there is none. */
export async function findProgram(program: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const name = process.platform === "win32" ? `${program}.exe` : program;
  for (const folder of (env["PATH"] ?? "").split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const path = join(folder, name);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export function startCommand(path: string, args: readonly string[], options: CommandOptions): RunningCommand {
  let child: ChildProcess;
  try {
    child = nodeChildProcess().spawn(path, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["ignore", "pipe", "pipe"],
      // A process group of its own, so that its children can be ended with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
  } catch (error) {
    const result = Promise.resolve(failed("not-started", errorMessage(error)));
    return { result, letGo: () => undefined, stop: () => undefined };
  }
  const timer = createTimer();
  return { result: collect(child, options, timer), letGo: () => letGo(child, timer), stop: () => killGroup(child) };
}

interface Timer {
  start(ms: number, action: () => void): void;
  stop(): void;
  unref(): void;
}

function createTimer(): Timer {
  let handle: NodeJS.Timeout | undefined;
  return {
    start: (ms, action) => {
      handle = setTimeout(action, ms);
    },
    stop: () => clearTimeout(handle),
    unref: () => handle?.unref(),
  };
}

const running = new Set<ChildProcess>();

/** One listener for all children: many of them at once would look like a leak. */
function endWithProcess(child: ChildProcess): void {
  if (running.size === 0) {
    process.removeListener("exit", endRunning);
    process.once("exit", endRunning);
  }
  running.add(child);
}

function endRunning(): void {
  for (const child of running) killGroup(child);
}

async function collect(child: ChildProcess, options: CommandOptions, timer: Timer): Promise<CommandResult> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let size = 0;
  let stderrSize = 0;
  let failure: CommandResult["failure"];

  const stop = (reason: CommandResult["failure"]) => {
    failure ??= reason;
    killGroup(child);
  };
  endWithProcess(child);
  timer.start(options.timeoutMs, () => stop("timeout"));

  child.stdout?.on("data", (chunk: Buffer) => {
    const room = options.maxOutputBytes - size;
    stdout.push(chunk.length <= room ? chunk : chunk.subarray(0, Math.max(0, room)));
    size += chunk.length;
    if (size > options.maxOutputBytes) stop("too-much-output");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    if (stderrSize < MAX_STDERR_BYTES) stderr.push(chunk.subarray(0, MAX_STDERR_BYTES - stderrSize));
    stderrSize += chunk.length;
  });

  const end = await new Promise<{ code: number | null; error?: Error }>((resolve) => {
    child.once("error", (error) => resolve({ code: null, error }));
    child.once("close", (code) => resolve({ code }));
  });
  timer.stop();
  running.delete(child);
  if (end.error !== undefined) return failed("not-started", errorMessage(end.error));
  if (end.code === null) failure ??= "killed";
  return {
    stdout: Buffer.concat(stdout),
    stderr: Buffer.concat(stderr).toString("utf8"),
    ...(end.code === null ? {} : { exitCode: end.code }),
    ...(failure === undefined ? {} : { failure }),
  };
}

function letGo(child: ChildProcess, timer: Timer): void {
  child.unref();
  timer.unref();
  for (const stream of [child.stdout, child.stderr]) {
    // A child's pipes are sockets, whatever their type says.
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
  // A grandchild that left the group could hold the pipes open for ever.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function failed(failure: NonNullable<CommandResult["failure"]>, stderr: string): CommandResult {
  return { stdout: Buffer.alloc(0), stderr, failure };
}
