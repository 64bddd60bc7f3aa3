/**
 * Runs `git` and `gh`. Invariants:
 * - No shell, and the program comes from an absolute folder on PATH: a `.` there would let a repo bring its own `git`.
 * - A command that exceeds its time or output limit is killed with its children, and so is every command still running
 *   when this process ends.
 * - It never throws: the result says what went wrong.
 * - `runGit` has no side effects. The repo may be hostile: its configuration must not make git start programs (fsmonitor,
 *   hooks, filters, signature checks, transports), and we never take the index lock. The person's own configuration stays
 *   in force, `safe.directory` included.
 */
import { once } from "node:events";
import type { ChildProcess } from "node:child_process";
import { nodeChildProcess } from "../base/builtin.ts";
import { errorMessage } from "../base/errors.ts";
import { findProgram } from "../base/processes.ts";

export interface CommandOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
  maxOutputBytes: number;
  /** Lets this process end while the command still runs. Default: false. */
  background?: boolean | undefined;
}

export interface CommandResult {
  /** With `too-much-output`: only the beginning. */
  stdout: Buffer;
  stderr: string;
  exitCode?: number | undefined;
  /** Absent when the program ran to its end, whatever its exit code. */
  failure?: "missing" | "not-started" | "timeout" | "too-much-output" | "killed" | undefined;
}

const MAX_STDERR_BYTES = 8_192;

export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const path = findProgram(program, options.env);
  if (path === undefined) return failed("missing", `${program} is not on PATH`);
  let child: ChildProcess;
  try {
    child = nodeChildProcess().spawn(path, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["ignore", "pipe", "pipe"],
      // In a process group of its own, so that its children can be killed with it.
      detached: true,
    });
  } catch (error) {
    return failed("not-started", errorMessage(error));
  }
  return await collect(child, options);
}

/** One listener serves all children: Node warns about many. */
const running = new Set<ChildProcess>();
let isListening = false;

function killAtExit(child: ChildProcess): void {
  if (!isListening) process.once("exit", killRunning);
  isListening = true;
  running.add(child);
}

function killRunning(): void {
  for (const child of running) killGroup(child);
}

async function collect(child: ChildProcess, options: CommandOptions): Promise<CommandResult> {
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
  if (options.background === true) unref(child, timer);

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
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return {
      stdout: Buffer.concat(stdout),
      stderr: Buffer.concat(stderr).toString("utf8"),
      exitCode: code ?? undefined,
      failure: failure ?? (code === null ? "killed" : undefined),
    };
  } catch (error) {
    return failed("not-started", errorMessage(error));
  } finally {
    clearTimeout(timer);
    running.delete(child);
  }
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
    process.kill(-child.pid, "SIGKILL");
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

export interface GitOptions {
  /** Default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
  /** Limit for each git command. Default: 5,000. */
  gitTimeoutMs?: number | undefined;
}

export type GitSetting = readonly [key: string, value: string];

const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

const SAFE_SETTINGS: readonly GitSetting[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  ["core.quotePath", "false"],
];

/** Locate git's own parts and the person's configuration. Every other `GIT_` variable is dropped. */
const KEPT_VARIABLES = new Set([
  "GIT_EXEC_PATH",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
]);

export async function runGit(
  cwd: string,
  args: readonly string[],
  options: GitOptions = {},
  settings: readonly GitSetting[] = [],
): Promise<CommandResult> {
  return await runCommand("git", ["--no-pager", ...args], {
    cwd,
    env: gitEnvironment(options.env ?? process.env, settings),
    timeoutMs: options.gitTimeoutMs ?? 5_000,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  });
}

/** For git and for programs that call it. */
export function gitEnvironment(base: NodeJS.ProcessEnv, settings: readonly GitSetting[] = []): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(base)) {
    // PWD may be a path through a symlink, which git would repeat.
    if (name !== "PWD" && (!name.startsWith("GIT_") || KEPT_VARIABLES.has(name))) env[name] = value;
  }
  return {
    ...env,
    ...settingVariables(base, [...SAFE_SETTINGS, ...settings]),
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_PAGER: "cat",
    // A partial clone would fetch missing objects with any command that its configuration names.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "",
  };
}

/** Settings in variables may have any name and value, apply to git's children and override every file. */
function settingVariables(base: NodeJS.ProcessEnv, settings: readonly GitSetting[]): NodeJS.ProcessEnv {
  const variables: NodeJS.ProcessEnv = {};
  const inherited = Math.min(Number(base["GIT_CONFIG_COUNT"]) || 0, 100);
  const given = Array.from({ length: inherited }, (_, index): GitSetting => {
    return [base[`GIT_CONFIG_KEY_${index}`] ?? "", base[`GIT_CONFIG_VALUE_${index}`] ?? ""];
  });
  const all = [...given.filter(([key]) => key !== ""), ...settings];
  for (const [index, [key, value]] of all.entries()) {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  variables["GIT_CONFIG_COUNT"] = String(all.length);
  return variables;
}

/** The output as text, with U+FFFD for invalid UTF-8. Undefined when git failed. */
export function outputOf(result: CommandResult): string | undefined {
  if (result.failure !== undefined || result.exitCode !== 0) return undefined;
  return result.stdout.toString("utf8");
}

export function gitProblem(result: CommandResult): string {
  if (result.failure === "missing") return "git is not installed, or not on PATH";
  if (result.failure === "timeout") return "git took too long and was stopped";
  if (result.failure === "too-much-output") return "git printed too much to read";
  const lines = result.stderr.split("\n").filter((line) => line.trim() !== "");
  const line = lines.find((text) => /^(fatal|error):/.test(text)) ?? lines[0] ?? `exit code ${result.exitCode}`;
  if (line.includes("dubious ownership")) {
    return "git refuses this repo because it belongs to another user; allow it with `git config --global --add safe.directory <path>`";
  }
  return line.replace(/^(fatal|error): /, "").slice(0, 300);
}

/**
 * Settings that switch off the filters of the repo's own configuration. A filter is a program that git runs to compare
 * files (`filter.<name>.clean`), and looking at a repo must not run its programs. The person's own filters (Git LFS)
 * stay. Undefined when git failed: then no filter is known to be safe.
 */
export async function repoFilterOverrides(folder: string, options: GitOptions): Promise<GitSetting[] | undefined> {
  const args = ["config", "--null", "--show-scope", "--name-only", "--get-regexp", "^filter\\."];
  const names = new Set<string>();
  const result = await runGit(folder, args, options);
  // Exit code 1: no such key.
  const text = result.exitCode === 1 ? "" : outputOf(result);
  if (text === undefined) return undefined;
  // Pairs of scope and key.
  const parts = text.split("\0");
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const key = parts[index + 1] ?? "";
    if (parts[index] !== "local" && parts[index] !== "worktree") continue;
    names.add(key.slice("filter.".length, key.lastIndexOf(".")));
  }
  return Array.from(names).flatMap((name): GitSetting[] => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
}
