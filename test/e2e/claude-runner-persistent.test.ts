/** The runner with the real `claude`: sessions that stay open for follow-ups. */
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { createClaudeRunner } from "../../src/claude/runner/runner.ts";
import { registeredCost, testRunnerParts, branchPoints, createRunnerHome, prompts } from "../support/runner-home.ts";
import { until } from "../support/time.ts";

describe("persistent sessions", () => {
  it("accept follow-ups one at a time, from this and another process, and end on request", async () => {
    await using home = await createRunnerHome();
    const first = await home.run("open it", { persistent: true });
    const sessionId = first.sessionId ?? "";
    expect(first.isLive).toBe(true);
    expect(await home.runner.getAllLiveSessions()).toMatchObject([
      { sessionId, state: "idle", persistent: true, isLocal: true, agentId: "main" },
    ]);
    const [second, third] = await Promise.all([
      home.runner.sendFollowUpAndWait(sessionId, "number two"),
      home.runner.sendFollowUpAndWait(sessionId, "number three"),
    ]);
    expect([second.text, third.text]).toEqual(["echo: number two", "echo: number three"]);
    // A second runner represents another process: it knows only the files.
    const other = createClaudeRunner(testRunnerParts(home.setup));
    const fourth = await other.sendFollowUpAndWait(sessionId, "from afar");
    expect(fourth.text).toBe("echo: from afar");
    const decided: (string | undefined)[] = [];
    const spawned = await other.spawnClaudeCode({
      task: "goes there",
      repoPath: home.claude.repo,
      agentId: "main",
      onEvent: (event) => {
        if (event.type === "selected") decided.push(event.selection.action);
      },
    });
    expect(decided).toEqual(["continue"]);
    expect(spawned).toMatchObject({ sessionId, text: "echo: goes there", selection: { action: "continue" } });
    const costs = [first, second, third, fourth, spawned].reduce((sum, result) => sum + result.costUsd, 0);
    expect(await registeredCost(home.setup, sessionId)).toBeCloseTo(costs, 9);
    await until(async () => (await prompts(home, sessionId)).some((prompt) => prompt.includes("goes there")), "it");
    expect(await branchPoints(home, sessionId)).toBe(0);
    expect(await other.killClaudeCode(sessionId)).toMatchObject([{ sessionId, by: "holdfast" }]);
    await home.claude.empty();
    expect(await home.runner.getAllLiveSessions()).toEqual([]);
    await expect(home.runner.sendFollowUpAndWait(sessionId, "too late")).rejects.toMatchObject({
      code: "session-not-live",
    });
    expect(await readdir(home.locksFolder)).toEqual([]);
  });

  it("follow a session whose id changes", async () => {
    await using home = await createRunnerHome();
    const first = await home.run("open it", { persistent: true });
    // Sent at the same time: only when earlier messages are done is it known whether a message opens a session.
    const [cleared, next] = await Promise.all(
      ["/clear", "after it"].map(
        async (message) => await home.runner.sendFollowUpAndWait(first.sessionId ?? "", message),
      ),
    );
    if (cleared === undefined || next === undefined) throw new Error("no results");
    expect(next.sessionId).not.toBe(first.sessionId);
    expect(next.sessionId).toBe(cleared.sessionId);
    expect((await home.runner.getAllLiveSessions())[0]?.sessionId).toBe(next.sessionId);
    expect(await home.runner.stopPersistentSession(next.sessionId ?? "")).toBe(true);
    // While the process lives its transcript lags behind.
    expect(await prompts(home, next.sessionId ?? "")).toContain("[openclaw:agent=main]\n\nafter it");
  });

  it("end when idle", async () => {
    await using home = await createRunnerHome({ idleTimeoutMinutes: 0.005 });
    await home.run("open it", { persistent: true });
    await home.claude.empty();
    const left = await until(
      async () => ((await readdir(home.locksFolder)).length === 0 ? 0 : undefined),
      "leases left",
    );
    expect(left).toBe(0);
  });
});
