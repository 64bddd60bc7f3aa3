/** A process is killed at each step of its work on a transcript; no acknowledged entry may be lost. */
import { appendFile, readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import type { FaultPoint } from "../../src/base/faults.ts";
import { readContext } from "../../src/transcript/context.ts";
import { openTranscriptLog } from "../../src/transcript/log.ts";
import { type ChildTasks, startChild } from "../support/child.ts";
import { temporaryFolder } from "../support/temp-folder.ts";
import { HEADER, messageLine, readAll, textOf, userDraft, writeLines } from "../support/transcripts.ts";
import { messageText } from "../../src/transcript/messages.ts";

const OLD = Array.from({ length: 5 }, (_, index) => `old ${index}`);

type TranscriptTask = Omit<Extract<ChildTasks["transcript"], { point: FaultPoint }>, "path">;

async function runUntilKilled(
  path: string,
  task: TranscriptTask,
): Promise<{ signal: unknown; acknowledged: unknown[] }> {
  const child = startChild("transcript", { path, ...task });
  return { signal: await child.ended(), acknowledged: child.lines };
}

async function writeOldTranscript(path: string, version: number): Promise<void> {
  const lines = OLD.map((text, index) =>
    messageLine(`0000000${index + 1}`, index === 0 ? null : `0000000${index}`, text),
  );
  await writeLines(path, [{ ...HEADER, version }, ...lines]);
}

test.each([
  ["append", "transcript.append.written", 1],
  ["append", "transcript.append.written", 4],
  ["append", "transcript.append.synced", 1],
  ["append", "transcript.append.synced", 7],
  ["torn", "transcript.torn.saved", 1],
  ["torn", "transcript.torn.cut", 1],
  ["migrate", "transcript.rewrite.archived", 1],
  ["migrate", "transcript.rewrite.replaced", 1],
  ["migrate", "file.renamed", 1],
] satisfies [string, FaultPoint, number][])("%s, killed at %s (%i)", async (task, point, passing) => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeOldTranscript(path, task === "migrate" ? 2 : 3);
  if (task === "torn") await appendFile(path, '{"type":"message","id":"0000');
  const { signal, acknowledged } = await runUntilKilled(path, { task: "work", point, occurrence: passing });
  expect(signal).toBe("SIGKILL");

  // The next process finds everything acknowledged, once and in order, and at most one entry more.
  await using log = await openTranscriptLog({ path });
  await log.append([userDraft("after")]);
  const { entries, report } = await readAll(path);
  expect(report).toMatchObject({ problems: [], tornBytes: 0 });
  const unacknowledged = entries.map(textOf).slice(OLD.length + acknowledged.length, -1);
  expect(unacknowledged.length).toBeLessThanOrEqual(1);
  expect(entries.map(textOf)).toEqual([...OLD, ...acknowledged, ...unacknowledged, "after"]);
  expect((await readContext(path)).messages.map(messageText)).toEqual(entries.map(textOf));
});

test.each([
  "transcript.rewrite.archived",
  "transcript.rewrite.replaced",
  "file.renamed",
  "lock.created",
] satisfies FaultPoint[])("compaction, killed at %s", async (point) => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  await writeOldTranscript(path, 3);
  expect((await runUntilKilled(path, { task: "compact", point, occurrence: 1 })).signal).toBe("SIGKILL");
  await using log = await openTranscriptLog({ path });
  await log.append([userDraft("after")]);
  const { entries, report } = await readAll(path);
  expect(report.problems).toEqual([]);
  expect(entries.map(textOf).slice(-4)).toEqual([...OLD.slice(-3), "after"]);
  const archive = (await readdir(folder.path)).find((name) => name.includes(".bak."));
  const whole = archive === undefined ? entries : (await readAll(folder.join(archive))).entries;
  expect(whole.map(textOf).slice(0, OLD.length)).toEqual(OLD);
});

test("creation, killed before it was acknowledged", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const { signal, acknowledged } = await runUntilKilled(path, {
    task: "create",
    point: "transcript.created",
    occurrence: 1,
  });
  expect([signal, acknowledged]).toEqual(["SIGKILL", []]);
  await using log = await openTranscriptLog({ path });
  expect(log.header.id).toBe("sid");
});
