import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileExists } from "../../src/base/files.ts";
import type { Store } from "../../src/store/store.ts";
import type { LeaseHolder } from "../../src/store/transcripts.ts";
import { readContext } from "../../src/transcript/context.ts";
import { messageText } from "../../src/transcript/messages.ts";
import { listTranscriptFiles } from "../../src/transcript/paths.ts";
import { readTail } from "../../src/transcript/reader.ts";
import { userDraft } from "../support/transcripts.ts";
import { acquire } from "./leases-suite.ts";
import { type MakeStore, refusal } from "./store-fixture.ts";

const NAME = "s1.jsonl";
const START = { sessionId: "s1", cwd: "/work" };

/** Asks the store every time, as a process does that was just paused. */
async function hold(store: Store, ttlMs = 60_000): Promise<LeaseHolder> {
  const lease = await acquire(store, "main", ttlMs);
  return { lease, fence: () => store.leases.assertCurrent(lease) };
}

async function create(store: Store, texts: readonly string[], name = NAME): Promise<void> {
  await using log = await store.transcripts.create(name, { ...START, entries: texts.map(userDraft) });
  await log.sync();
}

/** The conversation as this handle sees it. */
async function textsIn({ transcripts }: Store, name = NAME, folder?: "archive" | "either"): Promise<string[]> {
  const { messages } = await readContext(await transcripts.locate(name, folder));
  return messages.map((message) => messageText(message));
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `m${index}`);
}

export function describeTranscripts(makeStore: MakeStore): void {
  describe("transcripts", () => {
    describeWriting(makeStore);
    describeRewriting(makeStore);
    describeFolders(makeStore);
  });
}

function describeWriting(makeStore: MakeStore): void {
  it("shows what another handle has appended", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    const second = await fixture.reopen();
    await create(store, ["a"]);
    expect(await textsIn(second)).toEqual(["a"]);
    const held = await hold(store);
    await using log = await store.transcripts.open(NAME, { held });
    for (const text of ["b", "c"]) {
      await log.append([userDraft(text)]);
      expect(await textsIn(second)).toEqual(await textsIn(store));
    }
    expect(await textsIn(second)).toEqual(["a", "b", "c"]);
    expect((await readTail(await second.transcripts.locate(NAME), 1)).entries[0]?.entry.leaseEpoch).toBe(1);
  });

  it("continues where another handle has stopped", async () => {
    await using fixture = await makeStore();
    const second = await fixture.reopen();
    await create(fixture.store, ["a"]);
    for (const [index, store] of [fixture.store, second, fixture.store].entries()) {
      const held = await hold(store);
      await using log = await store.transcripts.open(NAME, { held, isRead: true, expected: { written: true } });
      expect((await log.context()).messages).toHaveLength(index + 1);
      await log.append([userDraft(`${index}`)]);
      await store.leases.release(held.lease);
    }
    expect(await textsIn(second)).toEqual(["a", "0", "1", "2"]);
  });

  it("keeps the entries of two logs of one lease in one conversation", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    await create(store, ["a"]);
    const held = await hold(store);
    await using turn = await store.transcripts.open(NAME, { held });
    await turn.append([userDraft("b")]);
    await using other = await store.transcripts.open(NAME, { held });
    await other.append([userDraft("c")]);
    await turn.append([userDraft("d")]);
    expect(await textsIn(store)).toEqual(["a", "b", "c", "d"]);
  });

  it("refuses a name that is taken", async () => {
    await using fixture = await makeStore();
    const second = await fixture.reopen();
    await create(fixture.store, ["a"]);
    for (const store of [fixture.store, second]) {
      expect(await refusal(create(store, ["b"]))).toEqual({ kind: "conflict", code: "transcript-exists" });
      expect(await refusal(store.transcripts.fork(NAME, NAME, START))).toMatchObject({ kind: "conflict" });
      expect(await textsIn(store)).toEqual(["a"]);
    }
  });

  it("refuses the write of a holder that lost its lease", async () => {
    await using fixture = await makeStore();
    const { store, clock } = fixture;
    const second = await fixture.reopen();
    await create(store, ["a"]);
    const old = await hold(store, 1_000);
    await using log = await store.transcripts.open(NAME, { held: old });
    await log.append([userDraft("b")]);
    clock.advance(1_000);
    const held = await hold(second);
    const fenced = { kind: "fenced", code: "lease-lost" };
    expect(await refusal(log.append([userDraft("late")]))).toEqual(fenced);
    await using taken = await second.transcripts.open(NAME, { held });
    await taken.append([userDraft("c")]);
    expect(await refusal(log.append([userDraft("later")]))).toEqual(fenced);
    expect(await refusal(store.transcripts.open(NAME, { held: old }))).toEqual(fenced);
    expect(await refusal(store.transcripts.compact(NAME, { maxEntries: 1, held: old }))).toEqual(fenced);
    for (const handle of [store, second]) expect(await textsIn(handle)).toEqual(["a", "b", "c"]);
  });

  it("reads the end of a large transcript", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    await create(store, ["a"]);
    const held = await hold(store);
    const long = "x".repeat(2_000);
    await using log = await store.transcripts.open(NAME, { held });
    for (let batch = 0; batch < 10; batch++) {
      await log.append(numbered(100).map((text) => userDraft(`${batch} ${text} ${long}`)));
    }
    await log.sync();
    const second = await fixture.reopen();
    const { entries, complete } = await readTail(await second.transcripts.locate(NAME), 3);
    expect(complete).toBe(false);
    expect(entries.map(({ entry }) => entry.id).at(-1)).toBe(log.leafId);
    expect(entries.at(-1)?.end).toBe(log.end?.bytes);
    expect(await textsIn(second)).toHaveLength(1001);
  });

  it("has no transcript before it is created, and none after it was discarded", async () => {
    await using fixture = await makeStore();
    const { transcripts } = fixture.store;
    const isThere = async (): Promise<boolean> => await fileExists(await transcripts.locate(NAME));
    expect(await isThere()).toBe(false);
    const held = await hold(fixture.store);
    expect(await refusal(transcripts.open(NAME, { held }))).toMatchObject({ kind: "not-found" });
    await create(fixture.store, []);
    expect(await isThere()).toBe(true);
    await transcripts.discard(NAME);
    await transcripts.discard(NAME);
    expect(await isThere()).toBe(false);
    expect(await transcripts.list("sessions")).toEqual([]);
  });

  it("uses only the last part of a name", async () => {
    await using fixture = await makeStore();
    const { transcripts } = fixture.store;
    const path = await transcripts.locate(NAME);
    for (const name of [path, `../../${NAME}`, `/etc/${NAME}`]) expect(await transcripts.locate(name)).toBe(path);
    expect(basename(path)).toBe(NAME);
  });
}

