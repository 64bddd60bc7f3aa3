/** Decisions over real files: which sessions are candidates, which chats are known, how registries combine. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../../test/support/native-home.ts";
import { freshDatabase } from "../../test/support/postgres.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { systemClock } from "../base/clock.ts";
import { silentLogger } from "../base/log.ts";
import { registryPath, saveSession } from "../claude/registry/registry.ts";
import { updateSessionStats } from "../claude/registry/run-stats.ts";
import { type ClaudeSide, type SelectChoice, openClaudeSide } from "./claude.ts";
import { openHandoff } from "./handoff.ts";
import { openAgent } from "./agent.ts";
import { DEFAULT_CONFIG, type HoldfastConfig } from "../config/config.ts";
import { CLAUDE_REGISTRY_NAME } from "../config/layout.ts";
import { openSharedRegistry } from "./shared-registry.ts";
import { archiveSession } from "../session/archive.ts";

const TASK = "Fix the webhook handler";
const OWN = `[openclaw:agent=main]\n\n${TASK}`;
const [A, B, C, D] = ["a", "b", "c", "d"].map(testSessionId) as [string, string, string, string];

interface Fixture extends NativeHome {
  repo: string;
  side(agentId?: string, config?: HoldfastConfig): ClaudeSide;
  candidates(choice?: SelectChoice, agentId?: string): Promise<string[]>;
}

async function createFixture(): Promise<Fixture> {
  const home = await createNativeHome();
  const repo = home.join("shop");
  createTestRepo(repo);
  const env = {
    PATH: process.env["PATH"],
    HOME: home.root,
    CLAUDE_CONFIG_DIR: home.claudeHome,
    OPENCLAW_STATE_DIR: home.openClawHome,
  };
  const opened: ClaudeSide[] = [];
  const side: Fixture["side"] = (agentId, config = DEFAULT_CONFIG) => {
    const one = openClaudeSide({ home: home.home, config, agentId, env, logger: silentLogger });
    opened.push(one);
    return one;
  };
  return {
    ...home,
    repo,
    side,
    candidates: async (choice = {}, agentId = "main") => {
      const { selection } = await side(agentId).select(TASK, repo, choice);
      return selection.scores.map(({ sessionId }) => sessionId).toSorted();
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of opened) one.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

/** The session key of a person on Telegram. */
function key(id: string): string {
  return `agent:main:telegram:dm:${id}`;
}

function openClawRegistry(home: Fixture, agentId: string, sessions: Record<string, unknown>): void {
  const path = join(home.openClawHome, "agents", agentId, CLAUDE_REGISTRY_NAME);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ sessions }));
}

