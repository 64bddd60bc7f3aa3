/** Runs one command line and resolves to the exit code. Stdout is data, stderr is talk. */
import { CommanderError } from "commander";
import { ERROR_KINDS } from "../base/errors.ts";
import { reportFailure } from "./failure.ts";
import { buildProgram } from "./program.ts";

export async function main(args: readonly string[]): Promise<number> {
  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.exit(error.code === "EPIPE" ? 0 : 1);
  });
  try {
    const program = buildProgram();
    throwInsteadOfExit(program);
    await program.parseAsync(args, { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has printed its own message already; only help and version end well.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : ERROR_KINDS.usage.exitCode;
    return reportFailure(error, { json: args.includes("--json") });
  }
}

function throwInsteadOfExit(command: ReturnType<typeof buildProgram>): void {
  command.exitOverride();
  for (const child of command.commands) throwInsteadOfExit(child);
}
