/** A QR code as lines for a terminal: two rows of modules a line, in half blocks, with light around it. */
import { drawQrCode } from "./matrix.ts";

const QUIET_ZONE = 2;

/** `inverted`: light modules are drawn, for a terminal whose text is light and which shows no colours. */
export function renderQrCode(text: string, { inverted }: { inverted: boolean }): string[] {
  const matrix = drawQrCode(text);
  const end = matrix.length + QUIET_ZONE;
  const isDrawn = (x: number, y: number): boolean => (matrix[y]?.[x] === true) !== inverted;
  const lines: string[] = [];
  for (let y = -QUIET_ZONE; y < end; y += 2) {
    let line = "";
    for (let x = -QUIET_ZONE; x < end; x += 1) line += HALVES[isDrawn(x, y) ? 1 : 0][isDrawn(x, y + 1) ? 1 : 0];
    lines.push(line);
  }
  return lines;
}

/** By the upper, then by the lower module. */
const HALVES = [
  [" ", "▄"],
  ["▀", "█"],
] as const;
