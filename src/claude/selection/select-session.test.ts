/** Which session a task goes to, from the label to the last tie-break. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOON, discoveredSession } from "../../../test/support/claude-samples.ts";
import { createTestRepo } from "../../../test/support/git-repo.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import type { DiscoveredSession } from "../discovered-session.ts";
import { selectSession } from "./select-session.ts";
import type { RelevanceScorer, SelectOptions, SelectionProject } from "./selection.ts";
import { explainSelection } from "./score.ts";

const HOUR = 3_600_000;

/** Reads the relevance from the session's first message. */
const offline: RelevanceScorer = (_task, sessions) => {
  return sessions.map(({ sessionId, firstMessage }) => ({
    sessionId,
    relevance: Number(firstMessage),
    reasoning: "as given",
  }));
};

describe("a label", () => {
  it("selects its session, else a fresh one with that label", async () => {
    const sessions = [
      session("a", 1),
      session("b", 0, { label: "docs" }),
      session("c", 0, { label: "docs", agentId: "other" }),
    ];
    expect(await select(sessions, { label: "docs" })).toMatchObject({
      action: "resume",
      sessionId: "b",
      label: "docs",
    });
    const fresh = await select(sessions, { label: "new" });
    expect(fresh).toMatchObject({ action: "fresh", label: "new", scores: [], relevanceBy: "none" });
    expect(fresh.sessionId).toBeUndefined();
  });

  it("asks the registry first", async () => {
    const sessions = [session("b", 0, { label: "docs" }), session("z", 0)];
    expect(await select(sessions, { label: "docs", findByLabel })).toMatchObject({ action: "resume", sessionId: "z" });
    expect(await select(sessions, { label: "other", findByLabel })).toMatchObject({ action: "fresh" });
  });

  it("waits for its own session only", async () => {
    const sessions = [session("a", 1, { isRunning: true }), session("b", 0, { label: "docs" })];
    expect(await select(sessions, { label: "docs" })).toMatchObject({ action: "resume", sessionId: "b" });
    const busy = sessions.map((known) => ({ ...known, isRunning: true }));
    expect(await select(busy, { label: "docs" })).toMatchObject({ action: "queue", sessionId: "b", label: "docs" });
    expect(await select(busy, { label: "docs", onRunning: "fork" })).toMatchObject({ action: "fork", sessionId: "b" });
  });

  it("starts fresh when the session's transcript is gone", async () => {
    const archived = session("b", 0, { label: "docs", archived: true });
    expect(await select([archived], { label: "docs" })).toMatchObject({ action: "fresh", label: "docs" });
  });
});

