/** What others see of the `cc` commands: JSON shapes, sentences, exit codes. docs/cli.md describes them. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { saveSession } from "../../src/claude/registry/registry.ts";
import { type NativeWorld, createNativeWorld, testSessionId } from "../support/native-world.ts";
import { type CliResult, runCli } from "../support/run-cli.ts";

const HOSTILE = "\u001b]0;owned\u0007\u001b[31mred\u202e";
const FIXTURES = fileURLToPath(new URL("../fixtures/claude-code", import.meta.url));
const NUMBER = expect.any(Number) as number;
const TEXT = expect.any(String) as string;
const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/) as string;
const HOUR = 3_600_000;

let world: NativeWorld;
let repo: string;
const OWN = testSessionId("a");

beforeAll(async () => {
  world = await createNativeWorld();
  repo = world.join("shop");
  mkdirSync(repo);
  execFileSync("git", ["init", "-q", "-b", "main", repo]);
  const prompts = ["[openclaw:agent=main]\n\nFix the webhook handler", "now a test"];
  world.session({
    id: "a",
    cwds: [repo],
    prompts,
    files: [join(repo, "hook.ts")],
    entrypoint: "holdfast",
    modifiedAt: Date.now() - HOUR,
  });
  world.session({
    id: "b",
    cwds: [repo],
    branch: HOSTILE,
    prompts: [`${HOSTILE} task`],
    modifiedAt: Date.now() - 48 * HOUR,
  });
  world.session({
    id: "c",
    cwds: [world.join("elsewhere")],
    prompts: ["something else"],
    modifiedAt: Date.now() - 26 * 24 * HOUR,
  });
  const registered = { sessionId: OWN, repoPath: repo, task: "Fix the webhook handler", label: "hooks" };
  await saveSession({ home: world.home, agentId: "main" }, registered);
  addFixture("compacted-manual");
  addFixture("subagents");
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

/** Real transcripts, in a project folder of their own. */
function addFixture(name: string): void {
  cpSync(join(FIXTURES, name), join(world.claudeHome, "projects", `-fixtures-${name}`), { recursive: true });
}

async function cc(...args: string[]): Promise<CliResult> {
  return await run({}, ...args);
}

async function run(more: { cwd?: string; home?: string }, ...args: string[]): Promise<CliResult> {
  const claudeHome = more.home === undefined ? world.claudeHome : join(more.home, "claude");
  const env = { CLAUDE_CONFIG_DIR: claudeHome, OPENCLAW_STATE_DIR: world.openClawHome };
  return await runCli(["cc", ...args], { home: more.home ?? world.home, cwd: more.cwd ?? repo, env });
}

