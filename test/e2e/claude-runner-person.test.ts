/** The runner next to a `claude` started by a person: never two writers in one session. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { readRunningSessions } from "../../src/claude/native/layout.ts";
import { lastUserText } from "../support/fake-anthropic/recorded-request.ts";
import { hang, heldUntil, text } from "../support/fake-anthropic/reply.ts";
import { type RunnerHome, branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { until } from "../support/time.ts";

describe("a person's own claude", () => {
  let home: RunnerHome;
  let sessionId: string;
  beforeAll(async () => {
    home = await createRunnerHome();
    sessionId = (await home.run("ours")).sessionId ?? "";
  });
  beforeEach(() => void home.events.splice(0));
  afterAll(async () => {
    await home[Symbol.asyncDispose]();
  });

  it("is waited for, forked or refused, never written to concurrently", async () => {
    const released = Promise.withResolvers<void>();
    home.reply("theirs", heldUntil(released.promise, text("a b c")));
    const person = startPerson(home, ["--resume", sessionId, "theirs"]);
    await until(async () => await isRunning(home, person.pid), "the person's claude does not show");
    await expect(home.run("no", { resume: sessionId, onRunning: "refuse" })).rejects.toMatchObject({
      code: "session-in-use",
      data: { kind: "person", pid: person.pid },
    });
    await expect(home.runner.killClaudeCode(sessionId)).rejects.toMatchObject({ code: "session-in-use" });
    const waiting = home.run("after them");
    expect(await home.event("queued")).toMatchObject({ holder: { kind: "person", pid: person.pid, sessionId } });
    const forked = await home.run("beside them", { resume: sessionId, onRunning: "fork", agentId: "other" });
    expect(forked).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    released.resolve();
    const waited = await waiting;
    await person.ended;
    const said = await prompts(home, sessionId);
    expect(said.slice(-2)).toEqual(["theirs", "after them"]);
    expect(waited.outcome).toBe("completed");
    expect(await branchPoints(home, sessionId)).toBe(0);
  });

  it("counts even when idle in a terminal", async () => {
    const person = await startPersonAtTerminal(home, ["--resume", sessionId]);
    const idle = await until(
      async () => (await readRunningSessions(home.claude.configDir)).find(({ status }) => status === "idle"),
      "the terminal does not show",
    );
    expect(idle).toMatchObject({ sessionId, kind: "interactive" });
    const holder = { kind: "person", pid: idle.pid, sessionId, status: "idle" };
    await expect(home.run("no", { resume: sessionId, onRunning: "refuse" })).rejects.toMatchObject({
      code: "session-in-use",
      data: holder,
    });
    const waiting = home.run("after them");
    expect(await home.event("queued")).toMatchObject({ holder });
    person.type("typed");
    // Text and Enter that are read at once would count as a paste.
    await until(
      () => person.output().includes("typed"),
      () => person.output(),
    );
    person.type("\r");
    await home.api.waitFor((request) => lastUserText(request).includes("typed"));
    const forked = await home.run("beside them", { resume: sessionId, onRunning: "fork", agentId: "other" });
    expect(forked).toMatchObject({ outcome: "completed", selection: { action: "fork", sessionId } });
    process.kill(idle.pid, "SIGTERM");
    await person.ended;
    expect(await waiting).toMatchObject({ outcome: "completed", sessionId });
    expect((await prompts(home, sessionId)).slice(-2)).toEqual(["typed", "after them"]);
    expect(await branchPoints(home, sessionId)).toBe(0);
  });

  it("counts as our own lease if Holdfast opened it", async () => {
    const closed = Promise.withResolvers<void>();
    const place = { sessionId, repoPath: home.claude.repo, agentId: "main" };
    const attached = home.runner.withSession(place, async () => await closed.promise);
    await until(async () => (await home.runner.getAllLiveSessions())[0], "the session does not show");
    const next = home.run("after it");
    expect(await home.event("queued")).toMatchObject({ holder: { sessionId, task: "Opened by a person" } });
    closed.resolve();
    await attached;
    expect(await next).toMatchObject({ outcome: "completed", sessionId });
  });

  it("that takes our session during a run is reported at once, and ended only by force", async () => {
    home.reply("hold on", hang());
    home.reply("intrude", hang());
    const controller = new AbortController();
    const running = home.run("hold on", { signal: controller.signal });
    await home.api.waitFor((request) => lastUserText(request).includes("hold on"));
    const person = startPerson(home, ["--resume", sessionId, "intrude"]);
    expect(await home.event("second-writer")).toMatchObject({ pid: person.pid, sessionId });
    // The person's message is in the transcript once it is sent.
    await home.api.waitFor((request) => lastUserText(request).includes("intrude"));
    controller.abort();
    const result = await running;
    expect(result.warnings.join()).toContain(String(person.pid));
    expect(await home.runner.killClaudeCode(sessionId, { force: true })).toEqual([
      { sessionId, pid: person.pid, by: "signal" },
    ]);
    await person.ended;
    // The sign of two writers, which the other tests must not find.
    expect(await branchPoints(home, sessionId)).toBeGreaterThan(0);
  });
});

/** A person's own `claude`, which knows nothing of Holdfast. */
function startPerson({ claude }: RunnerHome, args: string[]): { pid: number; ended: Promise<unknown> } {
  const child = spawn(claude.command, ["-p", ...args], { cwd: claude.repo, env: claude.env, stdio: "ignore" });
  return { pid: child.pid ?? 0, ended: once(child, "exit") };
}

/** A person's `claude` in a terminal that `script` provides, idle until something is typed. */
async function startPersonAtTerminal(
  { claude }: RunnerHome,
  args: string[],
): Promise<{ type(text: string): void; output(): string; ended: Promise<unknown> }> {
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
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  return { type: (text) => void child.stdin.write(text), output: () => output, ended: once(child, "exit") };
}

async function isRunning({ claude }: RunnerHome, pid: number): Promise<true | undefined> {
  return (await readRunningSessions(claude.configDir)).some((one) => one.pid === pid) || undefined;
}
