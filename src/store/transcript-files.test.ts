/** Files as copies on two machines, over bytes that are kept elsewhere. `test/contract` tests files without a backing. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { type Remote, backingIn, createRemote } from "../../test/support/remote-transcripts.ts";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { userDraft } from "../../test/support/transcripts.ts";
import { currentProcess } from "../base/processes.ts";
import { readContext } from "../transcript/context.ts";
import { messageText } from "../transcript/messages.ts";
import { createTranscriptFiles } from "./transcript-files.ts";
import type { LeaseHolder, Transcripts } from "./transcripts.ts";

const NAME = "s1.jsonl";

async function machine(folder: TemporaryFolder, name: string, remote: Remote): Promise<Transcripts> {
  const path = folder.join(name);
  await mkdir(path);
  return createTranscriptFiles({
    path: "",
    transcriptsFolder: path,
    durability: "none",
    backingOf: (copy) => backingIn(remote, { ...copy, epoch: copy.held?.lease.epoch }),
  });
}

/** Asking the store is not necessary, because the backing checks the lease. */
function hold(remote: Remote, epoch: number): LeaseHolder {
  remote.epoch = epoch;
  const lease = { key: "agent:main:main", epoch, holder: "h", process: currentProcess(), expiresAt: 0 };
  return { lease, fence: async () => await Promise.reject(new Error("asked the store")) };
}

async function texts(transcripts: Transcripts, name = NAME): Promise<string[]> {
  const { messages } = await readContext(await transcripts.locate(name, "either"));
  return messages.map((message) => messageText(message));
}

it("shows every machine what another one has written", async () => {
  await using folder = await temporaryFolder();
  const remote = createRemote();
  const here = await machine(folder, "here", remote);
  const there = await machine(folder, "there", remote);
  expect(existsSync(await there.locate(NAME))).toBe(false);
  await using first = await here.create(NAME, { sessionId: "s1", cwd: "/", entries: ["a", "b"].map(userDraft) });
  expect(await texts(there)).toEqual(["a", "b"]);
  const held = hold(remote, 2);
  await using log = await there.open(NAME, { held });
  await log.append([userDraft("c")]);
  expect(await texts(here)).toEqual(["a", "b", "c"]);
  expect(await there.compact(NAME, { maxEntries: 2, held })).toMatchObject({ compacted: true });
  await log.append([userDraft("d")]);
  expect(await texts(here)).toEqual(["b", "c", "d"]);
  expect(first.path).not.toBe(log.path);
});

it("refuses a stale holder and a taken name on every machine", async () => {
  await using folder = await temporaryFolder();
  const remote = createRemote();
  const here = await machine(folder, "here", remote);
  const there = await machine(folder, "there", remote);
  await using _first = await here.create(NAME, { sessionId: "s1", cwd: "/" });
  await expect(there.create(NAME, { sessionId: "s1", cwd: "/" })).rejects.toMatchObject({ kind: "conflict" });
  await using log = await here.open(NAME, { held: hold(remote, 2) });
  const held = hold(remote, 3);
  await expect(log.append([userDraft("late")])).rejects.toMatchObject({ kind: "fenced" });
  await using newer = await there.open(NAME, { held });
  await newer.append([userDraft("a")]);
  expect(await texts(here)).toEqual(["a"]);
});

it("forks the newest content of the parent", async () => {
  await using folder = await temporaryFolder();
  const remote = createRemote();
  const here = await machine(folder, "here", remote);
  const there = await machine(folder, "there", remote);
  await using _parent = await here.create(NAME, { sessionId: "s1", cwd: "/", entries: [userDraft("a")] });
  await using fork = await there.fork("s2.jsonl", NAME, { sessionId: "s2", cwd: "/" });
  await fork.append([userDraft("b")]);
  expect(await texts(here, "s2.jsonl")).toEqual(["a", "b"]);
});
