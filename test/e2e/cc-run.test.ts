/** `cc run`, `send`, `attach` and `kill` through the real command line, with the real `claude` and a model API on loopback. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { apiError, hang, text, toolUse } from "../support/fake-anthropic/reply.ts";
import { type CliResult, runCli } from "../support/cli.ts";
import { until } from "../support/time.ts";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
const ID = expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;

let api: FakeAnthropic;
let claude: ClaudeHome;
let home: string;

beforeAll(async () => {
  api = await startFakeAnthropic();
  claude = await createClaudeHome(api);
  home = join(claude.home, ".holdfast");
  await mkdir(home);
  const claudeCode = { command: claude.command, permissionMode: "bypassPermissions" };
  await writeFile(join(home, "config.json"), JSON.stringify({ claudeCode }));
});

afterAll(async () => {
  await claude[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

async function cc(...args: string[]): Promise<CliResult> {
  return await runCli(["cc", ...args], { home, cwd: claude.repo, env: claude.env });
}

interface Started {
  child: ChildProcess;
  out: () => string;
  errors: () => string;
  ended: Promise<number | null>;
}

function start(...args: string[]): Started {
  const child = spawn(process.execPath, [BIN, "cc", ...args], {
    cwd: claude.repo,
    env: { ...process.env, ...claude.env, HOLDFAST_HOME: home, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (out += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, out: () => out, errors: () => errors, ended };
}

/** The session of the first test, shared by all tests that continue one. Each leaves it unchanged or only appends. */
let sessionId: string;

async function readForks(): Promise<string[]> {
  const { forks = [] } = (await cc("info", sessionId, "--json")).json() as { forks?: string[] };
  return forks;
}

describe("holdfast cc run", () => {
  it("prints the answer on stdout and progress on stderr, and continues the named session", async () => {
    api.script(toolUse("Bash", { command: "echo from the tool" }), text("the answer\u001b[31m"));
    const first = await cc("run", "say something");
    expect(first).toMatchObject({ code: 0, stdout: "the answer\\u001b[31m\n" });
    expect(first.stderr).toMatch(/decision: \S.* fresh/i);
    expect(first.stderr).toMatch(/started: fresh, session [0-9a-f-]{36}, process \d+/);
    expect(first.stderr).toMatch(/ {2}Bash .*echo from the tool/);
    expect(first.stderr).toMatch(/completed: [\d.]+s, \d turns?, [<$]/);
    sessionId = /session ([0-9a-f-]{36})/.exec(first.stderr)?.[1] ?? "";

    const second = await cc("run", "and more", "--resume", sessionId.slice(0, 8), "--json");
    expect(second.code).toBe(0);
    expect(second.json()).toEqual({
      schema: 1,
      outcome: "completed",
      sessionId,
      text: "echo: and more",
      costUsd: expect.any(Number) as number,
      turns: 1,
      durationMs: expect.any(Number) as number,
      selection: { action: "resume", sessionId, reason: expect.any(String) as string, scores: [], relevanceBy: "none" },
      denials: [],
      warnings: [],
      isLive: false,
    });
    const events = second.stderr
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { event: { type: string } }).event.type);
    expect(events).toEqual(expect.arrayContaining(["selected", "started", "ended"]));

    const { json } = await cc("list", "--json");
    expect(json()).toMatchObject({
      total: 1,
      activeCount: 0,
      sessions: [{ sessionId, agentId: "main", origin: "this-agent", firstMessage: "say something", userTurns: 2 }],
    });
  });

  it("forks a session", async () => {
    const { json } = await cc("run", "on a copy", "--fork", sessionId, "--json");
    expect(json()).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    const fork = (json() as { sessionId: string }).sessionId;
    expect(fork).not.toBe(sessionId);
    const info = await cc("info", sessionId, "--json");
    expect(info.json()).toMatchObject({ forks: [fork], resume: { args: ["--resume", sessionId], cwd: claude.repo } });
  });

  it("has exit codes for API errors and denied tools", async () => {
    api.script(apiError(400, "no such model"));
    const refused = await cc("run", "refuse this", "--fresh");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/api-error: /);
    expect(refused.stderr).toMatch(/holdfast: .*no such model/);
    api.script(toolUse("Bash", { command: "touch forbidden" }), text("could not"));
    const denied = await cc("run", "touch a file", "--fresh", "--permission-mode", "dontAsk");
    expect(denied).toMatchObject({ code: 5, stdout: "could not\n" });
    expect(denied.stderr).toContain("not allowed: Bash");
  });

  it("starts a fresh session with a warning when the session is gone", async () => {
    const { code, stderr, stdout } = await cc("run", "who knows", "--resume", "99999999-9999-4999-8999-999999999999");
    expect(code).toBe(0);
    expect(stdout).toContain("who knows");
    expect(stderr.match(/WARNING: Session 99999999-.* could not be resumed/g)).toHaveLength(1);
    // Text for people is not repeated in the JSON.
    expect(stderr).not.toContain('"level"');
  });

  it("stops on Ctrl-C without leftovers", async () => {
    api.script(hang());
    const before = api.conversation.length;
    const run = start("run", "never answered", "--fresh");
    await until(() => api.conversation.length > before, run.errors);
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.errors()).toContain("Ctrl-C again ends Claude Code");
    expect(run.errors()).toMatch(/interrupted: /);
    await claude.empty();
  });

  it("waits visibly for the holder of the repo, or refuses, until interrupted", async () => {
    api.script(hang());
    const before = api.conversation.length;
    const run = start("run", "busy with something", "--fresh");
    await until(() => api.conversation.length > before, run.errors);
    const { code, stderr } = await cc("run", "another", "--on-running", "refuse");
    expect(code).toBe(4);
    expect(stderr).toMatch(/in use by another Holdfast run \(process \d+\)/);
    const waiting = start("run", "another");
    await until(
      () => waiting.errors().includes("waiting: Another run is using this repo. Agent main is using it"),
      waiting.errors,
    );
    expect(waiting.errors()).toContain('"busy with something"');
    waiting.child.kill("SIGINT");
    expect(await waiting.ended).toBe(130);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(143);
    await claude.empty();
  });
});

