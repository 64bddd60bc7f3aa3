/** Opening a transcript for writing: repairs, set-aside data and refusals. */
import { open, readFile, readdir, stat, truncate, writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
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
import { createTranscript, openTranscriptLog } from "./log.ts";

describe("opening", () => {
  test("adds the header that OpenClaw's compaction drops, and keeps the original", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [messageLine("00000001", null, "one")]);
    const original = await readFile(path);
    await using log = await openTranscriptLog({ path, clock: createTestClock() });
    expect(log.header).toMatchObject({ id: "sid", version: 3 });
    const { entries, report } = await readAll(path);
    expect(entries.map(textOf)).toEqual(["one"]);
    expect(report.problems).toEqual([]);
    expect(await readFile(folder.join("sid.jsonl.bak.2026-11-15T12-00-00.000Z"))).toEqual(original);
  });

  test("adds a header to an empty file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeFile(path, "");
    await using log = await openTranscriptLog({ path });
    await log.append([userDraft("one")]);
    expect((await readAll(path)).report).toMatchObject({ entries: 1, problemCount: 0, header: { id: "sid" } });
  });

  test("refuses a file that is not a transcript and leaves it unchanged", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    const content = Buffer.from([1, 2, 10, 255, 10, 0, 10, 7]);
    await writeFile(path, content);
    await expect(openTranscriptLog({ path })).rejects.toMatchObject({ kind: "corrupt", hint: expect.any(String) });
    expect(await readFile(path)).toEqual(content);
    expect(await readdir(folder.path)).toEqual(["sid.jsonl"]);
    await expect(openTranscriptLog({ path: folder.join("none.jsonl") })).rejects.toMatchObject({ kind: "not-found" });
  });

  test("sets aside a tail of NUL bytes after a power cut", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [HEADER, messageLine("00000001", null, "one")]);
    const { size } = await stat(path);
    await truncate(path, size + 5000);
    await using log = await openTranscriptLog({ path, clock: createTestClock() });
    expect(log.leafId).toBe("00000001");
    expect((await stat(path)).size).toBe(size);
    expect(await readFile(folder.join("sid.jsonl.torn-2026-11-15T12-00-00.000Z"))).toEqual(Buffer.alloc(5000));
  });

  test("reads only the end of a large file", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeLines(path, [HEADER]);
    // A hole of 8 GB: reading it would take far longer than a test may.
    await using handle = await open(path, "r+");
    await handle.write(`\n${JSON.stringify(messageLine("00000001", null, "end"))}\n`, 8 * 1024 ** 3);
    await using log = await openTranscriptLog({ path });
    const [added] = await log.append([userDraft("next")]);
    expect(added?.parentId).toBe("00000001");
  });

  test("any truncation keeps exactly the complete lines, and no byte is lost", async () => {
    await using folder = await temporaryFolder();
    const clock = createTestClock();
    const source = folder.join("source.jsonl");
    await using log = await createTranscript({ path: source, sessionId: "sid", cwd: "/", clock });
    await log.append([userDraft("eins ä"), assistantDraft("zwei 👍"), userDraft("drei \u2028")]);
    const whole = await readFile(source);
    const header = whole.indexOf(10) + 1;
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: header, max: whole.length }), async (length) => {
        const path = folder.join(`r${++run}.jsonl`);
        await writeFile(path, whole.subarray(0, length));
        const complete = whole.subarray(0, whole.subarray(0, length).lastIndexOf(10) + 1);
        const { entries, report } = await readAll(path);
        expect(entries).toHaveLength(complete.filter((byte) => byte === 10).length - 1);
        expect(report.tornBytes).toBe(length - complete.length);

        await (await openTranscriptLog({ path, clock })).close();
        const kept = await readFile(path);
        expect(kept).toEqual(complete);
        const torn = (await readdir(folder.path)).filter((name) => name.startsWith(`r${run}.jsonl.torn-`));
        const saved = await Promise.all(torn.map(async (name) => await readFile(folder.join(name))));
        expect(Buffer.concat([kept, ...saved])).toEqual(whole.subarray(0, length));
      }),
      { numRuns: 40 },
    );
  });

  test("sets aside and rewrites a truncated header", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("sid.jsonl");
    await writeFile(path, '{"type":"session","vers');
    await using log = await openTranscriptLog({ path, clock: createTestClock() });
    expect(log.header.id).toBe("sid");
    expect(await readFile(folder.join("sid.jsonl.torn-2026-11-15T12-00-00.000Z"), "utf8")).toBe(
      '{"type":"session","vers',
    );
  });
});
