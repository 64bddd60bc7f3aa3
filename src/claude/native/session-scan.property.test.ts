/** A scan in parts gives the same result as one scan, and no file content makes it throw. */
import { appendFile, writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { anyCharacter } from "../../../test/support/any-character.ts";
import { claudeSampleLines } from "../../../test/support/claude-samples.ts";
import { temporaryFolder } from "../../../test/support/temp-folder.ts";
import { createLineReader } from "./line-reader.ts";
import { localDay } from "./usage.ts";
import { openNativeFileSync } from "./layout.ts";
import { type FileScan, type FileScannerOptions, type ScanOptions, createFileScanner } from "./scan-file.ts";
import { restoreScan, serializeScan, type SessionScan, createSessionScan } from "./session-scan.ts";

const realLines = claudeSampleLines();

/** Real lines, cut lines, and objects with known member names and arbitrary values. */
const anyLine = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...realLines) },
  fc.tuple(fc.constantFrom(...realLines), fc.nat(2000)).map(([line, length]) => line.slice(0, length)),
  fc.string({ unit: anyCharacter }).map((text) => text.replaceAll("\n", " ")),
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

function scanFile(path: string, options: ScanOptions = {}, limits: FileScannerOptions = {}): FileScan | undefined {
  using file = openNativeFileSync(path);
  if (file === undefined) throw new Error("the file is there");
  return createFileScanner(limits).scan(file.descriptor, options);
}

it("scanning in parts, wherever they end, equals scanning at once", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyLine, { maxLength: 30 }),
      fc.array(fc.nat(), { maxLength: 4 }),
      fc.integer({ min: 64, max: 5000 }),
      async (lines, cuts, chunkBytes) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        await writeFile(path, bytes);
        const whole = scanFile(path);
        let scan: SessionScan | undefined;
        const ends = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
        for (const end of [...ends, bytes.length]) {
          const part = scanFile(path, { from: scan, end }, { chunkBytes }) ?? scanFile(path, { end });
          scan = part === undefined ? undefined : restoreScan(serializeScan(part.scan));
        }
        expect(scan).toEqual(whole?.scan);
        expect(scan?.offset).toBe(bytes.length);
      },
    ),
    { numRuns: 200 },
  );
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
        const reader = createLineReader();
        reader.begin(scan, new Map());
        for (const line of lines) {
          if (!reader.read(line, line.toString("latin1"), 0, line.length)) reader.reject(0, "damaged");
        }
        const blank = lines.filter((line) => line.every((byte) => [0x09, 0x0d, 0x20].includes(byte))).length;
        expect(scan.lines).toBe(lines.length - blank);
      },
    ),
    { numRuns: 500 },
  );
});

const prompt = (text: string) => JSON.stringify({ type: "user", message: { role: "user", content: text } });

it("reads a complete last line without a newline, and can continue", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, `${prompt("one")}\n${prompt("two")}`);
  const first = scanFile(path);
  expect([first?.scan.userTurns, first?.tornBytes]).toEqual([2, 0]);
  await appendFile(path, `\n${prompt("three")}\n`);
  expect(scanFile(path, { from: first?.scan })?.scan.prompts).toEqual(["one", "two", "three"]);
  const torn = prompt("one").length + 1 + 20;
  expect(scanFile(path, { end: torn })).toMatchObject({ tornBytes: 20, scan: { userTurns: 1, damagedLines: 0 } });
});

it("does not continue when the last line turns out to be incomplete", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, prompt("one"));
  const first = scanFile(path);
  await appendFile(path, ` and more\n`);
  expect(scanFile(path, { from: first?.scan })).toBeUndefined();
  expect(scanFile(path)?.scan).toMatchObject({ userTurns: 0, damagedLines: 1 });
});

it("reports an oversized line and reads the lines around it", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, `${prompt("one")}\n${prompt("x".repeat(5000))}\n${prompt("three")}\n`);
  const file = scanFile(path, {}, { maxLineBytes: 1000, chunkBytes: 300 });
  expect([file?.scan.userTurns, file?.scan.lines, file?.scan.prompts.at(-1)]).toEqual([2, 3, "three"]);
  expect(file?.scan.damaged).toEqual([{ offset: prompt("one").length + 1, reason: "too long" }]);
});

it("reads a line of 50 MB", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  await writeFile(path, `${prompt("one")}\n${prompt("x".repeat(50_000_000))}\n${prompt("three")}\n`);
  expect(scanFile(path)?.scan).toMatchObject({ userTurns: 3, damagedLines: 0 });
});

it("reports a line that a power cut filled with zeros", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  const [start, end] = [prompt("two").slice(0, -4), prompt("two").slice(-4)];
  await writeFile(path, `${prompt("one")}\n${start}${"\0".repeat(4096)}${end}\n${prompt("three")}\n`);
  expect(scanFile(path)?.scan).toMatchObject({ userTurns: 2, damagedLines: 1 });
});

const answer = (id: string, output: number, at: number) =>
  JSON.stringify({
    type: "assistant",
    timestamp: new Date(at).toISOString(),
    message: { id, model: "m", usage: { input_tokens: 1, output_tokens: output } },
  });

it("counts a message once when its lines are read at different times", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  const start = Date.parse("2026-11-15T12:00:00Z");
  const lines = Array.from({ length: 20 }, (_, index) => answer(`m${index}`, 5, start + index * 1000));
  await writeFile(path, `${lines.join("\n")}\n`);
  const first = scanFile(path);
  await appendFile(path, `${answer("m19", 7, start + 19_500)}\n${answer("new", 5, start + 20_000)}\n`);
  const second = scanFile(path, { from: first?.scan });
  expect(second?.scan.usage).toEqual([[localDay(start), "m", 21, 107, 0, 0, 0, 21]]);
  expect(second?.scan.recent).toHaveLength(5);
  // A copy of an old line: its message is no longer remembered.
  await appendFile(path, `${answer("m2", 5, start + 2000)}\n`);
  expect(scanFile(path, { from: second?.scan })).toBeUndefined();
  expect(scanFile(path)?.scan.usage).toEqual([[localDay(start), "m", 21, 107, 0, 0, 0, 21]]);
});

it("sums up many messages without keeping them, unless one appears again", async () => {
  await using folder = await temporaryFolder();
  const path = folder.join("session.jsonl");
  const start = Date.parse("2026-11-15T12:00:00Z");
  const lines = Array.from({ length: 25_000 }, (_, index) => answer(`m${index}`, 5, start + index));
  await writeFile(path, `${lines.join("\n")}\n`);
  const lean = scanFile(path, { keepMessages: false });
  expect(lean?.ledger.size).toBeLessThan(10_000);
  expect(lean?.scan).toEqual(scanFile(path)?.scan);
  await appendFile(path, `${answer("m2", 5, start + 2)}\n`);
  expect(scanFile(path, { keepMessages: false })).toBeUndefined();
  expect(scanFile(path)?.scan.usage).toEqual(lean?.scan.usage);
});

it("does not continue a scan stored by another version", () => {
  const stored = serializeScan(createSessionScan());
  expect(restoreScan(stored)).toEqual(createSessionScan());
  expect(restoreScan({ ...stored, state: stored.state.replace(/"format":\d+/, '"format":0') })).toBeUndefined();
  expect(restoreScan({ ...stored, state: "not JSON" })).toBeUndefined();
});
