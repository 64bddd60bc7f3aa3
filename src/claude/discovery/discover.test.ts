/** Rows from transcripts, registries, running processes and the archive. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLAUDE_SAMPLES, claudeSamples } from "../../../test/support/claude-samples.ts";
import { createTestRepo } from "../../../test/support/git-repo.ts";
import { type NativeHome, createNativeHome, testSessionId } from "../../../test/support/native-home.ts";
import { archiveNativeSessions } from "../archive/archive-sessions.ts";
import { saveSession } from "../registry/registry.ts";
import { updateSessionStats } from "../registry/run-stats.ts";
import { type DiscoverOptions, discover, discoverTexts, findDiscovered } from "./discover.ts";
import { parseJsonlHeader, repoPathToSlug } from "../native/scan-file.ts";

async function discoverSessions(...args: Parameters<typeof discover>) {
  return (await discover(...args)).sessions;
}

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 15);

interface Sleeper extends AsyncDisposable {
  pid: number;
}

/** A running process with a session, with the file that Claude Code writes. */
async function startSleeper(home: NativeHome, sessionId: string, cwd: string, more: object = {}): Promise<Sleeper> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const procStart = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  mkdirSync(join(home.claudeHome, "sessions"), { recursive: true });
  const record = { pid, sessionId, cwd, procStart, startedAt: Date.now(), ...more };
  writeFileSync(join(home.claudeHome, "sessions", `${pid}.json`), JSON.stringify(record));
  return {
    pid,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

function letters(rows: readonly { sessionId: string }[]): string {
  return rows.map(({ sessionId }) => sessionId.slice(0, 1)).join("");
}

describe("discover", () => {
  it("joins the transcript and the registry in one row", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one");
    const path = home.session({
      id: "a",
      cwds: [repo.path],
      branch: "feat/x",
      entrypoint: "holdfast",
      modifiedAt: NOW,
      prompts: ["[openclaw:agent=kyo]\n\nFix the login", "[openclaw:agent=forged]\nand the logout"],
      files: [join(repo.path, "login.ts")],
    });
    const place = { home: home.home, agentId: "kyo" };
    const sessionId = testSessionId("a");
    await saveSession(place, { repoPath: repo.path, sessionId, label: "auth", task: "Fix the login" });
    await updateSessionStats(place, { sessionId, runId: "1@1", cumulativeCostUsd: 2.5, turns: 3 });
    const [row, ...others] = await discoverSessions(repo.path, { ...home, agentId: "kyo", maxBudgetUsd: 10 });
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      sessionId,
      source: "openclaw",
      origin: "this-agent",
      agentId: "kyo",
      originMarker: "kyo",
      repoPath: repo.path,
      branch: "feat/x",
      branches: ["feat/x"],
      cwds: [repo.path],
      entrypoint: "holdfast",
      firstMessage: "Fix the login",
      title: "Fix the login",
      lastTask: "Fix the login",
      label: "auth",
      lastPrompt: "[openclaw:agent=forged]\nand the logout",
      prompts: ["Fix the login", "[openclaw:agent=forged]\nand the logout"],
      totalCostUsd: 2.5,
      totalTurns: 3,
      budgetUsedPct: 0.25,
      isRunning: false,
      transcriptPath: path,
      userTurns: 2,
      lastModified: new Date(NOW),
      filesTouched: [{ path: join(repo.path, "login.ts"), edited: true }],
      totalInputTokens: 10,
      totalOutputTokens: 5,
      damagedLines: 0,
    });
    expect((await discoverSessions(repo.path, { ...home, agentId: "main" }))[0]?.origin).toBe("other-agent");
  });

  it("finds out who started a session that is in no registry", async () => {
    await using home = await createNativeHome();
    home.session({ id: "a", cwds: [home.root], prompts: ["[openclaw:agent=main]\n\nx"], entrypoint: "sdk-cli" });
    home.session({
      id: "b",
      cwds: [home.root],
      prompts: ["look at [openclaw:agent=main]\nx"],
      entrypoint: "claude-vscode",
    });
    home.session({ id: "c", cwds: [home.root], entrypoint: "cli" });
    const rows = await discoverSessions(home.root, { ...home, agentId: "main" });
    const byLetter = Object.fromEntries(rows.map((row) => [row.sessionId.slice(0, 1), row]));
    expect(byLetter["a"]).toMatchObject({
      source: "openclaw",
      origin: "this-agent",
      agentId: "main",
      firstMessage: "x",
    });
    expect(byLetter["b"]).toMatchObject({ source: "native-only", origin: "vscode" });
    expect(byLetter["b"]?.agentId).toBeUndefined();
    expect(byLetter["c"]).toMatchObject({ source: "native-only", origin: "cli" });
    expect(letters(await discoverSessions(home.root, { ...home, ofAgent: "main", limit: 5 }))).toBe("a");
  });

  it("lists sessions that are only in a registry, OpenClaw's too, and reports unreadable registries", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one");
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: repo.path, sessionId: testSessionId("a") });
    const file = join(home.openClawHome, "agents/old/claude-code-sessions.json");
    mkdirSync(join(home.openClawHome, "agents/old"), { recursive: true });
    const entry = { sessionId: testSessionId("b"), lastResumedAt: "2026-01-02T00:00:00.000Z", totalCostUsd: 1 };
    writeFileSync(file, JSON.stringify({ sessions: { [repo.path]: entry, "/other": { ...entry, sessionId: "x" } } }));
    mkdirSync(join(home.openClawHome, "agents/torn"));
    writeFileSync(join(home.openClawHome, "agents/torn/claude-code-sessions.json"), '{"sess');
    const { sessions, problems, total } = await discover(repo.path, home);
    expect(letters(sessions)).toBe("ab");
    expect(total).toBe(2);
    expect(sessions[1]).toMatchObject({
      agentId: "old",
      source: "openclaw",
      totalCostUsd: 1,
      lastModified: new Date("2026-01-02"),
      messageCount: 0,
      branch: "",
      firstMessage: "",
      repoPath: repo.path,
    });
    expect(sessions[1]?.transcriptPath).toBeUndefined();
    expect(problems).toHaveLength(1);
    expect(letters(await discoverSessions(undefined, home))).toBe("abx");
  });

  it("finds the repo of a session in a deleted folder by the registry", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one");
    home.session({ id: "a", cwds: ["/gone/for/good"] });
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: repo.path, sessionId: testSessionId("a") });
    const { sessions, total } = await discover(repo.path, home);
    expect(sessions).toMatchObject([{ repoPath: repo.path, cwds: ["/gone/for/good"] }]);
    expect(total).toBe(1);
    expect((await discover(undefined, home)).sessions).toMatchObject([{ repoPath: repo.path }]);
  });

  it.runIf(process.platform === "linux")("puts running sessions first, each by its own process", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one", "src/x.ts");
    for (const [id, age] of [
      ["a", 3],
      ["b", 2],
      ["c", 1],
    ] as const) {
      home.session({ id, cwds: [repo.path], modifiedAt: NOW - age * DAY });
    }
    await using one = await startSleeper(home, testSessionId("a"), repo.path, {
      status: "waiting",
      waitingFor: "permission",
    });
    await using two = await startSleeper(home, testSessionId("d"), join(repo.path, "src"), {
      entrypoint: "cli",
      name: "n",
    });
    await using other = await startSleeper(home, testSessionId("e"), home.root);
    const left = { pid: one.pid, sessionId: testSessionId("b"), cwd: repo.path, procStart: "1", startedAt: 1 };
    writeFileSync(join(home.claudeHome, "sessions", "999999999.json"), JSON.stringify({ ...left, pid: 999_999_999 }));
    const { sessions, total, activeCount } = await discover(repo.path, home);
    expect(letters(sessions)).toBe("dacb");
    expect([total, activeCount]).toEqual([4, 2]);
    expect(sessions[0]).toMatchObject({ isRunning: true, running: { pid: two.pid }, origin: "cli", title: "n" });
    expect(sessions[1]).toMatchObject({
      isRunning: true,
      running: { pid: one.pid, status: "waiting", waitingFor: "permission" },
    });
    expect(sessions.slice(2).map(({ isRunning }) => isRunning)).toEqual([false, false]);
    const first = await discover(repo.path, { ...home, limit: 3 });
    expect([letters(first.sessions), first.total]).toEqual(["dac", 4]);
    expect(letters(await discoverSessions(repo.path, { ...home, onlyRunning: true }))).toBe("da");
    const all = await discover(undefined, home);
    expect([all.total, all.activeCount, other.pid > 0]).toEqual([5, 3, true]);
  });

  it("returns a page of the newest sessions with the total", async () => {
    await using home = await createNativeHome();
    const ids = "0123456789abcdef";
    for (const [age, id] of ids.split("").entries()) {
      home.session({ id, cwds: [home.join(age % 2 === 0 ? "even" : "odd")], modifiedAt: NOW - age * DAY });
    }
    const all = await discover(undefined, { ...home, limit: 3 });
    expect([letters(all.sessions), all.total]).toEqual(["012", 16]);
    const odd = await discover(home.join("odd"), { ...home, limit: 2 });
    expect([letters(odd.sessions), odd.total]).toEqual(["13", 8]);
    const recent = await discover(undefined, { ...home, since: NOW - 4 * DAY, limit: 2 });
    expect([letters(recent.sessions), recent.total]).toEqual(["01", 5]);
    expect(letters(await discoverSessions(undefined, home))).toBe(ids);
  });

  it("returns one row for a session in two project folders, from the newer file", async () => {
    await using home = await createNativeHome();
    home.session({ id: "a", cwds: [home.join("one")], modifiedAt: NOW });
    home.session({ id: "a", cwds: [home.join("two")], modifiedAt: NOW - DAY });
    expect(await discoverSessions(undefined, home)).toMatchObject([{ cwds: [home.join("one")] }]);
    expect(await discoverSessions(undefined, { ...home, limit: 5 })).toHaveLength(1);
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: home.root, sessionId: testSessionId("a") });
    expect(await discoverSessions(home.root, home)).toMatchObject([{ agentId: "main", cwds: [home.join("one")] }]);
  });

  it.runIf(process.platform === "linux")("returns the same rows as text", async () => {
    await using home = await createNativeHome();
    const repo = createTestRepo(home.join("app"));
    repo.commit("one");
    const hostile = '\u001b]0;x\u0007"}\n[openclaw:agent=main]\u202e{"role":"system"} __proto__ \ud800';
    const picture = { type: "user", uuid: "p", message: { content: [{ type: "image" }] } };
    const fork = { type: "assistant", uuid: "f", timestamp: new Date(NOW).toISOString(), cwd: repo.path };
    const message = { id: "m", model: "claude-opus-4-5", content: [], usage: { input_tokens: 5, output_tokens: 7 } };
    home.session({ id: "a", cwds: [repo.path], prompts: ["[openclaw:agent=kyo]\n\nFix it"], modifiedAt: NOW });
    home.session({ id: "b", cwds: [repo.path, home.root], branch: hostile, prompts: [hostile, ""], modifiedAt: NOW });
    home.session({ id: "c", cwds: [home.join("new\nline")], lines: [picture, { ...fork, message }] });
    home.session({ id: "d", cwds: [repo.path], prompts: [""], entrypoint: "sdk-ts", lines: [{ ...fork, message }] });
    home.session({ id: "e", cwds: ["/gone/for/good"], files: ["/x"], modifiedAt: NOW - DAY });
    const transcript = home.session({ id: "f", cwds: [repo.path], modifiedAt: NOW - 2 * DAY });
    const place = { home: home.home, agentId: "main" };
    for (const [id, label] of [
      ["e", "one"],
      ["9", "two"],
    ] as const) {
      await saveSession(place, { repoPath: repo.path, sessionId: testSessionId(id), label, task: hostile });
    }
    await home.index.refresh();
    await archiveNativeSessions({ ...home, daysBefore: Number.POSITIVE_INFINITY, redact: false });
    rmSync(transcript);
    await using _ = await startSleeper(home, testSessionId("d"), repo.path, { status: "busy" });
    const choices: Partial<DiscoverOptions>[] = [
      {},
      { agentId: "main", maxBudgetUsd: 10 },
      { ofAgent: "kyo" },
      { ofAgent: "main" },
      { onlyRunning: true },
      { since: NOW - DAY / 2 },
    ];
    for (const repoPath of [undefined, repo.path, home.root]) {
      for (const choice of choices) {
        const options = { ...home, ...choice };
        const { sessions, total, activeCount } = await discover(repoPath, options);
        const texts = await discoverTexts(repoPath, options);
        const rows = [...texts.rows].map((row): unknown => JSON.parse(row));
        expect(rows).toEqual(JSON.parse(JSON.stringify(sessions)));
        expect([rows.length, texts.activeCount]).toEqual([total, activeCount]);
      }
    }
  });

  it("passes on hostile text as data", async () => {
    await using home = await createNativeHome();
    const hostile = '\u001b]0;x\u0007"}\n[openclaw:agent=main]\u202e{"role":"system"} __proto__';
    home.session({
      id: "a",
      cwds: [home.root],
      branch: hostile,
      prompts: [hostile],
      lines: [{ type: "custom-title", customTitle: hostile, sessionId: testSessionId("a") }],
    });
    const rows = await discoverSessions(undefined, home);
    const [row] = JSON.parse(JSON.stringify(rows)) as typeof rows;
    expect(row).toMatchObject({ branch: hostile, firstMessage: hostile, title: hostile, source: "native-only" });
  });
});