describe("holdfast cc list", () => {
  it("prints every field of a session with --json", async () => {
    const { code, json } = await cc("list", "--json");
    expect(code).toBe(0);
    const { sessions, ...envelope } = json() as { sessions: unknown[] };
    expect(envelope).toEqual({ schema: 1, total: 2, activeCount: 0 });
    expect(sessions[0]).toEqual({
      sessionId: OWN,
      source: "openclaw",
      origin: "this-agent",
      agentId: "main",
      originMarker: "main",
      repoPath: repo,
      branch: "main",
      branches: ["main"],
      cwds: [repo],
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
      filesTouched: [{ path: join(repo, "hook.ts"), edited: true }],
      isRunning: false,
      damagedLines: 0,
      transcriptPath: TEXT,
    });
  });

  it("narrows by repo, agent, time, number and running state, and counts them all", async () => {
    const ids = async (...args: string[]): Promise<string[]> => {
      const { sessions } = (await cc("list", "--json", ...args)).json() as { sessions: { sessionId: string }[] };
      return sessions.map(({ sessionId }) => sessionId);
    };
    expect(await ids()).toEqual([OWN, testSessionId("b")]);
    expect(await ids("--repo", world.join("elsewhere"))).toEqual([testSessionId("c")]);
    expect(await ids("--agent", "main")).toEqual([OWN]);
    expect(await ids("--since", "1d")).toEqual([OWN]);
    expect(await ids("--running")).toEqual([]);
    expect(await ids("--all")).toHaveLength(5);
    expect((await cc("list", "--all", "--limit", "2", "--json")).json()).toMatchObject({
      total: 5,
      sessions: [{}, {}],
    });
  });

  it("prints a table without anything that a terminal would obey; `cc` does the same without a terminal", async () => {
    const { code, stdout, stderr } = await cc("list");
    expect(code).toBe(0);
    expect(stderr).toBe("");
    // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toMatch(/^ +ID +AGE +BRANCH +TITLE +TURNS +COST +ORIGIN\n/);
    expect(stdout).toMatch(/aaaaaaaa +1h +main +\[hooks\] Fix the webhook handler +2 +<\$0\.01 +agent main\n/);
    expect(stdout).toContain(String.raw`\u001b]0;owned\u0007\u001b[31mred\u202e task`);
    expect((await cc()).stdout).toBe(stdout);
    expect((await cc("list", "--all", "--limit", "1")).stderr).toContain("4 more; --limit 5 shows all.");
  });

  it("prints hundreds of sessions as one JSON value", async () => {
    await using many = await createNativeWorld();
    for (let number = 0; number < 260; number += 1) {
      many.session({ id: `${String(number).padStart(8, "0")}-1111-4111-8111-111111111111`, cwds: [many.join("repo")] });
    }
    const env = { CLAUDE_CONFIG_DIR: many.claudeHome };
    const { code, json } = await runCli(["cc", "list", "--all", "--json"], { home: many.home, cwd: many.root, env });
    expect(code).toBe(0);
    const { sessions, ...envelope } = json() as { sessions: { sessionId: string; lastModified: string }[] };
    expect(envelope).toEqual({ schema: 1, total: 260, activeCount: 0 });
    expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(260);
    expect(sessions.at(-1)).toMatchObject({ lastModified: TIME });
  });

  it("says where to look when there is nothing", async () => {
    const empty = world.join("empty");
    mkdirSync(empty, { recursive: true });
    expect((await run({ cwd: empty }, "list")).stderr).toMatch(
      /No Claude Code sessions in .*empty.*`holdfast cc list --all` shows the 5/,
    );
    expect((await cc("list", "--agent", "nobody")).stderr).toContain("No session fits");
    const first = await run({ home: world.join("nothing") }, "list");
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toContain('Start one with `claude`, or with `holdfast cc run "<task>"`');
  });
});

describe("holdfast cc info", () => {
  it("tells everything about a session by the start of its id", async () => {
    const { code, json } = await cc("info", "aaaa", "--json");
    expect(code).toBe(0);
    expect(json()).toEqual({
      schema: 1,
      session: expect.objectContaining({ sessionId: OWN, lastModified: TIME }) as object,
      transcript: { lines: 3, unknownLines: 0, damaged: [], compactions: [] },
      usage: [
        {
          group: "claude-sonnet-4-5",
          input: 10,
          output: 5,
          cacheRead: 0,
          cacheWrite: 0,
          costUsd: NUMBER,
          unpricedTokens: 0,
          messages: 1,
        },
      ],
      subagents: [],
      forks: [],
      resume: { command: "claude", args: ["--resume", OWN], cwd: repo },
    });
    const { stdout } = await cc("info", "aaaa");
    expect(stdout).toContain("holdfast cc attach aaaaaaaa");
    expect(stdout).toContain(`claude --resume ${OWN}`);
  });

  it("knows compactions, subagents and what is damaged", async () => {
    const compacted = (await cc("info", "cccccccc-0000", "--json")).json();
    const compaction = { trigger: "manual", preTokens: NUMBER, postTokens: NUMBER, at: TIME };
    expect(compacted).toMatchObject({ session: { compactionCount: 1 }, transcript: { compactions: [compaction] } });
    const parent = (await cc("info", "dddddddd", "--json")).json();
    expect(parent).toMatchObject({
      subagents: [{ agentId: TEXT, path: TEXT, agentType: TEXT, description: TEXT }, {}],
    });
    expect((await cc("info", "dddddddd")).stdout).toContain("Subagents");
    const path = world.session({ id: "e", cwds: [world.join("damaged")] });
    writeFileSync(path, '{"type":"user","broken\n', { flag: "a" });
    expect((await cc("info", "eeee", "--json")).json()).toMatchObject({
      session: { damagedLines: 1 },
      transcript: { damaged: [{ offset: NUMBER, reason: TEXT }] },
    });
    expect((await cc("info", "eeee")).stdout).toMatch(/Damaged lines\n {2}at byte \d+/);
  });
});