describe("a running session", () => {
  const running = session("r", 0, { agentId: "somebody", isRunning: true, running: { pid: 77 } });

  it("is waited for, or forked if the person asks", async () => {
    const queue = await select([session("a", 1), running]);
    expect(queue).toMatchObject({ action: "queue", sessionId: "r", scores: [] });
    expect(queue.reason).toContain("process 77");
    expect(await select([session("a", 1), running], { onRunning: "fork" })).toMatchObject({
      action: "fork",
      sessionId: "r",
    });
  });

  it("counts even if only the project status knows that it runs", async () => {
    const list = [session("a", 1)];
    const status = { active: [session("a", 1, { isRunning: true })], recent: [], ownRecent: [] };
    const chosen = await selectSession("task", "/repo", "main", { sessions: status }, { sessions: list, offline });
    expect(chosen).toMatchObject({ action: "queue", sessionId: "a" });
  });

  it("does not count with a separate worktree, and is never resumed", async () => {
    const own = session("b", 1, { isRunning: true });
    const chosen = await select([session("a", 0.7), own], { onRunning: "worktree" });
    expect(chosen).toMatchObject({ action: "resume", sessionId: "a" });
    expect(chosen.scores.map(({ sessionId }) => sessionId)).toEqual(["a"]);
  });

  it("in another worktree does not block", async () => {
    const worktrees = ["/repo", "/repo/.trees/x", "/side"].map((path) => {
      return { path, isMain: path === "/repo", isBare: false, isGone: false };
    });
    const at = async (cwd: string) => {
      const sessions = [session("a", 1), { ...running, cwds: [cwd] }];
      return (await select(sessions, {}, { worktrees })).action;
    };
    expect(await at("/side/src")).toBe("resume");
    expect(await at("/repo/.trees/x")).toBe("resume");
    expect(await at("/repo/src")).toBe("queue");
    expect(await at("/unknown")).toBe("queue");
  });

  it("that is excluded is neither waited for nor chosen", async () => {
    const beside = session("b", 1, { isRunning: true });
    const chosen = await select([session("a", 0.7), beside], { excluded: ["b"] });
    expect(chosen).toMatchObject({ action: "resume", sessionId: "a" });
    expect(chosen.scores).toHaveLength(1);
  });

  it("that waits for a message is continued", async () => {
    const waiting = session("b", 1, { isRunning: true });
    expect(await select([session("a", 0.7), waiting], { waiting: ["b"] })).toMatchObject({
      action: "continue",
      sessionId: "b",
    });
    const label = "docs";
    expect(await select([{ ...waiting, label }], { waiting: ["b"], label })).toMatchObject({
      action: "continue",
      sessionId: "b",
    });
  });

  it("that waits for a message makes other tasks wait", async () => {
    const waiting = session("b", 0, { isRunning: true });
    for (const others of [[], [session("a", 1)]]) {
      const chosen = await select([...others, waiting], { waiting: ["b"] });
      expect(chosen).toMatchObject({ action: "queue", sessionId: "b" });
      expect(explainSelection(chosen, [waiting]).map(({ verdict }) => verdict)).not.toContain("chosen");
      const inWorktree = await select([...others, waiting], { waiting: ["b"], onRunning: "worktree" });
      expect(inWorktree.action).toBe(others.length === 0 ? "fresh" : "resume");
    }
    const chat = { ...waiting, conversation: "agent:main:telegram:dm:1" };
    expect(await select([chat], { waiting: ["b"] })).toMatchObject({ action: "queue", scores: [] });
  });
});