function describeRewriting(makeStore: MakeStore): void {
  it("keeps a log open while the transcript is compacted", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    await create(store, numbered(10));
    const held = await hold(store);
    await using log = await store.transcripts.open(NAME, { held });
    expect(await store.transcripts.compact(NAME, { maxEntries: 3, held })).toMatchObject({ compacted: true, kept: 3 });
    await log.append([userDraft("after")]);
    const second = await fixture.reopen();
    for (const handle of [store, second]) expect(await textsIn(handle)).toEqual(["m7", "m8", "m9", "after"]);
    expect(await store.transcripts.compact(NAME, { maxEntries: 10, held })).toEqual({ compacted: false, kept: 4 });
  });

  it("forks a transcript, whatever happens to the parent", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    const { transcripts } = store;
    await create(store, numbered(5));
    await using fork = await transcripts.fork("s2.jsonl", NAME, { ...START, sessionId: "s2" });
    await fork.append([userDraft("in the fork")]);
    const held = await hold(store);
    await using log = await transcripts.open(NAME, { held });
    await log.append([userDraft("in the parent")]);
    const expected = [...numbered(5), "in the fork"];
    expect(await textsIn(await fixture.reopen(), "s2.jsonl")).toEqual(expected);
    await transcripts.compact(NAME, { maxEntries: 1, held });
    expect(await textsIn(await fixture.reopen(), "s2.jsonl")).toEqual(expected);
    await transcripts.move(NAME, "archive");
    expect(await textsIn(await fixture.reopen(), "s2.jsonl")).toEqual(expected);
  });

  it("rebuilds a transcript that has lost its end, with a notice", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    await create(store, ["a", "b"]);
    const held = await hold(store);
    const expected = { written: true, end: { id: "ffffffff", bytes: 1_000_000 } };
    await using log = await store.transcripts.open(NAME, { held, expected });
    expect(log.untold).toMatch(/^Part of this conversation was lost/);
    await log.append([userDraft("c")]);
    const texts = await textsIn(await fixture.reopen());
    expect(texts.toSpliced(2, 1)).toEqual(["a", "b", "c"]);
    expect(texts[2]).toMatch(/^Part of this conversation was lost/);
  });

  it("frees the name of a missing transcript", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    expect(await store.transcripts.setAsideMissing(NAME, { written: false })).toBeUndefined();
    expect(await store.transcripts.setAsideMissing(NAME, { written: true })).toMatchObject({ kind: "missing" });
    await create(store, ["again"]);
    expect(await textsIn(store)).toEqual(["again"]);
  });
}

