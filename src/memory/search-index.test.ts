/** What is found, in which order, and by whom. */
import { join } from "node:path";
import { cp, readFile, rm, symlink } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { SESSION, SESSION_2, answer, appendLines, createSearchHome, prompt } from "../../test/support/search-home.ts";
import { assistantDraft, messageLine } from "../../test/support/transcripts.ts";
import { agentLayout } from "../config/layout.ts";
import type { SearchIndex } from "./search-index.ts";
import type { SearchQuery } from "./search-query.ts";
import { searchMemory } from "./search-memory.ts";
import { searchSessions } from "./search-sessions.ts";

const REPO = "/work/shop";
const SAMPLES = fileURLToPath(new URL("../../test/fixtures/claude-code", import.meta.url));

interface Manifest {
  samples: { sessionId: string; firstPrompt: string }[];
}

const line = (id: string, text: string, mark: object) => ({ ...messageLine(id, "e0", text), ...mark });

const found = (index: SearchIndex, text: string, query: Partial<SearchQuery> = {}): string[] =>
  index.search({ text, agentId: "main", repoRoots: [REPO], ...query }).hits.map(({ name }) => name);

describe("what a hit says", () => {
  it("names the place in a memory file", async () => {
    await using home = await createSearchHome();
    const path = await home.memory(
      "main",
      "memory/2026-11-01.md",
      "# Monday\n\nQuiet.\n\n## Release\n\nThe otter ships on Friday.\n",
    );
    const index = await home.refreshed();
    const { hits, matched } = index.search({ text: "otter", agentId: "main" });
    expect(matched).toBe("all");
    expect(hits).toMatchObject([
      { kind: "memory", agentId: "main", path, name: "memory/2026-11-01.md", line: 5, endLine: 7, offset: 18 },
    ]);
    expect(hits[0]?.snippet).toBe("## Release The **otter** ships on Friday.");
    expect(hits[0]?.at).toBeGreaterThan(0);
  });

  it("names the entry of our own transcripts", async () => {
    await using home = await createSearchHome();
    const more = [
      { id: "e9", parentId: "e0", timestamp: "2026-02-03T00:00:00.000Z", ...assistantDraft("a heron answered") },
    ];
    const path = await home.transcript("main", "s1", ["where is the heron"], more);
    const index = await home.refreshed();
    const { hits } = index.search({ text: "heron", agentId: "main", role: "assistant" });
    expect(hits).toMatchObject([
      { kind: "transcript", sessionId: "s1", entryId: "e9", role: "assistant", path, line: 3, repo: "/ws" },
    ]);
    expect(hits[0]?.at).toBe(Date.UTC(2026, 1, 3));
  });

  it("knows of our own transcripts what people wrote, not what was put around it or asked of the agent", async () => {
    await using home = await createSearchHome();
    await home.transcript(
      "main",
      "s1",
      ["hello"],
      [
        line("e1", "System: a walrus came\n\nwhere is the heron", { turnId: "t1", said: "where is the heron" }),
        line("e2", "and the otter", { turnId: "t1", steered: true }),
        line("e3", "write down the badger", { turnId: "flush:t1" }),
      ],
    );
    const index = await home.refreshed();
    const entries = (text: string) => index.search({ text, agentId: "main" }).hits.map(({ entryId }) => entryId);
    expect(entries("heron")).toEqual(["e1"]);
    expect(entries("otter")).toEqual(["e2"]);
    expect(entries("walrus")).toEqual([]);
    expect(entries("badger")).toEqual([]);
  });

  it("names the line of Claude Code's transcripts and their subagents, without output of tools", async () => {
    await using home = await createSearchHome();
    const result = {
      type: "user",
      cwd: REPO,
      toolUseResult: {},
      message: { content: [{ type: "tool_result", content: "heron" }] },
    };
    await home.native(REPO, SESSION, [
      prompt(REPO, "find the heron"),
      result,
      { type: "system", content: "heron" },
      prompt(REPO, "heron", { isMeta: true }),
      prompt(REPO, "heron", { isCompactSummary: true }),
      answer(REPO, "heron", { message: { model: "<synthetic>", content: [{ type: "text", text: "heron" }] } }),
    ]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "a grey heron", { isSidechain: true })]);
    const index = await home.refreshed();
    const { hits } = index.search({ text: "heron", agentId: "main", repoRoots: [REPO] });
    expect(hits.map(({ sessionId, subagentId, role, line }) => ({ sessionId, subagentId, role, line }))).toEqual([
      { sessionId: SESSION, subagentId: undefined, role: "user", line: 1 },
      { sessionId: SESSION, subagentId: "abc", role: "assistant", line: 1 },
    ]);
    expect(hits[0]).toMatchObject({ entryId: "u-14", repo: REPO, at: Date.UTC(2026, 10, 1, 10) });
  });
});

