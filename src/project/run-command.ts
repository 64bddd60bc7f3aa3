/**
 * Runs `git` and `gh`. Invariants:
 * - No shell, and the program comes from an absolute folder on PATH: a `.` there would let a repo bring its own `git`.
 * - A command that exceeds its time or output limit is killed with its children, and so is every command still running
 *   when this process ends.
 * - It never throws: the result says what went wrong.
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
  /** With `too-much-output`: only the beginning. */
  stdout: Buffer;
  stderr: string;
  exitCode?: number | undefined;
  /** Absent when the program ran to its end, whatever its exit code. */
  failure?: "missing" | "not-started" | "timeout" | "too-much-output" | "killed" | undefined;
}

export interface RunningCommand {
  result: Promise<CommandResult>;
  /** Lets this process end while the command still runs. */
  release(): void;
  /** Kills the command with its children. */
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

/** The path of the program; undefined when it is not on PATH. */
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
      // In a process group of its own, so that its children can be killed with it.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
  } catch (error) {
    const result = Promise.resolve(failed("not-started", errorMessage(error)));
    return { result, release: () => undefined, stop: () => undefined };
  }
  const { result, timer } = collect(child, options);
  return { result, release: () => unref(child, timer), stop: () => killGroup(child) };
}

const running = new Set<ChildProcess>();

/** One listener serves all children: Node warns about many. */
function killAtExit(child: ChildProcess): void {
  if (running.size === 0) {
    process.removeListener("exit", killRunning);
    process.once("exit", killRunning);
  }
  running.add(child);
}

function killRunning(): void {
  for (const child of running) killGroup(child);
}

function collect(
  child: ChildProcess,
  options: CommandOptions,
): { result: Promise<CommandResult>; timer: NodeJS.Timeout } {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  let size = 0;
  let stderrSize = 0;
  let failure: CommandResult["failure"];

  const stop = (reason: CommandResult["failure"]) => {
    failure ??= reason;
    killGroup(child);
  };
  killAtExit(child);
  const timer = setTimeout(() => stop("timeout"), options.timeoutMs);

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

  const result = new Promise<CommandResult>((resolve) => {
    const end = (build: () => CommandResult): void => {
      clearTimeout(timer);
      running.delete(child);
      resolve(build());
    };
    child.once("error", (error) => end(() => failed("not-started", errorMessage(error))));
    child.once("close", (code) =>
      end(() => ({
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString("utf8"),
        exitCode: code ?? undefined,
        failure: failure ?? (code === null ? "killed" : undefined),
      })),
    );
  });
  return { result, timer };
}

function unref(child: ChildProcess, timer: NodeJS.Timeout): void {
  child.unref();
  timer.unref();
  for (const stream of [child.stdout, child.stderr]) {
    // A child's pipes are sockets, although their type does not say so.
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
  // A grandchild that left the group could keep the pipes open forever.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

function failed(failure: NonNullable<CommandResult["failure"]>, stderr: string): CommandResult {
  return { stdout: Buffer.alloc(0), stderr, failure };
}
