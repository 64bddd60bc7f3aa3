/** How channels count the length of a message. */

export type TextUnit = "utf16" | "code-points" | "utf8";

export function measureText(text: string, unit: TextUnit): number {
  if (unit === "utf16") return text.length;
  return unit === "utf8" ? Buffer.byteLength(text) : Array.from(text).length;
}

/** The furthest place up to which `text` from `start` on takes at most `budget`; never inside a surrogate pair. */
export function reach(text: string, start: number, budget: number, unit: TextUnit): number {
  if (unit === "utf16") return beforePair(text, Math.min(text.length, start + Math.max(0, budget)));
  let at = start;
  for (let left = budget; at < text.length;) {
    const code = text.codePointAt(at) ?? 0;
    left -= unit === "utf8" ? utf8Length(code) : 1;
    if (left < 0) break;
    at += code > 0xff_ff ? 2 : 1;
  }
  return at;
}

function beforePair(text: string, at: number): number {
  const inPair = isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));
  return inPair ? at - 1 : at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc_00 && unit <= 0xdf_ff;
}

function utf8Length(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x8_00) return 2;
  return code < 0x1_00_00 ? 3 : 4;
}
