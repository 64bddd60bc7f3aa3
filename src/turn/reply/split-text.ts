/**
 * Splits long answers into pieces that a channel accepts. For every text and limit:
 * - Only white space at the cuts is lost, and the order stays.
 * - No piece is longer than the limit, except a single code point that exceeds it.
 * - Fenced code that is cut is closed in one piece and opened again, with its language, in the next. If the
 *   limit is so small that the fences would fill half of it, code is cut like text.
 * - A piece ends at a paragraph, line, sentence or word if possible, and never inside a surrogate pair or a
 *   grapheme.
 */

/** `limit` counts UTF-16 units. A text that fits is one piece; a blank one has no pieces. */
export function splitReplyText(text: string, limit = Number.POSITIVE_INFINITY): string[] {
  if (text.trim() === "") return [];
  if (text.length <= limit) return [text];

  const job = prepare(text, Math.max(1, Math.floor(limit) || 1));
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
  /** Fences for which the limit leaves room. */
  fences: Fence[];
}

interface Piece {
  content: string;
  closes: Fence | undefined;
  next: number;
  open: Fence | undefined;
}

function prepare(text: string, limit: number): Job {
  const lines = shortenOpenings(text.replaceAll("\r\n", "\n"), limit);
  const fences = findFences(lines).filter((fence) => 2 * closingOf(fence).length <= limit / 2);
  return { text: lines, limit, fences };
}

/** The opening line of a fence cannot be cut, so a long info string becomes the first line of the code. */
function shortenOpenings(text: string, limit: number): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, contentStart, indent, marker } of findFences(text)) {
    if (contentStart - start <= limit / 2) continue;
    const split = start + indent.length + marker.length;
    if (contentStart - split <= 1) continue;
    parts.push(text.slice(from, split));
    from = split;
  }
  return [...parts, text.slice(from)].join("\n");
}

function trimOutside({ content, closes }: Piece, open: Fence | undefined): string {
  const begun = open === undefined ? content.replace(/^(?:[ \t]*\n)+/, "") : content;
  return closes === undefined ? begun.trimEnd() : begun;
}

function nextPiece(job: Job, at: number, open: Fence | undefined): Piece {
  const { text } = job;
  const budget = job.limit - prefixOf(job, open).length;
  const full = Math.max(reach(text, at, budget), at + String.fromCodePoint(text.codePointAt(at) ?? 0).length);
  if (full === text.length) {
    const last = job.fences.at(-1);
    const unclosed = last?.closeStart === text.length && last.start < text.length ? last : undefined;
    if (reach(text, at, budget - closingOf(unclosed).length) === text.length) {
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
  // The end of a code block is a border too, unless the piece starts there.
  if (floor > at) return { end: floor, next: Math.min(floor + 1, text.length) };
  return graphemeCut({ text, start: at, floor, limit: full, inCode: false });
}

/** The limit is inside code: cuts before the code if the piece is then long enough, else between two lines. */
function cutInFence(job: Job, fence: Fence, at: number, budget: number): Piece {
  const { text, limit } = job;
  const last = reach(text, at, budget - closingOf(fence).length);
  if (fence.start > at) {
    const fitsAlone = fence.end - fence.start <= limit;
    const farBehind = fence.start - at >= (last - at) / 2;
    if (fitsAlone || farBehind || last <= fence.contentStart) {
      return outside(text, { end: fence.start, next: fence.start }, at);
    }
  }
  const range = { text, start: at, floor: Math.max(at, fence.contentStart), limit: last, inCode: true };
  const { end, next } = findBorder(range) ?? graphemeCut(range);
  const content = text.slice(at, end);
  // The fence is closed here, so its own closing line is skipped.
  if (next >= fence.closeStart) {
    return { content, closes: fence, next: Math.min(fence.end + 1, text.length), open: undefined };
  }
  return { content, closes: fence, next, open: fence };
}

function outside(text: string, { end, next }: Cut, at: number): Piece {
  return { content: text.slice(at, end), closes: undefined, next, open: undefined };
}

function prefixOf({ limit }: Job, fence: Fence | undefined): string {
  if (fence === undefined) return "";
  const bare = fence.indent + fence.marker;
  const named = `${bare}${/^\S*/.exec(fence.info)?.[0] ?? ""}\n`;
  return named.length + closingOf(fence).length <= limit / 2 ? named : `${bare}\n`;
}

function closingOf(fence: Fence | undefined): string {
  return fence === undefined ? "" : `\n${fence.indent}${fence.marker}`;
}

interface Cut {
  end: number;
  next: number;
}

interface CutRange {
  text: string;
  start: number;
  floor: number;
  limit: number;
  /** In code, only lines and words are borders, and only the line break is dropped. */
  inCode: boolean;
}

/** The best cut: it drops only white space, makes no line that begins with a fence, and is rather late than early. */
function findBorder(range: CutRange): Cut | undefined {
  const { start, floor, limit, inCode } = range;
  const half = start + Math.floor((limit - start) / 2);
  const finders = inCode ? [lineCut, wordCut] : [paragraphCut, lineCut, sentenceCut, wordCut];
  for (const earliest of [Math.max(half, floor + 1), floor + 1]) {
    for (const find of finders) {
      const cut = find(range, earliest);
      if (cut !== undefined) return cut;
    }
  }
  return undefined;
}

function paragraphCut({ text, limit }: CutRange, earliest: number): Cut | undefined {
  for (let at = lastLineBreak(text, limit, earliest); at >= earliest; at = lastLineBreak(text, at - 1, earliest)) {
    const blank = /^\n(?:[ \t]*\n)+/.exec(text.slice(at, at + 64));
    if (blank === null) continue;
    let end = at;
    while (end > earliest && /\s/.test(text.charAt(end - 1))) end -= 1;
    return { end, next: at + blank[0].length };
  }
  return undefined;
}

function lineCut({ text, limit }: CutRange, earliest: number): Cut | undefined {
  const at = lastLineBreak(text, limit, earliest);
  return at < earliest ? undefined : { end: at, next: at + 1 };
}

/** Below `earliest` when there is none. `lastIndexOf` would search the whole text. */
function lastLineBreak(text: string, from: number, earliest: number): number {
  let at = from;
  while (at >= earliest && text[at] !== "\n") at -= 1;
  return at;
}

const SENTENCE_END = /[.!?…][)\]"'»”’*_]{0,4}$|[。！？]$/u;

function sentenceCut(range: CutRange, earliest: number): Cut | undefined {
  const { text, limit } = range;
  for (let at = limit; at >= earliest; at -= 1) {
    const spaced = isBlank(text[at]);
    if (!spaced && !/[。！？]/.test(text.charAt(at - 1))) continue;
    if (!SENTENCE_END.test(text.slice(Math.max(range.start, at - 6), at))) continue;
    const cut = { end: at, next: spaced ? afterBlanks(text, at) : at };
    if (!makesFence(text, cut.next)) return cut;
  }
  return undefined;
}

function wordCut({ text, limit, inCode }: CutRange, earliest: number): Cut | undefined {
  for (let at = limit; at >= earliest; at -= 1) {
    if (!isBlank(text[at])) continue;
    const next = afterBlanks(text, at);
    while (at > earliest && isBlank(text[at - 1])) at -= 1;
    const cut = inCode ? { end: at, next: at } : { end: at, next };
    if (!makesFence(text, next)) return cut;
  }
  return undefined;
}

let segmenter: Intl.Segmenter | undefined;

/** A longer grapheme is a heap of accents and may be cut. */
const MAX_GRAPHEME = 128;

/** The last resort: a cut between two graphemes. */
function graphemeCut({ text, start, floor, limit }: CutRange): Cut {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const piece = text.slice(start, limit + MAX_GRAPHEME);
  const segments = segmenter.segment(piece);
  let border = segments.containing(limit - start)?.index ?? limit - start;
  for (let steps = 0; steps < 8 && border > 0 && makesFence(text, start + border); steps += 1) {
    border = segments.containing(border - 1)?.index ?? 0;
  }
  const at = start + border > floor ? start + border : limit;
  return { end: at, next: at };
}

/** Whether a line that begins here would begin with a fence. */
function makesFence(text: string, at: number): boolean {
  return text.startsWith("```", at) || text.startsWith("~~~", at);
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text[at])) at += 1;
  return at;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** The end of the longest part from `start` that fits into `budget`, never inside a surrogate pair. */
