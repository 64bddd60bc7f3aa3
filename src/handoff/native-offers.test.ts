/** Sessions of Claude Code, captured from their transcripts and passed on by folder. */
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestRepo } from "../../test/support/git-repo.ts";
import { type HandoffHome, createHandoffHome } from "../../test/support/handoff-home.ts";
import { testSessionId } from "../../test/support/native-home.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { currentProcess } from "../base/processes.ts";
import { findProjectFolder, runningFolder } from "../claude/native/layout.ts";
import { nativeSessionKey } from "./handoff.ts";

const [A, B, C] = ["a", "b", "c"].map(testSessionId) as [string, string, string];
const TALK = [
  "Please implement the retry queue in src/webhook.ts.",
  "<I'm working on it. The integration test is failing: the build cannot connect to Redis.",
  "We decided to use Redis for the queue instead of Postgres.",
  "<Next step: fix the Redis connection in CI.",
];

describe("a session of Claude Code", () => {
  it("that has ended is offered to the next one in the repo, with or without hooks", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    const ids = await native.transcript(A, repo.path, TALK);
    const offer = await home.handoff.offerNative({ cwd: repo.path, sessionId: B });
    expect(offer).toMatchObject({ sessionKey: nativeSessionKey("main", A), sessionId: B });
    expect(offer?.text).toContain("Project: shop.");
    expect(offer?.text).toContain(`use Redis for the queue instead of Postgres. [${ids[2]?.slice(0, 8)}]`);
    expect(offer?.text.length).toBeLessThan(9_000);
    if (offer !== undefined) await home.handoff.markOffered(offer);
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: C })).toBeUndefined();
    home.fixture.clock.advance(6 * 60_000);
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: C })).toBeDefined();
  });

  it("is offered whole, from a blocker at its beginning to a decision after many reports", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    const reports = Array.from({ length: 30 }, (_one, index) => `<Report ${index + 1}: the batch was imported.`);
    await native.transcript(A, repo.path, [
      "Please move the billing job to the new queue. We are blocked: the staging database refuses connections.",
      ...reports,
      "<We decided to use RabbitMQ instead of Kafka for the new queue.",
    ]);
    const offer = await home.handoff.offerNative({ cwd: repo.path, sessionId: B });
    expect(offer?.text).toContain("We are blocked: the staging database refuses connections.");
    expect(offer?.text).toContain("We decided to use RabbitMQ instead of Kafka for the new queue.");
  });

  it("that only continued passes on the hand-off it got", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    const ids = await native.transcript(A, repo.path, TALK);
    const offer = await home.handoff.offerNative({ cwd: repo.path, sessionId: B });
    if (offer !== undefined) await home.handoff.markOffered(offer);
    home.fixture.clock.advance(60_000);
    await native.transcript(B, repo.path, ["yes, please go on", "<I renamed the queue to retries."]);
    const next = await home.handoff.offerNative({ cwd: repo.path, sessionId: C });
    expect(next).toMatchObject({ sessionKey: nativeSessionKey("main", B), sessionId: C });
    expect(next?.text).toContain("renamed the queue");
    expect(next?.text).toContain(`instead of Postgres. [${ids[2]?.slice(0, 8)} in window ${A.slice(0, 8)}]`);
  });

  it("is passed on whatever ids its lines have", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK);
    const file = await native.path(A, repo.path);
    const hostile = ["constructor", "__proto__", "toString", "hasOwnProperty"];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const renamed = lines.map((line, index) => line.replace(/"uuid":"[^"]+"/, `"uuid":"${hostile[index]}"`));
    writeFileSync(file, `${renamed.join("\n")}\n`);
    const offer = await home.handoff.offerNative({ cwd: repo.path, sessionId: B });
    if (offer !== undefined) await home.handoff.markOffered(offer);
    home.fixture.clock.advance(60_000);
    await native.transcript(B, repo.path, ["please go on", "<I renamed the queue to retries."]);
    const next = await home.handoff.offerNative({ cwd: repo.path, sessionId: C });
    expect(next?.text).toContain(`instead of Postgres. [toString in window ${A.slice(0, 8)}]`);
    expect(next?.text).toMatch(/renamed the queue to retries\. \[1{8}\]/);
  });

  it("is captured under its own key, new entries only", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK.slice(0, 2));
    const target = {
      kind: "native" as const,
      sessionId: A,
      transcriptPath: await native.path(A, repo.path),
      cwd: repo.path,
    };
    expect(await home.handoff.capture(target, "messages")).toMatchObject({ lastMessageIndex: 2, branch: "main" });
    await native.transcript(A, repo.path, TALK);
    const state = await home.handoff.capture(target, "ended");
    expect(state).toMatchObject({ lastMessageIndex: 4, reason: "ended", previousSessionId: A, project: "shop" });
    expect(await home.handoff.get(nativeSessionKey("main", A))).toEqual(state);
    expect(await home.handoff.clear(nativeSessionKey("main", A))).toBe(true);
    expect(await home.handoff.capture(target, "ended")).toBeUndefined();
  });

  it("of another repo or of a similarly named folder is not passed on", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    const other = createTestRepo(`${repo.path}-old`);
    await native.transcript(A, other.path, TALK);
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: B })).toBeUndefined();
    expect(await home.handoff.offerNative({ cwd: other.path, sessionId: B })).toBeDefined();
  });

  it("is not hidden by newer ones in similarly named or nested repos", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK);
    const before = home.fixture.clock.now() / 1000 - 600;
    utimesSync(await native.path(A, repo.path), before, before);
    const others = [`${repo.path}-web`, `${repo.path}-docs`, join(repo.path, "vendor"), join(repo.path, "tools")];
    for (const [index, path] of others.entries()) {
      createTestRepo(path);
      await native.transcript(testSessionId(String(index + 1)), path, TALK);
    }
    const offer = await home.handoff.offerNative({ cwd: repo.path, sessionId: B });
    expect(offer).toMatchObject({ sessionKey: nativeSessionKey("main", A) });
    // Also when all of them are known.
    await home.handoff.recover();
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: C })).toMatchObject({
      sessionKey: nativeSessionKey("main", A),
    });
  });

  it("reaches subfolders and other worktrees of the repo", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    repo.commit("first");
    mkdirSync(join(repo.path, "src"));
    repo.git("worktree", "add", "--quiet", "-b", "other", `${repo.path}-worktree`);
    await native.transcript(A, join(repo.path, "src"), TALK);
    expect(await home.handoff.offerNative({ cwd: `${repo.path}-worktree`, sessionId: B })).toBeDefined();
  });

  it("that is still open has no hand-off yet", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK);
    const { pid } = currentProcess();
    mkdirSync(runningFolder(native.claudeHome), { recursive: true });
    const running = { pid, sessionId: A, cwd: repo.path, startedAt: Date.now() };
    writeFileSync(join(runningFolder(native.claudeHome), `${pid}.json`), JSON.stringify(running));
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: B })).toBeUndefined();
  });

  it("in which an agent talks with people stays private", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK, "holdfast");
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: B })).toBeUndefined();
    expect(await home.handoff.recover()).toBe(0);
  });

  it("that ended long ago is offered only on request", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK);
    await home.handoff.recover();
    home.fixture.clock.advance(25 * 3_600_000);
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: B })).toBeUndefined();
    expect(await home.handoff.resume(nativeSessionKey("main", A))).toMatchObject({ kind: "expired" });
    expect(await home.handoff.resume(nativeSessionKey("main", A), "shop")).toMatchObject({ kind: "ready" });
    expect(await home.handoff.offerNative({ cwd: repo.path, sessionId: B })).toBeDefined();
  });

  it("is found at process start", async () => {
    await using native = await nativeFixture();
    const { home, repo } = native;
    await native.transcript(A, repo.path, TALK);
    expect(await home.handoff.recover()).toBe(1);
    expect(await home.handoff.recover()).toBe(0);
    expect((await home.handoff.list()).map(({ sessionKey }) => sessionKey)).toEqual([nativeSessionKey("main", A)]);
  });
});

