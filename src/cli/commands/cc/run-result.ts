/** How the result of a run leaves: the answer on stdout, the rest on stderr, the outcome as the exit code. */
import { ERROR_KINDS } from "../../../base/errors.ts";
import type { ClaudeCodeResult, RunnerEvent } from "../../../claude/runner/runner-contract.ts";
import { print, printJson, talk } from "../../output.ts";
import { runLine, writeRunLine } from "./run-lines.ts";

const EXIT_CODES: Record<ClaudeCodeResult["outcome"], number> = {
  completed: 0,
  // It has finished, but not with everything that it wanted to do.
  "permission-denied": ERROR_KINDS.degraded.exitCode,
  interrupted: ERROR_KINDS.interrupted.exitCode,
  "stale-resume": ERROR_KINDS["not-found"].exitCode,
  "limit-turns": 1,
  "limit-budget": 1,
  "api-error": 1,
  "rate-limited": 1,
  "timed-out": 1,
  crashed: 1,
};

export function printResult(result: ClaudeCodeResult, told: ReadonlySet<string>, json: boolean): void {
  process.exitCode = EXIT_CODES[result.outcome];
  if (json) {
    printJson({ schema: 1, ...result });
    return;
  }
  if (result.text !== "") print(result.text);
  for (const text of result.warnings) {
    if (!told.has(text)) writeRunLine({ text: `WARNING: ${text}`, tone: "loud" });
  }
  for (const { toolName } of result.denials) talk(`not allowed: ${toolName}`);
  if (result.error !== undefined) talk(`holdfast: ${result.error}`);
}

/** Lines for people, JSON for programs; remembers which warnings were given already. */
export function createEventPrinter(json: boolean): { told: Set<string>; onEvent: (event: RunnerEvent) => void } {
  const told = new Set<string>();
  return {
    told,
    onEvent(event) {
      if (json) {
        process.stderr.write(`${JSON.stringify({ event })}\n`);
        return;
      }
      if ("text" in event) told.add(event.text);
      const line = runLine(event);
      if (line !== undefined) writeRunLine(line);
    },
  };
}
