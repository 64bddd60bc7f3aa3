/** Transcripts whose bytes are kept elsewhere, with copies on two machines. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, truncate, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { backingIn, createRemote } from "../../test/support/remote-transcripts.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { HEADER, messageLine, readAll, userDraft } from "../../test/support/transcripts.ts";
import { compactTranscript } from "./compact.ts";
import { readContext } from "./context.ts";
import { createTranscript, openTranscriptLog } from "./log.ts";
import { messageText } from "./messages.ts";
import { createParkedTranscripts } from "./parked-transcripts.ts";

const NAME = "sid.jsonl";
const START = { sessionId: "sid", cwd: "/" };

async function fixture(folder: TemporaryFolder) {
  const remote = createRemote();
  /** A writer on one of the machines. */
  const on = async (machine: "here" | "there", epoch: number, onAppended?: () => void) => {
    await mkdir(folder.join(machine), { recursive: true });
    const path = folder.join(machine, NAME);
    const backing = backingIn(remote, { name: NAME, path, epoch, onAppended });
    return { path, backing, epoch, fence: () => undefined, durability: "none" as const };
  };
  return { remote, on, content: () => remote.contents.get(NAME) };
}

async function texts(path: string): Promise<string[]> {
  return (await readContext(path)).messages.map((message) => messageText(message));
}

it("writes to the backing first, then to the copy", async () => {
  await using folder = await temporaryFolder();
  const { on, content } = await fixture(folder);
  const sizes: number[] = [];
  const here = await on("here", 1, () => sizes.push(readFileSync(folder.join("here", NAME)).length));
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a")] });
  const before = content()?.length;
  await log.append([userDraft("b")]);
  expect(sizes).toEqual([before]);
  await log.append([userDraft("x".repeat(100_000))]);
  expect(readFileSync(here.path)).toEqual(content());
  expect(log.end?.bytes).toBe(content()?.length);
});

it("changes nothing if the backing refuses", async () => {
  await using folder = await temporaryFolder();
  const { remote, on, content } = await fixture(folder);
  const here = await on("here", 1);
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a"), userDraft("b")] });
  const before = readFileSync(here.path);
  remote.epoch = 2;
  const fenced = { kind: "fenced" };
  await expect(log.append([userDraft("late")])).rejects.toMatchObject(fenced);
  await expect(compactTranscript(here.path, { ...here, maxEntries: 1 })).rejects.toMatchObject(fenced);
  await expect(createTranscript({ ...(await on("there", 1)), ...START })).rejects.toMatchObject(fenced);
  expect(existsSync(folder.join("there", NAME))).toBe(false);
  expect(readFileSync(here.path)).toEqual(before);
  expect(content()).toEqual(before);
});

it("continues on another machine, and again on the first", async () => {
  await using folder = await temporaryFolder();
  const { remote, on } = await fixture(folder);
  const parked = createParkedTranscripts();
  await using first = await createTranscript({
    ...(await on("here", 1)),
    ...START,
    parked,
    entries: [userDraft("a")],
  });
  await first.close();
  for (const [index, machine] of (["there", "here", "here", "there"] as const).entries()) {
    remote.epoch = index + 2;
    const options = { ...(await on(machine, remote.epoch)), parked, isRead: true, expected: { written: true } };
    await using log = await openTranscriptLog(options);
    expect((await log.context()).messages).toHaveLength(index + 1);
    await log.append([userDraft(`${index}`)]);
  }
  await parked.close();
  expect(await texts(folder.join("there", NAME))).toEqual(["a", "0", "1", "2", "3"]);
  expect((await readAll(folder.join("there", NAME))).report.problems).toEqual([]);
});

it("has no line twice if another process refreshes the copy at the same time", async () => {
  await using folder = await temporaryFolder();
  const { on, content } = await fixture(folder);
  const here = await on("here", 1, () => writeFileSync(folder.join("here", NAME), content() ?? ""));
  await using log = await createTranscript({ ...here, ...START });
  for (const text of ["a", "b", "c"]) await log.append([userDraft(text)]);
  expect(readFileSync(here.path)).toEqual(content());
  expect(await texts(here.path)).toEqual(["a", "b", "c"]);
});

it("refreshes a copy that has changed under an open log", async () => {
  await using folder = await temporaryFolder();
  const { on, content } = await fixture(folder);
  const here = await on("here", 1);
  await using log = await createTranscript({ ...here, ...START, entries: [userDraft("a")] });
  await truncate(here.path, 10);
  await log.append([userDraft("b")]);
  expect(readFileSync(here.path)).toEqual(content());
  expect(await texts(here.path)).toEqual(["a", "b"]);
});

it("compacts and rebuilds through the backing, and keeps the original there", async () => {
  await using folder = await temporaryFolder();
  const { remote, on, content } = await fixture(folder);
  const here = await on("here", 1);
  await using log = await createTranscript({ ...here, ...START, entries: ["a", "b", "c"].map(userDraft) });
  const original = content();
  expect(await compactTranscript(here.path, { ...here, maxEntries: 1 })).toMatchObject({ compacted: true });
  await log.append([userDraft("d")]);
  const backup = [...remote.contents.keys()].find((name) => name !== NAME) ?? "";
  expect(backup).toMatch(/^sid\.jsonl\.bak\./);
  expect(remote.contents.get(backup)).toEqual(original);
  await log.close();

  const expected = { written: true, end: { id: "ffffffff", bytes: 1_000_000 } };
  await using rebuilt = await openTranscriptLog({ ...here, expected });
  expect(rebuilt.untold).toMatch(/^Part of this conversation was lost/);
  expect([...remote.contents.keys()].at(-1)).toMatch(/^sid\.jsonl\.damaged-/);
  expect(readFileSync(here.path)).toEqual(content());
  const there = await on("there", 1);
  await there.backing.refresh();
  expect((await texts(there.path)).toSpliced(2, 1)).toEqual(["c", "d"]);
});

it("cuts a torn tail in the backing too", async () => {
  await using folder = await temporaryFolder();
  const { remote, on, content } = await fixture(folder);
  const lines = [HEADER, messageLine("00000001", null, "a")].map((line) => `${JSON.stringify(line)}\n`);
  remote.contents.set(NAME, Buffer.from(`${lines.join("")}{"type":"mess`));
  const here = await on("here", 1);
  await writeFile(here.path, "outdated");
  await using log = await openTranscriptLog(here);
  await log.append([userDraft("b")]);
  expect(readFileSync(here.path)).toEqual(content());
  expect(await texts(here.path)).toEqual(["a", "b"]);
});