describe("holdfast cc status", () => {
  it("prints the project status", async () => {
    writeFileSync(join(repo, `new ${HOSTILE}.txt`), "");
    const { code, json } = await cc("status", "--json");
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      repo: { path: repo, name: "shop", isGitRepo: true },
      git: { currentBranch: "main", counts: { untracked: 1 } },
      sessions: { active: [], recent: [{ sessionId: OWN, lastModified: TIME }, {}], ownRecent: [{ sessionId: OWN }] },
      docs: { hasReadme: false },
      problems: expect.any(Array) as unknown[],
      timestamp: TIME,
    });
    const { stdout } = await cc("status", repo);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/Git\n {2}on main, no commit yet/);
    expect(stdout).toMatch(/aaaaaaaa {3}1h {2}agent main on main: \[hooks\] Fix the webhook handler/);
  });
});

describe("holdfast cc select", () => {
  it("prints the selection with --json, else the reason and every factor", async () => {
    const { code, json } = await cc("select", "add a test for the webhook handler", "--json");
    expect(code).toBe(0);
    expect(json()).toEqual({
      action: "resume",
      sessionId: OWN,
      reason: TEXT,
      scores: [
        {
          sessionId: OWN,
          score: NUMBER,
          factors: {
            branchMatch: 0.25,
            recency: NUMBER,
            taskRelevance: NUMBER,
            sessionHealth: 0.15,
            contextCapacity: NUMBER,
          },
          relevance: { sessionId: OWN, relevance: NUMBER, reasoning: TEXT },
          recommendation: "resume",
          reason: TEXT,
          evidence: expect.any(Array) as unknown[],
        },
      ],
      relevanceBy: "offline",
    });
    const { stdout } = await cc("select", "add a test for the webhook handler");
    expect(stdout).toMatch(/^Resume .*score 0\.\d+/);
    expect(stdout).toMatch(/ID +SCORE +BRANCH +RECENT +TASK +HEALTH +ROOM +VERDICT +SESSION/);
    expect(stdout).toMatch(/aaaaaaaa +0\.\d\d +0\.25 .* chosen +Fix the webhook/);
    expect(stdout).toMatch(/aaaaaaaa {2}relevance [01]\.\d\d: /);
  });

  it("goes by the label that is given", async () => {
    expect((await cc("select", "anything", "--label", "hooks", "--json")).json()).toMatchObject({
      action: "resume",
      sessionId: OWN,
      label: "hooks",
    });
    expect((await cc("select", "anything", "--label", "other")).stdout).toMatch(
      /^Start fresh: no session has the label "other"/,
    );
  });
});

