import { readFile, readdir } from "node:fs/promises";
import { buildSessionContext, parseSessionEntries } from "@mariozechner/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { HEADER, assistantDraft, messageLine, userDraft, writeLines } from "../../test/support/transcripts.ts";
import { appendCompaction } from "./compact.ts";
import { readContext } from "./context.ts";
import { createTranscript } from "./log.ts";
import { attachmentsOf, createDeliveryMirrorMessage, messageText } from "./messages.ts";

const SAMPLES = new URL("../../test/fixtures/openclaw/", import.meta.url);
const samples = (await readdir(SAMPLES, { recursive: true })).filter((name) => name.endsWith(".jsonl"));

/** The context as pi itself reads it. */
async function piContext(path: string | URL, leafId?: string) {
  const entries = parseSessionEntries(await readFile(path, "utf8")).filter((entry) => entry.type !== "session");
  return buildSessionContext(entries, leafId);
}

describe("real OpenClaw files", () => {
  test.each(samples)("%s gives pi's context at every leaf", async (name) => {
    const path = new URL(name, SAMPLES);
    const ids = parseSessionEntries(await readFile(path, "utf8")).flatMap((entry) =>
      entry.type === "session" ? [] : [entry.id],
    );
    expect(ids.length).toBeGreaterThan(2);
    for (const leafId of [undefined, ...ids]) {
      const expected = await piContext(path, leafId);
      const actual = await readContext(path.pathname, { leafId });
      expect(actual.messages).toEqual(expected.messages);
      expect(actual.model ?? null).toEqual(expected.model);
    }
  });
});

test("a compaction yields its summary, then the kept entries, then the rest", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
  await log.append([{ type: "thinking_level_change", thinkingLevel: "high" }, userDraft("old")]);
  const [kept] = await log.append([userDraft("kept"), assistantDraft("kept too")]);
  await appendCompaction(log, { summary: "SUMMARY", firstKeptEntryId: kept?.id ?? "", tokensBefore: 100 });
  await log.append([userDraft("new")]);
  const context = await readContext(path);
  expect(context.messages.map(messageText)).toEqual(["SUMMARY", "kept", "kept too", "new"]);
  expect(context.messages).toEqual((await piContext(path)).messages);
  expect(context.entries[0]).toEqual(kept);
  expect(context.problems).toEqual([]);
  expect(context.model).toEqual({ provider: "test", modelId: "model-1" });
});

test("nothing before the first kept entry is read", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeLines(path, [
    HEADER,
    "garbage that would be reported",
    messageLine("00000001", null, "old"),
    messageLine("00000002", "00000001", "kept"),
    {
      type: "compaction",
      id: "00000003",
      parentId: "00000002",
      timestamp: HEADER.timestamp,
      summary: "S",
      firstKeptEntryId: "00000002",
      tokensBefore: 1,
    },
  ]);
  expect(await readContext(path)).toMatchObject({ messages: [{ summary: "S" }, { content: "kept" }], problems: [] });
});

test("follows the branch of the requested leaf", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeLines(path, [
    HEADER,
    messageLine("00000001", null, "root"),
    messageLine("00000002", "00000001", "left"),
    messageLine("00000003", "00000001", "right"),
    messageLine("00000004", "00000002", "left again"),
    messageLine("00000005", "00000003", "right again"),
  ]);
  const texts = async (leafId?: string) => (await readContext(path, { leafId })).messages.map(messageText);
  expect(await texts()).toEqual(["root", "right", "right again"]);
  expect(await texts("00000004")).toEqual(["root", "left", "left again"]);
  await expect(texts("99999999")).rejects.toMatchObject({ kind: "not-found" });
});

test.each([
  ["a missing parent", [messageLine("00000001", "99999999", "one")], "is missing"],
  ["a cycle", [messageLine("00000001", "00000002", "one"), messageLine("00000002", "00000001", "two")], "has a cycle"],
  ["an entry that is its own parent", [messageLine("00000001", "00000001", "one")], "has a cycle"],
])("%s stops reading with a problem", async (_name, lines, reason) => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeLines(path, [HEADER, ...lines]);
  const { messages, problems } = await readContext(path);
  expect(messages).toHaveLength(lines.length);
  expect(problems).toMatchObject([{ reason: expect.stringContaining(reason) }]);
});

test("a compaction with an unknown first kept entry keeps nothing and reports it", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeLines(path, [
    HEADER,
    messageLine("00000001", null, "old"),
    {
      type: "compaction",
      id: "00000002",
      parentId: "00000001",
      timestamp: HEADER.timestamp,
      summary: "S",
      firstKeptEntryId: "99999999",
      tokensBefore: 1,
    },
    messageLine("00000003", "00000002", "new"),
  ]);
  const { messages, problems } = await readContext(path);
  expect(messages.map(messageText)).toEqual(["S", "new"]);
  expect(messages).toEqual((await piContext(path)).messages);
  expect(problems).toMatchObject([{ reason: expect.stringContaining("99999999") }]);
});

test("a mirrored delivery is in the context but does not set the model", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
  await log.append([assistantDraft("answer"), { type: "message", message: createDeliveryMirrorMessage("sent", 1) }]);
  expect(await readContext(path)).toMatchObject({
    messages: [{ role: "assistant" }, { model: "delivery-mirror" }],
    model: { modelId: "model-1" },
  });
});

test("an empty transcript has an empty context", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
  expect(await readContext(log.path)).toEqual({
    messages: [],
    entries: [],
    problems: [],
    thinkingLevel: undefined,
    model: undefined,
  });
});

test("attached files stay known through compactions, limited to the newest", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
  const send = async (...paths: string[]): Promise<string> => {
    const attachments = paths.map((sent) => ({ path: sent, mimeType: "text/plain" }));
    const message = { role: "user" as const, content: "look", attachments, timestamp: 1 };
    const [entry] = await log.append([{ type: "message", message }]);
    return entry?.id ?? "";
  };
  const known = async (): Promise<string[]> => attachmentsOf((await readContext(path)).messages).map((one) => one.path);
  await send("/m/1");
  await send("/m/2");
  await appendCompaction(log, { summary: "S", firstKeptEntryId: await send("/m/3"), tokensBefore: 1 });
  expect((await readContext(path)).messages).toHaveLength(2);
  expect(await known()).toEqual(["/m/1", "/m/2", "/m/3"]);
  await appendCompaction(log, { summary: "S", firstKeptEntryId: await send("/m/4"), tokensBefore: 1 });
  expect(await known()).toEqual(["/m/1", "/m/2", "/m/3", "/m/4"]);
  await send(...Array.from({ length: 300 }, (_, index) => `/many/${index}`));
  await appendCompaction(log, { summary: "S", firstKeptEntryId: await send(), tokensBefore: 1 });
  const left = await known();
  expect([left.length, left[0], left.at(-1)]).toEqual([200, "/many/100", "/many/299"]);
  // Another program's summary, and one of ours that was edited.
  for (const details of [{ attachments: "/m/1" }, { attachments: [{ path: 1 }, "/m/1"] }, null, "x"]) {
    await log.append([{ type: "compaction", summary: "S", firstKeptEntryId: await send(), tokensBefore: 1, details }]);
    expect(await known()).toEqual([]);
  }
});
