/** Files that Holdfast and pi's real SessionManager, which OpenClaw uses, write in turn. */
import { readFile, readdir, writeFile } from "node:fs/promises";
import { SessionManager } from "@mariozechner/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { assistantDraft, readAll, textOf, userDraft } from "../../test/support/transcripts.ts";
import { appendCompaction } from "./compact.ts";
import { readContext } from "./context.ts";
import type { DraftEntry } from "./entries.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { messageText } from "./messages.ts";

type PiMessage = Parameters<SessionManager["appendMessage"]>[0];

/** Our drafts have pi's shape; only pi's own types are stricter about it. */
function piMessage(draft: DraftEntry): PiMessage {
  if (draft.type !== "message") throw new Error("not a message");
  return draft.message as PiMessage;
}

async function expectSameContext(path: string): Promise<string[]> {
  const ours = await readContext(path);
  expect(ours.messages).toEqual(SessionManager.open(path).buildSessionContext().messages);
  expect(ours.problems).toEqual([]);
  return ours.messages.map(messageText);
}

test("our file, continued by pi, continued by us", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const log = await createTranscript({ path, sessionId: "sid", cwd: "/ws" });
  await log.append([
    { type: "model_change", provider: "p", modelId: "m" },
    { type: "thinking_level_change", thinkingLevel: "high" },
    userDraft("one"),
    assistantDraft("two"),
    { type: "custom", customType: "holdfast.note", data: { a: 1 } },
    { type: "custom_message", customType: "note", content: "three", display: true, details: { d: 1 } },
    { type: "session_info", name: "My name" },
  ]);
  await log.close();
  await expectSameContext(path);

  const pi = SessionManager.open(path);
  expect([pi.getSessionId(), pi.getCwd(), pi.getSessionName()]).toEqual(["sid", "/ws", "My name"]);
  expect(pi.buildSessionContext()).toMatchObject({ thinkingLevel: "high" });
  const piEntry = pi.appendMessage(piMessage(userDraft("four")));

  await using again = await openTranscriptLog({ path });
  expect(again.leafId).toBe(piEntry);
  await again.append([assistantDraft("five")]);
  expect(await expectSameContext(path)).toEqual(["one", "two", "three", "four", "five"]);
});

test("pi's file with every entry type, branched and compacted, continued by us", async () => {
  await using folder = await temporaryFolder();
  const pi = SessionManager.create("/ws", folder.path);
  const first = pi.appendMessage(piMessage(userDraft("one")));
  const second = pi.appendMessage(piMessage(assistantDraft("two")));
  pi.appendLabelChange(first, "mark");
  pi.appendMessage(piMessage(userDraft("abandoned")));
  pi.branchWithSummary(second, "left a branch");
  pi.appendMessage(piMessage(userDraft("three")));
  pi.appendCompaction("SUMMARY", second, 100, { files: [] });
  pi.appendMessage(piMessage(userDraft("four")));
  const path = pi.getSessionFile() ?? "";
  expect(await expectSameContext(path)).toEqual(["SUMMARY", "two", "left a branch", "three", "four"]);

  await using log = await openTranscriptLog({ path });
  const [five] = await log.append([assistantDraft("five")]);
  await appendCompaction(log, { summary: "SECOND", firstKeptEntryId: five?.id ?? "", tokensBefore: 5 });
  await log.append([userDraft("six")]);
  expect(await expectSameContext(path)).toEqual(["SECOND", "five", "six"]);
  expect((await readAll(path)).report.problems).toEqual([]);
});

test("a file without an answer, which pi appends to itself", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const log = await createTranscript({ path, sessionId: "sid", cwd: "/ws" });
  await log.append([userDraft("one")]);
  await log.close();
  const pi = SessionManager.open(path);
  pi.appendMessage(piMessage(userDraft("two")));
  pi.appendMessage(piMessage(assistantDraft("three")));
  expect((await readFile(path, "utf8")).split('"type":"session"')).toHaveLength(3);

  expect(await expectSameContext(path)).toEqual(["one", "two", "three"]);
  const { entries, report } = await readAll(path);
  expect(entries.map(textOf)).toEqual(["one", "two", "three"]);
  expect(report.problems.map(({ line }) => line)).toEqual([3, 4]);
  await using again = await openTranscriptLog({ path });
  await again.append([userDraft("four")]);
  expect(await expectSameContext(path)).toEqual(["one", "two", "three", "four"]);
});

describe("real OpenClaw files", async () => {
  const samples = new URL("../../test/fixtures/openclaw/", import.meta.url);
  // The files of 2026.9.6 are in a later format, which only the import reads.
  const names = (await readdir(samples, { recursive: true })).filter((name) => {
    return name.endsWith(".jsonl") && !name.startsWith("v2026.9.6");
  });

  test.each(names)("%s is read without loss and continued", async (name) => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const original = await readFile(new URL(name, samples));
    await writeFile(path, original);
    const { entries, report } = await readAll(path);
    expect(entries).toHaveLength(original.filter((byte) => byte === 10).length - 1);
    expect(entries.every(({ type }) => type !== "other")).toBe(true);
    // The parent of the branch in all-line-types.jsonl is in no file: it was taken from a longer one.
    expect(report.problems.filter(({ reason }) => !reason.includes("ead72c94"))).toEqual([]);

    await using log = await openTranscriptLog({ path });
    const [added] = await log.append([userDraft("next")]);
    expect(added?.parentId).toBe(entries.at(-1)?.id);
    const content = await readFile(path);
    expect(content.subarray(0, original.length)).toEqual(original);
    expect((await readContext(path)).messages).toEqual(SessionManager.open(path).buildSessionContext().messages);
  });
});
