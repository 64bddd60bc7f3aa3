/**
 * A home for `holdfast cc`: the real `claude`, a model API on loopback, and the command line in a repo.
 *
 *   await using home = await createTaskHome();
 *   await home.cc("run", "a task");
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ClaudeHome, createClaudeHome } from "./claude-home.ts";
import { BIN, type CliResult, runCliShared } from "./cli.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fake-anthropic/fake-anthropic.ts";
import { until } from "./time.ts";

export interface TaskHome extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  /** HOLDFAST_HOME. */
  home: string;
  /** `holdfast cc …` in the repo, in the process that tests share. */
  cc(...args: string[]): Promise<CliResult>;
  /** `holdfast cc …` in the repo, in a process of its own. */
  start(...args: string[]): StartedTask;
  /** `holdfast cc run … --persistent`, once its first turn has ended. */
  startPersistent(...args: string[]): Promise<PersistentTask>;
}

export interface StartedTask {
  child: ChildProcess;
  stdout: () => string;
  stderr: () => string;
  ended: Promise<number | null>;
}

export interface PersistentTask extends StartedTask {
  sessionId: string;
}

export async function createTaskHome(): Promise<TaskHome> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const home = join(claude.home, ".holdfast");
  await mkdir(home);
  // The scripted answers of the API are for the tasks, not for comparing tasks with sessions.
  const sessionSelection = { relevance: "offline" };
  const claudeCode = { command: claude.command, permissionMode: "bypassPermissions", sessionSelection };
  await writeFile(join(home, "config.json"), JSON.stringify({ claudeCode }));
  const start = (...args: string[]): StartedTask => startTask(claude, home, args);
  return {
    api,
    claude,
    home,
    cc: async (...args) => await runCliShared(["cc", ...args], { home, cwd: claude.repo, env: claude.env }),
    start,
    startPersistent: async (...args) => {
      const host = start("run", ...args, "--persistent", "--json");
      await until(() => host.stdout().endsWith("\n"), host.stderr, 30_000);
      const { sessionId, isLive } = JSON.parse(host.stdout()) as { sessionId: string; isLive: boolean };
      if (!isLive) throw new Error(`the session has ended: ${host.stdout()}`);
      return { ...host, sessionId };
    },
    [Symbol.asyncDispose]: async () => {
      await claude[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

function startTask(claude: ClaudeHome, home: string, args: readonly string[]): StartedTask {
  const child = spawn(process.execPath, [BIN, "cc", ...args], {
    cwd: claude.repo,
    env: { ...process.env, ...claude.env, HOLDFAST_HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}
