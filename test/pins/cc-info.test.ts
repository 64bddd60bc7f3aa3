/** The output of the `cc` commands about a session, a project and the costs. docs/cli.md describes it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { updateSessionStats } from "../../src/claude/registry/run-stats.ts";
import { type CcHome, HOSTILE, OWN, createCcHome, NUMBER, TEXT, TIME } from "../support/cli-home.ts";
import { temporaryFolder } from "../support/temp-folder.ts";

let home: CcHome;

beforeAll(async () => {
  home = await createCcHome();
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

describe("holdfast cc info", () => {
  it("shows everything about a session by the start of its id", async () => {
    const { code, json } = await home.cc("info", "aaaa", "--json");
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
      decisions: [],
      resume: { command: "claude", args: ["--resume", OWN], cwd: home.repo },
    });
    const { stdout } = await home.cc("info", "aaaa");
    expect(stdout).toContain("holdfast cc attach aaaaaaaa");
    expect(stdout).toContain(`claude --resume ${OWN}`);
  });

  it("shows compactions, subagents and damage", async () => {
    const compacted = (await home.cc("info", "cccccccc-0000", "--json")).json();
    const compaction = { trigger: "manual", preTokens: NUMBER, postTokens: NUMBER, at: TIME };
    expect(compacted).toMatchObject({ session: { compactionCount: 1 }, transcript: { compactions: [compaction] } });
    const parent = (await home.cc("info", "dddddddd", "--json")).json();
    expect(parent).toMatchObject({
      subagents: [{ agentId: TEXT, path: TEXT, agentType: TEXT, description: TEXT }, {}],
    });
    expect((await home.cc("info", "dddddddd")).stdout).toContain("Subagents");
    const path = home.session({ id: "e", cwds: [home.join("damaged")] });
    writeFileSync(path, '{"type":"user","broken\n', { flag: "a" });
    expect((await home.cc("info", "eeee", "--json")).json()).toMatchObject({
      session: { damagedLines: 1 },
      transcript: { damaged: [{ offset: NUMBER, reason: TEXT }] },
    });
    expect((await home.cc("info", "eeee")).stdout).toMatch(/Damaged lines\n {2}at byte \d+/);
  });
});

it("shows the larger of recorded and estimated cost", async () => {
  const place = { home: home.home, agentId: "main" };
  await updateSessionStats(place, { sessionId: OWN, runId: "1@1", cumulativeCostUsd: 1.23, turns: 1 });
  expect((await home.cc("list")).stdout).toMatch(/aaaaaaaa .* \$1\.23 +agent main/);
  const { stdout } = await home.cc("info", OWN);
  expect(stdout).toMatch(/Cost +\$1\.23 \(<\$0\.01 by list prices, \$1\.23 recorded/);
  expect(stdout).toMatch(/Budget +12 % used/);
});

describe("holdfast cc status", () => {
  it("prints the project status", async () => {
    writeFileSync(join(home.repo, `new ${HOSTILE}.txt`), "");
    const { code, json } = await home.cc("status", "--json");
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      repo: { path: home.repo, name: "shop", isGitRepo: true },
      git: { currentBranch: "main", counts: { untracked: 1 } },
      sessions: { active: [], recent: [{ sessionId: OWN, lastModified: TIME }, {}], ownRecent: [{ sessionId: OWN }] },
      docs: { hasReadme: false },
      problems: expect.any(Array) as unknown[],
      timestamp: TIME,
    });
    const { stdout } = await home.cc("status", home.repo);
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toMatch(/Git\n {2}on main, no commit yet/);
    expect(stdout).toMatch(/aaaaaaaa {3}1h {2}agent main on main: \[hooks\] Fix the webhook handler/);
  });

  it("says once that a folder is not in a git repo", async () => {
    await using folder = await temporaryFolder();
    const { stdout } = await home.ccIn({ cwd: folder.path }, "status");
    expect(stdout.split("this folder is not in a git repo")).toHaveLength(2);
  });
});

describe("holdfast cc costs", () => {
  it.each(["day", "repo", "model", "session"])("sums by %s", async (by) => {
    const { code, json } = await home.cc("costs", "--by", by, "--json");
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
    const groups: Record<string, string> = {
      day: "2026-11-01",
      repo: home.repo,
      model: "claude-sonnet-4-5",
      session: OWN,
    };
    expect(rows.map(({ group }) => group)).toContain(groups[by]);
  });

  it("names sessions by their prompts, the most expensive first", async () => {
    const spend = (id: string, model: string, input: number): void => {
      const message = {
        id: `m-${id}`,
        role: "assistant",
        model,
        content: [],
        usage: { input_tokens: input, output_tokens: 1 },
      };
      const line = {
        type: "assistant",
        uuid: `u-${id}`,
        cwd: home.join(id),
        timestamp: "2026-11-01T00:01:00Z",
        message,
      };
      const prompts = [`[openclaw:agent=main]\n\nWork of ${id}`];
      home.session({ id, cwds: [home.join(id)], prompts, lines: [line] });
    };
    spend("7", "claude-haiku-4-5", 3_000_000);
    spend("8", "claude-opus-4-1", 1_000_000);
    const first = async (by: string) => (await home.cc("costs", "--by", by)).stdout.split("\n")[1] ?? "";
    expect(await first("session")).toMatch(/^88888888 Work of 8 +\$/);
    expect((await home.cc("costs", "--by", "session")).stdout).not.toContain("openclaw:agent");
    expect(await first("repo")).toContain(`${home.join("8")} `);
    expect(await first("model")).toMatch(/^claude-opus-4-1 /);
  });

  it("prints a table with the total, since a day", async () => {
    const { stdout } = await home.cc("costs", "--by", "model");
    expect(stdout).toMatch(/^MODEL +COST +INPUT +OUTPUT +CACHE READ +CACHE WRITE +MESSAGES/);
    expect(stdout).toMatch(/\ntotal +<?\$\d/);
    expect((await home.cc("costs", "--since", "2099-01-01", "--json")).json()).toMatchObject({
      since: TIME,
      rows: [],
    });
  });
});
