/** How commands print: data on stdout, messages on stderr, colour only on a terminal. */
import type { styleText } from "node:util";
import { nodeUtil } from "../base/builtin.ts";
import { fitToWidth, textWidth, wrapWords } from "./text-width.ts";
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
export function waitingLine(text: string): Disposable {
  if (!process.stderr.isTTY) return { [Symbol.dispose]: () => undefined };
  const startedAt = performance.now();
  let isShown = false;
  const timer = setInterval(() => {
    isShown = true;
    process.stderr.write(`\r\u001b[K${text}, ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, PATIENCE_MS);
  timer.unref();
  return {
    [Symbol.dispose]: () => {
      clearInterval(timer);
      if (isShown) process.stderr.write("\r\u001b[K");
    },
  };
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
