import { create } from "qrcode";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renderQrCode } from "./channel-view.ts";

const TEXT = `2@${"aB3+/".repeat(28)},${"xYz9".repeat(11)},1`;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The modules of the drawn code by row, without the border; true is a drawn half block. */
function drawnModules(lines: readonly string[]): boolean[][] {
  const rows = lines.flatMap((line) => [
    line.split("").map((block) => block === "▀" || block === "█"),
    line.split("").map((block) => block === "▄" || block === "█"),
  ]);
  const size = (rows[0]?.length ?? 0) - 4;
  return rows.slice(2, 2 + size).map((row) => row.slice(2, 2 + size));
}

describe("a QR code in the terminal", () => {
  it("is drawn in black on white with colours, with a light border", async () => {
    vi.stubEnv("NO_COLOR", undefined);
    vi.stubEnv("FORCE_COLOR", "1");
    const coloured = (await renderQrCode("hello")).split("\n");
    expect(coloured.every((line) => line.startsWith("\u001b[30m\u001b[107m"))).toBe(true);
    // oxlint-disable-next-line no-control-regex
    const lines = coloured.map((line) => line.replaceAll(/\u001b\[\d+m/g, ""));
    expect(lines).toHaveLength(13);
    expect(lines.every((line) => line.length === 25)).toBe(true);
    expect(lines[0]).toBe(" ".repeat(25));
    expect(lines[1]?.slice(0, 9)).toBe("  █▀▀▀▀▀█");
  });

  it("is drawn in light blocks without colours", async () => {
    vi.stubEnv("FORCE_COLOR", undefined);
    vi.stubEnv("NO_COLOR", "1");
    const lines = (await renderQrCode(TEXT)).split("\n");
    expect(lines[0]).toBe("█".repeat(lines[0]?.length ?? 0));
    const { modules } = create(TEXT, { errorCorrectionLevel: "L" });
    const dark = drawnModules(lines).map((row) => row.map((isDrawn) => !isDrawn));
    expect(dark.flat().map(Number)).toEqual([...modules.data]);
  });
});