describe("the agent's own sessions", () => {
  it("are all scored, by registry or by marker, and no other agent's", async () => {
    const old = session("old", 1, { agentId: "main", lastModified: new Date(NOON - 100 * HOUR) });
    const { agentId: _unknown, ...marked } = session("marked", 0.2, { originMarker: "main" });
    const others = Array.from({ length: 20 }, (_, index) => session(`o${index}`, 1, { agentId: "other" }));
    const chosen = await select([...others, marked, old]);
    expect(chosen).toMatchObject({ action: "resume", sessionId: "old", relevanceBy: "offline" });
    expect(chosen.scores.map(({ sessionId }) => sessionId)).toEqual(["old", "marked"]);
  });

  it("are not candidates when Claude Code could not open them", async () => {
    const archived = session("a", 1, { archived: true });
    const { transcriptPath: _gone, ...registryOnly } = session("b", 1, { messageCount: 0 });
    const chosen = await select([archived, registryOnly]);
    expect(chosen).toMatchObject({ action: "fresh", scores: [], relevanceBy: "none" });
    expect(chosen.reason).toContain("can be resumed");
    expect((await select([])).reason).toContain("no session in this repo yet");
  });

  it("are not resumed below the threshold", async () => {
    const chosen = await select([session("a", 0.2, { branch: "other" })]);
    expect(chosen).toMatchObject({ action: "fresh", scores: [{ sessionId: "a", recommendation: "fresh" }] });
    expect(chosen.sessionId).toBeUndefined();
    expect(chosen.reason).toContain("scores 0.50");
  });

  it("are not eligible when they are unrelated, whatever the score", async () => {
    const chosen = await select([session("a", 0.05)]);
    expect(chosen).toMatchObject({ action: "fresh", scores: [{ score: 0.6 }] });
    expect(chosen.reason).toMatch(
      /^Start fresh: the best match, .* is not eligible: unrelated work \(same branch, .*\)\.$/,
    );
    expect(chosen.reason).not.toContain("0.6");
    expect(chosen.scores[0]?.reason).toMatch(/^not eligible: unrelated work/);
  });

  it("are named as the best match only without an eligible one", async () => {
    const chosen = await select([session("unrelated", 0.05), session("weak", 0.2, { branch: "other" })]);
    expect(chosen.scores.map(({ sessionId }) => sessionId)).toEqual(["weak", "unrelated"]);
    expect(chosen.reason).toContain("scores 0.50");
  });

  it("are skipped for the next best when evidence is against them", async () => {
    const sessions = [session("unrelated", 0.05), session("second", 0.6, { branch: "other" })];
    const chosen = await select(sessions);
    expect(chosen).toMatchObject({ action: "resume", sessionId: "second" });
    expect(chosen.scores[1]).toMatchObject({ sessionId: "unrelated", ceiling: "unrelated work" });
  });

  it("are named in the reason when they score nearly as much as the chosen one", async () => {
    const close = await select([session("first", 0.9), session("second", 0.55)]);
    expect(close).toMatchObject({ action: "resume", sessionId: "first" });
    expect(close.reason).toMatch(/ Nearly as good: "0\.55" \(second\), score 0\.97\.$/);
    const clear = await select([session("first", 0.9), session("second", 0.9, { branch: "other" })]);
    expect(clear.reason).not.toContain("Nearly as good");
  });

  it("with equal scores are ordered by relevance, age and id", async () => {
    const sessions = [
      session("d", 0.7, { lastModified: minutesAgo(9) }),
      session("c", 0.7, { lastModified: minutesAgo(5) }),
      session("b", 0.7, { lastModified: minutesAgo(5) }),
      session("a", 0.9, { lastModified: minutesAgo(50) }),
    ];
    expect((await select(sessions)).scores.map(({ sessionId }) => sessionId)).toEqual(["a", "b", "c", "d"]);
    expect((await select(sessions.toReversed())).scores.map(({ sessionId }) => sessionId)).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
  });

  it("have a budget, which a call can override", async () => {
    const spent = session("a", 1, { totalCostUsd: 5, budgetUsedPct: 0.9 });
    expect((await select([spent])).action).toBe("fresh");
    expect((await select([spent], { maxBudgetUsd: 100 })).action).toBe("resume");
    expect((await select([spent], { maxBudgetUsd: 6 })).action).toBe("fresh");
  });

  it("are taken from the project status without a list", async () => {
    const status = { active: [], recent: [session("a", 0.6)], ownRecent: [session("b", 1), session("a", 0.6)] };
    const chosen = await selectSession(
      "task",
      "/repo",
      "main",
      { sessions: status },
      { offline, now: NOON, evidence: false },
    );
    expect(chosen.scores.map(({ sessionId }) => sessionId)).toEqual(["b", "a"]);
  });
});

describe("the repo", () => {
  it("forces a fresh session after a merge of the branch", async () => {
    await using folder = await temporaryFolder();
    const repo = createTestRepo(folder.join("repo"));
    repo.commit("start");
    repo.git("switch", "--quiet", "--create", "side");
    repo.commit("work", "side.txt");
    repo.git("switch", "--quiet", "main");
    const onSide = session("a", 1, { branch: "side", branches: ["side"], cwds: [repo.path] });
    const decide = async () => {
      const options = { sessions: [onSide], offline, now: NOON };
      return selectSession("task", repo.path, "main", project(), options);
    };
    expect(await decide()).toMatchObject({ action: "resume", sessionId: "a" });
    repo.git("merge", "--quiet", "--no-ff", "--message", "merge", "side");
    const merged = await decide();
    expect(merged).toMatchObject({ action: "fresh", scores: [{ ceiling: "its branch side is merged" }] });
    expect(merged.reason).toContain("its branch side is merged");
  });

  it("that cannot be read does not stop a selection", async () => {
    expect(await select([session("a", 1)], { evidence: { branchStates: brokenGit } })).toMatchObject({
      action: "resume",
    });
  });
});

