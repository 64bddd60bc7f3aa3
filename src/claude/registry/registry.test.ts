import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createTestClock } from "../../../test/support/time.ts";
import { type TemporaryFolder, temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createLogger } from "../../base/log.ts";
import { isAsSuggested } from "./registry-file.ts";
import {
  type RegistryPlace,
  listAllSessions,
  readRegistries,
  registryPath,
  resolveSession,
  saveSession,
  mergeRegistered,
} from "./registry.ts";
import { updateSessionStats } from "./run-stats.ts";

const one = "11111111-1111-4111-8111-111111111111";
const two = "22222222-2222-4222-8222-222222222222";

function placeIn(folder: TemporaryFolder, agentId = "main"): RegistryPlace {
  return { home: folder.join("home"), agentId, clock: createTestClock(Date.UTC(2026, 0, 1)) };
}

async function readDocument(place: RegistryPlace): Promise<Record<string, Record<string, Record<string, unknown>>>> {
  return JSON.parse(await readFile(registryPath(place), "utf8")) as never;
}

async function writeDocument(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

async function only(place: RegistryPlace) {
  const { sessions } = await listAllSessions({ home: place.home });
  expect(sessions).toHaveLength(1);
  return sessions[0];
}

it("keeps the latest decisions, and skips entries that cannot be read", async () => {
  await using folder = await temporaryFolder();
  const place = placeIn(folder);
  const none = { scores: [], relevanceBy: "none" as const };
  const suggested = { ...none, action: "resume" as const, sessionId: two, reason: "It fits." };
  const decision = { ...none, action: "fresh" as const, reason: "A fresh session was requested.", suggested };
  for (let run = 0; run < 103; run++) {
    await saveSession(place, { repoPath: "/repo/a", sessionId: one, task: `task ${run}`, decision });
  }
  const document = await readDocument(place);
  const kept = document["holdfast"]?.["decisions"] as unknown as Record<string, unknown>[];
  expect(kept).toHaveLength(100);
  kept.push({}, { ...kept[0], selection: { action: "fresh", reason: "", candidates: [{}] } });
  await writeDocument(registryPath(place), document);
  const { registries } = await readRegistries({ home: place.home });
  const decisions = registries.flatMap((registry) => registry.decisions);
  expect(decisions).toHaveLength(100);
  expect(decisions.at(-1)).toEqual({
    at: "2026-01-01T00:00:00.000Z",
    sessionId: one,
    repoPath: "/repo/a",
    task: "task 102",
    selection: {
      action: "fresh",
      reason: "A fresh session was requested.",
      relevanceBy: "none",
      candidates: [],
      considered: 0,
    },
    suggested: {
      action: "resume",
      sessionId: two,
      reason: "It fits.",
      relevanceBy: "none",
      candidates: [],
      considered: 0,
    },
  });
  expect(decisions.filter(isAsSuggested)).toEqual([]);
});

describe("saveSession", () => {
  it("writes OpenClaw's format, one entry per repo and one per label", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/repo/a", sessionId: one, task: "first" });
    await saveSession(place, { repoPath: "/repo/a", sessionId: two, label: "docs" });
    await saveSession(place, { repoPath: "/repo/a", sessionId: one, task: "second" });
    const at = "2026-01-01T00:00:00.000Z";
    const common = { createdAt: at, lastResumedAt: at, totalCostUsd: 0, totalTurns: 0, repoPath: "/repo/a" };
    expect((await readDocument(place))["sessions"]).toEqual({
      "/repo/a": {
        ...common,
        sessionId: one,
        taskHistory: [
          { task: "first", at },
          { task: "second", at },
        ],
      },
      "/repo/a::docs": { ...common, sessionId: two, label: "docs", taskHistory: [] },
    });
    expect(await resolveSession(place, "/repo/a")).toBe(one);
    expect(await resolveSession(place, "/repo/a", " docs ")).toBe(two);
    expect(await resolveSession(place, "/repo/a", "other")).toBeUndefined();
    expect(await resolveSession(placeIn(folder, "kyo"), "/repo/a")).toBeUndefined();
  });

  it("keeps a replaced session with its figures and restores it complete", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/repo", sessionId: one, task: "old" });
    await updateSessionStats(place, { sessionId: one, runId: "7@1", cumulativeCostUsd: 0.5, turns: 3 });
    await saveSession(place, { repoPath: "/repo", sessionId: two });
    const { sessions } = await listAllSessions(place);
    expect(sessions.map(({ sessionId, current, repoPath }) => ({ sessionId, current, repoPath }))).toEqual([
      { sessionId: two, current: true, repoPath: "/repo" },
      { sessionId: one, current: false, repoPath: "/repo" },
    ]);
    await saveSession(place, { repoPath: "/repo", sessionId: one });
    const back = (await listAllSessions(place)).sessions.filter(({ sessionId }) => sessionId === one);
    expect(back).toMatchObject([{ current: true, totalCostUsd: 0.5, totalTurns: 3, tasks: ["old"] }]);
  });

  it("remembers the label of a session that is resumed without it", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/repo", sessionId: one, label: "docs" });
    await saveSession(place, { repoPath: "/repo", sessionId: two, label: "docs" });
    await saveSession(place, { repoPath: "/repo", sessionId: one });
    await updateSessionStats(place, { sessionId: one, runId: "7@1", cumulativeCostUsd: 0.5, turns: 3 });
    expect(await resolveSession(place, "/repo", "docs")).toBe(two);
    const { registries } = await readRegistries(place);
    const facts = { labels: ["docs"], totalCostUsd: 0.5, totalTurns: 3 };
    expect(mergeRegistered(registries).get(one)).toMatchObject(facts);
    // Saved under its label again, the session is not stored twice.
    await saveSession(place, { repoPath: "/repo", sessionId: one, label: "docs" });
    expect((await listAllSessions(place)).sessions.filter(({ label }) => label === "docs")).toHaveLength(2);
  });

  it("keeps unknown members and finds entries saved through another path", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    const repo = folder.join("repo");
    await mkdir(repo);
    await symlink(repo, folder.join("link"));
    const path = registryPath(place);
    const foreign = { sessionId: one, createdAt: 1000, taskHistory: [{ task: "a", cost: 1 }], extra: { deep: [1] } };
    await writeDocument(path, { version: 9, sessions: { [folder.join("link")]: foreign, odd: 5 } });
    expect(await resolveSession(place, repo)).toBe(one);
    await saveSession(place, { repoPath: repo, sessionId: one, task: "b" });
    const document = await readDocument(place);
    expect(document["version"]).toBe(9);
    expect(document["sessions"]?.["odd"]).toBe(5);
    expect(Object.keys(document["sessions"] ?? {})).toEqual([folder.join("link"), "odd"]);
    expect(document["sessions"]?.[folder.join("link")]).toMatchObject({
      extra: { deep: [1] },
      createdAt: 1000,
      repoPath: await realpath(repo),
      taskHistory: [{ task: "a", cost: 1 }, { task: "b" }],
    });
  });

  it("limits the history and refuses ambiguous labels and agents", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    for (let count = 0; count < 53; count++) {
      await saveSession(place, { repoPath: "/r", sessionId: one, task: `${count} ${"😀".repeat(400)}` });
    }
    const session = await only(place);
    expect(session?.tasks).toHaveLength(50);
    expect(session?.tasks[0]).toMatch(/^3 /);
    expect(session?.tasks.every((task) => task.length <= 500 && task.isWellFormed())).toBe(true);
    const save = async (label: string) => await saveSession(place, { repoPath: "/r", sessionId: one, label });
    await expect(save("  ")).rejects.toMatchObject({ code: "invalid-label" });
    await expect(save("a\nb")).rejects.toMatchObject({ code: "invalid-label" });
    await expect(saveSession(place, { repoPath: "/r", sessionId: "__proto__" })).rejects.toMatchObject({
      code: "invalid-session-id",
    });
    const stranger = { ...place, agentId: "../main" };
    await expect(saveSession(stranger, { repoPath: "/r", sessionId: one })).rejects.toMatchObject({
      code: "invalid-agent-id",
    });
  });

  it("loses no update when several processes write", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    const module = fileURLToPath(new URL("registry.ts", import.meta.url));
    const script = `
      const { saveSession } = await import(${JSON.stringify(module)});
      const [, home, name] = process.argv;
      for (let i = 0; i < 10; i++) await saveSession({ home, agentId: "main" }, { repoPath: "/r/" + name + i, sessionId: name + i });
    `;
    const run = async (name: string): Promise<unknown> => {
      const args = ["--input-type=module", "-e", script, place.home, name];
      return (await once(spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] }), "exit"))[0];
    };
    expect(await Promise.all(["a", "b", "c"].map(run))).toEqual([0, 0, 0]);
    expect((await listAllSessions(place)).sessions).toHaveLength(30);
    expect(await readdir(dirname(registryPath(place)))).toEqual(["claude-code-sessions.json"]);
  });
});

