/**
 * Long answers in pieces that a channel takes. What holds for every text and every limit:
 * - Nothing but white space at the cuts is lost, and the order stays.
 * - No piece is longer than the limit (a single code point that is, is sent whole).
 * - Fenced code that is cut is closed in one piece and opened again, with its language, in the next.
 *   Only where the limit is so small that the fences would fill half of it are they cut like text.
 * - A piece ends at a paragraph, a line, a sentence or a word if it can, and never inside a surrogate
 *   pair or what a person sees as one character.
 */
import { type Fence, fenceAround, fenceBefore, findFences } from "./fences.ts";
import { type TextUnit, measureText, reach } from "./measure.ts";
import { type Cut, findBorder, graphemeCut } from "./split-borders.ts";

export interface TextLimit {
  /** Left out: no limit. */
  limit?: number;
  /** Left out: UTF-16 code units. */
  unit?: TextUnit;
}

/** What the platforms take in one message. */
export const CHANNEL_TEXT_LIMITS = {
  telegram: { limit: 4096, unit: "utf16" },
  discord: { limit: 2000, unit: "utf16" },
  whatsapp: { limit: 65_536, unit: "utf16" },
  web: {},
} as const satisfies Record<string, TextLimit>;

/** A text that fits is left as it is; a blank one gives no piece at all. */
export function splitReplyText(text: string, { limit, unit = "utf16" }: TextLimit = {}): string[] {
  if (text.trim() === "") return [];
  if (limit === undefined || measureText(text, unit) <= limit) return [text];

  const job = prepare(text, Math.max(1, Math.floor(limit) || 1), unit);
  const pieces: string[] = [];
  for (let at = 0, open: Fence | undefined; at < job.text.length;) {
    const piece = nextPiece(job, at, open);
    const content = trimOutside(piece, open);
    if (content.trim() !== "") pieces.push(prefixOf(job, open) + content + closingOf(piece.closes));
    at = piece.next;
    open = piece.open;
  }
  return pieces;
}

interface Job {
  text: string;
  limit: number;
  unit: TextUnit;
  /** Those that the limit leaves room for. */
  fences: Fence[];
}

interface Piece {
  content: string;
  /** The fence that has to be closed at the end of this piece. */
  closes: Fence | undefined;
  next: number;
  /** The fence that the next piece begins in. */
  open: Fence | undefined;
}

function prepare(text: string, limit: number, unit: TextUnit): Job {
  const lines = shortenOpenings(text.replaceAll("\r\n", "\n"), limit, unit);
  const fences = findFences(lines).filter((fence) => {
    return 2 * measureText(closingOf(fence), unit) <= limit / 2;
  });
  return { text: lines, limit, unit, fences };
}

/** The opening line of a fence cannot be cut: what is too long in it becomes the first line of the code. */
function shortenOpenings(text: string, limit: number, unit: TextUnit): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, contentStart, indent, marker } of findFences(text)) {
    if (measureText(text.slice(start, contentStart), unit) <= limit / 2) continue;
    const split = start + indent.length + marker.length;
    if (contentStart - split <= 1) continue;
    parts.push(text.slice(from, split));
    from = split;
  }
  return [...parts, text.slice(from)].join("\n");
}

/** Blank lines at the ends of a piece, but for those that belong to code. */
function trimOutside({ content, closes }: Piece, open: Fence | undefined): string {
  const begun = open === undefined ? content.replace(/^(?:[ \t]*\n)+/, "") : content;
  return closes === undefined ? begun.trimEnd() : begun;
}

function nextPiece(job: Job, at: number, open: Fence | undefined): Piece {
  const { text, unit } = job;
  const budget = job.limit - measureText(prefixOf(job, open), unit);
  const full = Math.max(reach(text, at, budget, unit), at + String.fromCodePoint(text.codePointAt(at) ?? 0).length);
  if (full === text.length) {
    const last = job.fences.at(-1);
    const unclosed = last?.closeStart === text.length && last.start < text.length ? last : undefined;
    const room = budget - measureText(closingOf(unclosed), unit);
    if (reach(text, at, room, unit) === text.length) {
      return { content: text.slice(at), closes: unclosed, next: text.length, open: undefined };
    }
    if (unclosed !== undefined) return cutInFence(job, unclosed, at, budget);
  }
  const fence = fenceAround(job.fences, full);
  return fence === undefined ? outside(text, cutOutside(job, at, full), at) : cutInFence(job, fence, at, budget);
}

function cutOutside({ text, fences }: Job, at: number, full: number): Cut {
  const before = fenceBefore(fences, full);
  const floor = Math.max(at, before?.end ?? at);
  const border = findBorder({ text, start: at, floor, limit: full, inCode: false });
  if (border !== undefined) return border;
  // The end of the code is a border too, unless the piece begins right behind it.
  if (floor > at) return { end: floor, next: Math.min(floor + 1, text.length) };
  return graphemeCut({ text, start: at, floor, limit: full, inCode: false });
}

/** The limit falls into code: before it if that is worth it, else between two of its lines. */
function cutInFence(job: Job, fence: Fence, at: number, budget: number): Piece {
  const { text, unit, limit } = job;
  const last = reach(text, at, budget - measureText(closingOf(fence), unit), unit);
  if (fence.start > at) {
    const fitsAlone = measureText(text.slice(fence.start, Math.min(fence.end, fence.start + limit + 1)), unit) <= limit;
    const farBehind = fence.start - at >= (last - at) / 2;
    if (fitsAlone || farBehind || last <= fence.contentStart) {
      return outside(text, { end: fence.start, next: fence.start }, at);
    }
  }
  const range = { text, start: at, floor: Math.max(at, fence.contentStart), limit: last, inCode: true };
  const { end, next } = findBorder(range) ?? graphemeCut(range);
  const content = text.slice(at, end);
  // Closed here already: its own closing line has nothing left to close.
  if (next >= fence.closeStart) {
    return { content, closes: fence, next: Math.min(fence.end + 1, text.length), open: undefined };
  }
  return { content, closes: fence, next, open: fence };
}

function outside(text: string, { end, next }: Cut, at: number): Piece {
  return { content: text.slice(at, end), closes: undefined, next, open: undefined };
}

function prefixOf({ limit, unit }: Job, fence: Fence | undefined): string {
  if (fence === undefined) return "";
  const bare = fence.indent + fence.marker;
  const named = `${bare}${/^\S*/.exec(fence.info)?.[0] ?? ""}\n`;
  const fits = measureText(named, unit) + measureText(closingOf(fence), unit) <= limit / 2;
  return fits ? named : `${bare}\n`;
}

function closingOf(fence: Fence | undefined): string {
  return fence === undefined ? "" : `\n${fence.indent}${fence.marker}`;
}
