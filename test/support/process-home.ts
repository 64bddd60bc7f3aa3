/**
 * A home for the real `claude` as Holdfast starts it, with a fake model API, and functions that wait for its actions.
 *
 *   await using home = await createProcessHome();
 *   await using claude = home.start();
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type {
  ClaudeEvent,
  ClaudeProcess,
  ClaudeProcessOptions,
  ClaudeTurn,
} from "../../src/claude/runner/process/claude-process.ts";
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";
import { type Child, startChild } from "./child.ts";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";

/** For tests with separate processes that mostly wait. */
export const AT_ONCE = { concurrent: true };

export interface ProcessHome extends AsyncDisposable {
  api: FakeAnthropic;
  home: ClaudeHome;
  options: ClaudeProcessOptions;
  start(options?: Partial<ClaudeProcessOptions>): ClaudeProcess;
}

export async function createProcessHome(): Promise<ProcessHome> {
  const api = await startFakeAnthropic();
  const home = await createClaudeHome(api);
  // A slow machine must not look like an unresponsive claude.
  const grace = { interruptMs: 20_000, endMs: 20_000 };
  const options = { command: home.command, cwd: home.repo, env: home.env, grace };
  return {
    api,
    home,
    options,
    start: (more = {}) => startClaudeProcess({ ...options, ...more }),
    [Symbol.asyncDispose]: async () => {
      await home[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

/** Starts a separate process that runs a claude and has sent it a message. */
export async function startParent(options: ClaudeProcessOptions): Promise<Child> {
  const parent = startChild("claude", { task: "process", options, message: "go" });
  await parent.line();
  return parent;
}

export async function runOnce(
  home: ProcessHome,
  options: Partial<ClaudeProcessOptions>,
  message: string,
): Promise<ClaudeTurn> {
  await using claude = home.start(options);
  return await claude.send(message);
}

/** Events from now on. The list grows until the process has ended. */
export function collect(claude: ClaudeProcess): ClaudeEvent[] {
  const all: ClaudeEvent[] = [];
  claude.listen((event) => all.push(event));
  return all;
}

/** Events from now until a turn ends. */
export async function eventsOfTurn(claude: ClaudeProcess): Promise<ClaudeEvent[]> {
  const all: ClaudeEvent[] = [];
  await eventOf(claude, (event) => all.push(event) > 0 && event.type === "turn-ended");
  return all;
}

export async function eventOf(claude: ClaudeProcess, isWanted: (event: ClaudeEvent) => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = claude.listen((event) => {
    if (isWanted(event)) resolve();
  });
  await promise;
  end();
}

/** A piece of an answer. */
export function isText(event: ClaudeEvent): boolean {
  return event.type === "stream_event" && event.event.kind === "text";
}

export function isToolUse(event: ClaudeEvent): boolean {
  return event.type === "assistant" && event.blocks.some(({ type }) => type === "tool_use");
}

/** Waits until `count` programs of this name run in the home. */
export async function toolStarted(home: ClaudeHome, name: string, count = 1): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const running = home.processes().filter((pid) => commandName(pid) === name);
    if (running.length >= count) return;
    await delay(20);
  }
  throw new Error(`no ${name} was started`);
}

function commandName(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}