function describeFolders(makeStore: MakeStore): void {
  it("moves a transcript to the archive and back", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    const { transcripts } = store;
    const second = await fixture.reopen();
    await create(store, ["a"]);
    await create(store, ["b"], "s0.jsonl");
    expect(await transcripts.list("sessions")).toEqual(["s0.jsonl", NAME]);
    expect(await transcripts.list("archive")).toEqual([]);

    await transcripts.move(NAME, "archive");
    await transcripts.move(NAME, "archive");
    for (const handle of [store, second]) {
      expect(await handle.transcripts.list("sessions")).toEqual(["s0.jsonl"]);
      expect(await handle.transcripts.list("archive")).toEqual([NAME]);
      expect(await fileExists(await handle.transcripts.locate(NAME))).toBe(false);
      expect(await textsIn(handle, NAME, "archive")).toEqual(["a"]);
      expect(await textsIn(handle, NAME, "either")).toEqual(["a"]);
      expect(await textsIn(handle, "s0.jsonl", "either")).toEqual(["b"]);
    }

    await second.transcripts.move(NAME, "sessions");
    await second.transcripts.move("none.jsonl", "sessions");
    for (const handle of [store, second]) expect(await textsIn(handle)).toEqual(["a"]);
    expect(await transcripts.list("archive")).toEqual([]);
  });

  it("adds a complete transcript, but not over another one", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    const { transcripts } = store;
    const header = { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" };
    const message = { type: "message", id: "00000001", parentId: null, timestamp: header.timestamp };
    const line = { ...message, message: { role: "user", content: "imported", timestamp: 1 } };
    const content = Buffer.from([header, line].map((one) => `${JSON.stringify(one)}\n`).join(""));
    await transcripts.put(NAME, content.subarray(0, 50), "sessions");
    await transcripts.put(NAME, content, "sessions");
    await transcripts.put(NAME, content, "sessions");
    await transcripts.put("s2.jsonl", content, "archive");
    expect(await refusal(transcripts.put(NAME, Buffer.from("{}\n"), "sessions"))).toMatchObject({ kind: "conflict" });
    const second = await fixture.reopen();
    expect(await textsIn(second)).toEqual(["imported"]);
    expect(await textsIn(second, "s2.jsonl", "archive")).toEqual(["imported"]);
  });

  it("lists the transcripts that have changed since an instant", async () => {
    await using fixture = await makeStore();
    const { store, clock } = fixture;
    await create(store, ["a"]);
    const later = Math.max(Date.now(), clock.now()) + 60_000;
    expect(await store.transcripts.list("sessions", { changedSince: 0 })).toEqual([NAME]);
    expect(await store.transcripts.list("sessions", { changedSince: later })).toEqual([]);
  });

  it("brings all transcripts to this machine", async () => {
    await using fixture = await makeStore();
    const { store } = fixture;
    await create(store, ["a"]);
    await create(store, ["b"], "s2.jsonl");
    await store.transcripts.move("s2.jsonl", "archive");
    const second = await fixture.reopen();
    const { sessions, archive } = await second.transcripts.bringHere();
    expect([await listTranscriptFiles(sessions), await listTranscriptFiles(archive)]).toEqual([[NAME], ["s2.jsonl"]]);
    await store.transcripts.move(NAME, "archive");
    await second.transcripts.bringHere();
    expect(await listTranscriptFiles(sessions)).toEqual([]);
    expect(await listTranscriptFiles(archive)).toEqual([NAME, "s2.jsonl"]);
    expect((await readContext(join(archive, NAME))).messages).toHaveLength(1);
  });

  it("does not show the transcripts of another agent", async () => {
    await using fixture = await makeStore();
    const other = await fixture.openOther("other");
    await create(fixture.store, ["a"]);
    expect(await other.transcripts.list("sessions")).toEqual([]);
    await create(other, ["b"]);
    expect(await textsIn(fixture.store)).toEqual(["a"]);
    expect(await textsIn(other)).toEqual(["b"]);
  });
}
