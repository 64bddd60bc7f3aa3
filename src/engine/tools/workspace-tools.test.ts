import { readFile, symlink, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { silentLogger } from "../../base/log.ts";
import { type TemporaryFolder, folderWith } from "../../../test/support/temp-folder.ts";
import { createAttachedFiles } from "./confined-files.ts";
import { type WorkspaceToolsOptions, createWorkspaceTools } from "./workspace-tools.ts";
import { runTool } from "./agent-tool.ts";

const OPTIONS = {
  logger: silentLogger,
  sessionKey: "agent:main:main",
  callId: "call",
  attached: createAttachedFiles([]),
};

it("lists", async () => {
  await using folder = await folderWith({ "b.md": "x", "a/c/d.txt": "y", ".git/config": "z" });
  await symlink("b.md", folder.join("link"));
  expect(await use(folder, "list_files", {})).toBe(".git/\na/\nb.md\nlink (link)");
  expect(await use(folder, "list_files", { path: "a", depth: 3 })).toBe("a/c/\na/c/d.txt");
  expect(await use(folder, "list_files", { depth: "2" })).toBe(".git/\na/\na/c/\nb.md\nlink (link)");
  await writeFile(folder.join("a/evil\nname"), "");
  expect(await use(folder, "list_files", { path: "a" })).toBe('a/c/\n"a/evil\\nname"');
  expect(await use(folder, "list_files", { path: "missing" })).toBe(
    'ERROR There is no "missing" in the workspace. Use list_files to see what is there.',
  );
  expect(await use(folder, "list_files", { path: "b.md" })).toMatch(/^ERROR "b.md" is not a folder/);
});

it("says when a listing is incomplete", async () => {
  await using folder = await folderWith(Object.fromEntries(Array.from({ length: 510 }, (_, n) => [`f${n}`, ""])));
  const lines = (await use(folder, "list_files", {})).split("\n");
  expect([lines.length, lines.at(-1)]).toEqual([501, "[more than 500; list a folder below]"]);
});

it("reads files and line ranges", async () => {
  const long = Array.from({ length: 3000 }, (_, index) => `line ${index + 1} ${"x".repeat(40)}`).join("\n");
  await using folder = await folderWith({ "a.txt": "one\ntwo\nthree\n", long, empty: "", line: "y".repeat(70_000) });
  expect(await use(folder, "read_file", { path: "a.txt" })).toBe("one\ntwo\nthree");
  expect(await use(folder, "read_file", { path: "a.txt", startLine: 2, endLine: 2 })).toBe("two");
  expect(await use(folder, "read_file", { path: "a.txt", startLine: 9 })).toBe("The file has only 3 lines.");
  expect(await use(folder, "read_file", { path: "empty" })).toBe("The file is empty.");
  const first = await use(folder, "read_file", { path: "long" });
  const next = Number(/continue with startLine (\d+)\]$/.exec(first)?.[1]);
  expect(first).toContain(`line ${next - 1} `);
  expect(await use(folder, "read_file", { path: "long", startLine: next, endLine: next })).toMatch(`line ${next} `);
  expect(await use(folder, "read_file", { path: "line" })).toMatch(/y\n\[the rest of line 1 is omitted\]$/);
});

it("refuses binary and large files", async () => {
  await using folder = await folderWith({ zeros: "a\0b", large: "x".repeat(11 * 1024 * 1024) });
  await writeFile(folder.join("latin"), Buffer.from([0x61, 0xe9, 0x62]));
  expect(await use(folder, "read_file", { path: "zeros" })).toMatch(/^ERROR "zeros" is not a text file/);
  expect(await use(folder, "read_file", { path: "latin" })).toMatch(/^ERROR "latin" is not a text file/);
  expect(await use(folder, "read_file", { path: "large" })).toMatch(/^ERROR "large" has 11534336 bytes/);
});

it("writes and appends", async () => {
  await using folder = await folderWith({});
  expect(await use(folder, "write_file", { path: "notes/a.md", content: "one" })).toBe(
    "Wrote 3 bytes; the file is new.",
  );
  expect(await use(folder, "write_file", { path: "notes/a.md", content: "two", append: "true" })).toMatch(/^Added 4/);
  expect(await readFile(folder.join("notes/a.md"), "utf8")).toBe("one\ntwo\n");
  expect(await use(folder, "write_file", { path: "big", content: "é".repeat(600_000) })).toMatch(
    /^ERROR 1200000 bytes/,
  );
  expect(await use(folder, "write_file", { path: "../out", content: "x" })).toMatch(/^ERROR "..\/out" is outside/);
});

it("searches", async () => {
  await using folder = await folderWith({
    "a.md": "Alpha\nbeta alpha\n",
    "sub/b.md": `${"x".repeat(1000)}alpha${"y".repeat(1000)}`,
    "node_modules/c.md": "alpha",
    binary: "alpha\0",
  });
  await symlink("/etc", folder.join("etc"));
  const found = await use(folder, "search_files", { pattern: "alpha" });
  expect(found.split("\n")).toEqual([
    "a.md:2: beta alpha",
    expect.stringMatching(/^sub\/b\.md:1: …x{100}alphay{195}$/),
    "[1 files were skipped: not text, or too large]",
  ]);
  expect(await use(folder, "search_files", { pattern: "ALPHA", ignoreCase: true, path: "a.md" })).toBe(
    "a.md:1: Alpha\na.md:2: beta alpha",
  );
  expect(await use(folder, "search_files", { pattern: "^[Ab]\\w+", regex: true, path: "a.md" })).toBe(
    "a.md:1: Alpha\na.md:2: beta alpha",
  );
  expect(await use(folder, "search_files", { pattern: "nowhere", path: "a.md" })).toBe("Nothing found in 1 files.");
  expect(await use(folder, "search_files", { pattern: "(", regex: true })).toMatch(/^ERROR Invalid regular expression/);
  expect(await use(folder, "search_files", { pattern: "root", path: "../.." })).toMatch(/^ERROR .* is outside/);
  expect(await use(folder, "search_files", { pattern: "root", path: "etc" })).toMatch(/^ERROR .* is outside/);
});

