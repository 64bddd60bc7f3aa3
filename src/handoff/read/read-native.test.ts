/** Reading Claude Code's transcripts: samples of the real CLI, and every kind of line that is not a message. */
import { readdirSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { writeLines } from "../../../test/support/transcripts.ts";
import { readNative } from "./read-native.ts";

const SAMPLES = join(import.meta.dirname, "../../../test/fixtures/claude-code");

async function readSample(name: string) {
  const file = readdirSync(join(SAMPLES, name)).find((one) => one.endsWith(".jsonl"));
  const read = await readNative(join(SAMPLES, name, file ?? ""), { offset: 0 });
  if (read === undefined) throw new Error(`no sample ${name}`);
  return { ...read, said: read.messages.map(({ role, text, isCut }) => [role, text, ...(isCut ? ["cut"] : [])]) };
}

const COMMON = {
  timestamp: "2026-11-15T18:13:04.816Z",
  isSidechain: false,
  cwd: "/home/user/repo",
  sessionId: "s1",
  gitBranch: "main",
};
let lines = 0;

function user(content: unknown, more: object = {}): object {
  return { type: "user", message: { role: "user", content }, uuid: `u${(lines += 1)}`, ...COMMON, ...more };
}

function assistant(content: unknown, more: object = {}, message: object = {}): object {
  const body = { role: "assistant", model: "claude-opus-4-8", stop_reason: "end_turn", content, ...message };
  return { type: "assistant", message: body, uuid: `a${(lines += 1)}`, ...COMMON, ...more };
}

async function readOf(...written: unknown[]) {
  await using folder = await temporaryFolder();
  const path = folder.join("s1.jsonl");
  await writeLines(path, written);
  return await readNative(path, { offset: 0 });
}

describe("samples of the real CLI", () => {
  test("skip the summary and commands of a compaction", async () => {
    const { said, sessionId, cwd, branch } = await readSample("compacted-manual");
    const texts = said.map(([, text]) => text);
    expect(texts.slice(0, 5)).toEqual([
      expect.stringMatching(/^one /),
      "Calling Bash",
      "",
      "",
      "done after 1 tool result(s)",
    ]);
    const people = said.flatMap(([role, text]) => (role === "user" ? [text] : []));
    expect(people).toEqual([texts[0], "two", "three after compact", expect.stringMatching(/^big /), "after big"]);
    expect({ sessionId, cwd, branch }).toEqual({
      sessionId: "cccccccc-0000-4000-8000-000000000001",
      cwd: "/home/user/repo",
      branch: "main",
    });
  });

  test("mark an interrupted turn as cut", async () => {
    expect((await readSample("interrupted-control")).said).toEqual([
      ["user", "go [[slow ms=200 n=50]]"],
      ["assistant", "word0 word1 word2 "],
      ["assistant", "", "cut"],
      ["user", "after interrupt"],
      ["assistant", expect.stringContaining("after interrupt")],
    ]);
  });

  test("skip thinking, and join the answer after tools into one turn", async () => {
    const { messages } = await readSample("thinking-parallel-tools");
    expect(messages.map(({ role, callsTools }) => [role, callsTools ?? false])).toEqual([
      ["user", false],
      ["assistant", true],
      ["assistant", true],
      ["assistant", true],
      ["tool", false],
      ["tool", false],
      ["assistant", false],
    ]);
  });

  test("skip messages of subagents", async () => {
    const { messages } = await readSample("subagents");
    expect(messages[0]?.role).toBe("user");
    expect(messages.at(-1)?.role).toBe("assistant");
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  test("read the same in pieces", async () => {
    const file = readdirSync(join(SAMPLES, "multi-turn-stream"))[0] ?? "";
    const path = join(SAMPLES, "multi-turn-stream", file);
    const whole = await readNative(path, { offset: 0 });
    const rest = await readNative(path, { offset: whole?.offset ?? 0 });
    expect(rest).toMatchObject({ messages: [], start: whole?.offset, offset: whole?.offset, hash: whole?.hash });
  });
});

describe("lines that are not messages", () => {
  test.each<[string, object]>([
    ["meta", user("Caveat", { isMeta: true })],
    ["a subagent's", user("look for x", { isSidechain: true })],
    ["a subagent's answer", assistant([{ type: "text", text: "found" }], { isSidechain: true })],
    ["a compaction's summary", user("This session is being continued", { isCompactSummary: true })],
    ["a command", user("<command-name>/compact</command-name>")],
    [
      "a command in its new form",
      user("<command-message>review</command-message>\n<command-name>/review</command-name>"),
    ],
    ["a command's output", user("<local-command-stdout>ok</local-command-stdout>")],
    ["a shell command", user("<bash-input>ls</bash-input>")],
    ["a task that ended", user("<task-notification>done</task-notification>")],
    ["a reminder alone", user([{ type: "text", text: "<system-reminder>be good</system-reminder>" }])],
    ["a synthetic answer", assistant([{ type: "text", text: "No response requested." }], {}, { model: "<synthetic>" })],
    ["a thought", assistant([{ type: "thinking", thinking: "hm" }])],
    ["a picture alone", user([{ type: "image", source: {} }])],
    ["content of another kind", user({ text: "no" })],
    ["no content", assistant(undefined)],
    ["no id", { ...user("hello"), uuid: undefined }],
    ["another type", { type: "summary", summary: '"type":"user"', uuid: "x" }],
  ])("%s", async (_name, line) => {
    expect((await readOf(line))?.messages).toEqual([]);
  });

  test("include damage of any kind", async () => {
    const read = await readOf(
      '{"type":"user"',
      '"type":"user"',
      Buffer.from([0xff]),
      "",
      user("hello"),
      '{"type":"user",',
    );
    expect(read?.messages.map(({ text }) => text)).toEqual(["hello"]);
  });
});

describe("lines that are messages", () => {
  test("omit the text that Claude Code adds to a person's words", async () => {
    const read = await readOf(user("fix it <system-reminder>The date is …</system-reminder>"));
    expect(read?.messages).toMatchObject([{ role: "user", text: "fix it" }]);
  });

  test("end the turn as cut after an API error", async () => {
    const text = "API Error: 529 Overloaded";
    const read = await readOf(
      user("go"),
      assistant([{ type: "text", text }], { isApiErrorMessage: true }, { model: "<synthetic>" }),
    );
    expect(read?.messages.at(-1)).toMatchObject({ role: "assistant", text: "", isCut: true });
  });

  test("include tool errors, not other results", async () => {
    const read = await readOf(
      user([{ type: "tool_result", tool_use_id: "1", content: "x".repeat(50_000) }], { toolUseResult: {} }),
      user([{ type: "tool_result", tool_use_id: "2", content: [{ type: "text", text: "boom" }], is_error: true }]),
    );
    expect(read?.messages).toMatchObject([
      { role: "tool", text: "" },
      { role: "tool", text: "boom", isError: true },
    ]);
  });

  test("include to-do lists", async () => {
    const todos = [
      { content: "write the tests", status: "in_progress", activeForm: "Writing" },
      { content: "publish", status: "pending", activeForm: "Publishing" },
    ];
    const read = await readOf(
      assistant([{ type: "tool_use", id: "1", name: "TodoWrite", input: { todos } }]),
      user([{ type: "tool_result", tool_use_id: "2", content: "Task #1 created successfully: Draft the page" }]),
      assistant([{ type: "tool_use", id: "3", name: "TaskUpdate", input: { taskId: "1", status: "deleted" } }]),
    );
    expect(read?.messages).toMatchObject([
      { callsTools: true, todos: [{ text: "write the tests" }, { text: "publish", status: "pending" }] },
      { todoChanges: [{ id: "1", text: "Draft the page", status: "pending" }] },
      { todoChanges: [{ id: "1", status: "deleted" }] },
    ]);
  });

  test("use the last folder and branch", async () => {
    const read = await readOf(user("a"), user("b", { cwd: "/home/user/repo/sub", gitBranch: "feature/x" }));
    expect(read).toMatchObject({ cwd: "/home/user/repo/sub", branch: "feature/x", sessionId: "s1" });
  });
});

test("reads lines with white space between members", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("spaced.jsonl");
  const line = JSON.stringify(user("hello")).replaceAll('":', '": ');
  await writeFile(path, `${line}\n`);
  expect((await readNative(path, { offset: 0 }))?.messages).toMatchObject([{ text: "hello" }]);
});

test("reads regular files only", async () => {
  await using folder = await temporaryFolder();
  await writeFile(folder.join("secret"), "x\n");
  await symlink(folder.join("secret"), folder.join("link.jsonl"));
  expect(await readNative(folder.join("none.jsonl"), { offset: 0 })).toBeUndefined();
  expect(await readNative(folder.join("link.jsonl"), { offset: 0 })).toBeUndefined();
});
