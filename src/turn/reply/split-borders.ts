/**
 * Where a text may be cut, best place first. A cut drops the white space it is made at, never
 * anything else, and never makes a line begin with a fence that was none before.
 */

export interface Cut {
  /** The piece ends here. */
  end: number;
  /** The next piece begins here. */
  next: number;
}

export interface CutRange {
  text: string;
  /** The piece begins here. */
  start: number;
  /** A cut lies behind this place. */
  floor: number;
  /** The piece may end here at the latest. */
  limit: number;
  /** In code only lines and words count, and no space is dropped but the line break. */
  inCode: boolean;
}

/** A border in the second half of the piece is worth a shorter piece; failing that, any border is. */
export function findBorder(range: CutRange): Cut | undefined {
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

/** Below `earliest` when there is none; `lastIndexOf` would look through everything before it. */
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

/** The longest grapheme that is looked at: more is a heap of accents, and may be cut. */
const LONGEST_GRAPHEME = 128;

/** The last resort: between two characters as people see them. */
export function graphemeCut({ text, start, floor, limit }: CutRange): Cut {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  const piece = text.slice(start, limit + LONGEST_GRAPHEME);
  const segments = segmenter.segment(piece);
  let border = segments.containing(limit - start)?.index ?? limit - start;
  for (let steps = 0; steps < 8 && border > 0 && makesFence(text, start + border); steps += 1) {
    border = segments.containing(border - 1)?.index ?? 0;
  }
  const at = start + border > floor ? start + border : limit;
  return { end: at, next: at };
}

/** Whether a message or a line that begins here would begin with a fence. */
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
