/** The output of `cc list`: JSON shapes and the table. docs/cli.md describes it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CcHome, OWN, createCcHome, NUMBER, TEXT, TIME } from "../support/cli-home.ts";
import { createNativeHome, testSessionId } from "../support/native-home.ts";
import { runCliShared } from "../support/cli.ts";

let home: CcHome;

beforeAll(async () => {
  home = await createCcHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

describe("holdfast cc list", () => {
  it("prints every field of a session with --json", async () => {
    const { code, json } = await home.cc("list", "--json");
    expect(code).toBe(0);
    const { sessions, ...envelope } = json() as { sessions: unknown[] };
    expect(envelope).toEqual({ schema: 1, total: 2, activeCount: 0 });
    expect(sessions[0]).toEqual({
      sessionId: OWN,
      source: "openclaw",
      origin: "this-agent",
      agentId: "main",
      originMarker: "main",
      repoPath: home.repo,
      branch: "main",
      branches: ["main"],
      cwds: [home.repo],
      firstMessage: "Fix the webhook handler",
      lastPrompt: "now a test",
      prompts: ["Fix the webhook handler", "now a test"],
      lastTask: "Fix the webhook handler",
      label: "hooks",
      title: TEXT,
      createdAt: TIME,
      lastModified: TIME,
      messageCount: 3,
      userTurns: 2,
      fileSizeBytes: NUMBER,
      totalCostUsd: 0,
      totalTurns: 0,
      estimatedCostUsd: NUMBER,
      totalInputTokens: 10,
      totalOutputTokens: 5,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      contextTokens: NUMBER,
      compactionCount: 0,
      budgetUsedPct: NUMBER,
      models: ["claude-sonnet-4-5"],
      ccVersion: "2.1.197",
      entrypoint: "holdfast",
      subagentCount: 0,
      filesTouched: [{ path: join(home.repo, "hook.ts"), edited: true }],
      isRunning: false,
      damagedLines: 0,
      transcriptPath: TEXT,
    });
  });

  it("filters by repo, agent, time, number and running state, and counts all", async () => {
    const ids = async (...args: string[]): Promise<string[]> => {
      const { sessions } = (await home.cc("list", "--json", ...args)).json() as { sessions: { sessionId: string }[] };
      return sessions.map(({ sessionId }) => sessionId);
    };
    expect(await ids()).toEqual([OWN, testSessionId("b")]);
    expect(await ids("--repo", home.join("elsewhere"))).toEqual([testSessionId("c")]);
    expect(await ids("--agent", "main")).toEqual([OWN]);
    expect(await ids("--since", "1d")).toEqual([OWN]);
    expect(await ids("--running")).toEqual([]);
    expect(await ids("--all")).toHaveLength(5);
    expect((await home.cc("list", "--all", "--limit", "2", "--json")).json()).toMatchObject({
      total: 5,
      sessions: [{}, {}],
    });
  });

  it("prints a table without control characters; `cc` does the same without a terminal", async () => {
    const { code, stdout, stderr } = await home.cc("list");
    expect(code).toBe(0);
    expect(stderr).toBe("");
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toMatch(/^ +ID +AGE +BRANCH +TITLE +TURNS +COST +ORIGIN\n/);
    expect(stdout).toMatch(/aaaaaaaa +1h +main +\[hooks\] Fix the webhook handler +2 +<\$0\.01 +agent main\n/);
    expect(stdout).toContain(String.raw`\u001b]0;owned\u0007\u001b[31mred\u202e task`);
    expect((await home.cc()).stdout).toBe(stdout);
    expect((await home.cc("list", "--all", "--limit", "1")).stderr).toContain("4 more; --limit 5 shows all.");
  });

  it("prints hundreds of sessions as one JSON value", async () => {
    await using many = await createNativeHome();
    for (let number = 0; number < 260; number += 1) {
      many.session({ id: `${String(number).padStart(8, "0")}-1111-4111-8111-111111111111`, cwds: [many.join("repo")] });
    }
    const env = { CLAUDE_CONFIG_DIR: many.claudeHome };
    const { code, json } = await runCliShared(["cc", "list", "--all", "--json"], {
      home: many.home,
      cwd: many.root,
      env,
    });
    expect(code).toBe(0);
    const { sessions, ...envelope } = json() as { sessions: { sessionId: string; lastModified: string }[] };
    expect(envelope).toEqual({ schema: 1, total: 260, activeCount: 0 });
    expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(260);
    expect(sessions.at(-1)).toMatchObject({ lastModified: TIME });
  });

  it("explains an empty list", async () => {
    const empty = home.join("empty");
    mkdirSync(empty, { recursive: true });
    expect((await home.ccIn({ cwd: empty }, "list")).stderr).toMatch(
      /No Claude Code sessions in .*empty.*`holdfast cc list --all` lists 5/,
    );
    expect((await home.cc("list", "--agent", "nobody")).stderr).toContain("No session matches");
    const first = await home.ccIn({ home: home.join("nothing") }, "list");
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toContain('Start one with `claude`, or with `holdfast cc run "<task>"`');
  });
});
