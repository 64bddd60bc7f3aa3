/**
 * Everything that Holdfast writes about sessions is private: folders 0700, files and sockets 0600, for any umask.
 * Commands of every kind run against the real `claude`, then all modes are checked. With umask 000 nothing is private
 * by chance.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, utimesSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { connectMcp, callTool } from "../support/mcp-home.ts";
import { BIN, runCli } from "../support/cli.ts";

const OLD = (Date.now() - 29 * 86_400_000) / 1000;

it("files are private with umask 000", async () => {
  await using api = await startFakeAnthropic();
  await using claude = await createClaudeHome(api);
  const home = join(claude.home, "holdfast");
  // The command line's own compile cache instead of the tests' one, because its mode is checked too.
  claude.env["NODE_COMPILE_CACHE"] = "";
  const holdfast = async (args: readonly string[], input = ""): Promise<string> => {
    const { code, stdout, stderr } = await runCli(args, { home, cwd: claude.repo, env: claude.env, input });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  // Children have the umask of the process that starts them.
  const before = process.umask(0);
  try {
    await holdfast(["config", "set", "claudeCode.command", claude.command]);
    await holdfast(["config", "set", "claudeCode.permissionMode", "bypassPermissions"]);
    await holdfast(["chat", "--local"], "hello\n");
    const sessionId = sessionOf(await holdfast(["cc", "run", "a task", "--json"]));
    makeOld(claude, sessionId);
    await holdfast(["cc", "archive"]);
    await holdfast(["cc", "archive", "--restore", sessionId, "--to", join(home, "restored")]);
    await using mcp = await connectMcp({ cwd: claude.repo, env: { ...claude.env, HOLDFAST_HOME: home } });
    await callTool(mcp.client, "openclaw_session_search", { query: "task" });
    for (const name of ["list", "costs", "status"]) await holdfast(["cc", name]);

    const found = new Map([...(await modesDuringRun(claude, home, holdfast)), ...modesBelow(home)]);
    const kinds = new Set([...found.keys()].map(kindOf));
    for (const kind of EXPECTED) expect(kinds).toContain(kind);
    expect([...found].filter(([, mode]) => mode !== "0700/" && mode !== "0600")).toEqual([]);
    expect(JSON.parse(await holdfast(["doctor", "--json"]))).toMatchObject({ ok: true, findings: [] });
  } finally {
    process.umask(before);
  }
});

/** Files that must exist, or the test has checked nothing. */
const EXPECTED = [
  "config.json",
  "agents/main/agent.sqlite",
  "agents/main/claude-code-sessions.json",
  "cache/claude-index.sqlite",
  "cache/search.sqlite",
  "cache/compiled",
  "claude/locks/session-#.lock",
  "claude/locks/repo-#.lock",
  "claude/locks/run-#.json",
  "claude/locks/mcp-#.json",
  "claude/archive/#.json",
  "claude/archive/catalogue.jsonl",
  "restored/#.jsonl",
];

type Holdfast = (args: readonly string[]) => Promise<string>;

/** Locks, records and sockets are there only while something runs. */
async function modesDuringRun({ env, repo }: ClaudeHome, home: string, holdfast: Holdfast): Promise<Modes> {
  const host = spawn(process.execPath, [BIN, "cc", "run", "stay", "--fresh", "--persistent", "--json"], {
    cwd: repo,
    env: { ...process.env, ...env, HOLDFAST_HOME: home },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(host, "close");
  const [line] = (await once(host.stdout, "data")) as [Buffer];
  const modes = modesBelow(home);
  await holdfast(["cc", "kill", sessionOf(String(line))]);
  await ended;
  return modes;
}

function sessionOf(result: string): string {
  return (JSON.parse(result) as { sessionId: string }).sessionId;
}

function makeOld({ configDir }: ClaudeHome, sessionId: string): void {
  const projects = join(configDir, "projects");
  for (const name of readdirSync(projects, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(`${sessionId}.jsonl`)) utimesSync(join(projects, name), OLD, OLD);
  }
}

type Modes = Map<string, string>;

function modesBelow(home: string): Modes {
  const paths = [home, ...readdirSync(home, { recursive: true, encoding: "utf8" }).map((name) => join(home, name))];
  const modes: Modes = new Map();
  for (const path of paths) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    modes.set(relative(home, path), stats.isDirectory() ? `${mode}/` : mode);
  }
  return modes;
}

function kindOf(path: string): string {
  return path.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/, "#");
}
