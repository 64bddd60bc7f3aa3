/** Damaged transcripts: how they are recognized and rebuilt. */
import { appendFile, readFile, readdir, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { SessionManager } from "@mariozechner/pi-coding-agent";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { assistantDraft, messageLine, readAll, userDraft, writeLines } from "../../test/support/transcripts.ts";
import { compactTranscript } from "./compact.ts";
import { readContext } from "./context.ts";
import { type ExpectedTranscript, findDamage } from "./damage.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { messageText } from "./messages.ts";

const TEXTS = ["one", "two", "three", "four"];

async function written(folder: TemporaryFolder) {
  const path = folder.join("sid.jsonl");
  const clock = createTestClock();
  await using log = await createTranscript({ path, sessionId: "sid", cwd: "/ws", clock });
  await log.append(TEXTS.map((text, index) => (index % 2 === 0 ? userDraft(text) : assistantDraft(text))));
  const expected: ExpectedTranscript = { written: true, end: log.end };
  return { path, clock, expected };
}

async function reopen(path: string, expected: ExpectedTranscript) {
  await using log = await openTranscriptLog({ path, expected, isRead: true, clock: createTestClock() });
  return log.untold;
}

async function asideOf(path: string): Promise<string[]> {
  const names = await readdir(dirname(path));
  return names.filter((name) => name.includes(".damaged-")).map((name) => join(dirname(path), name));
}

async function texts(path: string): Promise<string[]> {
  return (await readContext(path)).messages.map(messageText);
}

describe("a whole transcript", () => {
  test("is not damaged after foreign appends or a compaction", async () => {
    await using folder = await temporaryFolder();
    const { path, clock, expected } = await written(folder);
    expect(await findDamage(path, expected)).toBeUndefined();
    await appendFile(path, `${JSON.stringify(messageLine("0000aaaa", expected.end?.id ?? "", "from another tool"))}\n`);
    expect(await findDamage(path, expected)).toBeUndefined();
    await compactTranscript(path, { maxEntries: 2, clock });
    expect(await findDamage(path, expected)).toBeUndefined();
    expect(await reopen(path, expected)).toBeUndefined();
    expect(await asideOf(path)).toEqual([]);
  });

  test("may be missing or empty if never written", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    expect(await findDamage(path, { written: false })).toBeUndefined();
    expect(await findDamage(path, { written: true })).toMatchObject({ kind: "missing" });
    await writeFile(path, "");
    expect(await findDamage(path, { written: false })).toBeUndefined();
    expect(await findDamage(path, { written: true })).toMatchObject({ kind: "empty" });
  });

  test("may have an old format without a header", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [{ type: "user", content: [{ type: "text", text: "old" }], timestamp: 1 }]);
    expect(await findDamage(path, { written: true })).toBeUndefined();
  });
});

const DAMAGES: [string, (path: string) => Promise<void>, string[]][] = [
  ["empty", async (path) => await truncate(path, 0), []],
  ["unreadable", async (path) => await writeFile(path, Buffer.alloc((await stat(path)).size)), []],
  ["no-header", async (path) => await changeLines(path, (lines) => lines.slice(1)), TEXTS],
  ["no-header", async (path) => await changeLines(path, (lines) => lines.with(0, "\0\0\0")), TEXTS],
  ["cut", async (path) => await changeLines(path, (lines) => lines.slice(0, 3)), ["one", "two"]],
  ["cut", async (path) => await truncate(path, (await stat(path)).size - 1), ["one", "two", "three"]],
  ["cut", async (path) => await changeLines(path, (lines) => lines.with(4, "\0")), ["one", "two", "three"]],
  ["gap", async (path) => await changeLines(path, (lines) => lines.with(2, "garbage")), ["one", "three", "four"]],
];

describe.each(DAMAGES)("a damaged transcript (%s)", (kind, damage, kept) => {
  test("is set aside; readable entries are kept with a notice in a file that pi opens", async () => {
    await using folder = await temporaryFolder();
    const { path, expected } = await written(folder);
    await damage(path);
    const left = await readFile(path);
    // A gap is found only by reading the conversation.
    expect((await findDamage(path, expected))?.kind ?? "gap").toBe(kind);

    const notice = await reopen(path, expected);
    expect(notice).toMatch(/^Part of this conversation was lost: /);
    const [aside, ...more] = await asideOf(path);
    expect(await readFile(aside ?? "")).toEqual(left);
    expect(more).toEqual([]);
    expect(await texts(path)).toEqual([...kept, notice]);
    expect(SessionManager.open(path).buildSessionContext().messages).toHaveLength(kept.length + 1);

    // The file is complete now, and the notice stays until a person writes.
    expect(await findDamage(path, expected)).toBeUndefined();
    expect(await reopen(path, expected)).toBe(notice);
    expect(await asideOf(path)).toEqual([aside]);
    await using log = await openTranscriptLog({ path, expected });
    await log.append([userDraft("five")]);
    expect(log.untold).toBeUndefined();
  });
});

test("a transcript cut anywhere is damaged unless its last known line is complete", async () => {
  await using folder = await temporaryFolder();
  const { path, expected } = await written(folder);
  const whole = await readFile(path);
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length), async (size) => {
      await writeFile(path, whole.subarray(0, size));
      expect((await findDamage(path, expected)) === undefined).toBe(size === whole.length);
    }),
  );
});

test("an entry without a parent follows the previous entry and is reported", async () => {
  await using folder = await temporaryFolder();
  const { path, expected } = await written(folder);
  await changeLines(path, (lines) => lines.with(3, (lines[3] ?? "").replace(/"parentId":"\w+",/, "")));
  expect(await texts(path)).toEqual(TEXTS);
  expect((await readAll(path)).report.problems).toMatchObject([
    { line: 4, reason: expect.stringContaining("parentId") },
  ]);
  expect(await reopen(path, expected)).toBeUndefined();
});

async function changeLines(path: string, change: (lines: string[]) => string[]): Promise<void> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  await writeFile(path, `${change(lines).join("\n")}\n`);
}
