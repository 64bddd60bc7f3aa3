import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type NdjsonLine, createNdjsonReader } from "./connection.ts";

test("restores lines from chunks of any size", () => {
  const line = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text));
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(""));
      expect(texts(readInPieces(bytes, sizes))).toEqual(lines);
    }),
  );
});

test("ignores carriage returns and empty lines", () => {
  expect(texts(readInPieces(Buffer.from('{"a":1}\r\n\r\n\n  \n{"b":2}\n'), [3]))).toEqual(['{"a":1}', '{"b":2}']);
});

test("marks a last line without a newline", () => {
  expect(readInPieces(Buffer.from('{"a":1}\n{"b"'), [5])).toEqual([
    { kind: "line", text: '{"a":1}', lossy: false },
    { kind: "unterminated", text: '{"b"', lossy: false },
  ]);
});

test("drops a line beyond the limit, reports its size and reads the next one", () => {
  const reader = createNdjsonReader(10);
  expect(reader.push(Buffer.from("x".repeat(8)))).toEqual([]);
  expect(reader.push(Buffer.from(`${"x".repeat(8)}\nshort\n`))).toEqual([
    { kind: "oversized", bytes: 16 },
    { kind: "line", text: "short", lossy: false },
  ]);
  expect(reader.end()).toEqual([]);
});

test("replaces and reports bytes that are not UTF-8", () => {
  expect(readInPieces(Buffer.from([0x22, 0xff, 0x22, 0x0a]), [1])).toEqual([
    { kind: "line", text: '"\ufffd"', lossy: true },
  ]);
});

function readInPieces(bytes: Buffer, sizes: number[]): NdjsonLine[] {
  const reader = createNdjsonReader();
  const lines: NdjsonLine[] = [];
  for (let from = 0, piece = 0; from < bytes.length; piece++) {
    const size = sizes[piece % sizes.length] ?? 1;
    lines.push(...reader.push(bytes.subarray(from, from + size)));
    from += size;
  }
  return [...lines, ...reader.end()];
}

function texts(lines: NdjsonLine[]): string[] {
  return lines.map((line) => (line.kind === "line" ? line.text : `(${line.kind})`));
}
