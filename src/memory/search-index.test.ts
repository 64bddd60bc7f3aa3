/** Matches, their order, and the fields of a hit. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLAUDE_SAMPLES, claudeSamples } from "../../test/support/claude-samples.ts";
import { answer, createSearchHome, found, prompt, REPO, SESSION } from "../../test/support/search-home.ts";
import { assistantDraft, messageLine } from "../../test/support/transcripts.ts";

const line = (id: string, text: string, mark: object) => ({ ...messageLine(id, "e0", text), ...mark });

describe("a hit", () => {
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

  it("indexes people's own words in our transcripts, without context and memory flushes", async () => {
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
  await cp(CLAUDE_SAMPLES, join(home.claudeHome, "projects"), { recursive: true });
  const index = await home.refreshed();
  const prompts = claudeSamples().map(({ sessionId, firstPrompt }) => {
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

describe("matching", () => {
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

  it("finds the start of a longer word only by its characters, after whole words", async () => {
    await using home = await createSearchHome();
    await home.memory("main", "memory/a.md", "the cat sat");
    await home.memory("main", "memory/b.md", "concatenate");
    const index = await home.refreshed();
    expect(found(index, "cat")).toEqual(["memory/a.md", "memory/b.md"]);
  });

  it("requires all words, keeps phrases in order, and excludes unwanted words", async () => {
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
    ["-word", "only excludes words"],
    ["->", "neither a word nor three characters"],
    ["zebra", "Nothing found"],
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

it("finds a path by a location that was copied elsewhere, whatever its line", async () => {
  await using home = await createSearchHome();
  await home.transcript("main", "s1", ["it throws\n    at drain (src/jobs/queue.ts:20:7), and the heron waits"]);
  await home.transcript("main", "s2", ["it throws\n    at drain (src/jobs/queue.ts:99:7), and the otter waits"]);
  const index = await home.refreshed();
  const sessions = (text: string) => index.search({ text, agentId: "main" }).hits.map(({ sessionId }) => sessionId);
  expect(sessions("/Users/ada/code/src/jobs/queue.ts:31")).toHaveLength(2);
  expect(sessions("/Users/ada/code/src/jobs/queue.ts:99:7 heron")).toEqual(["s1"]);
  expect(sessions("src/jobs/queue.ts:99 heron")).toEqual(["s1"]);
});

it("marks a phrase, and elsewhere its words except common ones", async () => {
  await using home = await createSearchHome();
  await home.transcript("main", "s1", ["the keeper feeds the heron before the otter; herons eat first"]);
  const index = await home.refreshed();
  const { hits } = index.search({ text: '"feeds the heron"', agentId: "main" });
  expect(hits[0]?.snippet).toBe("the keeper **feeds the heron** before the otter; **herons** eat first");
});

it("does not take an unknown word for a typo of a common one", async () => {
  await using home = await createSearchHome();
  await home.transcript("main", "s1", ["all herons wait over there"]);
  const index = await home.refreshed();
  const sessions = (text: string) => index.search({ text, agentId: "main" }).hits.map(({ sessionId }) => sessionId);
  expect([sessions("tall"), sessions("rover"), sessions("hreons")]).toEqual([[], [], ["s1"]]);
});
