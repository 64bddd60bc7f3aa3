/** A scan in parts equals a scan at once, and nothing that stands in a file makes it throw. */
import { readFileSync, readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createLineReader } from "./line-reader.ts";
import { scanTranscript, withUnfinishedLine } from "./scan-file.ts";
import { createSessionScan, restoreScan, serializeScan } from "./session-scan.ts";
import { type UsageLedger, mergeUsage } from "./usage.ts";

const fixtures = fileURLToPath(new URL("../../../test/fixtures/claude-code/", import.meta.url));
const realLines = readdirSync(fixtures, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl"))
  .flatMap((name) => readFileSync(`${fixtures}${name}`, "utf8").split("\n"))
  .filter((line) => line !== "");

/** Real lines, torn ones, and objects with the right member names and anything as their values. */
const anyLine = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...realLines) },
  fc.tuple(fc.constantFrom(...realLines), fc.nat(2000)).map(([line, length]) => line.slice(0, length)),
  fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", " ")),
  fc
    .dictionary(
      fc.constantFrom("message", "timestamp", "cwd", "attachment", "compactMetadata", "isMeta", "aiTitle", "__proto__"),
      fc.oneof(fc.jsonValue(), fc.constantFrom({ content: "hi" }, { id: "m", usage: { output_tokens: 5 } })),
    )
    .chain((members) =>
      fc
        .constantFrom("user", "assistant", "system", "attachment", "ai-title", "new-type", "constructor")
        .map((type) => JSON.stringify({ ...members, type, subtype: "compact_boundary" })),
    ),
);

it("scanning in two parts at any line boundary equals scanning at once", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyLine, { maxLength: 30 }),
      fc.nat(),
      fc.integer({ min: 1, max: 5000 }),
      async (lines, cut, chunkBytes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const boundary = Buffer.byteLength(
          lines
            .slice(0, cut % (lines.length + 1))
            .map((line) => `${line}\n`)
            .join(""),
        );
        await writeFile(path, bytes);
        const whole = await scanTranscript(path);
        const first = await scanTranscript(path, { end: boundary, chunkBytes });
        if (whole === undefined || first === undefined) throw new Error("the file is there");
        const second = await scanTranscript(path, { from: restoreScan(serializeScan(first.scan)), chunkBytes });
        const ledger: UsageLedger = new Map(first.ledger);
        mergeUsage(ledger, second?.ledger ?? new Map());
        expect(second?.scan).toEqual(whole.scan);
        expect(ledger).toEqual(whole.ledger);
        expect(whole.scan.offset).toBe(bytes.length);
      },
    ),
    { numRuns: 150 },
  );
});

it("goes on from a line that was unfinished, wherever it was cut", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  const bytes = readFileSync(`${fixtures}simple-json/2567e988-bbe2-47b1-88e2-236ca4fc214e.jsonl`);
  await writeFile(path, bytes);
  const whole = await scanTranscript(path);
  for (let cut = 0; cut <= bytes.length; cut += 97) {
    const first = await scanTranscript(path, { end: cut });
    expect(first === undefined ? -1 : first.scan.offset + first.unfinishedBytes).toBe(cut);
    const second = await scanTranscript(path, { from: first?.scan });
    expect(second?.scan).toEqual(whole?.scan);
  }
});

it("never throws, and counts every line once", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          anyLine.map((line) => Buffer.from(line)),
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        ),
        { maxLength: 20 },
      ),
      (lines) => {
        const scan = createSessionScan();
        const reader = createLineReader(scan, new Map());
        for (const line of lines) reader.read(line, 0, line.length, 0);
        const understood = [...scan.lineTypes.values()].reduce((sum, count) => sum + count, 0);
        const blank = lines.filter((line) => line.length === 0 || (line.length === 1 && line[0] === 0x0d)).length;
        expect([understood + scan.damagedLines, scan.lines]).toEqual([scan.lines, lines.length - blank]);
      },
    ),
    { numRuns: 500 },
  );
});

const prompt = (text: string) => JSON.stringify({ type: "user", message: { role: "user", content: text } });

it("holds what a whole last line says although its newline is missing, and can still go on", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, `${prompt("one")}\n${prompt("two")}`);
  const file = await scanTranscript(path);
  if (file === undefined) throw new Error("the file is there");
  expect([withUnfinishedLine(file).scan.userTurns, file.scan.userTurns]).toEqual([2, 1]);
  await writeFile(path, `${prompt("one")}\n${prompt("two").slice(0, 20)}`);
  const torn = await scanTranscript(path);
  if (torn === undefined) throw new Error("the file is there");
  expect([withUnfinishedLine(torn).scan.userTurns, withUnfinishedLine(torn).tornBytes]).toEqual([1, 20]);
});

it("reports a line that is too long to be held, and reads the ones around it", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, `${prompt("one")}\n${prompt("x".repeat(5000))}\n${prompt("three")}\n`);
  const file = await scanTranscript(path, { maxLineBytes: 1000, chunkBytes: 300 });
  expect([file?.scan.userTurns, file?.scan.lines, file?.scan.latestPrompt]).toEqual([2, 3, "three"]);
  expect(file?.scan.damaged).toEqual([{ offset: prompt("one").length + 1, reason: "too long" }]);
  expect(await scanTranscript(folder.join("missing"))).toBeUndefined();
});

it("a scan stored by another version is not continued", () => {
  const text = serializeScan(createSessionScan());
  expect(restoreScan(text)).toEqual(createSessionScan());
  expect(restoreScan(text.replace('"format":1', '"format":0'))).toBeUndefined();
  expect(restoreScan("not JSON")).toBeUndefined();
});