describe("candidates", () => {
  it("include a person's own sessions unless an agent asks, but never labelled ones or other agents'", async () => {
    await using fixture = await createFixture();
    const { repo, home } = fixture;
    const now = Date.now();
    fixture.session({ id: "a", cwds: [repo], prompts: [TASK], modifiedAt: now });
    fixture.session({ id: "b", cwds: [repo], prompts: [OWN], entrypoint: "holdfast", modifiedAt: now });
    fixture.session({ id: "c", cwds: [repo], prompts: ["[openclaw:agent=other]\n\nFix the webhook handler"] });
    fixture.session({ id: "d", cwds: [repo], prompts: [TASK], entrypoint: "holdfast" });
    fixture.session({ id: "e", cwds: [repo], prompts: [OWN], entrypoint: "holdfast", modifiedAt: now });
    await saveSession({ home, agentId: "main" }, { repoPath: repo, sessionId: testSessionId("e"), label: "nightly" });
    expect(await fixture.candidates({ candidates: "all" })).toEqual([A, B]);
    expect(await fixture.candidates()).toEqual([B]);
    expect(await fixture.candidates({ candidates: "all" }, "other")).toEqual([A, C]);
    expect(await fixture.candidates({ label: "nightly" })).toEqual([]);
  });

  it("follow the configuration by default", async () => {
    await using home = await createFixture();
    home.session({ id: "a", cwds: [home.repo], prompts: [TASK] });
    const { claudeCode } = DEFAULT_CONFIG;
    const sessionSelection = { ...claudeCode.sessionSelection, candidates: "all" as const };
    const side = home.side("main", { ...DEFAULT_CONFIG, claudeCode: { ...claudeCode, sessionSelection } });
    expect((await side.select(TASK, home.repo)).selection.scores).toHaveLength(1);
    expect((await side.select(TASK, home.repo, { candidates: "own" })).selection.scores).toEqual([]);
  });

  it("exclude chat sessions that only a session store knows", async () => {
    await using fixture = await createFixture();
    const { home, repo } = fixture;
    for (const id of "abcdef") fixture.session({ id, cwds: [repo], prompts: [OWN], entrypoint: "holdfast" });
    for (const id of "78") fixture.session({ id, cwds: [repo], prompts: [TASK], entrypoint: "sdk-cli" });
    const agent = await openAgent({ home, config: DEFAULT_CONFIG });
    const enter = async (id: string, sessionId: string, sdkSessionId: string): Promise<void> => {
      await agent.store.update(key(id), () => ({ sessionId, updatedAt: 1, sdkSessionId }));
    };
    // Now, in an earlier window, and in an archived session.
    await enter("1", "w1", A);
    await enter("1", "w2", B);
    await enter("2", "w3", C);
    await archiveSession(agent, key("2"));
    await agent.store.update(key("3"), () => ({ sessionId: "w4", updatedAt: 1, cliSessionIds: { "claude-cli": D } }));
    await agent.store.close();
    const sessions = join(fixture.openClawHome, "agents", "main", "sessions");
    mkdirSync(sessions, { recursive: true });
    const openClaw = { [key("9")]: { sessionId: "w5", updatedAt: 1, claudeCliSessionId: testSessionId("7") } };
    writeFileSync(join(sessions, "sessions.json"), JSON.stringify(openClaw));
    const left = [testSessionId("8"), testSessionId("e"), testSessionId("f")];
    expect(await fixture.candidates({ candidates: "all" })).toEqual(left);
    expect((await fixture.side().find(B)).conversation).toBe(key("1"));
    // A store that cannot be read may know of any of them.
    writeFileSync(join(sessions, "sessions.json"), "{ torn");
    expect(await fixture.candidates({ candidates: "all" })).toEqual([]);
  });

  it("exclude copies of a chat's session", async () => {
    await using fixture = await createFixture();
    const { home, repo } = fixture;
    fixture.session({ id: "a", cwds: [repo], prompts: [OWN], entrypoint: "holdfast-chat" });
    // A person opened an earlier session and wrote in it, then a chat continued there.
    const chatLine = { type: "user", sessionId: B, uuid: "b-9", cwd: repo, entrypoint: "holdfast-chat" };
    const said = { ...chatLine, timestamp: "2026-11-02T00:00:00.000Z", message: { role: "user", content: "hello" } };
    fixture.session({ id: "b", cwds: [repo], prompts: [OWN], entrypoint: "holdfast", lines: [said] });
    fixture.session({ id: "c", cwds: [repo], prompts: [OWN], entrypoint: "holdfast" });
    const place = { home, agentId: "main" };
    await saveSession(place, {
      repoPath: repo,
      sessionId: C,
      label: "agent:main:main",
      conversation: "agent:main:main",
    });
    // Taken over without its label; the label stays known.
    await saveSession(place, { repoPath: repo, sessionId: C });
    expect(await fixture.candidates({ candidates: "all" })).toEqual([]);
  });
});