it("refuses an empty task", async () => {
  await expect(selectSession(" \n", "/repo", "main", project())).rejects.toMatchObject({
    kind: "usage",
    code: "task-empty",
  });
});

it("names the session that the task is about, although its budget excludes it", async () => {
  const sessions = [session("unrelated", 0.02), session("related", 0.9, { budgetUsedPct: 0.8 })];
  const { action, reason } = await select(sessions);
  expect(action).toBe("fresh");
  expect(reason).toMatch(/the best match, .*\(related\), is not eligible: 80 % of the budget is used/);
});

it("explains a selection in rows", async () => {
  const sessions = [
    session("win", 1, { title: "Fix \u001b[31mit\nnow" }),
    session("also", 0.6, { branch: "other" }),
    session("weak", 0.2, { branch: "other" }),
    session("full", 1, { compactionCount: 4 }),
  ];
  const rows = explainSelection(await select(sessions), sessions);
  expect(rows.map(({ sessionId, verdict }) => [sessionId, verdict])).toEqual([
    ["win", "chosen"],
    ["also", "not the best"],
    ["full", "not eligible"],
    ["weak", "score too low"],
  ]);
  expect(rows[0]).toMatchObject({ candidate: "Fix \\u001b[31mit now", score: 1, relevance: 1, reasoning: "as given" });
  expect(rows[2]?.ceiling).toContain("compacted 4 times");
});

it("only ever chooses a session that may be resumed", async () => {
  const anySession = fc.record({
    sessionId: fc.uuid(),
    firstMessage: fc.double({ min: 0, max: 1, noNaN: true }).map(String),
    agentId: fc.constantFrom("main", "other"),
    branch: fc.constantFrom("main", "other"),
    isRunning: fc.boolean(),
    compactionCount: fc.integer({ min: 0, max: 4 }),
    messageCount: fc.integer({ min: 1, max: 700 }),
    budgetUsedPct: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(anySession, { maxLength: 8 }), async (special) => {
      const sessions = special.map((fields) => discoveredSession(fields));
      const { action, sessionId, scores } = await select(sessions);
      const chosen = sessions.find((known) => known.sessionId === sessionId);
      expect(action === "queue").toBe(sessions.some(({ isRunning }) => isRunning));
      expect(action === "fresh").toBe(chosen === undefined);
      expect(action === "resume").toBe(scores[0]?.recommendation === "resume");
      if (action !== "resume") return;
      expect(scores[0]).toMatchObject({ sessionId, recommendation: "resume" });
      expect(scores[0]?.ceiling).toBeUndefined();
      expect(chosen).toMatchObject({ agentId: "main", isRunning: false });
    }),
  );
});

function session(sessionId: string, relevance: number, special: Partial<DiscoveredSession> = {}): DiscoveredSession {
  return discoveredSession({ sessionId, firstMessage: String(relevance), ...special });
}

function project(special: Partial<NonNullable<SelectionProject["git"]>> = {}): SelectionProject {
  return {
    git: { currentBranch: "main", recentCommits: [], worktrees: [], ...special },
    sessions: { active: [], recent: [], ownRecent: [] },
  };
}

async function select(
  sessions: DiscoveredSession[],
  options: SelectOptions = {},
  git: Partial<NonNullable<SelectionProject["git"]>> = {},
) {
  const plain = { sessions, offline, now: NOON, evidence: false as const };
  return selectSession("the task", "/repo", "main", project(git), { ...plain, ...options });
}

function minutesAgo(minutes: number): Date {
  return new Date(NOON - minutes * 60_000);
}

async function findByLabel(label: string): Promise<string | undefined> {
  return Promise.resolve(label === "docs" ? "z" : undefined);
}

async function brokenGit(): Promise<never> {
  return Promise.reject(new Error("git is broken"));
}
