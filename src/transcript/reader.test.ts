import { open, readFile, stat, truncate, writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { HEADER, messageLine, readAll, textOf, writeLines } from "../../test/support/transcripts.ts";
import { encodeEntry } from "./codec.ts";
import type { TranscriptEntry } from "./entries.ts";
import { readTail, readTranscript } from "./reader.ts";

describe("readTranscript", () => {
  test("yields header and entries with their positions", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "one"), messageLine("00000002", "00000001", "two")]);
    const content = await readFile(path, "utf8");
    const items = [];
    for await (const item of readTranscript(path)) items.push(item);
    expect(items.map(({ kind, line }) => [kind, line])).toEqual([
      ["header", 1],
      ["entry", 2],
      ["entry", 3],
    ]);
    for (const { offset, end } of items) expect(() => JSON.parse(content.slice(offset, end)) as unknown).not.toThrow();
    expect(items.at(-1)?.end).toBe(content.length);
  });

  test("reports each damaged line with its number and yields the rest", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [
      HEADER,
      messageLine("00000001", null, "one"),
      '{"type":"message","id":',
      Buffer.from([0xff, 0xfe, 0x00]),
      "",
      "[]",
      messageLine("00000002", "00000001", "two"),
      { type: "message", id: "00000003", parentId: "00000002", timestamp: HEADER.timestamp },
      messageLine("00000004", "00000003", "four"),
    ]);
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(["one", "two", "", "four"]);
    expect(report).toMatchObject({ lines: 9, entries: 4, tornBytes: 0, problemCount: 5 });
    expect(report.problems.map(({ line }) => line)).toEqual([3, 4, 5, 6, 8]);
  });

  test("ignores bytes after the last newline", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "one"), messageLine("00000002", null, "whole?")]);
    const { size } = await stat(path);
    await truncate(path, size - 1);
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(["one"]);
    expect(report.tornBytes).toBe(JSON.stringify(messageLine("00000002", null, "whole?")).length);
    expect((await readTail(path, 5)).tornBytes).toBe(report.tornBytes);
  });

  test("reports second headers, duplicate ids, missing parents and cycles", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const one = messageLine("00000001", null, "one");
    await writeLines(path, [
      HEADER,
      one,
      HEADER,
      one,
      messageLine("00000001", null, "another"),
      messageLine("00000002", "99999999", "orphan"),
      messageLine("00000003", "00000003", "self"),
      messageLine("00000004", "00000005", "cycle a"),
      messageLine("00000005", "00000004", "cycle b"),
    ]);
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(["one", "another", "orphan", "self", "cycle a", "cycle b"]);
    expect(report.problems.map(({ line, reason }) => `${line}: ${reason}`)).toEqual([
      "3: another header in the middle of the file",
      "4: repeats entry 00000001",
      "5: entry 00000001 has the id of an earlier, different entry",
      "6: parent 99999999 of entry 00000002 is missing, or comes later and closes a cycle",
      "7: entry 00000003 is its own parent",
      "8: parent 00000005 of entry 00000004 is missing, or comes later and closes a cycle",
    ]);
  });

  test.each([
    ["an empty file", Buffer.alloc(0), 0, 0],
    ["binary data", Buffer.from([0, 10, 200, 201, 10, 255, 10]), 3, 3],
    ["entries without a header", Buffer.from(`${JSON.stringify(messageLine("1", null, "x"))}\n`), 1, 1],
  ])("%s is not an error", async (_name, content, lines, problemsAtLeast) => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeFile(path, content);
    const { report } = await readAll(path);
    expect(report.header).toBeUndefined();
    expect(report.lines).toBe(lines);
    expect(report.problemCount).toBeGreaterThanOrEqual(problemsAtLeast);
  });

  test("lists at most a thousand problems but counts all", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeFile(path, "x\n".repeat(5000));
    const { report } = await readAll(path);
    expect(report.problems).toHaveLength(1000);
    expect(report.problemCount).toBe(5001);
  });

  test("a missing file and a folder are clear errors", async () => {
    await using folder = await temporaryFolder();
    await expect(readAll(folder.join("none.jsonl"))).rejects.toMatchObject({ kind: "not-found" });
    await expect(readAll(folder.path)).rejects.toMatchObject({ code: "not-a-file" });
    await expect(readTail(folder.join("none.jsonl"), 1)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("reads a line of 50 MB and reports one that exceeds the limit", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "x".repeat(50 * 1024 * 1024))]);
    const handle = await open(path, "a");
    await handle.write(Buffer.alloc(70 * 1024 * 1024, 0x20));
    await handle.write(`\n${JSON.stringify(messageLine("00000002", "00000001", "after"))}\n`);
    await handle.close();
    const reading = readTranscript(path);
    const lengths: number[] = [];
    for await (const item of reading) if (item.kind === "entry") lengths.push(textOf(item.entry).length);
    expect(lengths).toEqual([50 * 1024 * 1024, 5]);
    expect(reading.report.problems).toMatchObject([{ line: 3, reason: expect.stringContaining("too long") }]);
    expect((await readTail(path, 1)).entries.map(({ entry }) => textOf(entry))).toEqual(["after"]);
  });
});

