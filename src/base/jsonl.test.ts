import { open, stat, writeFile } from "node:fs/promises";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCharacter } from "../../test/support/any-character.ts";
import { temporaryFolder } from "../../test/support/temp-folder.ts";
import { type Line, encodeLine, readLines, readLinesBackward, readLinesSync } from "./jsonl.ts";

type Way = "forward" | "backward" | "forward without waiting";

async function collect(path: string, options: object, way: Way): Promise<Line[]> {
  await using handle = await open(path, "r");
  const lines: Line[] = [];
  if (way === "forward without waiting") {
    const { size } = await stat(path);
    for (const line of readLinesSync(handle.fd, { ...options, end: size })) {
      lines.push({ ...line, bytes: Buffer.from(line.bytes) });
    }
    return lines;
  }
  for await (const line of (way === "backward" ? readLinesBackward : readLines)(handle, options)) lines.push(line);
  return way === "backward" ? lines.toReversed() : lines;
}

describe.each<Way>(["forward", "backward", "forward without waiting"])("reading %s", (way) => {
  it("yields every line with its position for any chunk size", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("f");
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 12 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 17 }),
        async (parts, terminated, chunkBytes) => {
          const lines = parts.map((part) => Buffer.from(part.filter((byte) => byte !== 10)));
          const content = Buffer.concat(lines.flatMap((line) => [line, Buffer.from("\n")]));
          const whole = terminated || content.length === 0 ? content : content.subarray(0, -1);
          await writeFile(path, whole);
          const read = await collect(path, { chunkBytes }, way);
          expect(
            Buffer.concat(read.flatMap(({ bytes, terminated: end }) => [bytes, Buffer.from(end ? "\n" : "")])),
          ).toEqual(whole);
          for (const { offset, end, bytes, terminated: ended } of read) {
            expect(end - offset).toBe(bytes.length + (ended ? 1 : 0));
            expect(whole.subarray(offset, offset + bytes.length)).toEqual(bytes);
          }
          expect(read.slice(0, -1).every((line) => line.terminated)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("reports an oversized line without buffering it", async () => {
    await using folder = await temporaryFolder();
    const path = folder.join("f");
    await writeFile(path, `short\n${"x".repeat(1000)}\nlast\n`);
    const lines = await collect(path, { maxLineBytes: 100, chunkBytes: 64 }, way);
    expect(lines.map(({ bytes, oversized, offset, end }) => [String(bytes), oversized, offset, end])).toEqual([
      ["short", false, 0, 6],
      ["", true, 6, 1007],
      ["last", false, 1007, 1012],
    ]);
  });
});

it("writes any value as one line", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      const line = encodeLine({ text });
      expect(line.indexOf("\n")).toBe(line.length - 1);
      expect(JSON.parse(line)).toEqual({ text });
    }),
  );
});