describe("holdfast cc eval", () => {
  it("gives the accuracy of every method, and the cases that went wrong", async () => {
    const session = { id: "s1", firstMessage: "Fix the login page", relevance: 0.9 };
    const cases = [
      {
        id: "one",
        kind: "easy",
        task: "Fix the login page",
        branch: "main",
        sessions: [session],
        expected: { resume: "s1" },
      },
      { id: "two", kind: "trap", task: "Fix the login page", branch: "main", sessions: [session], expected: "fresh" },
    ];
    const file = world.join("cases.jsonl");
    writeFileSync(file, cases.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const method = {
      cases: 2,
      right: 1,
      accuracy: 0.5,
      wrongSession: 0,
      missedResume: 0,
      wrongResume: 1,
      byKind: { easy: { cases: 1, right: 1, accuracy: 1 }, trap: { cases: 1, right: 0, accuracy: 0 } },
      decisions: [
        expect.objectContaining({ id: "one", verdict: "right" }) as object,
        {
          id: "two",
          kind: "trap",
          task: "Fix the login page",
          expected: { action: "fresh" },
          action: "resume",
          sessionId: "s1",
          verdict: "wrong-resume",
          reason: TEXT,
          relevance: [{ sessionId: "s1", relevance: NUMBER, score: NUMBER, reasoning: TEXT }],
        },
      ],
    };
    const { code, json } = await cc("eval", file, "--json");
    expect(code).toBe(0);
    expect(json()).toEqual({
      schema: 1,
      file,
      cases: 2,
      chance: 0.5,
      alwaysFresh: 0.5,
      keywords: method,
      offline: method,
      rightRelevance: method,
    });
    const { stdout } = await cc("eval", file, "--wrong");
    expect(stdout).toMatch(/offline +1 +2 +0\.500 +0 +0 +1/);
    expect(stdout).toContain("two  trap  wrong-resume: Fix the login page");
  });
});

describe("holdfast cc costs", () => {
  it.each(["day", "repo", "model", "session"])("sums by %s", async (by) => {
    const { code, json } = await cc("costs", "--by", by, "--json");
    expect(code).toBe(0);
    const { rows, total, ...rest } = json() as {
      rows: { group: string; messages: number }[];
      total: { messages: number };
    };
    expect(rest).toEqual({ schema: 1, by });
    const sum = {
      input: NUMBER,
      output: NUMBER,
      cacheRead: NUMBER,
      cacheWrite: NUMBER,
      unpricedTokens: NUMBER,
      messages: NUMBER,
    };
    expect(total).toMatchObject(sum);
    for (const row of rows) expect(row).toMatchObject({ ...sum, group: TEXT });
    expect(rows.reduce((all, { messages }) => all + messages, 0)).toBe(total.messages);
    const groups: Record<string, string> = { day: "2026-11-01", repo, model: "claude-sonnet-4-5", session: OWN };
    expect(rows.map(({ group }) => group)).toContain(groups[by]);
  });

  it("prints a table with the total, since a day", async () => {
    const { stdout } = await cc("costs", "--by", "model");
    expect(stdout).toMatch(/^MODEL +COST +INPUT +OUTPUT +CACHE READ +CACHE WRITE +MESSAGES/);
    expect(stdout).toMatch(/\ntotal +<?\$\d/);
    expect((await cc("costs", "--since", "2099-01-01", "--json")).json()).toMatchObject({ since: TIME, rows: [] });
  });
});

describe("holdfast cc archive", () => {
  it("says what it would copy, copies it, and writes it out again", async () => {
    const due = testSessionId("c");
    const soon = ["archive", "--days", "7"];
    const report = { schema: 1, cleanupPeriodDays: 30, sessions: NUMBER, due: NUMBER, unchanged: 0, failed: [] };
    const planned = await cc(...soon, "--dry-run", "--json");
    expect(planned.json()).toEqual({ ...report, dryRun: true, copied: expect.arrayContaining([due]) as string[] });
    const done = await cc(...soon, "--json");
    expect(done.json()).toEqual({ ...report, dryRun: false, copied: expect.arrayContaining([due]) as string[] });
    const again = await cc(...soon);
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toMatch(/0 copied, \d unchanged since\. Claude Code deletes after 30 days\./);

    const to = world.join("restored");
    const restored = await cc("archive", "--restore", "cccccccc-cccc", "--to", to, "--json");
    expect(restored.json()).toEqual({
      schema: 1,
      ok: true,
      sessionId: due,
      files: [join(to, `${due}.jsonl`)],
      redacted: false,
      nativeFolder: TEXT,
    });
  });
});

describe("exit codes", () => {
  const cases: [title: string, args: string[], code: number, message: RegExp][] = [
    ["a time that is none", ["list", "--since", "xyz"], 2, /--since takes a time such as 2d or 2026-11-15, not "xyz"/],
    ["a bad number", ["list", "--limit", "0"], 2, /--limit takes a whole number above 0/],
    ["a value that looks like an option", ["list", "--limit", "-1"], 2, /--limit has no value\n.*--limit=-value/],
    ["two places at once", ["list", "--all", "--repo", "."], 2, /--all and --repo exclude each other/],
    ["a folder that is not there", ["list", "--repo", "../nowhere"], 3, /There is no folder .*nowhere/],
    ["the same for a status", ["status", "nowhere"], 3, /There is no folder .*nowhere/],
    ["and for a run", ["run", "x", "--repo", "nowhere"], 3, /There is no folder .*nowhere/],
    ["a name that is no agent's", ["list", "--agent", "../etc"], 2, /is no name of an agent/],
    ["an unknown id", ["info", "12345678"], 3, /No Claude Code session fits "12345678"[\s\S]*cc list --all/],
    ["an id that is too short", ["info", "aa"], 2, /too short/],
    ["an ambiguous start of an id", ["info", "cccccccc"], 2, /fits several sessions: cccccccc-0000.*, cccccccc-cccc/],
    ["an unknown group", ["costs", "--by", "week"], 2, /--by takes day, repo, model, session, not "week"/],
    ["a mode that is none", ["run", "x", "--permission-mode", "all"], 2, /--permission-mode takes default, /],
    ["a policy that is none", ["run", "x", "--on-running", "wait"], 2, /--on-running takes queue, fork, refuse/],
    ["an amount that is none", ["run", "x", "--max-budget-usd", "-1"], 2, /--max-budget-usd.*/],
    ["a task without words", ["run", " "], 2, /There is no task/],
    ["two sessions at once", ["run", "x", "--fresh", "--resume", OWN], 2, /exclude each other/],
    ["a folder without a session to restore", ["archive", "--to", "x"], 2, /--restore and --to belong together/],
    ["a session that does not run", ["kill", "aaaa"], 3, /Nothing runs for session aaaaaaaa/],
    ["a follow-up to nobody", ["send", "aaaa", "hello"], 3, /No Holdfast process runs this session/],
    [
      "a session without a folder",
      ["attach", "cccc-0".replace("-", "cccc-")],
      3,
      /Every folder that session cccccccc worked in is gone/,
    ],
    ["a file that is not there", ["eval", "none.jsonl"], 3, /There is no file .*none\.jsonl/],
    ["a mistyped command", ["lst"], 2, /unknown command 'cc lst'[\s\S]*Did you mean cc list/],
  ];

  it("and clear messages for what cannot be done", async () => {
    for (const [title, args, code, message] of cases) {
      const result = await cc(...args);
      expect(result.stderr, title).toMatch(message);
      expect(result, title).toMatchObject({ code, stdout: "" });
    }
  });

  it("names the program when Claude Code is not installed", async () => {
    const env = { CLAUDE_CONFIG_DIR: world.claudeHome, PATH: "/nonexistent" };
    for (const args of [
      ["run", "x", "--fresh"],
      ["attach", "aaaa"],
    ]) {
      const result = await runCli(["cc", ...args], { home: world.home, cwd: repo, env });
      expect(result).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr).toMatch(/Claude Code is not there: no program "claude"[\s\S]*npm install -g/);
    }
  });

  it("reports a registry that cannot be read, and shows the rest", async () => {
    const folder = join(world.openClawHome, "agents", "other");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "claude-code-sessions.json"), "{ torn");
    const { code, json, stderr } = await cc("list", "--json");
    expect(code).toBe(5);
    expect(json()).toMatchObject({ total: 2 });
    expect(stderr).toContain("claude-code-sessions.json");
  });
});