describe("a registry that cannot be read", () => {
  it.each(["", '{"sessions":{"/a":{"sess', "[]", '{"sessions":[]}', "null"])(
    "is not treated as empty: %j",
    async (text) => {
      await using folder = await temporaryFolder();
      const place = placeIn(folder);
      await writeDocument(registryPath(place), text);
      await expect(resolveSession(place, "/a")).rejects.toMatchObject({ kind: "corrupt", code: "registry-unreadable" });
      const { sessions, problems } = await listAllSessions(place);
      expect(sessions).toEqual([]);
      expect(problems).toMatchObject([{ path: registryPath(place), error: { code: "registry-unreadable" } }]);
      const lines: string[] = [];
      const logger = createLogger({ level: "warn", write: (line) => lines.push(line) });
      await saveSession({ ...place, logger }, { repoPath: "/a", sessionId: one });
      expect(lines).toHaveLength(1);
      const names = (await readdir(dirname(registryPath(place)))).toSorted();
      expect(names).toEqual(["claude-code-sessions.json", expect.stringMatching(/\.json\.corrupt-2026-01-01T/)]);
      expect(await readFile(`${dirname(registryPath(place))}/${names[1]}`, "utf8")).toBe(text);
      expect(await resolveSession(place, "/a")).toBe(one);
    },
  );
});

