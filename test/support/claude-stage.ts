/**
 * A stage for the real `claude` under Holdfast's control: a model API on loopback, a scratch home, and
 * the ways in which tests start processes there and wait for what they do.
 *
 *   await using stage = await setStage();
 *   await using claude = stage.start();
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type {
  ClaudeEvent,
  ClaudeProcess,
  ClaudeProcessOptions,
  ClaudeTurn,
} from "../../src/claude/runner/process/claude-process.ts";
import { startClaudeProcess } from "../../src/claude/runner/process/start-claude-process.ts";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";

const PARENT = fileURLToPath(new URL("./claude-parent.ts", import.meta.url));

/** For tests that each have a process of their own and wait for most of their time. A loaded machine gets more of it. */
export const AT_ONCE = { concurrent: true, timeout: 60_000 };

export interface Stage extends AsyncDisposable {
  api: FakeAnthropic;
  home: ClaudeHome;
  options: ClaudeProcessOptions;
  start(options?: Partial<ClaudeProcessOptions>): ClaudeProcess;
}

export async function setStage(): Promise<Stage> {
  const api = await startFakeAnthropic();
  const home = await createClaudeHome(api);
  // A slow machine must not look like a claude that does not listen.
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

/** Another process that holds a claude and has given it a message. */
export async function startParent(options: ClaudeProcessOptions): Promise<ChildProcess> {
  const task = JSON.stringify({ options, message: "go" });
  const parent = spawn(process.execPath, [PARENT, task], { stdio: ["ignore", "pipe", "inherit"] });
  await once(parent.stdout, "data");
  return parent;
}

export async function runOnce(
  stage: Stage,
  options: Partial<ClaudeProcessOptions>,
  message: string,
): Promise<ClaudeTurn> {
  await using claude = stage.start(options);
  return await claude.send(message);
}

/** Events from now on. The list grows until the process has ended. */
export function collect(claude: ClaudeProcess): ClaudeEvent[] {
  const all: ClaudeEvent[] = [];
  claude.listen((event) => all.push(event));
  return all;
}

/** Events from now on until a turn has ended. */
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

/** Waits until so many programs of this name run in the home. */
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
