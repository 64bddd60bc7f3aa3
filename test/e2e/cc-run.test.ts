/** `cc run`, `send`, `attach` and `kill` through the real command line, with the real `claude` and a model API on loopback. */
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { apiError, hang, text, toolUse } from "../support/fake-anthropic/reply.ts";
import { type TaskHome, createTaskHome } from "../support/task-home.ts";
import { until } from "../support/time.ts";

const ID = expect.stringMatching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;

let home: TaskHome;

beforeAll(async () => {
  home = await createTaskHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

/** The session of the first test, shared by all tests that continue one. Each leaves it unchanged or only appends. */
let sessionId: string;

async function readForks(): Promise<string[]> {
  const { forks = [] } = (await home.cc("info", sessionId, "--json")).json() as { forks?: string[] };
  return forks;
}

describe("holdfast cc run", () => {
  it("prints the answer on stdout and progress on stderr, and continues the named session", async () => {
    home.api.script(toolUse("Bash", { command: "echo from the tool" }), text("the answer\u001b[31m"));
    // A process of its own; the other commands share one.
    const options = { home: home.home, cwd: home.claude.repo, env: home.claude.env };
    const first = await runCli(["cc", "run", "say something"], options);
    expect(first).toMatchObject({ code: 0, stdout: "the answer\\u001b[31m\n" });
    expect(first.stderr).toMatch(/decision: \S.* fresh/i);
    expect(first.stderr).toMatch(/started: fresh, session [0-9a-f-]{36}, process \d+/);
    expect(first.stderr).toMatch(/ {2}Bash .*echo from the tool/);
    expect(first.stderr).toMatch(/completed: [\d.]+s, \d turns?, [<$]/);
    sessionId = /session ([0-9a-f-]{36})/.exec(first.stderr)?.[1] ?? "";

    const second = await home.cc("run", "and more", "--resume", sessionId.slice(0, 8), "--json");
    expect(second.code).toBe(0);
    expect(second.json()).toEqual({
      schema: 1,
      outcome: "completed",
      sessionId,
      text: "echo: and more",
      costUsd: expect.any(Number) as number,
      turns: 1,
      durationMs: expect.any(Number) as number,
      selection: {
        action: "resume",
        sessionId,
        reason: expect.any(String) as string,
        scores: [],
        relevanceBy: "none",
        suggested: expect.objectContaining({ relevanceBy: "offline", confidence: expect.any(Number) }) as object,
      },
      denials: [],
      warnings: [],
      isLive: false,
    });
    const events = second.stderr
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { event: { type: string } }).event.type);
    expect(events).toEqual(expect.arrayContaining(["selected", "started", "ended"]));

    const { json } = await home.cc("list", "--json");
    expect(json()).toMatchObject({
      total: 1,
      activeCount: 0,
      sessions: [{ sessionId, agentId: "main", origin: "this-agent", firstMessage: "say something", userTurns: 2 }],
    });
  });

  it("forks a session", async () => {
    const { json } = await home.cc("run", "on a copy", "--fork", sessionId, "--json");
    expect(json()).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    const fork = (json() as { sessionId: string }).sessionId;
    expect(fork).not.toBe(sessionId);
    const info = await home.cc("info", sessionId, "--json");
    expect(info.json()).toMatchObject({
      forks: [fork],
      resume: { args: ["--resume", sessionId], cwd: home.claude.repo },
    });
  });

  it("works in a new worktree if asked", async () => {
    const { code, stderr } = await home.cc("run", "beside the others", "--worktree");
    expect(code).toBe(0);
    const [, path = "", branch = ""] = /^worktree: (\S+), branch (holdfast\/\w+)$/m.exec(stderr) ?? [];
    const listed = execFileSync("git", ["worktree", "list"], { cwd: home.claude.repo, encoding: "utf8" });
    expect(listed).toContain(`[${branch}]`);
    expect(path.startsWith(home.home)).toBe(true);
    const both = await home.cc("run", "again", "--worktree", "--resume", sessionId);
    expect(both).toMatchObject({ code: 2 });
    const elsewhere = await home.cc("run", "here", "--worktree", "--repo", home.home);
    expect(elsewhere).toMatchObject({ code: 2 });
    expect(elsewhere.stderr).toContain("A worktree needs a git repo with at least one commit.");
  });

  it("has exit codes for API errors and denied tools", async () => {
    home.api.script(apiError(400, "no such model"));
    const refused = await home.cc("run", "refuse this", "--fresh");
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/api-error: /);
    expect(refused.stderr).toMatch(/holdfast: .*no such model/);
    home.api.script(toolUse("Bash", { command: "touch forbidden" }), text("could not"));
    const denied = await home.cc("run", "touch a file", "--fresh", "--permission-mode", "dontAsk");
    expect(denied).toMatchObject({ code: 5, stdout: "could not\n" });
    expect(denied.stderr).toContain("not allowed: Bash");
  });

  it("says how to continue after a limit", async () => {
    home.api.script(toolUse("Bash", { command: "echo once" }));
    const { code, stderr } = await home.cc("run", "do two things", "--fresh", "--max-budget-usd", "0.0001");
    expect(code).toBe(1);
    expect(stderr).toMatch(/ {2}To continue: holdfast cc run "…" --resume [0-9a-f]{8} --max-budget-usd <dollars>/);
  });

  it("starts a fresh session with a warning when the session is gone", async () => {
    const { code, stderr, stdout } = await home.cc(
      "run",
      "who knows",
      "--resume",
      "99999999-9999-4999-8999-999999999999",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("who knows");
    expect(stderr.match(/WARNING: Session 99999999-.* could not be resumed/g)).toHaveLength(1);
    // Text for people is not repeated in the JSON.
    expect(stderr).not.toContain('"level"');
  });

  it("stops on Ctrl-C without leftovers", async () => {
    home.api.script(hang());
    const before = home.api.conversation.length;
    const run = home.start("run", "never answered", "--fresh");
    await until(() => home.api.conversation.length > before, run.stderr);
    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.stderr()).toContain("Ctrl-C again ends Claude Code");
    expect(run.stderr()).toMatch(/interrupted: /);
    await home.claude.empty();
  });

  it("waits visibly for the holder of the repo, or refuses, until interrupted", async () => {
    home.api.script(hang());
    const before = home.api.conversation.length;
    const run = home.start("run", "busy with something", "--fresh");
    await until(() => home.api.conversation.length > before, run.stderr);
    const { code, stderr } = await home.cc("run", "another", "--on-running", "refuse");
    expect(code).toBe(4);
    expect(stderr).toMatch(/in use by another Holdfast run \(process \d+\)/);
    const waiting = home.start("run", "another");
    await until(
      () => waiting.stderr().includes("waiting: Another run is using this repo. Agent main is using it"),
      waiting.stderr,
    );
    expect(waiting.stderr()).toContain('"busy with something"');
    waiting.child.kill("SIGINT");
    expect(await waiting.ended).toBe(130);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(143);
    await home.claude.empty();
  });
});

