/** Visibility of search results, and their shape for tools. */
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  answer,
  appendLines,
  createSearchHome,
  found,
  prompt,
  REPO,
  SESSION,
  SESSION_2,
} from "../../test/support/search-home.ts";
import { agentLayout } from "../config/layout.ts";
import { searchMemory, searchRecall } from "./search-results.ts";

describe("visibility", () => {
  it("gives each agent its own memory and transcripts only", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "otter of main");
    await home.memory("other", "MEMORY.md", "otter of other");
    await home.transcript("main", "m1", ["otter of main"]);
    await home.transcript("other", "o1", ["otter of other"]);
    const index = await home.refreshed();
    for (const agentId of ["main", "other"]) {
      const { hits } = index.search({ text: "otter", agentId, repoRoots: ["/"] });
      expect(hits.map((hit) => hit.agentId)).toEqual([agentId, agentId]);
      expect(index.search({ text: "tter", agentId, repoRoots: ["/"] }).hits).toHaveLength(2);
      expect(index.search({ text: "otter zebra", agentId }).hits).toHaveLength(2);
    }
    for (const agentId of ["", "nobody", "?", "%", "main' OR '1'='1"]) {
      expect(index.search({ text: "otter", agentId, repoRoots: ["/"] }).hits).toEqual([]);
    }
  });

  it("adds native sessions of the named repos, unless another agent started them", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(`${REPO}/packages/a`, "otter by a person")]);
    await home.native(`${REPO}-2`, SESSION_2, [prompt(`${REPO}-2`, "otter elsewhere")]);
    const index = await home.refreshed();
    expect(found(index, "otter")).toEqual([`${SESSION}.jsonl`]);
    expect(found(index, "otter", { repoRoots: [`${REPO}/`] })).toEqual([`${SESSION}.jsonl`]);
    expect(found(index, "otter", { repoRoots: [] })).toEqual([]);
    expect(found(index, "otter", { repoRoots: ["/"] })).toHaveLength(2);
    expect(found(index, "otter", { repoRoots: ["/"], repo: `${REPO}-2` })).toEqual([`${SESSION_2}.jsonl`]);
    expect(found(index, "otter", { repoRoots: ["/"], sessionIds: [SESSION_2] })).toEqual([`${SESSION_2}.jsonl`]);
    expect(found(index, "otter", { repoRoots: ["/"], kinds: ["memory"] })).toEqual([]);
  });

  it("knows an agent's session by its marker and keeps its subagents with it", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [
      prompt(REPO, "[openclaw:agent=other]\nlook for the otter"),
      prompt(REPO, "otter again"),
    ]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "an otter", { isSidechain: true })]);
    const index = await home.refreshed();
    expect(found(index, "otter")).toEqual([]);
    expect(found(index, "otter", { agentId: "other", repoRoots: [] })).toHaveLength(3);
    const { hits } = index.search({ text: "look", agentId: "other" });
    expect(hits[0]?.snippet).toBe("**look** for the otter");
  });

  it("ignores a marker after the first prompt", async () => {
    await using home = await createSearchHome();
    const path = await home.native(REPO, SESSION, [
      prompt(REPO, "otter"),
      prompt(REPO, "[openclaw:agent=other]\nmine now"),
    ]);
    const index = await home.refreshed();
    await appendLines(path, [prompt(REPO, "[openclaw:agent=other]\nand now", { entrypoint: "holdfast" })]);
    await index.refresh({ sources: home.sources() });
    expect(found(index, "otter")).toHaveLength(1);
    expect(found(index, "otter", { agentId: "other", repoRoots: [] })).toEqual([]);
  });

  it("trusts a registry, also if it names a session later", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "an otter", { isSidechain: true })]);
    const index = await home.refreshed();
    expect(found(index, "otter")).toHaveLength(2);
    await index.refresh({ sources: home.sources({ owners: new Map([[SESSION, "other"]]) }) });
    expect(found(index, "otter")).toEqual([]);
    expect(found(index, "otter", { agentId: "other", repoRoots: [] })).toHaveLength(2);
  });

  it("hides sessions of an unknown agent, and sessions whose start was not read", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(REPO, "otter", { entrypoint: "holdfast" })]);
    await home.native(REPO, SESSION_2, [answer(REPO, "otter without a question")]);
    await home.subagent(REPO, SESSION_2, "abc", [answer(REPO, "an otter", { isSidechain: true })]);
    const index = await home.refreshed();
    expect(found(index, "otter")).toEqual([]);
  });

  it("lets agents that share a workspace each find it", async () => {
    await using home = await createSearchHome();
    const path = await home.memory("main", "MEMORY.md", "otter");
    const { workspace } = agentLayout(home.home, "main");
    const sources = { agents: ["main", "other"].map((agentId) => ({ agentId, workspace })) };
    const index = await home.open();
    await index.refresh({ sources });
    expect([found(index, "otter"), found(index, "otter", { agentId: "other" })]).toEqual([
      ["MEMORY.md"],
      ["MEMORY.md"],
    ]);
    expect(await index.refresh({ sources })).toMatchObject({ filesRead: 0 });
    await rm(path);
    await index.refresh({ sources: { agents: [{ agentId: "main", workspace }] } });
    expect([found(index, "otter"), found(index, "otter", { agentId: "other" })]).toEqual([[], []]);
  });

  it("does not follow links out of a workspace", async () => {
    await using home = await createSearchHome();
    const foreign = await home.memory("other", "MEMORY.md", "otter of other");
    await home.memory("main", "AGENTS.md", "nothing");
    const { workspace } = agentLayout(home.home, "main");
    await symlink(foreign, join(workspace, "MEMORY.md"));
    await symlink(agentLayout(home.home, "other").workspace, join(workspace, "memory"));
    const index = await home.refreshed();
    expect(found(index, "otter")).toEqual([]);
  });
});