describe("a session that stays open", () => {
  it("accepts follow-ups from other processes, blocks other writers, and ends on kill", async () => {
    const host = start("run", "stay", "--fresh", "--persistent", "--json");
    await until(() => host.out().endsWith("\n"), host.errors);
    const { sessionId: open, isLive } = JSON.parse(host.out()) as { sessionId: string; isLive: boolean };
    expect(isLive).toBe(true);

    const sent = await cc("send", open.slice(0, 8), "a follow-up");
    expect(sent).toMatchObject({ code: 0, stdout: "echo: a follow-up\n" });
    const listed = await cc("list", "--running", "--json");
    expect(listed.json()).toMatchObject({ total: 1, activeCount: 1, sessions: [{ sessionId: open, isRunning: true }] });

    const attached = await cc("attach", open);
    expect(attached.code).toBe(4);
    expect(attached.stderr).toMatch(/in use by another Holdfast run.*Agent main: stay/);
    expect(attached.stderr).toContain(`holdfast cc attach ${open.slice(0, 8)} --fork`);

    const killed = await cc("kill", open, "--json");
    expect(killed.json()).toEqual({
      schema: 1,
      ok: true,
      sessionId: open,
      killed: [{ sessionId: open, pid: expect.any(Number) as number, by: "holdfast" }],
    });
    expect(await host.ended).toBe(0);
    expect(await cc("send", open, "too late")).toMatchObject({ code: 3, stdout: "" });
    expect(await cc("kill", open)).toMatchObject({ code: 3, stdout: "" });
    await claude.empty();
  });
});

describe("holdfast cc attach", () => {
  it("runs claude in the terminal and in the session's folder, and returns its exit code", async () => {
    // Without a terminal Claude Code reads one prompt from stdin.
    const options = { home, cwd: claude.home, env: claude.env, input: "said by a person" };
    const { code, stdout } = await runCli(["cc", "attach", sessionId], options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "echo: said by a person\n" });
    const lines = await claude.transcript(sessionId);
    const said = lines.find((line) => JSON.stringify(line["message"] ?? "").includes("said by a person"));
    expect(said).toMatchObject({ cwd: claude.repo, entrypoint: "sdk-cli" });
    expect((await cc("list", "--running", "--json")).json()).toMatchObject({ total: 0 });
  });

  it("opens a copy with --fork", async () => {
    const lines = await claude.transcript(sessionId);
    const forks = await readForks();
    const options = { home, cwd: claude.repo, env: claude.env, input: "in the copy" };
    expect(await runCli(["cc", "attach", sessionId, "--fork"], options)).toMatchObject({ code: 0 });
    expect(await claude.transcript(sessionId)).toEqual(lines);
    const now = await readForks();
    expect(now).toEqual(expect.arrayContaining([...forks, ID]));
    expect(now).toHaveLength(forks.length + 1);
  });
});
