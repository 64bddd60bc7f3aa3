/**
 * A home for the real `claude` as Holdfast starts it, with a fake model API, and functions to wait for what it does.
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

/** For tests with separate processes that mostly wait, with a timeout for busy machines. */
export const AT_ONCE = { concurrent: true, timeout: 60_000 };

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

export async function collect(claude: ClaudeProcess): Promise<ClaudeEvent[]> {
  return await readAll(claude.events());
}

export async function readAll(events: AsyncIterable<ClaudeEvent>): Promise<ClaudeEvent[]> {
  const all: ClaudeEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Events from now until a turn ends. */
export async function eventsOfTurn(claude: ClaudeProcess): Promise<ClaudeEvent[]> {
  const all: ClaudeEvent[] = [];
  for await (const event of claude.events()) {
    all.push(event);
    if (event.type === "turn-ended") break;
  }
  return all;
}

export async function eventOf(claude: ClaudeProcess, type: ClaudeEvent["type"]): Promise<void> {
  for await (const event of claude.events()) if (event.type === type) return;
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