describe("listAllSessions", () => {
  it("reads the registries of all agents, including OpenClaw's, without changing them", async () => {
    await using folder = await temporaryFolder();
    const place = placeIn(folder);
    await saveSession(place, { repoPath: "/a", sessionId: one, task: "mine" });
    const openClawHome = folder.join("openclaw");
    const path = `${openClawHome}/agents/kyo/claude-code-sessions.json`;
    await writeDocument(path, {
      sessions: {
        "/b::fix/it": { sessionId: two, label: "fix/it", lastResumedAt: "2026-02-20T10:00:00.000Z", totalCostUsd: 1.5 },
        "/c::x": { sessionId: "other" },
        "/broken": { sessionId: 7 },
      },
    });
    await mkdir(`${openClawHome}/agents/empty`);
    const { sessions, problems } = await listAllSessions({ home: place.home, openClawHome });
    expect(problems).toEqual([]);
    expect(sessions).toEqual([
      expect.objectContaining({ agentId: "main", repoPath: "/a", sessionId: one, tasks: ["mine"] }),
      {
        agentId: "kyo",
        repoPath: "/b",
        label: "fix/it",
        sessionId: two,
        tasks: [],
        current: true,
        lastResumedAt: Date.UTC(2026, 1, 20, 10),
        totalCostUsd: 1.5,
      },
      { agentId: "kyo", repoPath: "/c", label: "x", sessionId: "other", tasks: [], current: true },
    ]);
    expect(await readdir(dirname(path))).toEqual(["claude-code-sessions.json"]);
  });
});
