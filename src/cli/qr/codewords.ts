/**
 * The bytes of a QR code (ISO/IEC 18004): the text in byte mode at error correction level L, padded, with
 * the Reed-Solomon remainder of each block. Level L, because a screen is clean and a small code fits it.
 */
import { HoldfastError } from "../../base/errors.ts";

/** Level L, by version 1 to 40: how long a block's remainder is, and how many blocks there are. */
const CORRECTION_LENGTHS = [
  7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30,
  30, 30, 30, 30, 30, 30, 30, 30, 30, 30,
];
const BLOCK_COUNTS = [
  1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19,
  20, 21, 22, 24, 25,
];
const LARGEST_VERSION = 40;

export interface Codewords {
  version: number;
  /** In the order in which they are drawn. */
  bytes: number[];
}

export function encodeText(text: string): Codewords {
  const content = [...new TextEncoder().encode(text)];
  const version = smallestVersion(content.length);
  const capacity = dataCapacity(version);
  const lengthBits = version < 10 ? 8 : 16;
  const bits = [
    ...toBits(0b0100, 4),
    ...toBits(content.length, lengthBits),
    ...content.flatMap((byte) => toBits(byte, 8)),
  ];
  bits.push(...toBits(0, Math.min(4, capacity * 8 - bits.length)));
  while (bits.length % 8 !== 0) bits.push(0);
  const data = toBytes(bits);
  for (let filler = 0xec; data.length < capacity; filler ^= 0xec ^ 0x11) data.push(filler);
  return { version, bytes: interleave(data, version) };
}

function smallestVersion(length: number): number {
  for (let version = 1; version <= LARGEST_VERSION; version += 1) {
    if (dataCapacity(version) * 8 >= 4 + (version < 10 ? 8 : 16) + length * 8) return version;
  }
  throw new HoldfastError("unsupported", "qr-too-long", "The code is too long to be shown for scanning", {
    hint: "Use --json to get it as text.",
  });
}

/** Bytes of text and padding, without the remainders. */
export function dataCapacity(version: number): number {
  return Math.floor(moduleCount(version) / 8) - correctionLength(version) * blockCount(version);
}

function correctionLength(version: number): number {
  return CORRECTION_LENGTHS[version - 1] ?? 0;
}

function blockCount(version: number): number {
  return BLOCK_COUNTS[version - 1] ?? 1;
}

/** Modules that are left for data when all patterns are drawn. */
function moduleCount(version: number): number {
  const square = (16 * version + 128) * version + 64;
  if (version === 1) return square;
  const alignments = Math.floor(version / 7) + 2;
  return square - ((25 * alignments - 10) * alignments - 55) - (version >= 7 ? 36 : 0);
}

/** Short blocks first; a long one has one byte of data more. */
function interleave(data: readonly number[], version: number): number[] {
  const count = blockCount(version);
  const shortLength = Math.floor(data.length / count);
  const shortCount = count - (data.length % count);
  const blocks = Array.from({ length: count }, (_, index) => {
    const start = index * shortLength + Math.max(0, index - shortCount);
    return data.slice(start, start + shortLength + (index < shortCount ? 0 : 1));
  });
  const corrections = blocks.map((block) => remainder(block, correctionLength(version)));
  return [...columns(blocks), ...columns(corrections)];
}

/** The first bytes of all rows, then the second ones, as far as they reach. */
function columns(rows: readonly (readonly number[])[]): number[] {
  const length = Math.max(...rows.map((row) => row.length));
  return Array.from({ length }, (_, column) => rows.flatMap((row) => row[column] ?? [])).flat();
}

/** The Reed-Solomon remainder of the block, over GF(256) with the polynomial 0x11d. */
export function remainder(block: readonly number[], length: number): number[] {
  const divisor = generator(length);
  const result = Array.from({ length }, () => 0);
  for (const byte of block) {
    const factor = byte ^ (result.shift() ?? 0);
    result.push(0);
    for (const [index, coefficient] of divisor.entries()) {
      result[index] = (result[index] ?? 0) ^ multiply(coefficient, factor);
    }
  }
  return result;
}

/** (x − 1)(x − 2)(x − 4)…, without the leading 1. */
function generator(degree: number): number[] {
  const coefficients = [...Array.from({ length: degree - 1 }, () => 0), 1];
  let root = 1;
  for (let step = 0; step < degree; step += 1) {
    for (let index = 0; index < degree; index += 1) {
      coefficients[index] = multiply(coefficients[index] ?? 0, root) ^ (coefficients[index + 1] ?? 0);
    }
    root = multiply(root, 2);
  }
  return coefficients;
}

export function multiply(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((right >>> bit) & 1) * left;
  }
  return product;
}

function toBits(value: number, length: number): number[] {
  return Array.from({ length }, (_, index) => (value >>> (length - 1 - index)) & 1);
}

function toBytes(bits: readonly number[]): number[] {
  return Array.from({ length: bits.length / 8 }, (_, byte) =>
    bits.slice(byte * 8, byte * 8 + 8).reduce((value, bit) => (value << 1) | bit, 0),
  );
}
