/** Several runners and runs with the real `claude`: one writer per session and repo. */
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { ClaudeCodeResult, RunnerEvent } from "../../src/claude/runner/runner-contract.ts";
import { lastUserText } from "../support/fake-anthropic/recorded-request.ts";
import { hang, heldUntil, text } from "../support/fake-anthropic/reply.ts";
import { type Child, startChild } from "../support/child.ts";
import { branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { until } from "../support/time.ts";

describe("several runs", () => {
  it("queue on one repo and then resume the first one's session; labels run in parallel", async () => {
    await using home = await createRunnerHome();
    const released = Promise.withResolvers<void>();
    home.reply("slow one", heldUntil(released.promise, text("one two three")));
    const first = home.run("slow one");
    await home.event("text");
    const labelled = home.run("beside it", { label: "docs" });
    const second = home.run("second in line");
    const third = home.run("third in line");
    const queued = await home.event("queued");
    expect(queued).toMatchObject({ holder: { kind: "holdfast", task: "slow one", agentId: "main" } });
    const docs = await labelled;
    expect(home.runner.activeSpawns.size).toBeGreaterThan(0);
    released.resolve();
    const [one, two] = await Promise.all([first, second, third]);
    expect(two).toMatchObject({ outcome: "completed", sessionId: one.sessionId, selection: { action: "resume" } });
    expect(docs.sessionId).not.toBe(one.sessionId);
    expect((await prompts(home, one.sessionId ?? "")).slice(1)).toEqual(["second in line", "third in line"]);
    expect(await branchPoints(home, one.sessionId ?? "")).toBe(0);
    const controller = new AbortController();
    controller.abort();
    await expect(home.run("never", { signal: controller.signal })).rejects.toMatchObject({ code: "run-cancelled" });
    for (const label of [" ", "two\nlines", "\u001b[31m"]) {
      await expect(home.run("never", { label })).rejects.toMatchObject({ code: "invalid-label" });
    }
  });

  it("queue across processes; a killed process leaves neither a claude nor a lease", async () => {
    await using home = await createRunnerHome();
    home.reply("in the child", hang());
    const options = { task: "in the child", repoPath: home.claude.repo, agentId: "main" };
    await using child = startChild("claude", { task: "runner", setup: home.setup, options });
    const started = await eventOf(child, "started");
    await home.api.waitFor((request) => lastUserText(request).includes("in the child"));
    await expect(home.run("no", { onRunning: "refuse" })).rejects.toMatchObject({ code: "session-in-use" });
    const second = home.run("after the child");
    expect(await home.event("queued")).toMatchObject({ holder: { pid: child.pid, task: "in the child" } });
    // Claude Code writes its transcript with a delay, and only a written session can be resumed.
    const isWritten = async () => (await prompts(home, started.sessionId ?? "")).length > 0 || undefined;
    await until(async () => await isWritten().catch(() => undefined), "no transcript");
    child.kill("SIGKILL");
    await child.ended();
    const killedAt = performance.now();
    const result = await second;
    expect(result.outcome).toBe("completed");
    expect(performance.now() - killedAt).toBeLessThan(10_000);
    expect(result.sessionId).toBe(started.sessionId);
    expect(await branchPoints(home, result.sessionId ?? "")).toBe(0);
    await home.claude.empty();
    expect(await readdir(home.locksFolder)).toEqual([]);
  });

  it("end in another process by kill request or SIGTERM", async () => {
    await using home = await createRunnerHome();
    home.reply("in the child", hang());
    const options = { task: "in the child", repoPath: home.claude.repo, agentId: "main" };
    await using asked = startChild("claude", {
      task: "runner",
      setup: home.setup,
      options: { ...options, label: "asked" },
    });
    await using told = startChild("claude", {
      task: "runner",
      setup: home.setup,
      options: { ...options, label: "told" },
    });
    const { sessionId = "" } = await eventOf(asked, "started");
    await eventOf(told, "started");
    const live = await home.runner.getAllLiveSessions();
    expect(live.map(({ label }) => label ?? "").sort()).toEqual(["asked", "told"]);
    expect(live.some(({ isLocal }) => isLocal)).toBe(false);
    await expect(home.runner.sendFollowUpAndWait(sessionId, "no")).rejects.toMatchObject({
      code: "session-not-persistent",
    });
    expect(await home.runner.killClaudeCode(sessionId)).toMatchObject([{ sessionId, by: "holdfast" }]);
    expect(await eventOf(asked, "result")).toMatchObject({ result: { outcome: "interrupted" } });
    told.kill("SIGTERM");
    await told.ended();
    expect(home.claude.processes()).toEqual([]);
    expect(await readdir(home.locksFolder)).toEqual([]);
  });
});

type RunnerLine = RunnerEvent | { type: "result"; result: ClaudeCodeResult };

async function eventOf<Type extends RunnerLine["type"]>(
  child: Child,
  type: Type,
): Promise<RunnerLine & { type: Type }> {
  return (await child.line((line) => (line as RunnerLine).type === type)) as RunnerLine & { type: Type };
}
