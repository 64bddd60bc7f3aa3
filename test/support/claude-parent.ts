/**
 * A program that holds a `claude`, to be killed by a test: its one argument is the options of
 * `startClaudeProcess` and a message as JSON. Prints `started`, and the name of each tool that is used.
 */
import { writeSync } from "node:fs";
import type { ClaudeProcessOptions } from "../../src/claude/runner/process/claude-process.ts";
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";

const { options, message } = JSON.parse(process.argv[2] ?? "") as { options: ClaudeProcessOptions; message: string };
const claude = startClaudeProcess(options);
writeSync(1, "started\n");
claude.listen((event) => {
  if (event.type !== "assistant") return;
  for (const block of event.blocks) if (block.type === "tool_use") writeSync(1, `${block.name}\n`);
});
await claude.send(message);
await claude.ended;
