/** Transcripts whose bytes are kept elsewhere: here in memory, shared by the copies of two machines. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { HoldfastError } from "../base/errors.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { HEADER, messageLine, readAll, userDraft } from "../../test/support/transcripts.ts";
import type { TranscriptBacking } from "./appender.ts";
import { compactTranscript } from "./compact.ts";
import { readContext } from "./context.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { messageText } from "./messages.ts";
import { createParkedTranscripts } from "./parked-transcripts.ts";

interface Remote {
  content: Buffer | undefined;
  kept: Map<string, Buffer>;
  /** The epoch of the rightful writer. */
  epoch: number;
}

/** `beforeFile`: called after a change here and before that of the file. Optional. */
function backingOf(remote: Remote, path: string, epoch: number, beforeFile?: () => void): TranscriptBacking {
  const check = (isFree: boolean): void => {
    if (epoch < remote.epoch) throw new HoldfastError("fenced", "lease-lost", "taken over", { hint: "stop" });
    if (!isFree) throw new HoldfastError("conflict", "transcript-moved", "another size", { hint: "open again" });
  };
  return {
    async refresh() {
      if (remote.content !== undefined) writeFileSync(path, remote.content);
    },
    async create(content) {
      check(remote.content === undefined);
      remote.content = Buffer.from(content);
    },
    async append(at, bytes) {
      check(remote.content?.length === at);
      remote.content = Buffer.concat([remote.content ?? Buffer.alloc(0), bytes]);
      beforeFile?.();
    },
    async replace(file, keptAs) {
      check(true);
      remote.kept.set(keptAs, remote.content ?? Buffer.alloc(0));
      remote.content = await readFile(file);
    },
  };
}

function stage(folder: TemporaryFolder) {
  const remote: Remote = { content: undefined, kept: new Map(), epoch: 1 };
  const place = (name: string, epoch: number, beforeFile?: () => void) => {
    const path = folder.join(name);
    const backing = backingOf(remote, path, epoch, beforeFile);
    return { path, backing, epoch, fence: () => undefined, durability: "none" as const };
  };
  return { remote, place };
}

async function texts(path: string): Promise<string[]> {
  return (await readContext(path)).messages.map((message) => messageText(message));
}

const START = { sessionId: "sid", cwd: "/" };

it("writes to the backing first, then to the copy", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const sizes: number[] = [];
  const here = place("here.jsonl", 1, () => sizes.push(readFileSync(folder.join("here.jsonl")).length));
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a")] });
  const before = remote.content?.length;
  await log.append([userDraft("b")]);
  expect(sizes).toEqual([before]);
  await log.append([userDraft("x".repeat(100_000))]);
  expect(readFileSync(here.path)).toEqual(remote.content);
  expect(log.end?.bytes).toBe(remote.content?.length);
});

it("changes nothing if the backing refuses", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const here = place("here.jsonl", 1);
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a"), userDraft("b")] });
  const before = readFileSync(here.path);
  remote.epoch = 2;
  const fenced = { kind: "fenced" };
  await expect(log.append([userDraft("late")])).rejects.toMatchObject(fenced);
  await expect(compactTranscript(here.path, { ...here, maxEntries: 1 })).rejects.toMatchObject(fenced);
  await expect(createTranscript({ ...place("new.jsonl", 1), ...START })).rejects.toMatchObject(fenced);
  expect(existsSync(folder.join("new.jsonl"))).toBe(false);
  expect(readFileSync(here.path)).toEqual(before);
  expect(remote.content).toEqual(before);
});

it("continues on another machine, and again on the first", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const parked = createParkedTranscripts();
  await using first = await createTranscript({
    ...place("here.jsonl", 1),
    ...START,
    parked,
    entries: [userDraft("a")],
  });
  await first.close();
  for (const [index, name] of ["there.jsonl", "here.jsonl", "here.jsonl", "there.jsonl"].entries()) {
    remote.epoch = index + 2;
    const options = { ...place(name, remote.epoch), parked, isRead: true, expected: { written: true } };
    await using log = await openTranscriptLog(options);
    expect((await log.context()).messages).toHaveLength(index + 1);
    await log.append([userDraft(`${index}`)]);
  }
  await parked.close();
  expect(await texts(folder.join("there.jsonl"))).toEqual(["a", "0", "1", "2", "3"]);
  expect((await readAll(folder.join("there.jsonl"))).report.problems).toEqual([]);
});

it("has no line twice if another process refreshes the copy at the same time", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const here = place("here.jsonl", 1, () => writeFileSync(folder.join("here.jsonl"), remote.content ?? ""));
  await using log = await createTranscript({ ...here, ...START });
  for (const text of ["a", "b", "c"]) await log.append([userDraft(text)]);
  expect(readFileSync(here.path)).toEqual(remote.content);
  expect(await texts(here.path)).toEqual(["a", "b", "c"]);
});

it("refreshes a copy that has changed under an open log", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const here = place("here.jsonl", 1);
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a")] });
  await truncate(here.path, 10);
  await log.append([userDraft("b")]);
  expect(readFileSync(here.path)).toEqual(remote.content);
  expect(await texts(here.path)).toEqual(["a", "b"]);
});

it("compacts and rebuilds through the backing, and keeps the original there", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const here = place("here.jsonl", 1);
  await using log = await createTranscript({ ...here, ...START, entries: ["a", "b", "c"].map(userDraft) });
  const original = remote.content;
  expect(await compactTranscript(here.path, { ...here, maxEntries: 1 })).toMatchObject({ compacted: true });
  await log.append([userDraft("d")]);
  expect([...remote.kept]).toEqual([[expect.stringMatching(/^here\.jsonl\.bak\./) as string, original]]);
  await log.close();

  const expected = { written: true, end: { id: "ffffffff", bytes: 1_000_000 } };
  await using rebuilt = await openTranscriptLog({ ...here, expected });
  expect(rebuilt.untold).toMatch(/^Part of this conversation was lost/);
  expect([...remote.kept.keys()].at(-1)).toMatch(/^here\.jsonl\.damaged-/);
  expect(readFileSync(here.path)).toEqual(remote.content);
  const there = place("there.jsonl", 1);
  await there.backing.refresh();
  expect((await texts(there.path)).toSpliced(2, 1)).toEqual(["c", "d"]);
});

it("cuts a torn tail in the backing too", async () => {
  await using folder = await temporaryFolder();
  const { remote, place } = stage(folder);
  const lines = [HEADER, messageLine("00000001", null, "a")].map((line) => `${JSON.stringify(line)}\n`);
  remote.content = Buffer.from(`${lines.join("")}{"type":"mess`);
  const here = place("sid.jsonl", 1);
  await writeFile(here.path, "outdated");
  await using log = await openTranscriptLog(here);
  await log.append([userDraft("b")]);
  expect(readFileSync(here.path)).toEqual(remote.content);
  expect(await texts(here.path)).toEqual(["a", "b"]);
});
