import { readFile, readdir, stat } from "node:fs/promises";
import { SessionManager } from "@mariozechner/pi-coding-agent";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { createTestClock } from "../../test/support/time.ts";
import {
  HEADER,
  assistantDraft,
  messageLine,
  readAll,
  textOf,
  userDraft,
  writeLines,
} from "../../test/support/transcripts.ts";
import { HoldfastError } from "../base/errors.ts";
import { installFaultAction } from "../base/faults.ts";
import { appendCompaction, compactTranscript } from "./compact.ts";
import { readContext } from "./context.ts";
import { forkTranscript } from "./fork.ts";
import { createTranscript } from "./log.ts";
import { messageText } from "./messages.ts";

afterEach(() => installFaultAction(undefined));

function refuse(): never {
  throw new HoldfastError("fenced", "lease-lost", "lost");
}

/** Eight digits for the nth entry of a made-up tree. */
function idOf(index: number): string {
  return `0000${1000 + index}`;
}

async function texts(path: string): Promise<string[]> {
  return (await readContext(path)).messages.map(messageText);
}

describe("compactTranscript", () => {
  test("keeps header and last entries as a valid tree and archives the original", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const clock = createTestClock();
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/ws", clock });
    const entries = await log.append(["1", "2", "3", "4", "5"].map(userDraft));
    const original = await readFile(path);

    const result = await compactTranscript(path, { maxEntries: 2, clock });
    expect(result).toEqual({ compacted: true, archived: `${path}.bak.2026-11-15T12-00-00.000Z`, kept: 2 });
    expect(await readFile(result.archived ?? "")).toEqual(original);
    const { entries: kept, report } = await readAll(path);
    expect(report).toMatchObject({ header: { id: "sid", cwd: "/ws" }, problems: [] });
    expect(kept).toEqual([{ ...entries[3], parentId: null }, entries[4]]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);

    const [next] = await log.append([userDraft("6")]);
    expect(next?.parentId).toBe(entries[4]?.id);
    expect(await texts(path)).toEqual(["4", "5", "6"]);
    expect(SessionManager.open(path).buildSessionContext().messages).toHaveLength(3);
    expect(await readFile(result.archived ?? "")).toEqual(original);
  });

  test("does nothing without entries to remove, and rejects an invalid number", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    await log.append([userDraft("1"), userDraft("2")]);
    expect(await compactTranscript(path, { maxEntries: 2 })).toEqual({ compacted: false, kept: 2 });
    expect(await readdir(folder.path)).toEqual(["sid.jsonl"]);
    for (const maxEntries of [0, -1, 1.5, Number.NaN]) {
      await expect(compactTranscript(path, { maxEntries })).rejects.toMatchObject({ kind: "usage" });
    }
  });

  test("keeps the newest summary, settings and name that still apply", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    await log.append([
      { type: "model_change", provider: "p", modelId: "m" },
      { type: "thinking_level_change", thinkingLevel: "low" },
      { type: "thinking_level_change", thinkingLevel: "high" },
      { type: "session_info", name: "My name" },
    ]);
    const [first] = await log.append([userDraft("1")]);
    await appendCompaction(log, { summary: "OLDER", firstKeptEntryId: first?.id ?? "", tokensBefore: 1 });
    await appendCompaction(log, { summary: "SUMMARY", firstKeptEntryId: first?.id ?? "", tokensBefore: 1 });
    await log.append([userDraft("2"), userDraft("3"), userDraft("4")]);

    await compactTranscript(path, { maxEntries: 2 });
    expect(await readContext(path)).toMatchObject({ thinkingLevel: undefined, problems: [] });
    expect(await texts(path)).toEqual(["SUMMARY", "3", "4"]);
    const pi = SessionManager.open(path);
    expect(pi.buildSessionContext()).toMatchObject({ thinkingLevel: "high", model: { provider: "p", modelId: "m" } });
    expect(pi.buildSessionContext().messages).toEqual((await readContext(path)).messages);
    expect(pi.getSessionName()).toBe("My name");
  });

  test("a kept compaction replaces removed ones and starts at the oldest remaining entry", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    const [first] = await log.append([userDraft("1"), userDraft("2"), userDraft("3")]);
    await appendCompaction(log, { summary: "SUMMARY", firstKeptEntryId: first?.id ?? "", tokensBefore: 1 });
    await log.append([userDraft("4")]);
    await compactTranscript(path, { maxEntries: 3 });
    expect(await texts(path)).toEqual(["SUMMARY", "3", "4"]);
    expect((await readContext(path)).problems).toEqual([]);
  });

  test("a fork keeps its link to the parent", async () => {
    await using folder = await temporaryFolder();
    await using parent = await createTranscript({ path: folder.join("p.jsonl"), sessionId: "p", cwd: "/" });
    await parent.append([userDraft("p1")]);
    await using child = await forkTranscript({
      parentPath: parent.path,
      path: folder.join("c.jsonl"),
      sessionId: "c",
      cwd: "/",
    });
    await child.append([userDraft("c1"), userDraft("c2"), userDraft("c3")]);
    await compactTranscript(child.path, { maxEntries: 1 });
    expect(await texts(child.path)).toEqual(["p1", "c3"]);
  });

  test("a summary in a fork still refers to the parent's entries", async () => {
    await using folder = await temporaryFolder();
    await using parent = await createTranscript({ path: folder.join("p.jsonl"), sessionId: "p", cwd: "/" });
    const [, second] = await parent.append([userDraft("p1"), userDraft("p2")]);
    const path = folder.join("c.jsonl");
    await using child = await forkTranscript({ parentPath: parent.path, path, sessionId: "c", cwd: "/" });
    await child.append([userDraft("c1")]);
    await appendCompaction(child, { summary: "S", firstKeptEntryId: second?.id ?? "", tokensBefore: 1 });
    await child.append([userDraft("c2"), userDraft("c3")]);
    expect(await texts(path)).toEqual(["S", "p2", "c1", "c2", "c3"]);
    await compactTranscript(path, { maxEntries: 3 });
    expect(await texts(path)).toEqual(["S", "p2", "c2", "c3"]);
    await compactTranscript(path, { maxEntries: 1 });
    expect(await texts(path)).toEqual(["S", "p2", "c3"]);
  });

  test("unreadable lines among kept ones stay byte for byte", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const garbage = Buffer.from([0xff, 0x00, 0xfe]);
    await writeLines(path, [
      HEADER,
      messageLine("00000001", null, "1"),
      messageLine("00000002", "00000001", "2"),
      garbage,
      messageLine("00000003", "00000002", "3"),
    ]);
    await compactTranscript(path, { maxEntries: 2 });
    expect((await readFile(path)).includes(garbage)).toBe(true);
    expect(await texts(path)).toEqual(["2", "3"]);
  });

  test.each(["transcript.rewrite.archived", "transcript.rewrite.replaced", "file.renamed"] as const)(
    "a failure at %s leaves a complete transcript",
    async (failing) => {
      await using folder = await temporaryFolder();
      const path = folder.join("sid.jsonl");
      await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
      await log.append(["1", "2", "3"].map(userDraft));
      installFaultAction((point) => {
        if (point === failing) throw Object.assign(new Error("EIO"), { code: "EIO" });
      });
      await expect(compactTranscript(path, { maxEntries: 1 })).rejects.toBeInstanceOf(HoldfastError);
      installFaultAction(undefined);
      const { entries, report } = await readAll(path);
      expect(report.problems).toEqual([]);
      expect(entries.map(textOf).at(-1)).toBe("3");
      const names = await readdir(folder.path);
      expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
      const archive = names.find((name) => name.includes(".bak."));
      expect((await readAll(folder.join(archive ?? ""))).entries.map(textOf)).toEqual(["1", "2", "3"]);
    },
  );

  test("without the lease nothing is replaced", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await using log = await createTranscript({ path, sessionId: "sid", cwd: "/" });
    await log.append(["1", "2"].map(userDraft));
    await expect(compactTranscript(path, { maxEntries: 1, fence: refuse })).rejects.toMatchObject({ kind: "fenced" });
    expect((await readAll(path)).report.entries).toBe(2);
  });

  test("any tree stays a tree that we and pi read the same way", async () => {
    await using folder = await temporaryFolder();
    let run = 0;
    const node = fc.record({
      back: fc.nat(),
      kind: fc.constantFrom("user", "user", "assistant", "compaction", "level"),
      keep: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(node, { minLength: 2, maxLength: 25 }),
        fc.integer({ min: 1, max: 12 }),
        async (nodes, maxEntries) => {
          const path = folder.join(`r${++run}.jsonl`);
          const lines = nodes.map(({ back, kind, keep }, index) => {
            // Mostly the entry just before, sometimes any earlier one.
            const parent = back % 3 === 0 ? back % (index + 1) : index;
            const place = {
              id: idOf(index + 1),
              parentId: parent === 0 ? null : idOf(parent),
              timestamp: HEADER.timestamp,
            };
            if (kind === "level") return { type: "thinking_level_change", ...place, thinkingLevel: "low" };
            if (kind === "compaction") {
              return {
                type: "compaction",
                ...place,
                summary: `S${index}`,
                firstKeptEntryId: idOf((keep % (index + 1)) + 1),
                tokensBefore: 1,
              };
            }
            const draft = kind === "user" ? userDraft(`m${index}`) : assistantDraft(`m${index}`);
            return { ...place, ...draft };
          });
          await writeLines(path, [HEADER, ...lines]);
          const before = (await readContext(path)).messages;
          const { kept } = await compactTranscript(path, { maxEntries });
          expect(kept).toBe(Math.min(maxEntries, nodes.length));
          const { report } = await readAll(path);
          expect(report.problems).toEqual([]);
          const after = await readContext(path);
          expect(SessionManager.open(path).buildSessionContext().messages).toEqual(after.messages);
          // No entry is new, and the last message is still there.
          const ending = lines.at(-1)?.type === "message" ? before.slice(-1) : [];
          expect(after.messages).toEqual(expect.arrayContaining(ending));
          for (const message of after.messages) expect(before).toContainEqual(message);
        },
      ),
      { numRuns: 60 },
    );
  });
});
