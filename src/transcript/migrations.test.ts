import { readFile, readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { HEADER, readAll, textOf, userDraft, writeLines } from "../../test/support/transcripts.ts";
import { readContext } from "./context.ts";
import { openTranscriptLog } from "./log.ts";
import { addTreeIds, renameHookRole, wrapFlatMessage } from "./migrations.ts";
import { readTail } from "./reader.ts";

describe("the steps", () => {
  test("flat → version 1: the message gets its envelope", () => {
    const flat = { type: "user", content: [{ type: "text", text: "Hello" }], timestamp: 1234567890 };
    expect(wrapFlatMessage(flat)).toEqual({
      type: "message",
      timestamp: "1970-01-15T06:56:07.890Z",
      message: { role: "user", content: flat.content, timestamp: 1234567890 },
    });
    expect(wrapFlatMessage({ role: "assistant", content: "Hi", model: "m", timestamp: 0 })).toMatchObject({
      type: "message",
      message: { role: "assistant", content: "Hi", model: "m" },
    });
  });

  test("flat: keeps entries that only look similar", () => {
    const custom = { type: "custom_message", customType: "note", content: "x" };
    expect(wrapFlatMessage(custom)).toBe(custom);
  });

  test("version 1 → 2: adds tree positions and replaces line numbers by ids", () => {
    const place = { id: "0000002a", parentId: "00000007", firstKeptEntryId: "00000001" };
    expect(addTreeIds({ type: "compaction", summary: "s", firstKeptEntryIndex: 3 }, place)).toEqual({
      type: "compaction",
      summary: "s",
      ...place,
    });
  });

  test("version 2 → 3: hookMessage becomes custom", () => {
    expect(renameHookRole({ type: "message", id: "1", message: { role: "hookMessage", content: "x" } })).toEqual({
      type: "message",
      id: "1",
      message: { role: "custom", content: "x" },
    });
  });
});

const FLAT = [
  HEADER,
  { type: "user", content: [{ type: "text", text: "Hello" }], timestamp: 1_700_000_000_000 },
  {
    role: "assistant",
    content: [{ type: "text", text: "Hi!" }],
    provider: "p",
    model: "m",
    timestamp: 1_700_000_001_000,
  },
];

const VERSION_1 = [
  { type: "session", id: "sid", timestamp: HEADER.timestamp, cwd: "/ws" },
  { type: "message", timestamp: HEADER.timestamp, message: { role: "user", content: "one", timestamp: 1 } },
  { type: "message", timestamp: HEADER.timestamp, message: { role: "user", content: "two", timestamp: 1 } },
  {
    type: "message",
    timestamp: HEADER.timestamp,
    message: { role: "hookMessage", customType: "x", content: "three", display: true, timestamp: 1 },
  },
  { type: "compaction", timestamp: HEADER.timestamp, summary: "SUMMARY", firstKeptEntryIndex: 2, tokensBefore: 9 },
  { type: "message", timestamp: HEADER.timestamp, message: { role: "user", content: "four", timestamp: 1 } },
];

const VERSION_2 = [
  { ...HEADER, version: 2 },
  {
    type: "message",
    id: "aaaaaaaa",
    parentId: null,
    timestamp: HEADER.timestamp,
    message: { role: "hookMessage", customType: "x", content: "one", display: true, timestamp: 1 },
  },
];

describe.each([
  ["flat", FLAT, ["Hello", "Hi!"]],
  ["version 1", VERSION_1, ["one", "two", "three", "", "four"]],
  ["version 2", VERSION_2, ["one"]],
])("a file in format %s", (_name, lines, texts) => {
  test("reads the same from both ends, without changes", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, lines);
    const before = await readFile(path);

    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(texts);
    expect(report.problems).toEqual([]);
    const tail = await readTail(path, 100);
    expect(tail.entries.map(({ entry }) => entry)).toEqual(entries);
    expect(await readFile(path)).toEqual(before);
  });

  test("becomes version 3 when opened for writing; ids and the original are kept", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, lines);
    const original = await readFile(path);
    const { entries: before } = await readAll(path);
    const context = await readContext(path);

    const clock = createTestClock();
    await using log = await openTranscriptLog({ path, clock });
    expect(log.header.version).toBe(3);
    const archive = folder.join("sid.jsonl.bak.2026-11-15T12-00-00.000Z");
    expect(await readFile(archive)).toEqual(original);
    expect((await readAll(path)).entries).toEqual(before);
    expect((await readContext(path)).messages).toEqual(context.messages);

    const [added] = await log.append([userDraft("next")]);
    expect(added?.parentId).toBe(before.at(-1)?.id);
    await log.close();
    await using again = await openTranscriptLog({ path, clock });
    expect(again.leafId).toBe(added?.id);
    expect((await readdir(folder.path)).filter((name) => name.includes(".bak."))).toHaveLength(1);
  });
});

test("a version 1 compaction keeps entries from its line number on", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeLines(path, VERSION_1);
  const { messages } = await readContext(path);
  expect(messages.map((message) => ("content" in message ? message.content : message.role))).toEqual([
    "compactionSummary",
    "two",
    "three",
    "four",
  ]);
});

test("a newer version is read as far as possible, and refused for writing", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const id = "0192f3c4-7a55-7cc1-8a5e-2f6f3f1f9f10";
  await writeLines(path, [
    { ...HEADER, version: 4 },
    {
      type: "message",
      id,
      parentId: null,
      timestamp: HEADER.timestamp,
      message: { role: "user", content: "hi", timestamp: 1 },
    },
  ]);
  const before = await readFile(path);
  const { entries, report } = await readAll(path);
  expect(entries.map(textOf)).toEqual(["hi"]);
  expect(report.problems).toMatchObject([{ line: 1, reason: expect.stringContaining("version 4 is newer") }]);
  await expect(openTranscriptLog({ path })).rejects.toMatchObject({
    kind: "unsupported",
    hint: expect.stringContaining("Update Holdfast"),
  });
  expect(await readFile(path)).toEqual(before);
  expect(await readdir(folder.path)).toEqual(["sid.jsonl"]);
});
