/**
 * Holds a `claude`, to be killed by a test: as a bare process, which reports each tool that is used, or as a runner,
 * which reports its events and its result.
 */
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";
import { createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { childTask, report } from "./child.ts";
import { testRunnerParts } from "./runner-home.ts";

const task = childTask("claude");

if (task.task === "process") {
  const claude = startClaudeProcess(task.options);
  report("started");
  claude.listen((event) => {
    if (event.type !== "assistant") return;
    for (const block of event.blocks) if (block.type === "tool_use") report(block.name);
  });
  await claude.send(task.message);
  await claude.ended;
} else {
  const runner = createClaudeRunner(testRunnerParts(task.setup));
  process.once("SIGTERM", () => void runner.stopAllClaudeCode().then(() => process.exit(0)));
  const result = await runner.spawnClaudeCode({ ...task.options, onEvent: report });
  report({ type: "result", result });
}
