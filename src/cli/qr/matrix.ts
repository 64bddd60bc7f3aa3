/** The dark and light modules of a QR code: fixed patterns, then the codewords, then the best of eight masks. */
import { type Codewords, encodeText } from "./codewords.ts";

/** Rows of modules; true is dark. Without the quiet zone around it. */
export type QrMatrix = boolean[][];

export function drawQrCode(text: string): QrMatrix {
  const codewords = encodeText(text);
  const drawn = MASKS.map((_, mask) => drawMasked(codewords, mask));
  return drawn.reduce((best, candidate) => (penalty(candidate) < penalty(best) ? candidate : best));
}

/** Undefined: nothing fixed there, so data goes there. */
type Grid = (boolean | undefined)[][];

const MASKS: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

export function drawMasked({ version, bytes }: Codewords, mask: number): QrMatrix {
  const size = version * 4 + 17;
  const grid: Grid = Array.from({ length: size }, () => Array.from({ length: size }, () => undefined));
  drawTiming(grid);
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    drawFinder(grid, x, y);
  drawAlignments(grid, version);
  drawFormat(grid, mask);
  if (version >= 7) drawVersion(grid, version);
  return fillData(grid, bytes, MASKS[mask] ?? (() => false));
}

function put(grid: Grid, x: number, y: number, dark: boolean): void {
  const row = grid[y];
  if (row !== undefined && x >= 0 && x < row.length) row[x] = dark;
}

function drawTiming(grid: Grid): void {
  for (let at = 0; at < grid.length; at += 1) {
    put(grid, 6, at, at % 2 === 0);
    put(grid, at, 6, at % 2 === 0);
  }
}

function drawFinder(grid: Grid, x: number, y: number): void {
  for (let dy = -4; dy <= 4; dy += 1) {
    for (let dx = -4; dx <= 4; dx += 1) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      put(grid, x + dx, y + dy, ring !== 2 && ring !== 4);
    }
  }
}

function drawAlignments(grid: Grid, version: number): void {
  const positions = alignmentPositions(version);
  const last = positions.length - 1;
  for (const [column, x] of positions.entries()) {
    for (const [row, y] of positions.entries()) {
      const isFinder = (column === 0 && (row === 0 || row === last)) || (column === last && row === 0);
      if (!isFinder) drawAlignment(grid, x, y);
    }
  }
}

function drawAlignment(grid: Grid, x: number, y: number): void {
  for (let dy = -2; dy <= 2; dy += 1) {
    for (let dx = -2; dx <= 2; dx += 1) put(grid, x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }
}

export function alignmentPositions(version: number): number[] {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2;
  const fromEnd = Array.from({ length: count - 1 }, (_, index) => version * 4 + 10 - index * step);
  return [6, ...fromEnd.toReversed()];
}

/** Level L and the mask, with the remainder that protects them. */
export function formatBits(mask: number): number {
  const data = (0b01 << 3) | mask;
  return ((data << 10) | polynomialRemainder(data, 10, 0x537)) ^ 0x5412;
}

export function versionBits(version: number): number {
  return (version << 12) | polynomialRemainder(version, 12, 0x1f25);
}

function polynomialRemainder(data: number, degree: number, polynomial: number): number {
  let rest = data;
  for (let step = 0; step < degree; step += 1) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * polynomial);
  return rest;
}

/** Twice: around the upper left corner, and along the other two. */
function drawFormat(grid: Grid, mask: number): void {
  const bits = formatBits(mask);
  const size = grid.length;
  const isDark = (bit: number): boolean => ((bits >>> bit) & 1) === 1;
  for (let bit = 0; bit < 6; bit += 1) put(grid, 8, bit, isDark(bit));
  put(grid, 8, 7, isDark(6));
  put(grid, 8, 8, isDark(7));
  put(grid, 7, 8, isDark(8));
  for (let bit = 9; bit < 15; bit += 1) put(grid, 14 - bit, 8, isDark(bit));
  for (let bit = 0; bit < 8; bit += 1) put(grid, size - 1 - bit, 8, isDark(bit));
  for (let bit = 8; bit < 15; bit += 1) put(grid, 8, size - 15 + bit, isDark(bit));
  put(grid, 8, size - 8, true);
}

function drawVersion(grid: Grid, version: number): void {
  const bits = versionBits(version);
  for (let bit = 0; bit < 18; bit += 1) {
    const far = grid.length - 11 + (bit % 3);
    const near = Math.floor(bit / 3);
    put(grid, far, near, ((bits >>> bit) & 1) === 1);
    put(grid, near, far, ((bits >>> bit) & 1) === 1);
  }
}

/** In columns of two from the lower right, up and down in turn. */
function fillData(grid: Grid, bytes: readonly number[], mask: (x: number, y: number) => boolean): QrMatrix {
  let next = 0;
  for (const [x, y] of dataPlaces(grid.length)) {
    if (grid[y]?.[x] !== undefined) continue;
    const bit = ((bytes[next >>> 3] ?? 0) >>> (7 - (next & 7))) & 1;
    put(grid, x, y, (bit === 1) !== mask(x, y));
    next += 1;
  }
  return grid.map((row) => row.map((dark) => dark === true));
}

export function* dataPlaces(size: number): Generator<[x: number, y: number]> {
  let upwards = true;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = upwards ? size - 1 - step : step;
      yield [right, y];
      yield [right - 1, y];
    }
    upwards = !upwards;
  }
}

/** Long runs and even blocks are hard to scan. */
function penalty(matrix: QrMatrix): number {
  let total = 0;
  const columns = matrix.map((_, x) => matrix.map((row) => row[x] === true));
  for (const line of [...matrix, ...columns]) {
    const runs = line.map((dark) => (dark ? "1" : "0")).join("");
    for (const [run] of runs.matchAll(/0{5,}|1{5,}/g)) total += run.length - 2;
    total += 40 * [...runs.matchAll(/(?=10111010000|00001011101)/g)].length;
  }
  for (let y = 1; y < matrix.length; y += 1) {
    for (let x = 1; x < matrix.length; x += 1) {
      const corner = matrix[y]?.[x];
      const isBlock = [matrix[y]?.[x - 1], matrix[y - 1]?.[x], matrix[y - 1]?.[x - 1]].every((dark) => dark === corner);
      if (isBlock) total += 3;
    }
  }
  return total;
}
