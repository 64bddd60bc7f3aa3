/** A QR code for the terminal at hand: with colours, dark on light as cameras expect it. */
import { style } from "../output.ts";
import { renderQrCode } from "./render-qr-code.ts";

export function paintQrCode(text: string): string {
  const isColoured = style("bold", "x") !== "x";
  // Without colours, most terminals write light on dark.
  const lines = renderQrCode(text, { inverted: !isColoured });
  return lines.map((line) => (isColoured ? style(["black", "bgWhiteBright"], line) : line)).join("\n");
}
