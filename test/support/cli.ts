/** The real command line from dist/: run to its end, as a gateway, or in a terminal with typed input. */
import { type ChildProcess, type ChildProcessWithoutNullStreams, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** The program. */
export const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Stdout, parsed. */
  json: () => unknown;
}

export interface CliOptions {
  home: string;
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
  /** Kills a command that may never end. Default: no timeout. */
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

export interface SharedCommand {
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  input: string;
}

export interface SharedResult {
  code: number;
  stdout: string;
  stderr: string;
}

const SHARED = fileURLToPath(new URL("./cli-child.ts", import.meta.url));
let shared: ChildProcess | undefined;
let lastShared: Promise<unknown> = Promise.resolve();

/**
 * Like `runCli`, but in a process that all tests of this worker share: for tests of a command's result, because
 * starting a process takes ten times longer than most commands. Commands run one at a time.
 */
export async function runCliShared(args: readonly string[], options: SharedOptions): Promise<CliResult> {
  const { home, cwd = home, input = "" } = options;
  const env = { ...process.env, HOLDFAST_HOME: home, NO_COLOR: "1", ...options.env };
  const run = lastShared.then(async () => await askShared({ args, cwd, env, input }));
  lastShared = run.catch(() => undefined);
  const result = await run;
  return { ...result, json: () => JSON.parse(result.stdout) as unknown };
}

export type SharedOptions = Omit<CliOptions, "timeoutMs">;

async function askShared(command: SharedCommand): Promise<SharedResult> {
  const child = (shared ??= startShared());
  return await new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error(`\`holdfast ${command.args.join(" ")}\` ended the shared process`));
    child.once("exit", onExit);
    child.once("message", (answer: SharedResult | { problem: string }) => {
      child.off("exit", onExit);
      if ("problem" in answer) reject(new Error(`\`holdfast ${command.args.join(" ")}\`: ${answer.problem}`));
      else resolve(answer);
    });
    child.send(command);
  });
}

/** It ends with this worker. */
function startShared(): ChildProcess {
  const child = fork(SHARED, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.unref();
  child.channel?.unref();
  child.once("exit", () => (shared = undefined));
  return child;
}

export interface CliGateway extends AsyncDisposable {
  process: ChildProcess;
  /** Printed when it listens. */
  announced: { url: string; pid: number };
  stderr(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

export interface CliGatewayOptions {
  /** Limit on file descriptors. Default: the system's. */
  openFiles?: number;
  /** Default: 0, any free port. `usual`: no port option. */
  port?: 0 | "usual";
}

export async function startCliGateway(
  home: string,
  args: readonly string[] = [],
  { openFiles, port = 0 }: CliGatewayOptions = {},
): Promise<CliGateway> {
  const command = [process.execPath, BIN, "gateway", ...(port === 0 ? ["--port", "0"] : []), "--json", ...args];
  const limited = ["bash", "-c", `ulimit -n ${openFiles}; exec "$@"`, "bash", ...command];
  const [program = "", ...given] = openFiles === undefined ? command : limited;
  const child = spawn(program, given, {
    cwd: home,
    env: { ...process.env, HOLDFAST_HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null);
  const announced = await new Promise<CliGateway["announced"]>((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.endsWith("\n")) resolve(JSON.parse(stdout) as CliGateway["announced"]);
    });
    child.once("exit", (code) => reject(new Error(`the gateway ended with ${code}: ${stderr}`)));
  });
  return {
    process: child,
    announced,
    stderr: () => stderr,
    ended,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}

export interface WatchedProgram extends Disposable {
  child: ChildProcessWithoutNullStreams;
  output(): string;
  /** Resolves when the text has been written since the last wait. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  ended: Promise<number | null>;
}

export interface ProgramPlace {
  cwd: string;
  /** Added to the environment of the tests. */
  env: NodeJS.ProcessEnv;
}

/** Runs the command on pipes. */
export function startProgram(args: readonly string[], place: ProgramPlace): WatchedProgram {
  return watch(spawn(process.execPath, [BIN, ...args], { ...withTerminalEnv(place), stdio: "pipe" }));
}

/** Runs the command in a terminal that `script` provides. Pass no untrusted text: a shell reads it. */
export function startInTerminal(command: string, columns: number, place: ProgramPlace): WatchedProgram {
  const line = `stty cols ${columns} rows 24; exec "${process.execPath}" "${BIN}" ${command}`;
  return watch(spawn("script", ["-qefc", line, "/dev/null"], { ...withTerminalEnv(place), stdio: "pipe" }));
}

function withTerminalEnv({ cwd, env }: ProgramPlace): ProgramPlace {
  return { cwd, env: { ...process.env, ...env, SHELL: "/bin/sh", TERM: "xterm-256color", NO_COLOR: "1" } };
}

function watch(child: ChildProcessWithoutNullStreams): WatchedProgram {
  let output = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return {
    child,
    output: () => output,
    async shows(text) {
      const deadline = Date.now() + 15_000;
      for (let at = -1; at === -1;) {
        at = output.indexOf(text, seen);
        if (at !== -1) seen = at + text.length;
        else if (Date.now() > deadline)
          throw new Error(`"${text}" did not come: ${JSON.stringify(output.slice(seen))}`);
        else await delay(10);
      }
    },
    type: (keys) => void child.stdin.write(keys),
    ended: once(child, "close").then(([code]) => code as number | null),
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}