it("finds the first prompt of every recorded session", async () => {
  await using home = await createSearchHome();
  await cp(SAMPLES, join(home.claudeHome, "projects"), { recursive: true });
  const index = await home.refreshed();
  const { samples } = JSON.parse(await readFile(join(SAMPLES, "manifest.json"), "utf8")) as Manifest;
  const prompts = samples.map(({ sessionId, firstPrompt }) => {
    const text = `"${firstPrompt.slice(0, 100)}"`;
    const query = {
      text,
      agentId: "main",
      repoRoots: ["/home/user/repo"],
      role: "user",
      sessionIds: [sessionId],
    } as const;
    return { sessionId, found: index.search(query).hits.map((hit) => hit.sessionId)[0] };
  });
  expect(prompts.length).toBeGreaterThan(3);
  expect(prompts).toEqual(prompts.map(({ sessionId }) => ({ sessionId, found: sessionId })));
});

describe("what is found", () => {
  const cases: [query: string, text: string][] = [
    ["user name", "call getUserName twice"],
    ["getUserName", "the column get_user_name"],
    ["get_user_name", "call getUserName twice"],
    ["HTTPServer", "class HTTPServerOptions {}"],
    ["serNam", "call getUserName twice"],
    ["src/auth/login.ts", "edited src/auth/login.ts today"],
    ["f3a9c", "commit 77f3a9c1"],
    ["retry", "it retries and retried"],
    ["Uberraschung", "eine große Überraschung"],
    ["東京", "来週は東京駅で会議です"],
    ["駅", "来週は東京駅で会議です"],
    ["東京駅で", "来週は東京駅で会議です"],
    ["회의", "다음 주 회의"],
    ["🚀", "shipped🚀today"],
    ["c++", "written in c++ mostly"],
    ["=>>", "a =>> b"],
    ['"in order"', "all in order here"],
    ["tea AND coffee", "tea AND coffee"],
    ['say "hi', "they say hi"],
  ];
  it.each(cases)("%j in %j", async (query, text) => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", text);
    await home.memory("main", "AGENTS.md", "something else altogether");
    const index = await home.refreshed();
    expect(found(index, query)).toEqual(["MEMORY.md"]);
  });

  it("finds a term that stands at the front of a longer one only by its characters, after whole words", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "memory/a.md", "the cat sat");
    await home.memory("main", "memory/b.md", "concatenate");
    const index = await home.refreshed();
    expect(found(index, "cat")).toEqual(["memory/a.md", "memory/b.md"]);
  });

  it("wants all words, keeps phrases in order, and leaves out what is not wanted", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "memory/a.md", "red apple and green pear");
    await home.memory("main", "memory/b.md", "green apple");
    const index = await home.refreshed();
    expect(found(index, "green apple")).toHaveLength(2);
    expect(found(index, '"green apple"')).toEqual(["memory/b.md"]);
    expect(found(index, "apple -pear")).toEqual(["memory/b.md"]);
    expect(found(index, 'apple -"red apple"')).toEqual(["memory/b.md"]);
  });

  it("falls back to some of the words and says so", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "red apple");
    const index = await home.refreshed();
    const result = index.search({ text: "apple zeppelin", agentId: "main" });
    expect(result).toMatchObject({ matched: "some", hits: [{ name: "MEMORY.md" }] });
    expect(result.note).toContain("some of them");
  });

  it("puts the newest of equals first", async () => {
    await using home = await createSearchHome();
    await home.native(
      REPO,
      SESSION,
      [1, 3, 2].map((day) =>
        prompt(REPO, "fix the build", { uuid: `day-${day}`, timestamp: `2026-11-0${day}T00:00:00.000Z` }),
      ),
    );
    const index = await home.refreshed();
    const { hits } = index.search({ text: "build", agentId: "main", repoRoots: [REPO] });
    expect(hits.map(({ entryId }) => entryId)).toEqual(["day-3", "day-2", "day-1"]);
    const recent = index.search({ text: "build", agentId: "main", repoRoots: [REPO], since: Date.UTC(2026, 10, 2) });
    expect(recent.hits).toHaveLength(2);
  });

  it.each([
    ["", "The query is empty"],
    [" \n\t", "The query is empty"],
    ['""', "The query is empty"],
    ["-word", "only says what must not be there"],
    ["->", "neither a word nor three characters"],
    ["zebra", "Nothing was found"],
    ["\0", "The query is empty"],
  ])("answers %j clearly", async (text, note) => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "word");
    const index = await home.refreshed();
    const result = index.search({ text, agentId: "main" });
    expect(result).toMatchObject({ hits: [], matched: "none" });
    expect(result.note).toContain(note);
  });

  it("shows hostile text as data", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "MEMORY.md", "**bold** \u001b]0;owned\u0007 otter \u202egnp");
    const index = await home.refreshed();
    const [hit] = index.search({ text: "otter", agentId: "main" }).hits;
    expect(hit?.snippet).toBe("bold \\u001b]0;owned\\u0007 **otter** \\u202egnp");
  });
});

