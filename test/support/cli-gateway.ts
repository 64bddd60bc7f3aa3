/** A gateway as `holdfast gateway` runs it, on a free port, gone when the test ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

export interface CliGateway extends AsyncDisposable {
  process: ChildProcess;
  /** What it printed when it listened. */
  announced: { url: string; pid: number };
  stderr(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>;
}

export interface CliGatewayOptions {
  /** How many file descriptors it may have. Optional. */
  openFiles?: number;
  /** Default: 0, any free one. `usual`: no port is given. */
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