describe("several registries with the same session", () => {
  it("add up costs, turns, labels and agents", async () => {
    await using fixture = await createFixture();
    const { home, repo } = fixture;
    fixture.session({ id: "a", cwds: [repo], prompts: [OWN] });
    await saveSession({ home, agentId: "main" }, { repoPath: repo, sessionId: A, task: "ours", label: "nightly" });
    await updateSessionStats(
      { home, agentId: "main" },
      { sessionId: A, runId: "1@1", cumulativeCostUsd: 0.25, turns: 2 },
    );
    const record = { sessionId: A, createdAt: "2026-01-01T00:00:00Z", lastResumedAt: "2026-01-02T00:00:00Z" };
    openClawRegistry(fixture, "main", {
      [repo]: { ...record, totalCostUsd: 1, totalTurns: 3, taskHistory: ["theirs"] },
    });
    openClawRegistry(fixture, "kyo", { [`${repo}::docs`]: { ...record, totalCostUsd: 0, totalTurns: 0 } });
    const found = await fixture.side().find(A);
    expect(found).toMatchObject({
      agentId: "main",
      agentIds: ["main", "kyo"],
      label: "nightly",
      labels: ["nightly", "docs"],
      totalCostUsd: 1.25,
      totalTurns: 5,
      lastTask: "ours",
    });
    expect((await fixture.side("kyo").find(A)).origin).toBe("this-agent");
    const { sessions } = await fixture.side().discover(repo, { ofAgent: "kyo" });
    expect(sessions).toHaveLength(1);
  });

  it("count once if OpenClaw and Holdfast share a folder", async () => {
    await using fixture = await createFixture();
    const { home, repo } = fixture;
    await saveSession({ home, agentId: "main" }, { repoPath: repo, sessionId: A });
    await updateSessionStats({ home, agentId: "main" }, { sessionId: A, runId: "1@1", cumulativeCostUsd: 1, turns: 1 });
    const env = { CLAUDE_CONFIG_DIR: fixture.claudeHome, OPENCLAW_STATE_DIR: home };
    const side = openClaudeSide({ home, config: DEFAULT_CONFIG, env, logger: silentLogger });
    expect((await side.find(A)).totalCostUsd).toBe(1);
    side.close();
  });

  it("resolve a label, also from OpenClaw's registry", async () => {
    await using home = await createFixture();
    const { repo } = home;
    home.session({ id: "a", cwds: [repo], prompts: [OWN] });
    home.session({ id: "b", cwds: [repo], prompts: [OWN] });
    const lastResumedAt = "2026-11-02T00:00:00Z";
    openClawRegistry(home, "main", { [`${repo}::auth`]: { sessionId: A, label: "auth", lastResumedAt } });
    openClawRegistry(home, "kyo", { [`${repo}::docs`]: { sessionId: B, label: "docs", lastResumedAt } });
    const select = async (label: string) => (await home.side().select("anything", repo, { label })).selection;
    expect(await select("auth")).toMatchObject({ action: "resume", sessionId: A, label: "auth" });
    expect(await select("docs")).toMatchObject({ action: "fresh", label: "docs" });
    // The last used session that can still be opened wins.
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: repo, sessionId: B, label: "auth" });
    expect(await select("auth")).toMatchObject({ action: "resume", sessionId: B });
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: repo, sessionId: D, label: "auth" });
    expect(await select("auth")).toMatchObject({ action: "resume", sessionId: A });
  });
});

it("counts the larger of recorded and estimated cost against the budget", async () => {
  await using home = await createFixture();
  const { repo } = home;
  const usage = { input_tokens: 2_000_000, output_tokens: 200_000 };
  const message = { id: "m9", role: "assistant", model: "claude-sonnet-4-5", content: [], usage };
  const timestamp = "2026-11-01T00:01:00.000Z";
  const line = { type: "assistant", uuid: "u9", sessionId: A, cwd: repo, timestamp, message };
  home.session({ id: "a", cwds: [repo], prompts: [OWN], lines: [line], modifiedAt: Date.now() });
  for (const totalCostUsd of [0, 0.01]) {
    openClawRegistry(home, "main", { [repo]: { sessionId: A, totalCostUsd } });
    const session = await home.side().find(A);
    expect(session.estimatedCostUsd).toBeGreaterThan(8.5);
    expect(session.budgetUsedPct).toBeCloseTo((session.estimatedCostUsd ?? 0) / 10, 5);
    const { selection } = await home.side().select(TASK, repo);
    expect(selection).toMatchObject({
      action: "fresh",
      scores: [{ ceiling: expect.stringContaining("budget") as string }],
    });
  }
  const config = { ...DEFAULT_CONFIG, claudeCode: { ...DEFAULT_CONFIG.claudeCode, command: "false", maxBudgetUsd: 5 } };
  const runner = await home.side("main", config).runner();
  const resumed = runner.spawnClaudeCode({ task: TASK, repoPath: repo, agentId: "main", resume: A });
  await expect(resumed).rejects.toMatchObject({ code: "budget-used-up" });
  openClawRegistry(home, "main", { [repo]: { sessionId: A, totalCostUsd: 42 } });
  expect((await home.side().find(A)).budgetUsedPct).toBe(4.2);
});

