/**
 * How many columns of a terminal a text takes. A person sees graphemes: an emoji made of seven code
 * points takes two columns, an accent takes none, a Chinese character takes two. Text that went through
 * `printableLine` before; control characters have no width here.
 */

/** One column each: nearly everything that is written in titles and branches. */
const NARROW = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u03ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc]*$/;

// Nothing is drawn for marks without a base, for format characters and for the halves of a pair.
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Cs}]/u;

// East Asian wide and fullwidth, and what is drawn as a picture.
const WIDE =
  /^(?:[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{RI}\p{RI})/u;

export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const grapheme of graphemes(text)) width += graphemeWidth(grapheme);
  return width;
}

/** The text, or as much of it as fits with an ellipsis. */
export function cutToWidth(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  if (width < 1) return "";
  // The way through graphemes is long: most text has none of more than one unit.
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

/** The text on several lines, broken between words where it can be; the last line is cut. */
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

/** The text on several lines, broken between words only: a path or an id that is longer stays whole. */
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

/** Cut or filled up with blanks to exactly this width. */
export function fitToWidth(text: string, width: number, align: "left" | "right" = "left"): string {
  const cut = cutToWidth(text, width);
  const blanks = " ".repeat(Math.max(0, width - textWidth(cut)));
  return align === "right" ? blanks + cut : cut + blanks;
}

/** What a person takes for one character, in order. */
export function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

let segmenter: Intl.Segmenter | undefined;

function graphemeWidth(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