describe("readTail", () => {
  test("returns the last entries in order and whether there are more", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const lines = Array.from({ length: 10 }, (_, index) => messageLine(`0000000${index}`, null, `m${index}`));
    await writeLines(path, [HEADER, ...lines.slice(0, 8), "garbage", ...lines.slice(8)]);
    const tail = await readTail(path, 3);
    expect(tail.entries.map(({ entry }) => textOf(entry))).toEqual(["m7", "m8", "m9"]);
    expect(tail).toMatchObject({ complete: false, header: { id: "sid" }, problemCount: 1 });
    expect(await readTail(path, 10)).toMatchObject({ complete: true });
  });

  test("returns an entry once if pi wrote it twice", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const one = messageLine("00000001", null, "one");
    await writeLines(path, [HEADER, one, HEADER, one, messageLine("00000002", "00000001", "two")]);
    const tail = await readTail(path, 10);
    expect(tail.entries.map(({ entry }) => textOf(entry))).toEqual(["one", "two"]);
  });
});

test("any text round-trips", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const anyText = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom("\ud800", "\udc00x", "a\0b", "\u2028\u2029", "👩‍👩‍👧", "\n\r", "\ufeffbom", '"\\', "\u0085"),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { minLength: 10, maxLength: 40 }), async (texts) => {
      const entries = texts.map((text, index): TranscriptEntry => {
        return {
          type: "message",
          id: `0000${1000 + index}`,
          parentId: null,
          timestamp: HEADER.timestamp,
          message: { role: "user", content: text, timestamp: 1 },
        };
      });
      await writeFile(path, `${JSON.stringify(HEADER)}\n${entries.map(encodeEntry).join("")}`);
      const read = await readAll(path);
      expect(read.entries).toEqual(entries);
      expect(read.report.problems).toEqual([]);
      expect((await readTail(path, 100)).entries.map(({ entry }) => entry)).toEqual(entries);
    }),
    { numRuns: 20 },
  );
});

test("never throws on garbage, and accounts for every line", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("sid.jsonl");
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    fc
      .constantFrom(
        '{"type":"session","id":"x","version":1e400}',
        '{"type":"session","id":"x","version":2.5}',
        '{"type":"message","id":"a","parentId":"a","timestamp":9e99,"message":{"role":"user","content":"x"}}',
        '{"type":"compaction","summary":"s","firstKeptEntryIndex":-1}',
        '{"type":"compaction","summary":"s","firstKeptEntryIndex":99}',
        '{"role":"user","content":null}',
        '{"type":"__proto__","id":"__proto__","parentId":"constructor"}',
      )
      .map((text) => Buffer.from(text)),
    fc.constant(Buffer.from("\n")),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const content = Buffer.concat(pieces.flatMap((bytes) => [bytes, Buffer.from("\n")]));
      await writeFile(path, content.subarray(0, -1));
      const { report, entries } = await readAll(path);
      const newlines = content.subarray(0, -1).filter((byte) => byte === 10).length;
      expect(report.lines).toBe(newlines);
      expect(entries.length + report.problemCount).toBeGreaterThanOrEqual(newlines - 1);
      const tail = await readTail(path, 1000);
      expect(tail.entries.length).toBeGreaterThanOrEqual(Math.min(1, entries.length));
    }),
    { numRuns: 80 },
  );
});
