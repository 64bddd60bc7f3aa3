/** The output of `cc select` and `cc eval`. docs/cli.md describes it. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CcHome, OWN, createCcHome, NUMBER, TEXT } from "../support/cli-home.ts";
import { testSessionId } from "../support/native-home.ts";

let home: CcHome;

/** The agent's own session without a label, which an unlabelled task may resume. */
const TASK = testSessionId("d");

beforeAll(async () => {
  home = await createCcHome();
  const config = { claudeCode: { sessionSelection: { relevance: "offline" } } };
  writeFileSync(join(home.home, "config.json"), JSON.stringify(config));
  const prompts = ["[openclaw:agent=main]\n\nFix the webhook handler", "now a test"];
  home.session({
    id: "d",
    cwds: [home.repo],
    prompts,
    entrypoint: "holdfast",
    modifiedAt: Date.now() - 2 * 3_600_000,
  });
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

describe("holdfast cc select", () => {
  it("prints the selection with --json, else the reason and every factor", async () => {
    const { code, json } = await home.cc("select", "add a test for the webhook handler", "--from", "own", "--json");
    expect(code).toBe(0);
    expect(json()).toEqual({
      action: "resume",
      sessionId: TASK,
      reason: TEXT,
      scores: [
        {
          sessionId: TASK,
          score: NUMBER,
          factors: {
            branchMatch: 0.25,
            recency: NUMBER,
            taskRelevance: NUMBER,
            sessionHealth: 0.15,
            contextCapacity: NUMBER,
          },
          relevance: { sessionId: TASK, relevance: NUMBER, reasoning: TEXT },
          recommendation: "resume",
          reason: TEXT,
          evidence: expect.any(Array) as unknown[],
        },
      ],
      relevanceBy: "offline",
      confidence: NUMBER,
      runnerUp: { action: "fresh", confidence: NUMBER },
    });
    const { stdout } = await home.cc("select", "add a test for the webhook handler");
    expect(stdout).toMatch(/\d+ % sure, judged offline; else start fresh \(\d+ %\)\./);
    const [, score] = /^Resume .*score (0\.\d\d)/.exec(stdout) ?? [];
    expect(stdout).toMatch(new RegExp(`^dddddddd +${score} `, "m"));
    expect(stdout).toMatch(/ID +SCORE +BRANCH +RECENT +TASK +HEALTH +ROOM +VERDICT +SESSION/);
    expect(stdout).toMatch(/dddddddd +0\.\d\d +0\.25 .* chosen +Fix the webhook/);
    expect(stdout).toMatch(/dddddddd {2}relevance [01]\.\d\d: /);
  });

  it("explains an ineligible session instead of a score", async () => {
    const { stdout } = await home.cc("select", "translate the handbook to Polish");
    expect(stdout).toMatch(/^Start fresh: the best match, .* is not\s+eligible: unrelated work \(/);
    expect(stdout).toMatch(/^\w{8} +- +0\.\d\d .* not eligible +\S/m);
    expect(stdout).toMatch(/ {10}not eligible: unrelated work/);
  });

  it("names a registry that it could not read", async () => {
    const folder = join(home.home, "agents", "reviewer");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "claude-code-sessions.json"), Buffer.alloc(100));
    const { reason } = (await home.cc("select", "add a test for the webhook handler", "--json")).json() as {
      reason: string;
    };
    rmSync(folder, { recursive: true });
    expect(reason).toMatch(/Decided without \S+reviewer\/claude-code-sessions\.json, which cannot be read/);
  });

  it("uses the given label", async () => {
    expect((await home.cc("select", "anything", "--label", "hooks", "--json")).json()).toMatchObject({
      action: "resume",
      sessionId: OWN,
      label: "hooks",
    });
    expect((await home.cc("select", "anything", "--label", "other")).stdout).toMatch(
      /^Start fresh: no session has the label "other"/,
    );
  });
});

describe("holdfast cc eval", () => {
  it("prints the accuracy of every method and the wrong cases", async () => {
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
    const file = home.join("cases.jsonl");
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
          confidence: NUMBER,
          reason: TEXT,
          relevance: [{ sessionId: "s1", relevance: NUMBER, score: NUMBER, reasoning: TEXT }],
        },
      ],
    };
    const { code, json } = await home.cc("eval", file, "--json");
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
    const { stdout } = await home.cc("eval", file, "--wrong");
    expect(stdout).toMatch(/offline +1 +2 +0\.500 +0 +0 +1/);
    expect(stdout).toContain("two  trap  wrong-resume: Fix the login page");
  });
});
