/** How an error leaves the process: a sentence, what to do, and the exit code of its kind. */
import { HoldfastError, errorOutcome, reportError } from "../base/errors.ts";
import { printable } from "../base/printable.ts";
import { redactText, redactValue } from "../base/redact.ts";

/** Prints the error to stderr and resolves to the exit code. */
export function reportFailure(error: unknown, options: { json: boolean }): number {
  if (options.json) {
    process.stderr.write(`${JSON.stringify({ error: redactValue(reportError(error)) })}\n`);
  } else {
    process.stderr.write(`${printable(redactText(describeFailure(error)))}\n`);
  }
  return errorOutcome(error).exitCode;
}

function describeFailure(error: unknown): string {
  if (error instanceof HoldfastError) {
    return `holdfast: ${error.message}${error.hint === undefined ? "" : `\n  ${error.hint}`}`;
  }
  // A defect of ours: the stack is what helps to mend it.
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `holdfast: unexpected error, please report it\n${detail}`;
}
