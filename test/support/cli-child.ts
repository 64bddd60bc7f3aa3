/**
 * Runs command lines from dist/, one after the other, in one process. `runCliShared` starts it and sends a
 * SharedCommand for each. The answer is a SharedResult.
 */
import { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "../../src/base/errors.ts";
import type { SharedCommand, SharedResult } from "./cli.ts";

const PROGRAM = new URL("../../dist/bin/main.js", import.meta.url).href;
const { main } = (await import(PROGRAM)) as { main: (args: readonly string[]) => Promise<number> };

/** A process of its own would have to end within this time after its command. */
const PATIENCE_MS = 15_000;

process.on("disconnect", () => process.exit());
process.on("message", (command: SharedCommand) => {
  void run(command)
    .catch((error: unknown) => ({ problem: errorMessage(error) }))
    .then((answer) => process.send?.(answer));
});

async function run({ args, cwd, env, input }: SharedCommand): Promise<SharedResult> {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.exitCode = undefined;
  const stdout = replaceOutput("stdout");
  const stderr = replaceOutput("stderr");
  Object.defineProperty(process, "stdin", { value: Readable.from([input]), configurable: true });
  const before = keepingAlive();
  const code = await main(args);
  const deadline = performance.now() + PATIENCE_MS;
  while (keepingAlive().length > before.length) {
    if (performance.now() > deadline) throw new Error(`Its process would not end: ${keepingAlive().join(", ")}`);
    await delay(5, undefined, { ref: false });
  }
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Timers, sockets, threads and other things that a process waits for. */
function keepingAlive(): string[] {
  return process.getActiveResourcesInfo();
}

/** Returns a function that returns everything written so far. */
function replaceOutput(name: "stdout" | "stderr"): () => string {
  const written: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  Object.defineProperty(process, name, { value: stream, configurable: true });
  return () => Buffer.concat(written).toString("utf8");
}
