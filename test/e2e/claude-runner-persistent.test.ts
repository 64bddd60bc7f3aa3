/** The runner with the real `claude`: sessions that stay open for follow-ups. */
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { registeredCost, testRunnerParts, branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { until } from "../support/time.ts";

describe("persistent sessions", () => {
  it("accept follow-ups one at a time, from this and another process, and end on request", async () => {
    await using bench = await createRunnerHome();
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
    // A second runner represents another process: it knows only the files.
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
    await using bench = await createRunnerHome();
    const first = await bench.run("open it", { persistent: true });
    // Sent at the same time: only when earlier messages are done is it known whether a message opens a session.
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

  it("end when idle", async () => {
    await using bench = await createRunnerHome({ idleTimeoutMinutes: 0.005 });
    await bench.run("open it", { persistent: true });
    await bench.claude.empty();
    const left = await until(
      async () => ((await readdir(bench.locksFolder)).length === 0 ? 0 : undefined),
      "leases left",
    );
    expect(left).toBe(0);
  });
});