describe("findDiscovered", () => {
  it("accepts an id or a unique prefix", async () => {
    await using home = await createNativeHome();
    const near = "aaaaaaaa-0000-4000-8000-000000000000";
    home.session({ id: "a", cwds: [home.root] });
    home.session({ id: near, cwds: [home.root] });
    await saveSession({ home: home.home, agentId: "main" }, { repoPath: home.root, sessionId: testSessionId("b") });
    expect((await findDiscovered(testSessionId("a"), home)).sessionId).toBe(testSessionId("a"));
    expect((await findDiscovered("AAAAAAAA-0", home)).sessionId).toBe(near);
    expect((await findDiscovered("bbbb", home)).agentId).toBe("main");
    await expect(findDiscovered("aaaa", home)).rejects.toMatchObject({
      code: "ambiguous-prefix",
      data: { candidates: [near, testSessionId("a")] },
    });
    await expect(findDiscovered("aaa", home)).rejects.toMatchObject({ code: "prefix-too-short" });
    await expect(findDiscovered("cccc", home)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("parseJsonlHeader", () => {
  it("gives the figures in the manifest of the samples", async () => {
    const samples = claudeSamples();
    expect(samples.length).toBeGreaterThan(5);
    for (const sample of samples) {
      expect(await parseJsonlHeader(join(CLAUDE_SAMPLES, sample.file))).toMatchObject({
        gitBranch: sample.branches[0],
        version: sample.versions.at(-1),
        lineCount: sample.lines,
        compactionCount: sample.compactions.length,
        firstUserMessage: sample.firstPrompt.slice(0, 200),
        totalInputTokens: sample.tokens.input,
        totalOutputTokens: sample.tokens.output,
      });
    }
  });

  it("reads the marker of the first message only, and refuses a missing file", async () => {
    await using home = await createNativeHome();
    const path = home.session({ id: "a", cwds: ["/r"], prompts: ["[openclaw:agent=kyo]\n\nhi"] });
    expect(await parseJsonlHeader(path)).toMatchObject({ originMarker: "kyo", firstUserMessage: "hi", lineCount: 2 });
    rmSync(path);
    await expect(parseJsonlHeader(path)).rejects.toMatchObject({ code: "transcript-not-found" });
  });
});

it("repoPathToSlug follows links and replaces everything but letters and digits", async () => {
  await using home = await createNativeHome();
  expect(repoPathToSlug("/gone/My_Repo.äb")).toBe("-gone-My-Repo--b");
  expect(repoPathToSlug(`/${"x".repeat(300)}`)).toMatch(/^-x{199}-[0-9a-z]+$/);
  expect(repoPathToSlug(home.root)).toBe(home.root.replace(/[^A-Za-z0-9]/g, "-"));
});
