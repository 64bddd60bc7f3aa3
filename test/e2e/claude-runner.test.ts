/** The runner with the real `claude` and a model API on loopback. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readRunningSessions } from "../../src/claude/native/running.ts";
import type { RunnerEvent, SpawnOptions } from "../../src/claude/runner/runner-contract.ts";
import { type ClaudeRunner, createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { type ClaudeHome, createClaudeHome } from "../support/claude-home.ts";
import { type TestRunnerSetup, registeredCost, testRunnerParts } from "../support/claude-runner.ts";
import { type FakeAnthropic, startFakeAnthropic } from "../support/fake-anthropic/fake-anthropic.ts";
import { lastUserText, toolResults } from "../support/fake-anthropic/recorded-request.ts";
import { type Reply, apiError, hang, slowly, text, toolUse, withUsage } from "../support/fake-anthropic/reply.ts";
import { startRunnerChild } from "../support/run-runner-child.ts";

interface Bench extends AsyncDisposable {
  api: FakeAnthropic;
  claude: ClaudeHome;
  setup: TestRunnerSetup;
  runner: ClaudeRunner;
  locksFolder: string;
  events: RunnerEvent[];
  /** One task in the bench's repo, fresh events included in `events`. */
  run(task: string, options?: Partial<SpawnOptions>): ReturnType<ClaudeRunner["spawnClaudeCode"]>;
  /** Answers tasks by what they contain. */
  reply(word: string, reply: Reply): void;
  event(type: RunnerEvent["type"]): Promise<RunnerEvent>;
}

async function createBench(more: Partial<TestRunnerSetup> = {}): Promise<Bench> {
  const api = await startFakeAnthropic();
  const claude = await createClaudeHome(api);
  const setup = { ...more, command: claude.command, configDir: claude.configDir, home: claude.home, env: claude.env };
  const parts = testRunnerParts(setup);
  const runner = createClaudeRunner(parts);
  const events: RunnerEvent[] = [];
  const replies = new Map<string, Reply>();
  api.answer((request) => {
    if (request.kind !== "main") return undefined;
    // After a tool the last thing that was asked stands before its result.
    const asked =
      request.messages.map((message) => lastUserText({ messages: [message] })).findLast((said) => said !== "") ?? "";
    return [...replies].find(([word]) => asked.includes(word))?.[1];
  });
  return {
    api,
    claude,
    setup,
    runner,
    locksFolder: parts.locksFolder,
    events,
    reply: (word, reply) => void replies.set(word, reply),
    run: async (task, options = {}) =>
      await runner.spawnClaudeCode({
        task,
        repoPath: claude.repo,
        agentId: "main",
        onEvent: (event) => void events.push(event),
        ...options,
      }),
    event: async (type) => await until(() => events.find((event) => event.type === type), `no event ${type}`),
    [Symbol.asyncDispose]: async () => {
      await runner.stopAllClaudeCode();
      await claude[Symbol.asyncDispose]();
      await api[Symbol.asyncDispose]();
    },
  };
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>, failure: string): Promise<T> {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(failure);
    await delay(20);
  }
}

/** A person's own `claude`, which knows nothing of Holdfast. */
function startPerson({ claude }: Bench, args: string[]): { pid: number; ended: Promise<unknown> } {
  const child = spawn(claude.command, ["-p", ...args], { cwd: claude.repo, env: claude.env, stdio: "ignore" });
  return { pid: child.pid ?? 0, ended: once(child, "exit") };
}

/** The same before a terminal, which `script` provides: it sits there and waits for what they type. */
async function startPersonAtTerminal(
  { claude }: Bench,
  args: string[],
): Promise<{ type(text: string): void; ended: Promise<unknown> }> {
  const settings = {
    hasCompletedOnboarding: true,
    theme: "dark",
    projects: { [claude.repo]: { hasTrustDialogAccepted: true } },
    customApiKeyResponses: { approved: [claude.env["ANTHROPIC_API_KEY"]?.slice(-20)], rejected: [] },
  };
  await writeFile(join(claude.configDir, ".claude.json"), JSON.stringify(settings));
  const child = spawn("script", ["-qefc", [claude.command, ...args].join(" "), "/dev/null"], {
    cwd: claude.repo,
    env: { ...claude.env, TERM: "xterm-256color" },
    stdio: ["pipe", "ignore", "ignore"],
  });
  return { type: (text) => void child.stdin.write(text), ended: once(child, "exit") };
}