function reach(text: string, start: number, budget: number): number {
  const at = Math.min(text.length, start + Math.max(0, budget));
  const isInPair = (text.codePointAt(at - 1) ?? 0) > 0xff_ff && at > 0;
  return isInPair ? at - 1 : at;
}

interface Fence {
  start: number;
  /** First character after the opening line, or the end of the text. */
  contentStart: number;
  /** First character of the closing line; the end of the text if the fence is not closed. */
  closeStart: number;
  /** End of the closing line, before its line break. */
  end: number;
  indent: string;
  marker: string;
  info: string;
}

const OPENING = /^([ \t]*)(`{3,}|~{3,})(.*)$/;

export function findFences(text: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | undefined;
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (open === undefined) {
      open = readOpening(text, start, end);
    } else if (closes(text.slice(start, end), open)) {
      fences.push({ ...open, closeStart: start, end });
      open = undefined;
    }
    start = end + 1;
  }
  return open === undefined ? fences : [...fences, open];
}

/** The fence around the position. Its opening and closing lines count as inside. */
export function fenceAround(fences: readonly Fence[], position: number): Fence | undefined {
  const found = fences[countEnded(fences, position)];
  return found !== undefined && found.start < position ? found : undefined;
}

function fenceBefore(fences: readonly Fence[], position: number): Fence | undefined {
  return fences[countEnded(fences, position) - 1];
}

function countEnded(fences: readonly Fence[], position: number): number {
  let low = 0;
  let high = fences.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((fences[middle]?.end ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readOpening(text: string, start: number, end: number): Fence | undefined {
  const found = OPENING.exec(text.slice(start, end).trimEnd());
  if (found === null) return undefined;
  const [, indent = "", marker = "", info = ""] = found;
  if (marker.startsWith("`") && info.includes("`")) return undefined;
  const contentStart = Math.min(end + 1, text.length);
  return { start, contentStart, closeStart: text.length, end: text.length, indent, marker, info: info.trim() };
}

function closes(line: string, open: Fence): boolean {
  const bare = line.trim();
  if (bare.length < open.marker.length || bare !== open.marker.charAt(0).repeat(bare.length)) return false;
  return line.length - line.trimStart().length <= open.indent.length + 3;
}
