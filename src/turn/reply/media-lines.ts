/**
 * `MEDIA: <url or path>` on a line of its own, outside fenced code, attaches something. A line whose
 * target is not allowed stays in the text: the person sees what the agent tried, and nothing vanishes.
 */
import { fenceAround, findFences } from "./fences.ts";
import { isMediaRef, isWebUrl } from "./media-ref.ts";

const MEDIA_LINE = /^[ \t]*MEDIA:(.*)$/;

export function splitMediaLines(text: string): { text: string; media: string[] } {
  if (!text.includes("MEDIA:")) return { text: text.trimEnd(), media: [] };

  const fences = findFences(text);
  const media: string[] = [];
  const kept: string[] = [];
  let removedBefore = false;
  let start = 0;
  for (const line of text.split("\n")) {
    const refs = fenceAround(fences, start) === undefined ? readMediaLine(line) : [];
    start += line.length + 1;
    if (refs.length > 0) {
      media.push(...refs);
      removedBefore = true;
      continue;
    }
    // The blank lines on both sides of a line that went become one gap.
    const doubled: boolean = removedBefore && line.trim() === "" && (kept.at(-1) ?? "").trim() === "";
    if (!doubled) kept.push(line);
    removedBefore = doubled;
  }
  if (media.length === 0) return { text: text.trimEnd(), media };
  return { text: kept.join("\n").trimEnd(), media: [...new Set(media)] };
}

/** Empty when the line is text. */
function readMediaLine(line: string): string[] {
  const target = MEDIA_LINE.exec(line.trimEnd())?.[1]?.trim() ?? "";
  if (target === "") return [];
  const quoted = /^(["'`])(.+)\1$/.exec(target)?.[2]?.trim();
  if (quoted !== undefined) return isMediaRef(quoted) ? [quoted] : [];

  const parts = target.split(/\s+/);
  if (parts.every((part) => isMediaRef(part) && saysWhatItIs(part))) return parts;
  return target.startsWith("./") && isMediaRef(target) ? [target] : [];
}

/** A bare word is text unless it says that it is a file: `MEDIA: see below` attaches nothing. */
function saysWhatItIs(part: string): boolean {
  return isWebUrl(part) || /[^/.]\.[a-z0-9]{1,8}$/i.test(part);
}
