import { readFile, rename, writeFile } from "node:fs/promises";
import { SessionManager } from "@mariozechner/pi-coding-agent";
import { describe, expect, test } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import { assistantDraft, readAll, userDraft } from "../../test/support/transcripts.ts";
import { encodeLine } from "../base/jsonl.ts";
import { entryToJson } from "./codec.ts";
import { appendCompaction, compactTranscript } from "./compact.ts";
import { readContext } from "./context.ts";
import { forkTranscript, readWhole } from "./fork.ts";
import { createTranscript } from "./log.ts";
import { messageText } from "./messages.ts";
import type { TranscriptProblem } from "./scan.ts";

async function texts(path: string, leafId?: string): Promise<string[]> {
  return (await readContext(path, { leafId })).messages.map(messageText);
}

/** A parent with three messages and a fork of it with one. */
async function family(folder: TemporaryFolder) {
  const clock = createTestClock();
  const parentPath = folder.join("parent.jsonl");
  const childPath = folder.join("child.jsonl");
  await using parent = await createTranscript({ path: parentPath, sessionId: "parent", cwd: "/", clock });
  const entries = await parent.append([userDraft("p1"), assistantDraft("p2"), userDraft("p3")]);
  await using child = await forkTranscript({ parentPath, path: childPath, sessionId: "child", cwd: "/", clock });
  await child.append([userDraft("c1")]);
  await parent.append([userDraft("p4, after the fork")]);
  return { clock, parentPath, childPath, entries };
}

