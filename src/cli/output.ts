/**
 * How commands print: data on stdout, messages on stderr, colour only on a terminal. Text is measured by terminal
 * columns and counted by grapheme: an emoji of seven code points takes two columns, an accent none, a Chinese character
 * two.
 */
import type { styleText } from "node:util";
import { nodeUtil } from "../base/builtin.ts";
import { printable, printableLine } from "../base/text.ts";

type Style = Parameters<typeof styleText>[0];

/** Text of any origin, made harmless for terminals. */
export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Text with our own colour codes; the caller has made everything foreign in it printable. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Wraps the text to the terminal and indents the following lines by the width of `head`. */
export function printHanging(
  head: string,
  text: string,
  format: { head?: Style | undefined; text?: Style | undefined } = {},
): void {
  const indent = textWidth(head);
  const lines = wrapWords(printableLine(text), terminalWidth() - indent);
  for (const [number, line] of lines.entries()) {
    const before = number === 0 ? styleIf(format.head, head) : " ".repeat(indent);
    process.stdout.write(`${before}${styleIf(format.text, line)}\n`);
  }
}

/** A title and, below it, those facts that are known. */
export function printHeading(title: string, facts: readonly (string | false | undefined)[]): void {
  printHanging("", printableLine(title, 160), { text: "bold" });
  printHanging("  ", facts.filter((fact) => fact !== undefined && fact !== false && fact !== "").join(" · "), {
    text: "dim",
  });
}

function styleIf(format: Style | undefined, text: string): string {
  return format === undefined ? text : style(format, text);
}

function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
}

/** For output of any length: waits until the reader has caught up. */
export async function writeOut(text: string | Uint8Array): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once("drain", resolve));
}

const CHUNK_LENGTH = 256 * 1024;

/** One JSON object with a list that may be larger than memory. `toText` gives an item as JSON. */
export async function writeJsonList<T>(
  head: object,
  name: string,
  items: AsyncIterable<T> | Iterable<T>,
  toText: (item: T) => string,
  tail: (count: number) => object,
): Promise<void> {
  let text = `${JSON.stringify(head).slice(0, -1)},"${name}":[`;
  let count = 0;
  for await (const item of items) {
    text += `${count === 0 ? "" : ","}${toText(item)}`;
    count += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await writeOut(text);
    text = "";
  }
  await writeOut(`${text}],${JSON.stringify(tail(count)).slice(1)}\n`);
}

/** Indented on a terminal, one line for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, process.stdout.isTTY ? 2 : undefined)}\n`);
}

/** A message for a person, on stderr. */
export function talk(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** A message with our own colour codes; the caller has made everything foreign in it printable. */
export function talkStyled(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** `styleText` honours `NO_COLOR`, `FORCE_COLOR` and pipes. */
export function style(format: Style, text: string): string {
  return nodeUtil().styleText(format, text, { stream: process.stdout });
}

const PATIENCE_MS = 1000;

/** `using line = waitingLine("…")`: shows a line on stderr after a second, until the work is done. */
export function waitingLine(text: string): WaitingLine {
  if (!process.stderr.isTTY) return { talk, [Symbol.dispose]: () => undefined };
  const startedAt = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, PATIENCE_MS);
  timer.unref();
  const clear = (): void => {
    if (isShown) process.stderr.write("\r\u001b[K");
    isShown = false;
  };
  return {
    talk: (message) => {
      clear();
      talk(message);
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      clear();
    },
  };
}

interface WaitingLine extends Disposable {
  /** Prints a message above the line. */
  talk: typeof talk;
}

/** A title alone is a left-aligned column of fixed width. */
export type Column = string | { title: string; align?: "right" | undefined; flexible?: boolean | undefined };

export function right(title: string): Column {
  return { title, align: "right" };
}

/** A column that is cut when the terminal is narrow; of several, the widest first. */
export function flexible(title: string): Column {
  return { title, flexible: true };
}

/** Cells are made printable and cut to fit the terminal. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${renderTable(columns, rows).join("\n")}\n`);
}

/** The lines of the table, the titles first. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const heads = columns.map((column) => (typeof column === "string" ? { title: column } : column));
  const cells = rows.map((row) => row.map((cell) => printableLine(cell)));
  const widths = heads.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, textWidth(row[index] ?? "")), title.length),
  );
  const canShrink = [...heads.keys()].filter((index) => heads[index]?.flexible === true);
  shrink(widths, canShrink);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => fitToWidth(cell, widths[index] ?? 0, heads[index]?.align))
      .join("  ")
      .trimEnd();
  return [style("bold", line(heads.map(({ title }) => title))), ...cells.map(line)];
}

const MIN_WIDTH = 12;

function shrink(widths: number[], columns: readonly number[]): void {
  let excess = widths.reduce((sum, width) => sum + width + 2, -2) - terminalWidth();
  for (; excess > 0; excess--) {
    const widest = columns.toSorted((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0];
    const width = widest === undefined ? 0 : (widths[widest] ?? 0);
    if (widest === undefined || width <= MIN_WIDTH) return;
    widths[widest] = width - 1;
  }
}

const UNITS: readonly [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
];

/** `3d`, `5h`, `12m`, `just now`. */
export function formatAge(ms: number): string {
  for (const [unit, size] of UNITS) {
    if (ms >= size) return `${Math.floor(ms / size)}${unit}`;
  }
  return "just now";
}

export function formatTokens(tokens: number | undefined): string {
  if (tokens === undefined) return "";
  if (tokens < 10_000) return String(tokens);
  return tokens < 10_000_000 ? `${Math.round(tokens / 1000)}k` : `${Math.round(tokens / 1_000_000)}M`;
}

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"] as const;

export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  for (; size >= 1000 && unit < BYTE_UNITS.length - 1; unit += 1) size /= 1000;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

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