async function isRunning({ claude }: Bench, pid: number): Promise<true | undefined> {
  return (await readRunningSessions(claude.configDir)).some((one) => one.pid === pid) || undefined;
}

/** Messages that have the same parent: two writers leave such. */
async function branchPoints({ claude }: Bench, sessionId: string): Promise<number> {
  const lines = await claude.transcript(sessionId);
  const parents = lines
    .filter((line) => line["type"] === "user" || line["type"] === "assistant")
    .map((line) => line["parentUuid"]);
  return parents.length - new Set(parents).size;
}

async function prompts({ claude }: Bench, sessionId: string): Promise<string[]> {
  const lines = await claude.transcript(sessionId);
  return lines
    .filter((line) => line["type"] === "user")
    .map((line) => (line["message"] as { content: unknown }).content)
    .flatMap((content) => (typeof content === "string" ? [content] : []));
}

describe("one bench for what follows on each other", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await createBench();
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  it("spawns, marks, resumes, and counts what it cost once", async () => {
    bench.reply("first task", withUsage(text("first answer"), { input_tokens: 20_000, output_tokens: 1000 }));
    bench.reply("second task", withUsage(text("second answer"), { input_tokens: 30_000, output_tokens: 2000 }));
    const first = await bench.run("first task");
    expect(first).toMatchObject({ outcome: "completed", text: "first answer", isLive: false, warnings: [] });
    expect(first.selection.action).toBe("fresh");
    const sessionId = first.sessionId ?? "";
    const lines = await bench.claude.transcript(sessionId);
    expect((await prompts(bench, sessionId))[0]).toBe("[openclaw:agent=main]\n\nfirst task");
    expect(new Set(lines.flatMap((line) => line["entrypoint"] ?? []))).toEqual(new Set(["holdfast"]));
    expect(bench.events.map((event) => event.type)).toEqual(
      expect.arrayContaining(["selected", "started", "text", "ended"]),
    );

    const second = await bench.run("second task");
    expect(second).toMatchObject({ outcome: "completed", text: "second answer", sessionId });
    expect(second.selection.action).toBe("resume");
    expect((await prompts(bench, sessionId)).at(-1)).toBe("second task");
    expect(first.costUsd).toBeGreaterThan(0);
    expect(second.costUsd).toBeGreaterThan(first.costUsd);
    expect(await registeredCost(bench.setup, sessionId)).toBeCloseTo(first.costUsd + second.costUsd, 9);
    expect(await branchPoints(bench, sessionId)).toBe(0);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("forks without touching the original", async () => {
    const original = (await bench.run("start of a fork", { fresh: true })).sessionId ?? "";
    const before = await bench.claude.transcript(original);
    const fork = await bench.run("on a copy", { fork: original });
    expect(fork.outcome).toBe("completed");
    expect(fork.sessionId).not.toBe(original);
    expect(await prompts(bench, fork.sessionId ?? "")).toContain("on a copy");
    expect(await bench.claude.transcript(original)).toEqual(before);
  });

  it("gives limits and refusals their outcomes", async () => {
    bench.reply("keep going", toolUse("Bash", { command: "true" }));
    expect(await bench.run("keep going", { fresh: true, maxTurns: 2 })).toMatchObject({ outcome: "limit-turns" });
    bench.reply("spend a lot", withUsage(toolUse("Bash", { command: "true" }), { input_tokens: 900_000 }));
    expect(await bench.run("spend a lot", { fresh: true, maxBudgetUsd: 0.01 })).toMatchObject({
      outcome: "limit-budget",
    });
    bench.reply("use it all up", withUsage(text("done"), { input_tokens: 9_000_000 }));
    const { sessionId: poor = "" } = await bench.run("use it all up", { fresh: true, maxBudgetUsd: 1000 });
    await expect(bench.run("more", { resume: poor })).rejects.toMatchObject({ code: "budget-used-up" });
    expect(await readdir(bench.locksFolder)).toEqual([]);
    bench.reply("be refused", apiError(400, "not like this"));
    const refused = await bench.run("be refused", { fresh: true });
    expect(refused.outcome).toBe("api-error");
    expect(refused.error).toContain("not like this");
    bench.reply("take too long", hang());
    expect(await bench.run("take too long", { fresh: true, timeoutMs: 1000 })).toMatchObject({ outcome: "timed-out" });
  });

  it("can be interrupted by its signal, and the session can be resumed", async () => {
    bench.reply("talk on", slowly(text(Array.from({ length: 400 }, () => "word").join(" ")), 50));
    const controller = new AbortController();
    const running = bench.run("talk on", {
      fresh: true,
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === "text") controller.abort();
      },
    });
    const result = await running;
    expect(result.outcome).toBe("interrupted");
    const next = await bench.run("and now", { resume: result.sessionId ?? "" });
    expect(next).toMatchObject({ outcome: "completed", sessionId: result.sessionId });
  });

  it("gets along without a process that dies: nothing is repeated, the session stays known", async () => {
    bench.reply("then die", hang());
    const running = bench.run("then die", { fresh: true });
    await bench.api.waitFor((request) => lastUserText(request).includes("then die"));
    const [run] = [...bench.runner.activeSpawns.values()];
    process.kill(run?.process.pid ?? 0, "SIGKILL");
    const result = await running;
    expect(result.outcome).toBe("crashed");
    expect(result.sessionId).toBe(run?.sessionId());
    expect(bench.api.conversation.filter((request) => lastUserText(request).includes("then die"))).toHaveLength(1);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});

describe("persistent sessions", () => {
  it("take follow-ups one at a time, from here and from another process, and end when told", async () => {
    await using bench = await createBench();
    const first = await bench.run("open it", { persistent: true });
    const sessionId = first.sessionId ?? "";
    expect(first.isLive).toBe(true);
    expect(await bench.runner.getAllLiveSessions()).toMatchObject([
      { sessionId, state: "idle", persistent: true, isLocal: true, agentId: "main" },
    ]);
    const [second, third] = await Promise.all([
      bench.runner.sendFollowUpAndWait(sessionId, "number two"),
      bench.runner.sendFollowUpAndWait(sessionId, "number three"),
    ]);
    expect([second.text, third.text]).toEqual(["echo: number two", "echo: number three"]);
    // Another runner stands for another process: it knows only the files.
    const other = createClaudeRunner(testRunnerParts(bench.setup));
    const fourth = await other.sendFollowUpAndWait(sessionId, "from afar");
    expect(fourth.text).toBe("echo: from afar");
    const spawned = await other.spawnClaudeCode({ task: "goes there", repoPath: bench.claude.repo, agentId: "main" });
    expect(spawned).toMatchObject({ sessionId, text: "echo: goes there", selection: { action: "continue" } });
    const costs = [first, second, third, fourth, spawned].reduce((sum, result) => sum + result.costUsd, 0);
    expect(await registeredCost(bench.setup, sessionId)).toBeCloseTo(costs, 9);
    expect(await branchPoints(bench, sessionId)).toBe(0);
    expect(await other.killClaudeCode(sessionId)).toMatchObject([{ sessionId, by: "holdfast" }]);
    await bench.claude.empty();
    expect(await bench.runner.getAllLiveSessions()).toEqual([]);
    await expect(bench.runner.sendFollowUpAndWait(sessionId, "too late")).rejects.toMatchObject({
      code: "session-not-live",
    });
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("follow a session whose id changes", async () => {
    await using bench = await createBench();
    const first = await bench.run("open it", { persistent: true });
    // Sent at once: whether a message opens a session is known when the ones before it are done.
    const [cleared, next] = await Promise.all(
      ["/clear", "after it"].map(
        async (message) => await bench.runner.sendFollowUpAndWait(first.sessionId ?? "", message),
      ),
    );
    if (cleared === undefined || next === undefined) throw new Error("no results");
    expect(next.sessionId).not.toBe(first.sessionId);
    expect(next.sessionId).toBe(cleared.sessionId);
    expect((await bench.runner.getAllLiveSessions())[0]?.sessionId).toBe(next.sessionId);
    expect(await bench.runner.stopPersistentSession(next.sessionId ?? "")).toBe(true);
    // While the process lives its transcript lags behind.
    expect(await prompts(bench, next.sessionId ?? "")).toContain("[openclaw:agent=main]\n\nafter it");
  });

  it("end by themselves when nobody sends anything", async () => {
    await using bench = await createBench({ idleTimeoutMinutes: 0.005 });
    await bench.run("open it", { persistent: true });
    await bench.claude.empty();
    const left = await until(
      async () => ((await readdir(bench.locksFolder)).length === 0 ? 0 : undefined),
      "leases left",
    );
    expect(left).toBe(0);
  });
});

/** The smallest MCP server: one tool that answers with its argument of the command line. */
const MCP_SERVER = `
const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "ping", description: "Answers.", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "pong " + process.argv[1] }] }),
};
require("node:readline").createInterface(process.stdin).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answer ? answer(params) : {} }));
});`;

describe("the MCP server", () => {
  it("is there from the first turn, its tools need no permission, and its file is private and goes", async () => {
    const mcpServer = { command: process.execPath, args: ["-e", MCP_SERVER, "at once"], tools: ["ping"] };
    await using bench = await createBench({ mcpServer });
    bench.api.script(toolUse("mcp__holdfast__ping", {}), text("done"));
    let mode: number | undefined;
    const result = await bench.run("ping it", {
      permissionMode: "default",
      onEvent: async (event) => {
        if (event.type !== "tool") return;
        const name = (await readdir(bench.locksFolder)).find((file) => file.startsWith("mcp-")) ?? "";
        mode = (await stat(join(bench.locksFolder, name))).mode & 0o777;
      },
    });
    expect(result).toMatchObject({ outcome: "completed", text: "done", denials: [] });
    expect(bench.api.conversation.flatMap(toolResults)).toMatchObject([{ text: "pong at once", isError: false }]);
    expect(mode).toBe(0o600);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});

describe("a resume that fails", () => {
  it("becomes a fresh session that is told what the old one knew, loudly", async () => {
    await using bench = await createBench({ history: "We were mending the flux capacitor." });
    const lost = "11111111-2222-4333-8444-555555555555";
    const result = await bench.run("go on", { resume: lost });
    expect(result.outcome).toBe("completed");
    expect(result.sessionId).not.toBe(lost);
    expect(result.warnings.join()).toContain(lost);
    expect(bench.events.find((event) => event.type === "fallback")).toMatchObject({ sessionId: lost });
    const [prompt] = await prompts(bench, result.sessionId ?? "");
    expect(prompt).toMatch(/^\[openclaw:agent=main\]\n\n/);
    expect(prompt).toContain("flux capacitor");
    expect(prompt?.endsWith("The task:\ngo on")).toBe(true);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("starts nothing in its place when it is ended in that moment", async () => {
    await using bench = await createBench();
    const ended = Promise.withResolvers<unknown>();
    const running = bench.run("go on", {
      resume: "11111111-2222-4333-8444-555555555555",
      onEvent: (event) => {
        if (event.type === "started") ended.resolve(bench.runner.killClaudeCode(bench.claude.repo));
      },
    });
    await expect(running).rejects.toMatchObject({ code: "run-cancelled" });
    expect(await ended.promise).toMatchObject([{ by: "holdfast" }]);
    expect(bench.api.conversation).toEqual([]);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});

describe("several runs", () => {
  it("queue on one repo and then resume what the first one left; labels run beside", async () => {
    await using bench = await createBench();
    bench.reply("slow one", slowly(text("one two three four five six seven eight nine ten"), 150));
    const first = bench.run("slow one");
    await bench.event("text");
    const labelled = bench.run("beside it", { label: "docs" });
    const second = bench.run("second in line");
    const third = bench.run("third in line");
    const queued = await bench.event("queued");
    expect(queued).toMatchObject({ holder: { kind: "holdfast", task: "slow one", agentId: "main" } });
    const docs = await labelled;
    expect(bench.runner.activeSpawns.size).toBeGreaterThan(0);
    const [one, two] = await Promise.all([first, second, third]);
    expect(two).toMatchObject({ outcome: "completed", sessionId: one.sessionId, selection: { action: "resume" } });
    expect(docs.sessionId).not.toBe(one.sessionId);
    expect((await prompts(bench, one.sessionId ?? "")).slice(1)).toEqual(["second in line", "third in line"]);
    expect(await branchPoints(bench, one.sessionId ?? "")).toBe(0);
    const controller = new AbortController();
    controller.abort();
    await expect(bench.run("never", { signal: controller.signal })).rejects.toMatchObject({ code: "run-cancelled" });
    for (const label of [" ", "two\nlines", "\u001b[31m"]) {
      await expect(bench.run("never", { label })).rejects.toMatchObject({ code: "invalid-label" });
    }
  });

  it("queue across processes, and a killed process leaves neither a claude nor a lease", async () => {
    await using bench = await createBench();
    bench.reply("in the child", hang());
    const options = { task: "in the child", repoPath: bench.claude.repo, agentId: "main" };
    await using child = startRunnerChild({ setup: bench.setup, options });
    const started = await child.event("started");
    await bench.api.waitFor((request) => lastUserText(request).includes("in the child"));
    await expect(bench.run("no", { onRunning: "refuse" })).rejects.toMatchObject({ code: "session-in-use" });
    const second = bench.run("after the child");
    expect(await bench.event("queued")).toMatchObject({ holder: { pid: child.pid, task: "in the child" } });
    // Claude Code writes a moment later than it works; what it had not written nobody could resume.
    const isWritten = async () => (await prompts(bench, started.sessionId ?? "")).length > 0 || undefined;
    await until(async () => await isWritten().catch(() => undefined), "no transcript");
    await child.kill("SIGKILL");
    const killedAt = performance.now();
    const result = await second;
    expect(result.outcome).toBe("completed");
    expect(performance.now() - killedAt).toBeLessThan(10_000);
    expect(result.sessionId).toBe(started.sessionId);
    expect(await branchPoints(bench, result.sessionId ?? "")).toBe(0);
    await bench.claude.empty();
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });

  it("end in another process when it is asked to, or told to end", async () => {
    await using bench = await createBench();
    bench.reply("in the child", hang());
    const options = { task: "in the child", repoPath: bench.claude.repo, agentId: "main" };
    await using asked = startRunnerChild({ setup: bench.setup, options: { ...options, label: "asked" } });
    await using told = startRunnerChild({ setup: bench.setup, options: { ...options, label: "told" } });
    const { sessionId = "" } = await asked.event("started");
    await told.event("started");
    const live = await bench.runner.getAllLiveSessions();
    expect(live.map(({ label }) => label ?? "").sort()).toEqual(["asked", "told"]);
    expect(live.some(({ isLocal }) => isLocal)).toBe(false);
    await expect(bench.runner.sendFollowUpAndWait(sessionId, "no")).rejects.toMatchObject({
      code: "session-not-persistent",
    });
    expect(await bench.runner.killClaudeCode(sessionId)).toMatchObject([{ sessionId, by: "holdfast" }]);
    expect(await asked.event("result")).toMatchObject({ result: { outcome: "interrupted" } });
    await told.kill("SIGTERM");
    expect(bench.claude.processes()).toEqual([]);
    expect(await readdir(bench.locksFolder)).toEqual([]);
  });
});

describe("a person's own claude", () => {
  let bench: Bench;
  let sessionId: string;
  beforeAll(async () => {
    bench = await createBench();
    sessionId = (await bench.run("ours")).sessionId ?? "";
  });
  beforeEach(() => void bench.events.splice(0));
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
  });

  it("is waited for, forked from or refused, never written beside", async () => {
    bench.reply("theirs", slowly(text("a b c d e f g h i j k l m n o p q r s t u"), 150));
    const person = startPerson(bench, ["--resume", sessionId, "theirs"]);
    await until(async () => await isRunning(bench, person.pid), "the person's claude does not show");
    await expect(bench.run("no", { resume: sessionId, onRunning: "refuse" })).rejects.toMatchObject({
      code: "session-in-use",
      data: { kind: "person", pid: person.pid },
    });
    await expect(bench.runner.killClaudeCode(sessionId)).rejects.toMatchObject({ code: "session-in-use" });
    const waiting = bench.run("after them");
    expect(await bench.event("queued")).toMatchObject({ holder: { kind: "person", pid: person.pid, sessionId } });
    const forked = await bench.run("beside them", { resume: sessionId, onRunning: "fork", agentId: "other" });
    expect(forked).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    const waited = await waiting;
    await person.ended;
    const said = await prompts(bench, sessionId);
    expect(said.slice(-2)).toEqual(["theirs", "after them"]);
    expect(waited.outcome).toBe("completed");
    expect(await branchPoints(bench, sessionId)).toBe(0);
  });

  it("that sits idle before a terminal is somebody, too", async () => {
    const person = await startPersonAtTerminal(bench, ["--resume", sessionId]);
    const idle = await until(
      async () => (await readRunningSessions(bench.claude.configDir)).find(({ status }) => status === "idle"),
      "the terminal does not show",
    );
    expect(idle).toMatchObject({ sessionId, kind: "interactive" });
    const holder = { kind: "person", pid: idle.pid, sessionId, status: "idle" };
    await expect(bench.run("no", { resume: sessionId, onRunning: "refuse" })).rejects.toMatchObject({
      code: "session-in-use",
      data: holder,
    });
    const waiting = bench.run("after them");
    expect(await bench.event("queued")).toMatchObject({ holder });
    person.type("typed");
    // What is typed and Enter in one piece would be taken for a paste.
    await delay(300);
    person.type("\r");
    await bench.api.waitFor((request) => lastUserText(request).includes("typed"));
    const forked = await bench.run("beside them", { resume: sessionId, onRunning: "fork", agentId: "other" });
    expect(forked).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    process.kill(idle.pid, "SIGTERM");
    await person.ended;
    expect(await waiting).toMatchObject({ outcome: "completed", sessionId });
    expect((await prompts(bench, sessionId)).slice(-2)).toEqual(["typed", "after them"]);
    expect(await branchPoints(bench, sessionId)).toBe(0);
  });

  it("is a lease of ours when Holdfast opened it", async () => {
    const closed = Promise.withResolvers<void>();
    const place = { sessionId, repoPath: bench.claude.repo, agentId: "main" };
    const attached = bench.runner.withSession(place, async () => await closed.promise);
    await until(async () => (await bench.runner.getAllLiveSessions())[0], "the session does not show");
    const next = bench.run("after it");
    expect(await bench.event("queued")).toMatchObject({ holder: { sessionId, task: "Opened by a person" } });
    closed.resolve();
    await attached;
    expect(await next).toMatchObject({ outcome: "completed", sessionId });
  });

  it("that takes our session while we write it is reported at once, and ended only by force", async () => {
    bench.reply("hold on", hang());
    bench.reply("intrude", hang());
    const controller = new AbortController();
    const running = bench.run("hold on", { signal: controller.signal });
    await bench.api.waitFor((request) => lastUserText(request).includes("hold on"));
    const person = startPerson(bench, ["--resume", sessionId, "intrude"]);
    expect(await bench.event("second-writer")).toMatchObject({ pid: person.pid, sessionId });
    controller.abort();
    const result = await running;
    expect(result.warnings.join()).toContain(String(person.pid));
    expect(await bench.runner.killClaudeCode(sessionId, { force: true })).toEqual([
      { sessionId, pid: person.pid, by: "signal" },
    ]);
    await person.ended;
    // What the other tests look for in vain.
    expect(await branchPoints(bench, sessionId)).toBeGreaterThan(0);
  });
});
