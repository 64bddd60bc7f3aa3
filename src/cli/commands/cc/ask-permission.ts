/** Asks the person at the terminal what Claude Code may do, one question at a time. */
import { createKeyedMutex } from "../../../base/async.ts";
import { printableLine } from "../../../base/text.ts";
import type { PermissionAnswer, PermissionQuestion } from "../../../claude/protocol/messages.ts";
import type { AskPermission } from "../../../claude/runner/process/claude-process.ts";
import { askedDetail } from "../../../claude/runner/run-events.ts";

/** Undefined without a terminal: Claude Code then refuses what its settings do not allow. */
export function askInTerminal(): AskPermission | undefined {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const questions = createKeyedMutex();
  return async (question, signal) => await questions.run("terminal", async () => await ask(question, signal));
}

async function ask(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
  const { createInterface } = await import("node:readline/promises");
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  // readline takes Ctrl-C for itself; the command handles it.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  process.stderr.write(`${describe(question)}\n`);
  for (;;) {
    const said = (await terminal.question("Allow? [y]es, for this [s]ession, [n]o: ", { signal })).trim().toLowerCase();
    if (/^y(?:es)?$/.test(said)) return { allow: "once" };
    if (/^s(?:ession)?$/.test(said)) return { allow: "session" };
    if (/^n(?:o)?$/.test(said)) return { deny: "The person did not allow this." };
  }
}

function describe(question: PermissionQuestion): string {
  const { tool, description } = question;
  const why = description === undefined ? "" : ` (${printableLine(description, 200)})`;
  return `Claude Code wants to use ${printableLine(tool, 80)}: ${askedDetail(question)}${why}`;
}
