/** Reading Holdfast's own transcripts: who said what, starting where, and nothing else. */
import { appendFile, readFile, stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { HEADER, messageLine, writeLines } from "../../../test/support/transcripts.ts";
import { readSession } from "./read-session.ts";

const AT = HEADER.timestamp;

function line(id: string, message: object, more: object = {}): object {
  return { type: "message", id, parentId: null, timestamp: AT, message: { timestamp: 1, ...message }, ...more };
}

function answer(id: string, text: string, more: object = {}): object {
  return line(id, { role: "assistant", content: [{ type: "text", text }], stopReason: "stop", ...more });
}

function call(name: string, input: object): object {
  return { type: "toolCall", id: "c", name, arguments: input };
}

function change(id: string, data: object): object {
  return { type: "custom", customType: "holdfast.project", id, parentId: null, timestamp: AT, data };
}

describe("readSession", () => {
  test("recognises answers of the echo engine", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [
      HEADER,
      answer("00000001", "[echo] message 1 of this window: hello"),
      answer("00000002", "scripted", { provider: "holdfast", model: "echo" }),
      answer("00000003", "a model's own", { provider: "other", model: "echo" }),
    ]);
    const { messages } = await readSession(path, { offset: 0 });
    expect(messages.map(({ isEcho }) => isEcho)).toEqual([true, true, undefined]);
  });

  test("assigns messages before a project change to the previous project", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [
      HEADER,
      answer("00000001", "one"),
      change("00000002", { before: "main", project: "shop" }),
      answer("00000003", "two"),
      change("00000004", { before: "shop", project: "site" }),
      change("00000005", { before: 7 }),
      answer("00000006", "three"),
    ]);
    const { messages } = await readSession(path, { offset: 0 });
    expect(messages.map(({ project }) => project)).toEqual(["main", "shop", undefined]);
  });

  test("returns messages of people and the agent, and tool results", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [
      HEADER,
      { type: "custom", customType: "holdfast.session", id: "00000000", parentId: null, timestamp: AT, data: {} },
      line("00000001", { role: "user", content: "[Ada] fix it" }, { said: "fix it", turnId: "t1" }),
      line("00000002", {
        role: "assistant",
        stopReason: "toolUse",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "text", text: "Looking." },
          { type: "toolCall", id: "c1", name: "Bash", arguments: { command: "ls" } },
        ],
      }),
      line("00000003", {
        role: "toolResult",
        toolCallId: "c1",
        toolName: "Bash",
        content: "x".repeat(50_000),
        isError: false,
      }),
      line("00000004", {
        role: "toolResult",
        toolCallId: "c2",
        toolName: "Bash",
        content: "no such file",
        isError: true,
      }),
      line("00000005", { role: "user", content: "and the docs" }, { turnId: "t1", steered: true }),
      answer("00000006", "Both do", { stopReason: "aborted" }),
      {
        type: "compaction",
        id: "00000007",
        parentId: null,
        timestamp: AT,
        summary: "what was",
        firstKeptEntryId: "00000005",
      },
      line("00000008", { role: "user", content: "Save what you must not forget." }, { turnId: "flush:1" }),
      line("00000009", { role: "assistant", content: "Saved.", stopReason: "stop" }, { turnId: "flush:1" }),
      line("0000000a", { role: "assistant", content: [], stopReason: "error", errorMessage: "overloaded" }),
    ]);
    const read = await readSession(path, { offset: 0 });
    const place = { timestamp: AT };
    expect(read.messages).toEqual([
      { ...place, entryId: "00000001", role: "user", text: "fix it" },
      {
        ...place,
        entryId: "00000002",
        role: "assistant",
        text: "Looking.",
        callsTools: true,
        calls: [{ id: "c1", command: "ls" }],
      },
      { ...place, entryId: "00000003", role: "tool", text: "", results: [{ id: "c1" }] },
      {
        ...place,
        entryId: "00000004",
        role: "tool",
        text: "no such file",
        isError: true,
        results: [{ id: "c2", isError: true }],
      },
      { ...place, entryId: "00000005", role: "user", text: "and the docs" },
      { ...place, entryId: "00000006", role: "assistant", text: "Both do", isCut: true },
      { ...place, entryId: "0000000a", role: "assistant", text: "", isCut: true },
    ]);
    expect(read).toMatchObject({ sessionId: "sid", cwd: "/ws", start: 0, offset: (await stat(path)).size });
  });

  test("continues where it stopped, and leaves an incomplete line for later", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "one")]);
    const first = await readSession(path, { offset: 0 });
    const next = JSON.stringify(messageLine("00000002", "00000001", "two"));
    await appendFile(path, next.slice(0, 40));
    const half = await readSession(path, first);
    expect(half).toMatchObject({ messages: [], offset: first.offset, hash: first.hash, sessionId: "sid" });
    await appendFile(path, `${next.slice(40)}\n`);
    const second = await readSession(path, half);
    expect(second.messages.map(({ text }) => text)).toEqual(["two"]);
    expect(second.hash).not.toBe(first.hash);
    expect(second).toMatchObject({ offset: (await stat(path)).size, sessionId: "sid", cwd: "/ws" });
  });

  test("reads the end of a long transcript, with its start", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    const many = Array.from({ length: 100 }, (_, index) => messageLine(`${index}`.padStart(8, "0"), null, `m${index}`));
    await writeLines(path, [HEADER, ...many]);
    const { size } = await stat(path);
    const read = await readSession(path, { offset: 0 }, { maxBytes: 1000 });
    expect(read.start).toBe(size - 1000);
    expect(read.messages.at(-1)?.text).toBe("m99");
    expect(read.messages.length).toBeGreaterThan(3);
    expect(read.messages.length).toBeLessThan(10);
    expect(read).toMatchObject({ offset: size, sessionId: "sid" });
  });

  test("restarts when the file got shorter", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "one")]);
    const read = await readSession(path, { offset: 1_000_000 });
    expect(read).toMatchObject({ start: 0, messages: [{ text: "one" }] });
  });

  test("skips damage, and keeps the start and end of a huge message", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    const huge = `begin ${"x".repeat(1_000_000)} end`;
    await writeLines(path, [
      HEADER,
      "{ not json",
      Buffer.from([0xff, 0xfe]),
      "[]",
      { type: "message", id: "00000001", parentId: null, timestamp: AT, message: { role: "martian", content: "?" } },
      messageLine("00000002", "nobody", huge),
    ]);
    const { messages } = await readSession(path, { offset: 0 });
    expect(messages).toHaveLength(1);
    expect(messages[0]?.text).toMatch(/^begin x+[\s\S]+x+ end$/);
    expect(messages[0]?.text.length).toBeLessThan(25_000);
  });

  test("does not cut a secret in half, which would hide it from redaction", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    const straddling = (length: number) => `${"word ".repeat(length / 5 - 2)}${secret}${" word".repeat(length)}`;
    await writeLines(path, [
      HEADER,
      messageLine("00000001", null, straddling(12_000)),
      line("00000002", {
        role: "toolResult",
        toolCallId: "c",
        toolName: "x",
        content: straddling(2000),
        isError: true,
      }),
      answer("00000003", "", {
        content: [call("TodoWrite", { todos: [{ content: straddling(1000), status: "pending" }] })],
      }),
    ]);
    const { messages } = await readSession(path, { offset: 0 });
    expect(JSON.stringify(messages)).not.toContain(secret.slice(4, 10));
  });

  test("reads the to-do lists of Claude Code's agent", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, [
      HEADER,
      answer("00000001", "", {
        content: [
          call("TodoWrite", { todos: [{ content: "tests", status: "in_progress", activeForm: "x" }, { content: 5 }] }),
          call("TaskUpdate", { taskId: "3", status: "completed" }),
        ],
      }),
      line("00000002", {
        role: "toolResult",
        toolCallId: "c",
        toolName: "TaskCreate",
        content: "Task #4 created successfully: Write the docs",
        isError: false,
      }),
    ]);
    const { messages } = await readSession(path, { offset: 0 });
    expect(messages).toMatchObject([
      { todos: [{ text: "tests", status: "in_progress" }], todoChanges: [{ id: "3", status: "completed" }] },
      { todoChanges: [{ id: "4", text: "Write the docs", status: "pending" }] },
    ]);
  });

  test("reports a missing file", async () => {
    await using folder = await temporaryFolder();
    await expect(readSession(folder.join("none.jsonl"), { offset: 0 })).rejects.toMatchObject({
      code: "transcript-missing",
    });
    await expect(readSession(folder.path, { offset: 0 })).rejects.toMatchObject({ code: "not-a-file" });
  });

  test("reads an empty file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("a.jsonl");
    await writeLines(path, []);
    expect(await readFile(path, "utf8")).toBe("");
    expect(await readSession(path, { offset: 0 })).toMatchObject({ messages: [], start: 0, offset: 0 });
  });
});
