/** The command line as somebody at a keyboard has it: what it writes can be waited for, and keys be typed. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

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
  /** Besides the environment of the tests. */
  env: NodeJS.ProcessEnv;
}

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));

/** On pipes. */
export function startProgram(args: readonly string[], place: ProgramPlace): WatchedProgram {
  return watch(spawn(process.execPath, [BIN, ...args], { ...withTerminalEnv(place), stdio: "pipe" }));
}

/** In a terminal, which `script` provides. The command's words are ours: no foreign text reaches this shell. */
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
