/**
 * Measures, cuts and wraps text by terminal columns. Width is counted by grapheme: an emoji of seven code points
 * takes two columns, an accent none, a Chinese character two. Callers pass text through `printableLine` first.
 */

/** Characters of one column each; most text consists of them. */
const NARROW = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u03ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*$/;

// Marks without a base, format characters and lone surrogates.
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Cs}]/u;

// East Asian wide and fullwidth characters, and emoji.
const WIDE =
  /^(?:[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{RI}\p{RI})/u;

export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return "";
  // Splitting into graphemes is slow and rarely needed.
  if (NARROW.test(text)) return `${text.slice(0, width - 1)}…`;
  let cut = "";
  let left = width - 1;
  for (const grapheme of graphemes(text)) {
    left -= graphemeWidth(grapheme);
    if (left < 0) break;
    cut += grapheme;
  }
  return `${cut}…`;
}

/** Wraps between words where possible; the last line is cut. */
export function wrapToWidth(text: string, width: number, maxLines: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest !== "" && lines.length < maxLines - 1 && textWidth(rest) > width) {
    const head = cutToWidth(rest, width + 1).slice(0, -1);
    const blank = rest.startsWith(" ", head.length) ? head.length : head.lastIndexOf(" ");
    const end = blank > 0 ? blank : Math.max(1, head.length);
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return rest === "" ? lines : [...lines, cutToWidth(rest, width)];
}

/** Wraps between words only: a longer path or id stays whole. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

export function fitToWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  const cut = cutToWidth(text, width);
  const blanks = " ".repeat(Math.max(0, width - textWidth(cut)));
  return align === "right" ? blanks + cut : cut + blanks;
}

/** The characters as a person sees them. */
export function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

let segmenter: Intl.Segmenter | undefined;

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
