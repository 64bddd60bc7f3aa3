/** Draws a QR code in a terminal: half blocks, two rows of modules a line, with a light border. */
import { style } from "./output.ts";

/** With colours the code is black on white. Without, it is drawn for light text on a dark background. */
export async function renderQrCode(text: string): Promise<string> {
  const { default: qrcode } = await import("qrcode");
  const { modules } = qrcode.create(text, { errorCorrectionLevel: "L" });
  const isColoured = style("bold", "x") !== "x";
  const isInside = (at: number): boolean => at >= 0 && at < modules.size;
  const isDrawn = (x: number, y: number): boolean =>
    (isInside(x) && isInside(y) && modules.get(y, x) === 1) === isColoured;
  const lines: string[] = [];
  for (let y = -BORDER; y < modules.size + BORDER; y += 2) {
    let line = "";
    for (let x = -BORDER; x < modules.size + BORDER; x += 1) {
      line += HALVES[isDrawn(x, y) ? 1 : 0][isDrawn(x, y + 1) ? 1 : 0];
    }
    lines.push(isColoured ? style(["black", "bgWhiteBright"], line) : line);
  }
  return lines.join("\n");
}

const BORDER = 2;

/** By the upper, then by the lower module. */
const HALVES = [
  [" ", "▄"],
  ["▀", "█"],
] as const;
