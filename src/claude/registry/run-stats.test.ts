/** Claude Code reports the same costs several times; they are counted once. */
import { describe, expect, it } from "vitest";
import { createTestClock } from "../../../test/support/time.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { type RegistryPlace, listAllSessions, saveSession } from "./registry.ts";
import { readSessionCosts, updateSessionStats } from "./run-stats.ts";

const one = "11111111-1111-4111-8111-111111111111";
const two = "22222222-2222-4222-8222-222222222222";

function placeIn(folder: TemporaryFolder): RegistryPlace {
  return { home: folder.join("home"), agentId: "main", clock: createTestClock(Date.UTC(2026, 0, 1)) };
}

async function only(place: RegistryPlace) {
  const { sessions } = await listAllSessions({ home: place.home });
  expect(sessions).toHaveLength(1);
  return sessions[0];
}

describe("updateSessionStats", () => {
  const run = { sessionId: one, runId: "100@5", cliVersion: "2.1.197" };

  it("adds the difference to the last report of the process, however often it is repeated", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one });
    const tell = async (cumulativeCostUsd: number, turns: number) =>
      await updateSessionStats(place, { ...run, cumulativeCostUsd, turns });
    await tell(0.1, 1);
    await tell(0.3, 2);
    await tell(0.3, 2);
    await tell(0.1, 1);
    await tell(Number.NaN, Number.NaN);
    await tell(0.3, 2);
    expect(await only(place)).toMatchObject({ totalCostUsd: 0.3, totalTurns: 2 });
  });

  it("counts a resumed run from zero or from the carried-over cost, as its CLI does", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one });
    await updateSessionStats(place, { ...run, cumulativeCostUsd: 1, turns: 1 });
    await updateSessionStats(place, { ...run, runId: "101@6", cumulativeCostUsd: 1.5, turns: 1 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 2.5, totalTurns: 2 });
    // The previous process ended with 1.5; a newer CLI continues from there.
    const newer = { ...run, cliVersion: "2.1.325" };
    await updateSessionStats(place, { ...newer, runId: "102@7", cumulativeCostUsd: 1.75, turns: 1 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 2.75, totalTurns: 3 });
    // A figure below the known cost cannot include it.
    await updateSessionStats(place, { ...newer, runId: "103@8", cumulativeCostUsd: 0.25, turns: 1 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 3, totalTurns: 4 });
    // A process that died has reported nothing, and does not change the figure that is carried over.
    await updateSessionStats(place, { ...newer, runId: "104@9", cumulativeCostUsd: 0, turns: 0 });
    await updateSessionStats(place, { ...newer, runId: "105@10", cumulativeCostUsd: 0.5, turns: 1 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 3.25, totalTurns: 5 });
    // Carried over from a time before an older CLI ran.
    await updateSessionStats(place, { ...run, runId: "106@11", cumulativeCostUsd: 0.1, turns: 1 });
    await updateSessionStats(place, { ...newer, runId: "107@12", cumulativeCostUsd: 2, turns: 1 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 3.6, totalTurns: 7 });
  });

  it("does not repeat costs that another registry counted and a newer CLI carries over", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one });
    const newer = { ...run, cliVersion: "2.1.325", turns: 1, elsewhereUsd: 1 };
    await updateSessionStats(place, { ...newer, cumulativeCostUsd: 1.25 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 0.25 });
    await updateSessionStats(place, { ...newer, runId: "101@6", cumulativeCostUsd: 1.75 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 0.75 });
    await updateSessionStats(place, { ...newer, cliVersion: "2.1.197", runId: "102@7", cumulativeCostUsd: 0.5 });
    expect(await only(place)).toMatchObject({ totalCostUsd: 1.25 });
  });

  it("does not repeat the original's cost for a fork, nor the cost before /clear", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one });
    await updateSessionStats(place, { ...run, cliVersion: "2.1.325", cumulativeCostUsd: 2, turns: 4 });
    await saveSession(place, { repoPath: "/r", sessionId: two, label: "fork" });
    const fork = { sessionId: two, runId: "200@9", cliVersion: "2.1.325", forkedFrom: one };
    await updateSessionStats(place, { ...fork, cumulativeCostUsd: 2.25, turns: 1 });
    const three = "33333333-3333-4333-8333-333333333333";
    await saveSession(place, { repoPath: "/r", sessionId: three, label: "cleared" });
    await updateSessionStats(place, { ...fork, sessionId: three, cumulativeCostUsd: 2.5, turns: 3 });
    const { sessions } = await listAllSessions(place);
    const costs = Object.fromEntries(sessions.map((session) => [session.sessionId, session]));
    expect(costs[one]).toMatchObject({ totalCostUsd: 2, totalTurns: 4 });
    expect(costs[two]).toMatchObject({ totalCostUsd: 0.25, totalTurns: 1 });
    expect(costs[three]).toMatchObject({ totalCostUsd: 0.25, totalTurns: 2 });
  });

  it("counts from zero where a newer CLI restarts after /clear, and continues from the right figure later", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    const tell = async (runId: string, sessionId: string, cumulativeCostUsd: number, turns: number) =>
      await updateSessionStats(place, { runId, sessionId, cliVersion: "2.1.325", cumulativeCostUsd, turns });
    await saveSession(place, { repoPath: "/r", sessionId: one });
    await tell("1@1", one, 1, 1);
    await tell("2@2", one, 3, 2);
    await saveSession(place, { repoPath: "/r", sessionId: two });
    await tell("2@2", two, 0, 2);
    await tell("2@2", two, 0.5, 3);
    // A late or repeated report is already counted.
    await tell("2@2", one, 3, 2);
    expect(await readSessionCosts(place, one)).toEqual({ totalUsd: 3, reportedUsd: 3 });
    expect(await readSessionCosts(place, two)).toEqual({ totalUsd: 0.5, reportedUsd: 0.5 });
    await tell("3@3", one, 3.25, 1);
    expect(await readSessionCosts(place, one)).toEqual({ totalUsd: 3.25, reportedUsd: 3.25 });
  });

  it("keeps the same figures for all labels of a session", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one, label: "docs" });
    await updateSessionStats(place, { ...run, cumulativeCostUsd: 1, turns: 1 });
    await saveSession(place, { repoPath: "/r", sessionId: one });
    await updateSessionStats(place, { ...run, runId: "101@6", cumulativeCostUsd: 0.5, turns: 1 });
    const { sessions } = await listAllSessions(place);
    expect(sessions.map(({ label, totalCostUsd, totalTurns }) => [label, totalCostUsd, totalTurns])).toEqual([
      ["docs", 1.5, 2],
      [undefined, 1.5, 2],
    ]);
    expect(await readSessionCosts(place, one)).toEqual({ totalUsd: 1.5, reportedUsd: 0.5 });
  });

  it("distinguishes the total of a fork from the reported cost, which includes the original's", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/r", sessionId: one });
    await updateSessionStats(place, { ...run, cliVersion: "2.1.325", cumulativeCostUsd: 2, turns: 1 });
    await saveSession(place, { repoPath: "/r", sessionId: two });
    const fork = { sessionId: two, runId: "200@9", cliVersion: "2.1.325", forkedFrom: one };
    await updateSessionStats(place, { ...fork, cumulativeCostUsd: 2.25, turns: 1 });
    expect(await readSessionCosts(place, two)).toEqual({ totalUsd: 0.25, reportedUsd: 2.25 });
    expect(await readSessionCosts(place, "nobody")).toBeUndefined();
  });

  it("refuses figures of an unsaved session", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await expect(updateSessionStats(place, { ...run, cumulativeCostUsd: 1, turns: 1 })).rejects.toMatchObject({
      code: "session-not-registered",
    });
  });
});
