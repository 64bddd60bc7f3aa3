/** A transcript is replaced while another process writes to it: acknowledged entries are not lost. */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { type FaultPoint, installFaultAction } from "../base/faults.ts";
import { compactTranscript } from "./compact.ts";
import { SESSION_MARK_TYPE } from "./entries.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { readTranscript } from "./reader.ts";

afterEach(() => installFaultAction(undefined));

it("carries over lines appended to the old file before it was replaced", async () => {
  await using folder = await temporaryFolder();
  const path = await conversation(folder.join("s.jsonl"), 10);
  once("transcript.rewrite.archived", () => {
    const last = JSON.parse(readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "") as { id: string };
    appendFileSync(
      path,
      `${JSON.stringify({ ...message("late"), id: "ffffffff", parentId: last.id, timestamp: "2026-11-15T12:00:00.000Z" })}\n`,
    );
  });
  await compactTranscript(path, { maxEntries: 3, clock: createTestClock() });
  expect(await texts(path)).toEqual(["7", "8", "9", "late"]);
});

it("writes again when the file was replaced in the middle of an append", async () => {
  await using folder = await temporaryFolder();
  const path = await conversation(folder.join("s.jsonl"), 3);
  await using log = await openTranscriptLog({ path, durability: "entry", clock: createTestClock() });
  const before = readFileSync(path);
  once("transcript.append.written", () => {
    writeFileSync(`${path}.new`, before);
    renameSync(`${path}.new`, path);
  });
  await log.append([message("mine")]);
  expect(await texts(path)).toEqual(["0", "1", "2", "mine"]);
  await log.append([message("next")]);
  expect(await texts(path)).toEqual(["0", "1", "2", "mine", "next"]);
});

it("keeps the mark of the session through a compaction", async () => {
  await using folder = await temporaryFolder();
  const path = await conversation(folder.join("s.jsonl"), 10);
  await compactTranscript(path, { maxEntries: 2, clock: createTestClock() });
  await compactTranscript(path, { maxEntries: 1, clock: createTestClock() });
  expect(readFileSync(path, "utf8")).toContain(`"customType":"${SESSION_MARK_TYPE}","data":{"key":"agent:main:main"}`);
});

function message(text: string) {
  return { type: "message" as const, message: { role: "user" as const, content: text, timestamp: 0 } };
}

async function conversation(path: string, messages: number): Promise<string> {
  await using log = await createTranscript({
    path,
    sessionId: "s",
    cwd: "/",
    durability: "none",
    clock: createTestClock(),
  });
  await log.append([{ type: "custom", customType: SESSION_MARK_TYPE, data: { key: "agent:main:main" } }]);
  for (let index = 0; index < messages; index++) await log.append([message(String(index))]);
  return path;
}

async function texts(path: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const reading = readTranscript(path);
  for await (const item of reading) {
    if (item.kind === "entry" && item.entry.type === "message" && "content" in item.entry.message) {
      found.push(item.entry.message.content);
    }
  }
  expect(reading.report.problems).toEqual([]);
  return found;
}

function once(wanted: FaultPoint, action: () => void): void {
  installFaultAction((point) => {
    if (point !== wanted) return;
    installFaultAction(undefined);
    action();
  });
}