describe("a session that stays open", () => {
  it("accepts follow-ups from other processes, blocks other writers, and ends on kill", async () => {
    const { sessionId: open, ended } = await home.startPersistent("stay", "--fresh");

    const sent = await home.cc("send", open.slice(0, 8), "a follow-up");
    expect(sent).toMatchObject({ code: 0, stdout: "echo: a follow-up\n" });
    const continued = await home.cc("run", "continue");
    expect(continued).toMatchObject({ code: 0, stdout: "echo: continue\n" });
    expect(continued.stderr).toContain("Continue");
    // It belongs to the other process.
    expect(continued.stderr).not.toContain("Ctrl-C ends it");
    const listed = await home.cc("list", "--running", "--json");
    expect(listed.json()).toMatchObject({ total: 1, activeCount: 1, sessions: [{ sessionId: open, isRunning: true }] });

    const attached = await home.cc("attach", open);
    expect(attached.code).toBe(4);
    expect(attached.stderr).toMatch(/in use by another Holdfast run.*Agent main: stay/);
    expect(attached.stderr).toContain(`holdfast cc attach ${open.slice(0, 8)} --fork`);

    const killed = await home.cc("kill", open, "--json");
    expect(killed.json()).toEqual({
      schema: 1,
      ok: true,
      sessionId: open,
      killed: [{ sessionId: open, pid: expect.any(Number) as number, by: "holdfast" }],
    });
    expect(await ended).toBe(0);
    expect(await home.cc("send", open, "too late")).toMatchObject({ code: 3, stdout: "" });
    expect(await home.cc("kill", open)).toMatchObject({ code: 3, stdout: "" });
    await home.claude.empty();
  });
});

describe("holdfast cc attach", () => {
  it("runs claude in the terminal and in the session's folder, and returns its exit code", async () => {
    // Without a terminal Claude Code reads one prompt from stdin.
    const options = { home: home.home, cwd: home.claude.home, env: home.claude.env, input: "said by a person" };
    const { code, stdout } = await runCli(["cc", "attach", sessionId], options);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "echo: said by a person\n" });
    const lines = await home.claude.transcript(sessionId);
    const said = lines.find((line) => JSON.stringify(line["message"] ?? "").includes("said by a person"));
    expect(said).toMatchObject({ cwd: home.claude.repo, entrypoint: "sdk-cli" });
    expect((await home.cc("list", "--running", "--json")).json()).toMatchObject({ total: 0 });
  });

  it("opens a copy with --fork", async () => {
    const lines = await home.claude.transcript(sessionId);
    const forks = await readForks();
    const options = { home: home.home, cwd: home.claude.repo, env: home.claude.env, input: "in the copy" };
    expect(await runCli(["cc", "attach", sessionId, "--fork"], options)).toMatchObject({ code: 0 });
    expect(await home.claude.transcript(sessionId)).toEqual(lines);
    const now = await readForks();
    expect(now).toEqual(expect.arrayContaining([...forks, ID]));
    expect(now).toHaveLength(forks.length + 1);
  });
});
