import { describe, expect, it } from "vitest";
import { dataCapacity, encodeText, multiply, remainder } from "./codewords.ts";
import {
  type QrMatrix,
  alignmentPositions,
  dataPlaces,
  drawMasked,
  drawQrCode,
  formatBits,
  versionBits,
} from "./matrix.ts";
import { renderQrCode } from "./render-qr-code.ts";

/** Values that the standard and its tutorials print. */
describe("the parts of a QR code", () => {
  it("has the remainder of the well-known example", () => {
    const data = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    expect(remainder(data, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  });

  it("protects format and version as the standard lists them", () => {
    expect(formatBits(0).toString(2)).toBe("111011111000100");
    expect(formatBits(4).toString(2)).toBe("110011000101111");
    expect(versionBits(7).toString(2).padStart(18, "0")).toBe("000111110010010100");
  });

  it("puts alignment patterns where the standard has them", () => {
    expect(alignmentPositions(2)).toEqual([6, 18]);
    expect(alignmentPositions(7)).toEqual([6, 22, 38]);
    expect(alignmentPositions(14)).toEqual([6, 26, 46, 66]);
    expect(alignmentPositions(32)).toEqual([6, 34, 60, 86, 112, 138]);
    expect(alignmentPositions(40)).toEqual([6, 30, 58, 86, 114, 142, 170]);
  });

  it("holds as many bytes as the standard says", () => {
    const versions = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 27, 30, 40];
    expect(versions.map((version) => textCapacity(version))).toEqual([
      17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 858, 1465, 1732, 2953,
    ]);
  });
});

/** Bytes of text at level L: what is left after the mode and the length. */
function textCapacity(version: number): number {
  return Math.floor((dataCapacity(version) * 8 - 4 - (version < 10 ? 8 : 16)) / 8);
}

describe("a QR code", () => {
  it.each([
    ["a short text", "hello"],
    ["other scripts", "Grüße – 你好 🎉"],
    ["what WhatsApp gives", `2@${"aB3+/".repeat(28)},${"xYz9".repeat(11)},${"Qq0=".repeat(11)},1`],
    ["a long text", "x".repeat(1200)],
  ])("can be read back: %s", (_, text) => {
    expect(read(drawQrCode(text))).toBe(text);
    const codewords = encodeText(text);
    for (let mask = 0; mask < 8; mask += 1) expect(read(drawMasked(codewords, mask))).toBe(text);
  });

  it("is refused for what no code can hold", () => {
    expect(() => drawQrCode("x".repeat(2954))).toThrow(/too long/);
  });

  it("is drawn two rows a line, with light around it", () => {
    const plain = renderQrCode("hello", { inverted: false });
    expect(plain).toHaveLength(13);
    expect(plain.every((line) => line.length === 25)).toBe(true);
    expect(plain[0]).toBe(" ".repeat(25));
    expect(plain[1]?.slice(0, 9)).toBe("  █▀▀▀▀▀█");
    expect(renderQrCode("hello", { inverted: true })[0]).toBe("█".repeat(25));
  });
});

/** Reads a code the way a scanner does: format, mask, zigzag, syndromes, blocks, text. */
function read(matrix: QrMatrix): string {
  const size = matrix.length;
  const version = (size - 17) / 4;
  const dark = (x: number, y: number): boolean => matrix[y]?.[x] === true;
  let format = 0;
  for (let bit = 0; bit < 8; bit += 1) format |= Number(dark(size - 1 - bit, 8)) << bit;
  for (let bit = 8; bit < 15; bit += 1) format |= Number(dark(8, size - 15 + bit)) << bit;
  const mask = Array.from({ length: 8 }, (_, index) => index).find((index) => formatBits(index) === format);
  expect(mask).toBeDefined();

  // A code of zeros shows the mask itself where data goes.
  const blank = drawMasked({ version, bytes: [] }, mask ?? 0);
  const filled = drawMasked({ version, bytes: Array.from({ length: 4000 }, () => 255) }, mask ?? 0);
  const bits: number[] = [];
  for (const [x, y] of dataPlaces(size)) {
    if (blank[y]?.[x] !== filled[y]?.[x]) bits.push(Number(dark(x, y) !== blank[y]?.[x]));
  }
  const bytes = Array.from({ length: Math.floor(bits.length / 8) }, (_, at) =>
    Number.parseInt(bits.slice(at * 8, at * 8 + 8).join(""), 2),
  );
  const data = deinterleave(bytes, version);
  const stream = data.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  expect(stream.slice(0, 4)).toBe("0100");
  const start = 4 + (version < 10 ? 8 : 16);
  const length = Number.parseInt(stream.slice(4, start), 2);
  const content = Array.from({ length }, (_, at) =>
    Number.parseInt(stream.slice(start + at * 8, start + at * 8 + 8), 2),
  );
  return Buffer.from(content).toString("utf8");
}

/** Level L of the versions that the cases need: blocks, and bytes of each remainder. */
const BLOCKS: Record<number, [count: number, correction: number]> = {
  1: [1, 7],
  2: [1, 10],
  9: [2, 30],
  10: [4, 18],
  11: [4, 20],
  25: [12, 26],
};

function deinterleave(bytes: readonly number[], version: number): number[] {
  const [count, correction] = BLOCKS[version] ?? [0, 0];
  expect(count, `version ${version}`).toBeGreaterThan(0);
  const total = bytes.length - count * correction;
  const short = Math.floor(total / count);
  const blocks: number[][] = Array.from({ length: count }, () => []);
  let at = 0;
  for (let column = 0; column <= short; column += 1) {
    for (const [index, block] of blocks.entries()) {
      const isLong = index >= count - (total % count);
      if (column < short || isLong) block.push(bytes[at++] ?? 0);
    }
  }
  const data = blocks.flat();
  for (let column = 0; column < correction; column += 1) for (const block of blocks) block.push(bytes[at++] ?? 0);
  for (const block of blocks) expect(syndromes(block, correction)).toEqual(Array.from({ length: correction }, () => 0));
  return data;
}

function syndromes(block: readonly number[], count: number): number[] {
  let root = 1;
  return Array.from({ length: count }, () => {
    const value = block.reduce((sum, byte) => multiply(sum, root) ^ byte, 0);
    root = multiply(root, 2);
    return value;
  });
}
