/**
 * A memory file as passages: a section of the file each, or a part of one at the ends of its
 * paragraphs, with the lines on which it stands in the file.
 */
import { redactText } from "../base/redact.ts";
import type { Passage } from "./passages.ts";
import { cutText } from "./passages.ts";

const SECTION_LENGTH = 1500;
const HEADING = /^#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;

export function markdownPassages(content: string): Passage[] {
  const original = content.split("\n");
  const redacted = redactText(content).split("\n");
  const lineNumbers = redacted.length === original.length ? undefined : alignLines(original, redacted);
  const numberOf = (index: number): number => (lineNumbers?.[index] ?? index) + 1;
  const offsets = lineOffsets(original);

  return blocks(redacted).flatMap(({ start, end }) => {
    const text = redacted.slice(start, end).join("\n").trim();
    const line = numberOf(start);
    const place = { line, endLine: numberOf(end - 1), offset: offsets[line - 1] ?? 0 };
    return cutText(text).map((piece) => ({ ...place, text: piece }));
  });
}

interface Block {
  start: number;
  end: number;
}

/** A new block at each heading, and at a paragraph where the block has become long. Code stays together. */
function blocks(lines: readonly string[]): Block[] {
  const found: Block[] = [];
  let start = 0;
  let length = 0;
  let inCode = false;
  const finish = (end: number): void => {
    let [first, last] = [start, end];
    while (first < last && lines[first]?.trim() === "") first += 1;
    while (last > first && lines[last - 1]?.trim() === "") last -= 1;
    if (last > first) found.push({ start: first, end: last });
    start = end;
    length = 0;
  };
  for (const [index, line] of lines.entries()) {
    const startsParagraph = index > 0 && lines[index - 1]?.trim() === "";
    const isLong = length + line.length > SECTION_LENGTH;
    if (!inCode && (HEADING.test(line) || (isLong && startsParagraph))) finish(index);
    // A paragraph without an end, or a list of a thousand items.
    else if (isLong && length > 0) finish(index);
    if (FENCE.test(line)) inCode = !inCode;
    length += line.length + 1;
  }
  finish(lines.length);
  return found;
}

function lineOffsets(lines: readonly string[]): number[] {
  let offset = 0;
  return lines.map((line) => {
    const start = offset;
    offset += Buffer.byteLength(line) + 1;
    return start;
  });
}

/**
 * For each redacted line the index of the line it was. Redacting can take line breaks away, as those of
 * a private key; after such a place the next line that stayed as it was tells where we are.
 */
function alignLines(original: readonly string[], redacted: readonly string[]): number[] {
  const places = new Map<string, number[]>();
  for (const [index, line] of original.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else known.push(index);
  }
  let at = 0;
  return redacted.map((line) => {
    if (original[at] !== line) at = places.get(line)?.find((place) => place >= at) ?? at;
    const found = at;
    at = Math.min(at + 1, original.length - 1);
    return found;
  });
}