describe("forkTranscript", () => {
  test("copies nothing, names its parent, and has its context up to the fork", async () => {
    await using folder = await temporaryFolder();
    const { parentPath, childPath, entries } = await family(folder);
    expect(await texts(childPath)).toEqual(["p1", "p2", "p3", "c1"]);
    const { entries: own, report } = await readAll(childPath);
    expect(report.header).toMatchObject({ id: "child", parentSession: parentPath });
    expect(own[0]).toMatchObject({
      type: "custom",
      customType: "holdfast.fork",
      parentId: null,
      data: { parentSession: "parent.jsonl", parentSessionId: "parent", leafId: entries[2]?.id },
    });
    expect(own).toHaveLength(2);
  });

  test("forks at an earlier entry, of a fork, and of an empty parent", async () => {
    await using folder = await temporaryFolder();
    const { parentPath, childPath, entries } = await family(folder);
    const early = await forkTranscript({
      parentPath,
      path: folder.join("e.jsonl"),
      sessionId: "e",
      cwd: "/",
      leafId: entries[0]?.id,
    });
    await early.append([userDraft("e1")]);
    await early.close();
    expect(await texts(early.path)).toEqual(["p1", "e1"]);

    const grandchild = await forkTranscript({
      parentPath: childPath,
      path: folder.join("g.jsonl"),
      sessionId: "g",
      cwd: "/",
    });
    await grandchild.append([userDraft("g1")]);
    await grandchild.close();
    expect(await texts(grandchild.path)).toEqual(["p1", "p2", "p3", "c1", "g1"]);

    const empty = await createTranscript({ path: folder.join("empty.jsonl"), sessionId: "empty", cwd: "/" });
    await empty.close();
    const ofEmpty = await forkTranscript({
      parentPath: empty.path,
      path: folder.join("oe.jsonl"),
      sessionId: "oe",
      cwd: "/",
    });
    await ofEmpty.append([userDraft("x")]);
    await ofEmpty.close();
    expect(await readContext(ofEmpty.path)).toMatchObject({ messages: [{ role: "user" }], problems: [] });
  });

  test("a compaction in the fork may keep from an entry of the parent", async () => {
    await using folder = await temporaryFolder();
    const { parentPath, entries } = await family(folder);
    await using child = await forkTranscript({
      parentPath,
      path: folder.join("c2.jsonl"),
      sessionId: "c2",
      cwd: "/",
      leafId: entries[2]?.id,
    });
    await appendCompaction(child, { summary: "S", firstKeptEntryId: entries[1]?.id ?? "", tokensBefore: 1 });
    await child.append([userDraft("c1")]);
    expect(await texts(child.path)).toEqual(["S", "p2", "p3", "c1"]);
  });

  test("refuses a parent in another folder and an unknown leaf", async () => {
    await using folder = await temporaryFolder();
    const { parentPath } = await family(folder);
    const target = { sessionId: "x", cwd: "/" };
    await expect(forkTranscript({ parentPath, path: folder.join("sub", "x.jsonl"), ...target })).rejects.toMatchObject({
      kind: "usage",
    });
    await expect(
      forkTranscript({ parentPath, path: folder.join("x.jsonl"), leafId: "99999999", ...target }),
    ).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("following a fork", () => {
  test("finds the leaf and its ancestors after the parent was compacted", async () => {
    await using folder = await temporaryFolder();
    const { clock, parentPath, childPath } = await family(folder);
    await compactTranscript(parentPath, { maxEntries: 2, clock });
    expect(await texts(parentPath)).toEqual(["p3", "p4, after the fork"]);
    expect(await texts(childPath)).toEqual(["p1", "p2", "p3", "c1"]);
    clock.advance(1000);
    await compactTranscript(parentPath, { maxEntries: 1, clock });
    expect(await texts(childPath)).toEqual(["p1", "p2", "p3", "c1"]);
  });

  test("finds the leaf when earlier lines have moved", async () => {
    await using folder = await temporaryFolder();
    const { parentPath, childPath } = await family(folder);
    const [header = "", ...rest] = (await readFile(parentPath, "utf8")).split("\n");
    await writeFile(parentPath, [header, "a line somebody put in between", ...rest].join("\n"));
    expect(await texts(childPath)).toEqual(["p1", "p2", "p3", "c1"]);
  });

  test("without its parent a fork still shows its own entries", async () => {
    await using folder = await temporaryFolder();
    const { parentPath, childPath } = await family(folder);
    await rename(parentPath, folder.join("gone"));
    const { messages, problems } = await readContext(childPath);
    expect(messages.map(messageText)).toEqual(["c1"]);
    expect(problems).toMatchObject([{ reason: expect.stringContaining("parent.jsonl is missing") }]);
  });

  test.each(["../secret.jsonl", "/etc/passwd", "a\\b", ".."])(
    "does not leave the folder for %s",
    async (parentSession) => {
      await using folder = await temporaryFolder();
      const path = folder.join("sid.jsonl");
      const data = { parentSession, parentSessionId: "x", leafId: "00000001", offset: 10 };
      await using log = await createTranscript({
        path,
        sessionId: "sid",
        cwd: "/",
        entries: [{ type: "custom", customType: "holdfast.fork", data }, userDraft("own")],
      });
      const { messages, problems } = await readContext(log.path);
      expect(messages.map(messageText)).toEqual(["own"]);
      expect(problems).toMatchObject([{ reason: expect.stringContaining("outside its folder") }]);
    },
  );

  test("stops at two files that name each other", async () => {
    await using folder = await temporaryFolder();
    for (const [own, parent] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const data = {
        parentSession: `${parent}.jsonl`,
        parentSessionId: parent,
        leafId: own === "a" ? "00000002" : "00000001",
      };
      const entry = {
        type: "custom",
        customType: "holdfast.fork",
        data,
        id: own === "a" ? "00000001" : "00000002",
        parentId: null,
        timestamp: "2026-01-01T00:00:00.000Z",
      };
      const header = { type: "session", version: 3, id: own, timestamp: entry.timestamp, cwd: "/" };
      await writeFile(folder.join(`${own}.jsonl`), `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
    }
    const { problems } = await readContext(folder.join("a.jsonl"));
    expect(problems).toMatchObject([{ reason: "the forks lead back to a.jsonl" }]);
  });
});

describe("readWhole", () => {
  test("returns one transcript that pi opens with the whole context", async () => {
    await using folder = await temporaryFolder();
    const { childPath } = await family(folder);
    const target = folder.join("export.jsonl");
    expect(await copyWhole(childPath, target)).toEqual([]);
    const { messages } = SessionManager.open(target).buildSessionContext();
    expect(messages).toEqual((await readContext(childPath)).messages);
    const { entries, report } = await readAll(target);
    expect(entries).toHaveLength(4);
    expect(report.problems).toEqual([]);
  });

  test("assigns new ids where parent and fork share one", async () => {
    await using folder = await temporaryFolder();
    const { childPath, entries } = await family(folder);
    const own = (await readAll(childPath)).entries.at(-1)?.id ?? "";
    const content = await readFile(childPath, "utf8");
    await writeFile(childPath, content.replaceAll(`"id":"${own}"`, `"id":"${entries[0]?.id}"`));
    const target = folder.join("export.jsonl");
    await copyWhole(childPath, target);
    const { entries: copied, report } = await readAll(target);
    expect(report.problems).toEqual([]);
    expect(new Set(copied.map(({ id }) => id)).size).toBe(4);
    expect(await texts(target)).toEqual(["p1", "p2", "p3", "c1"]);
  });

  test("returns everything readable when an entry in the middle is lost", async () => {
    await using folder = await temporaryFolder();
    const { parentPath } = await family(folder);
    const lines = (await readFile(parentPath, "utf8")).split("\n");
    await writeFile(
      parentPath,
      lines.map((line) => (line.includes('"p2"') ? "\0".repeat(line.length) : line)).join("\n"),
    );
    const target = folder.join("export.jsonl");
    expect((await copyWhole(parentPath, target)).length).toBeGreaterThan(0);
    expect((await texts(target)).slice(0, 2)).toEqual(["p1", "p3"]);
  });
});

async function copyWhole(path: string, target: string): Promise<TranscriptProblem[]> {
  const problems: TranscriptProblem[] = [];
  const lines: string[] = [];
  for await (const item of readWhole(path, (problem) => problems.push(problem))) {
    lines.push(encodeLine(item.kind === "header" ? item.header : entryToJson(item.entry)));
  }
  await writeFile(target, lines.join(""));
  return problems;
}
