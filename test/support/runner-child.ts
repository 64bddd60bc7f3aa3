/**
 * A process of its own with a runner. Its one argument is a RunnerChildTask as JSON; it writes its events
 * and, last, its result as lines of JSON.
 */
import type { SpawnOptions } from "../../src/claude/runner/runner-contract.ts";
import { createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { type TestRunnerSetup, testRunnerParts } from "./runner-home.ts";

export interface RunnerChildTask {
  setup: TestRunnerSetup;
  options: Omit<SpawnOptions, "onEvent" | "signal">;
}

const { setup, options } = JSON.parse(process.argv[2] ?? "") as RunnerChildTask;
const runner = createClaudeRunner(testRunnerParts(setup));
const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
process.once("SIGTERM", () => void runner.stopAllClaudeCode().then(() => process.exit(0)));
const result = await runner.spawnClaudeCode({ ...options, onEvent: say });
say({ type: "result", result });