it("ends a slow search and shows the matches so far", async () => {
  await using folder = await folderWith({ "a.txt": "aaaa!", "b.txt": `${"a".repeat(40)}c` });
  const started = performance.now();
  const found = await use(folder, "search_files", { pattern: "^(a+)+!$", regex: true }, { searchDeadlineMs: 4000 });
  expect(found).toBe("a.txt:1: aaaa!\n[stopped after 4 s; use a simpler pattern or a smaller folder]");
  expect(performance.now() - started).toBeLessThan(20_000);
});

it("stops a search with the turn", async () => {
  await using folder = await folderWith({ "b.txt": `${"a".repeat(60)}c` });
  const stop = AbortSignal.timeout(200);
  const tools = createWorkspaceTools({ workspace: folder.path });
  const input = { pattern: "^(a+)+!$", regex: true };
  expect(await runTool(tools, { name: "search_files", input }, { ...OPTIONS, signal: stop })).toEqual({
    text: "Interrupted: the turn was stopped before this was done.",
    isError: true,
  });
});

it("offers memory search and session list if configured", async () => {
  await using folder = await folderWith({});
  const hit = { path: "MEMORY.md", startLine: 1, endLine: 2, snippet: "s", score: 0.5, source: "memory" as const };
  const asked: unknown[] = [];
  const options = {
    searchMemory: async (query: unknown) => {
      asked.push(query);
      const indexing = { complete: true, pendingFiles: 0, pendingBytes: 0 };
      return await Promise.resolve({ results: [hit], matched: "all" as const, indexing, note: "n" });
    },
    listSessions: async (query: unknown) => {
      asked.push(query);
      return await Promise.resolve({ sessions: [{ sessionId: "1" }], total: 1, activeCount: 0 });
    },
  };
  expect(JSON.parse(await use(folder, "memory_search", { query: "plan", maxResults: 99 }, options))).toEqual({
    results: [hit],
    note: "n",
  });
  expect(JSON.parse(await use(folder, "session_list", {}, options))).toMatchObject({ sessions: [{ sessionId: "1" }] });
  expect(asked).toEqual([{ text: "plan", maxResults: 20, minScore: 0, sessionKey: "agent:main:main" }, { limit: 20 }]);
  expect([...createWorkspaceTools({ workspace: folder.path }).keys()]).not.toContain("memory_search");
});

it.each([
  ["no_such_tool", {}, /^ERROR There is no tool "no_such_tool"\. There are: list_files, read_file/],
  ["read_file", {}, /^ERROR The argument "path" is missing\. read_file takes: path, startLine, endLine\.$/],
  ["read_file", { path: "a", start_line: 1 }, /^ERROR There is no argument "start_line"/],
  ["read_file", { path: 7 }, /^ERROR The argument "path" has to be of type string/],
  ["read_file", { path: "a", startLine: 1.5 }, /^ERROR The argument "startLine" has to be of type integer/],
  ["read_file", "a", /^ERROR The arguments are not an object/],
  ["read_file", null, /^ERROR The arguments are not an object/],
  ["read_file", { path: "a", __proto__: { x: 1 }, constructor: 1 }, /^ERROR There is no argument "constructor"/],
])("explains a bad call of %s", async (name, input, words) => {
  await using folder = await folderWith({});
  expect(await use(folder, name, input)).toMatch(words);
});

it("survives tools that throw or return too much", async () => {
  const table = new Map(
    [
      { name: "throws", run: async () => await Promise.reject(new TypeError("x is not a function")) },
      { name: "floods", run: async () => await Promise.resolve("x".repeat(300_000)) },
    ].map((tool) => [
      tool.name,
      {
        ...tool,
        description: "",
        inputSchema: { type: "object" as const, properties: {}, required: [], additionalProperties: false as const },
      },
    ]),
  );
  const options = { ...OPTIONS, signal: AbortSignal.timeout(10_000) };
  expect(await runTool(table, { name: "throws", input: {} }, options)).toEqual({
    text: "The tool failed: x is not a function",
    isError: true,
  });
  expect((await runTool(table, { name: "floods", input: {} }, options)).text).toMatch(
    /x\n\[100000 more characters omitted\]$/,
  );
});

async function use(
  folder: TemporaryFolder,
  name: string,
  input: unknown,
  options: Partial<WorkspaceToolsOptions> = {},
): Promise<string> {
  const tools = createWorkspaceTools({ workspace: folder.path, ...options });
  const outcome = await runTool(tools, { name, input }, { ...OPTIONS, signal: AbortSignal.timeout(30_000) });
  return `${outcome.isError ? "ERROR " : ""}${outcome.text}`;
}