describe("who finds it", () => {
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

  it("is not deceived by a marker further in", async () => {
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

  it("believes a registry, also when it learns of a session later", async () => {
    await using home = await createSearchHome();
    await home.native(REPO, SESSION, [prompt(REPO, "otter")]);
    await home.subagent(REPO, SESSION, "abc", [answer(REPO, "an otter", { isSidechain: true })]);
    const index = await home.refreshed();
    expect(found(index, "otter")).toHaveLength(2);
    await index.refresh({ sources: home.sources({ owners: new Map([[SESSION, "other"]]) }) });
    expect(found(index, "otter")).toEqual([]);
    expect(found(index, "otter", { agentId: "other", repoRoots: [] })).toHaveLength(2);
  });

  it("shows nobody what an agent started that it cannot name, or whose beginning it has not read", async () => {
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
    const answer = searchMemory(index, { text: "otter", agentId: "main" });
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
    expect(searchMemory(index, { text: "otter", agentId: "main", minScore: 1 }).results).toEqual([]);
  });

  it("groups what it finds by session", async () => {
    await using home = await createSearchHome();
    await home.transcript("main", "m1", ["otter one", "nothing", "otter two", "otter three", "otter four"]);
    await home.native(REPO, SESSION, [prompt(REPO, "an otter in a very long sentence about something else entirely")]);
    await home.memory("main", "MEMORY.md", "otter");
    const index = await home.refreshed();
    const { sessions } = searchSessions(index, { text: "otter", agentId: "main", repoRoots: [REPO], passages: 2 });
    expect(
      sessions.map(({ sessionId, kind, found: count, passages }) => [sessionId, kind, count, passages.length]),
    ).toEqual([
      [SESSION, "native", 1, 1],
      ["m1", "transcript", 4, 2],
    ]);
    expect(sessions[0]).not.toHaveProperty("agentId");
    expect(
      searchSessions(index, { text: "otter", agentId: "main", repoRoots: [REPO], limit: 1 }).sessions,
    ).toHaveLength(1);
  });
});