it("counts an open hand-off as evidence", async () => {
  await using fixture = await createFixture();
  const { home, repo } = fixture;
  const content = "I'm blocked: the release fails with a missing certificate.";
  const timestamp = new Date().toISOString();
  const said = { type: "user", uuid: "u9", sessionId: A, cwd: repo, timestamp, message: { role: "user", content } };
  const path = fixture.session({ id: "a", cwds: [repo], prompts: [OWN], lines: [said] });
  const config = DEFAULT_CONFIG;
  const agent = await openAgent({ home, config });
  const handoff = await openHandoff({ home, config, env: { CLAUDE_CONFIG_DIR: fixture.claudeHome }, agent });
  await handoff?.capture({ kind: "native", sessionId: A, transcriptPath: path, cwd: repo }, "ended");
  const kinds = async (): Promise<string[]> => {
    const { selection } = await fixture.side().select(TASK, repo);
    return selection.scores.flatMap(({ evidence }) => evidence.map(({ kind }) => kind));
  };
  expect(await kinds()).toContain("open-hand-off");
  const offer = await handoff?.offerNative({ sessionId: B, cwd: repo });
  if (offer !== undefined) await handoff?.markOffered(offer);
  await handoff?.close();
  await agent.store.close();
  expect(await kinds()).not.toContain("open-hand-off");
});

it("keeps the registry in the database of several machines, and makes a lost file from it", async () => {
  await using folder = await temporaryFolder();
  await using database = await freshDatabase();
  const home = folder.path;
  const config = { ...DEFAULT_CONFIG, store: { kind: "postgres" as const, view: false, url: database.url } };
  const shared = () => openSharedRegistry({ home, config, clock: systemClock, logger: silentLogger });
  const place = { home, agentId: "main" };
  await saveSession(place, { repoPath: "/repo", sessionId: "11111111-1111-4111-8111-111111111111", task: "first" });
  await shared()?.save("main");
  await saveSession(place, { repoPath: "/repo", sessionId: "11111111-1111-4111-8111-111111111111", task: "second" });
  await Promise.all([shared()?.save("main"), shared()?.save("main")]);
  const text = await readFile(registryPath(place), "utf8");
  await rm(registryPath(place));
  await shared()?.restore();
  expect(await readFile(registryPath(place), "utf8")).toBe(text);
  // A file that is there is the newest.
  await saveSession(place, { repoPath: "/repo", sessionId: "11111111-1111-4111-8111-111111111111", task: "third" });
  await shared()?.restore();
  expect(await readFile(registryPath(place), "utf8")).toContain("third");
  expect(
    openSharedRegistry({ home, config: DEFAULT_CONFIG, clock: systemClock, logger: silentLogger }),
  ).toBeUndefined();
});

// Nobody, not even root, may create a folder there.
it.runIf(existsSync("/sys/kernel"))("lists sessions and costs if the home cannot be written", async () => {
  await using fixture = await createFixture();
  fixture.session({ id: "a", cwds: [fixture.repo], prompts: [TASK], modifiedAt: Date.now() });
  const env = { CLAUDE_CONFIG_DIR: fixture.claudeHome };
  const side = openClaudeSide({ home: "/sys/holdfast", config: DEFAULT_CONFIG, env, logger: silentLogger });
  const index = await side.index();
  await index.refresh();
  expect([...index.list()].map(({ sessionId }) => sessionId)).toEqual([A]);
  side.close();
  expect(existsSync(":memory:")).toBe(false);
});
