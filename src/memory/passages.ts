/**
 * Cuts text into passages: pieces of readable size with their place in the file. Text is redacted before it is cut,
 * because half a secret is not recognized.
 */
import { redactText } from "../base/redact.ts";

export interface Passage {
  /** `tool`: the calls of an answer. */
  role?: string | undefined;
  /** In ms. */
  at?: number | undefined;
  entryId?: string | undefined;
  /** First and last line of the passage, from 1. */
  line: number;
  endLine: number;
  /** Byte offset of the line or entry in the file. */
  offset: number;
  /** The working folder. */
  folder?: string | undefined;
  /** Redacted. */
  text: string;
}

/** About a screen of text: enough for a snippet, small enough for an embedding. */
const PASSAGE_LENGTH = 1500;
/** Limit per entry. The end of a longer paste is not worth searching. */
const ENTRY_LENGTH = 96 * 1024;
const SHORT_FIELD = 200;

/** Passages of one transcript entry. */
export function entryPassages(text: string, place: Omit<Passage, "text">): Passage[] {
  if (text === "") return [];
  const { entryId } = place;
  const id = entryId === undefined || PLAIN_ID.test(entryId) ? entryId : redactText(entryId).slice(0, SHORT_FIELD);
  return cutText(redactText(text).slice(0, ENTRY_LENGTH)).map((piece) => ({ ...place, entryId: id, text: piece }));
}

/** A UUID, or the short ids of Holdfast's transcripts: too short for a secret. */
const PLAIN_ID = /^(?:[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|[\w-]{1,12})$/;

/** Undefined: unknown. The epoch itself also means unknown. */
export function instant(timestamp: unknown): number | undefined {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) || at === 0 ? undefined : at;
}

/** Cuts at the end of a paragraph, line, sentence or word, in this order of preference. */
function cutText(text: string): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > PASSAGE_LENGTH) {
    const cut = cutPlace(rest);
    pieces.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

function cutPlace(text: string): number {
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const found = text.lastIndexOf(end, PASSAGE_LENGTH - end.length);
    if (found > PASSAGE_LENGTH / 3) return found + end.length;
  }
  const last = text.charCodeAt(PASSAGE_LENGTH - 1);
  return last >= 0xd800 && last < 0xdc00 ? PASSAGE_LENGTH - 1 : PASSAGE_LENGTH;
}

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

/** Starts a block at each heading, and at a paragraph if the block is long. Keeps code together. */
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
    // An endless paragraph, or a list of a thousand items.
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
 * Maps each redacted line to its original line. Redacting may remove line breaks, as in a private key; the next
 * unchanged line restores the position.
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
