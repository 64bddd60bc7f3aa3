/** The package's functions on homes that the environment names. */
import { afterEach, expect, it, vi } from "vitest";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../../test/support/native-home.ts";
import { closeDefaultClaude, gatherProjectStatus, saveSession, selectSession } from "./claude.ts";

const TASK = "Fix the webhook handler";
const OWN = `[openclaw:agent=main]\n\n${TASK}`;
const A = testSessionId("a");
const B = testSessionId("b");

afterEach(async () => {
  await closeDefaultClaude();
  vi.unstubAllEnvs();
});

async function createFixture(): Promise<NativeHome & { repo: string }> {
  const home = await createNativeHome();
  const repo = home.join("shop");
  createTestRepo(repo);
  vi.stubEnv("HOLDFAST_HOME", home.home);
  vi.stubEnv("CLAUDE_CONFIG_DIR", home.claudeHome);
  vi.stubEnv("OPENCLAW_STATE_DIR", home.openClawHome);
  home.session({ id: "a", cwds: [repo], prompts: [OWN], modifiedAt: Date.now() });
  home.session({ id: "b", cwds: [repo], prompts: [OWN], modifiedAt: Date.now() - 3_600_000 });
  return { ...home, repo };
}

it("selectSession takes label, budget and configuration at the RFC's argument positions", async () => {
  await using home = await createFixture();
  const { repo } = home;
  await saveSession("main", { repoPath: repo, sessionId: B, label: "auth" });
  const status = await gatherProjectStatus(repo, "main");
  expect(await selectSession("anything", repo, "main", status, "auth")).toMatchObject({
    action: "resume",
    sessionId: B,
    label: "auth",
  });
  expect(await selectSession("anything", repo, "main", undefined, "auth")).toMatchObject({ sessionId: B });
  expect(await selectSession("anything", repo, "main", status, "other")).toMatchObject({ action: "fresh" });
  expect(await selectSession(TASK, repo, "main", status)).toMatchObject({ action: "resume", sessionId: A });
  const cheap = await selectSession(TASK, repo, "main", status, undefined, 0.000_01);
  expect(cheap).toMatchObject({ action: "fresh", scores: [{ ceiling: expect.stringContaining("budget") as string }] });
  const strict = await selectSession(TASK, repo, "main", status, undefined, undefined, { resumeThreshold: 1.01 });
  expect(strict).toMatchObject({ action: "fresh", scores: [{ sessionId: A }] });
});

it("selectSession trusts the given status", async () => {
  await using home = await createFixture();
  const { repo } = home;
  const status = await gatherProjectStatus(repo, "main");
  const [first] = status.sessions.recent;
  if (first === undefined || status.git === undefined) throw new Error("no status");
  const elsewhere = { ...status, git: { ...status.git, currentBranch: "other" } };
  const { scores } = await selectSession(TASK, repo, "main", elsewhere);
  expect(scores.map(({ factors }) => factors.branchMatch)).toEqual([0, 0]);
  const empty = { ...status, sessions: { active: [], recent: [], ownRecent: [] } };
  expect(await selectSession(TASK, repo, "main", empty)).toMatchObject({ action: "fresh", scores: [] });
  const running = { ...status, sessions: { ...empty.sessions, active: [{ ...first, isRunning: true }] } };
  expect(await selectSession(TASK, repo, "main", running)).toMatchObject({ action: "queue", sessionId: A });
  // It may know a label that no registry has.
  const labelled = { ...status, sessions: { ...empty.sessions, recent: [{ ...first, label: "docs" }] } };
  expect(await selectSession("anything", repo, "main", labelled, " docs ")).toMatchObject({
    action: "resume",
    sessionId: A,
    label: "docs",
  });
  expect(await selectSession("anything", repo, "main", labelled, "other")).toMatchObject({ action: "fresh" });
  // With the members that the RFC has, and no others.
  const { sessionId, agentId, branch, firstMessage, lastModified, messageCount, fileSizeBytes, isRunning } = first;
  const few = { sessionId, agentId, branch, firstMessage, lastModified, messageCount, fileSizeBytes, isRunning };
  const short = {
    ...few,
    source: "openclaw",
    compactionCount: 0,
    transcriptPath: "/a.jsonl",
  } as unknown as typeof first;
  const sessions = { active: [], recent: [short], ownRecent: [] };
  expect(await selectSession(TASK, repo, "main", { ...status, sessions })).toMatchObject({
    scores: [{ sessionId: A }],
  });
});