describe("for tools", () => {
  it("searches memory in OpenClaw's shape", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "# Pets\n\nAn otter.\nAnd a cat.\n");
    await home.transcript("main", "m1", ["otter in a chat"]);
    const index = await home.refreshed();
    const answer = await searchMemory(index, { text: "otter", agentId: "main" });
    expect(answer.results).toEqual([
      {
        path: "MEMORY.md",
        startLine: 1,
        endLine: 4,
        snippet: "# Pets\n\nAn **otter**.\nAnd a cat.",
        score: expect.any(Number),
        source: "memory",
      },
    ]);
    expect(answer.indexing).toEqual({ complete: true, pendingFiles: 0, pendingBytes: 0 });
    expect((await searchMemory(index, { text: "otter", agentId: "main", minScore: 1 })).results).toEqual([]);
  });

  it("finds memory and earlier windows by meaning, only the asker's own", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "# Login\n\nPeople are logged out after a restart of the server.\n");
    await home.memory("other", "MEMORY.md", "# Users\n\nUsers lose their authentication in the other shop.\n");
    await home.transcript("main", "m1", ["Invoices were sent twice when the network dropped."]);
    await home.transcript("main", "m2", ["The connection was lost and the bill was duplicated."]);
    const index = await home.refreshed();
    const recall = async (text: string) => await searchRecall(index, { text, agentId: "main", windows: ["m1"] });
    const login = await recall("users lose their authentication when rebooting");
    expect(login.results[0]).toMatchObject({ source: "memory", path: "MEMORY.md" });
    expect(login).toMatchObject({ matched: "meaning", note: expect.stringContaining("about something similar") });
    const bill = await recall("duplicate bill after a lost connection");
    expect(bill.results[0]).toMatchObject({ source: "window", window: "m1" });
    const snippets = [...login.results, ...bill.results].map(({ snippet }) => snippet).join("\n");
    expect(snippets).not.toMatch(/other shop|duplicated/);
    // A phrase is meant as it is.
    expect((await recall('"duplicate bill" after a lost connection')).results).toEqual([]);
  });

  it("groups matches by session", async () => {
    await using home = await createSearchHome();
    await home.transcript("main", "m1", ["otter one", "nothing", "otter two", "otter three", "otter four"]);
    await home.native(REPO, SESSION, [prompt(REPO, "an otter in a very long sentence about something else entirely")]);
    await home.memory("main", "MEMORY.md", "otter");
    const index = await home.refreshed();
    const { sessions } = index.sessions({ text: "otter", agentId: "main", repoRoots: [REPO], passages: 2 });
    expect(
      sessions.map(({ sessionId, kind, found: count, passages }) => [sessionId, kind, count, passages.length]),
    ).toEqual([
      [SESSION, "native", 1, 1],
      ["m1", "transcript", 4, 2],
    ]);
    expect(sessions[0]?.agentId).toBeUndefined();
    expect(index.sessions({ text: "otter", agentId: "main", repoRoots: [REPO], limit: 1 }).sessions).toHaveLength(1);
  });
});
