/**
 * `claude` as a person runs it, not as Holdfast's runner does: its own entrypoint, its own settings and hooks.
 *
 *   await using claude = startPersonClaude(stage.home);
 *   await claude.say("What is next?");
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { isRecord } from "../../src/base/json-record.ts";
import type { ClaudeHome } from "./claude-home.ts";

export interface PersonClaude extends AsyncDisposable {
  process: ChildProcess;
  /** Until it has answered. */
  say(text: string): Promise<void>;
  /** Of the conversation as it is now. */
  sessionId(): string;
  /** Ends it as a person does. */
  leave(): Promise<void>;
  kill(): Promise<void>;
}

export function startPersonClaude(home: ClaudeHome, env: Record<string, string> = {}, cwd = home.repo): PersonClaude {
  const args = ["--print", "--input-format=stream-json", "--output-format=stream-json", "--verbose"];
  const child = spawn(home.command, args, { cwd, env: { ...home.env, ...env }, stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  const messages = (): Record<string, unknown>[] =>
    output
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
      .filter(isRecord);
  const results = (): number => messages().filter(({ type }) => type === "result").length;
  return {
    process: child,
    async say(text) {
      const before = results();
      child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`);
      for (let attempt = 0; results() === before; attempt++) {
        if (attempt === 1200 || child.exitCode !== null) throw new Error(`no answer to ${text}`);
        await delay(25);
      }
    },
    sessionId: () => String(messages().findLast(({ type }) => type === "system" || type === "result")?.["session_id"]),
    async leave() {
      child.stdin.end();
      await closed;
    },
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await closed;
    },
  };
}