interface Fixture extends AsyncDisposable {
  home: HandoffHome;
  claudeHome: string;
  repo: ReturnType<typeof createTestRepo>;
  path(sessionId: string, cwd: string): Promise<string>;
  /** Resolves to the ids of the lines. */
  transcript(sessionId: string, cwd: string, talk: readonly string[], entrypoint?: string): Promise<string[]>;
}

async function nativeFixture(): Promise<Fixture> {
  const folder = await temporaryFolder();
  const claudeHome = folder.join("claude");
  const home = await createHandoffHome("sqlite", { claudeHome });
  const repo = createTestRepo(folder.join("shop"));
  const path = async (sessionId: string, cwd: string) =>
    join(await findProjectFolder(claudeHome, cwd), `${sessionId}.jsonl`);
  return {
    home,
    claudeHome,
    repo,
    path,
    async transcript(sessionId, cwd, talk, entrypoint = "cli") {
      const now = home.fixture.clock.now();
      const file = await path(sessionId, cwd);
      mkdirSync(join(file, ".."), { recursive: true });
      const lines = talk.map((words, index) => {
        const role = words.startsWith("<") ? "assistant" : "user";
        const content = role === "user" ? words : [{ type: "text", text: words.slice(1) }];
        return {
          parentUuid: null,
          isSidechain: false,
          type: role,
          message: { role, content },
          uuid: `${String(index).repeat(8)}-0000-4000-8000-${sessionId.slice(-12)}`,
          timestamp: new Date(now - 10_000 + index * 1000).toISOString(),
          cwd,
          sessionId,
          version: "2.1.0",
          gitBranch: "main",
          entrypoint,
        };
      });
      writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      utimesSync(file, now / 1000, now / 1000);
      return lines.map(({ uuid }) => uuid);
    },
    [Symbol.asyncDispose]: async () => {
      await home[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
