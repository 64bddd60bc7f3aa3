/** How commands speak: data on stdout, talk on stderr, colour only where a person looks. */
import type { styleText } from "node:util";
import { nodeUtil } from "../base/builtin.ts";
import { printable, printableLine } from "../base/printable.ts";
import { fitToWidth, textWidth, wrapWords } from "./text-width.ts";

type Style = Parameters<typeof styleText>[0];

/** Text of any origin, made harmless for terminals. */
export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Text that contains our own colour codes; everything foreign in it went through `printable` before. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** What does not fit the terminal goes on under its own beginning. The text is made printable. */
export function printHanging(head: string, text: string, format: { head?: Style; text?: Style } = {}): void {
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

/** For output of any length: waits until the reader has taken what was written before. */
export async function writeOut(text: string | Uint8Array): Promise<void> {
  if (process.stdout.write(text)) return;
  await new Promise((resolve) => process.stdout.once("drain", resolve));
}

/** Indented for a person at a terminal, on one line for a program. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, process.stdout.isTTY ? 2 : undefined)}\n`);
}

export function talk(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

/** Talk that contains our own colour codes; everything foreign in it went through `printable` before. */
export function talkStyled(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** `NO_COLOR`, `FORCE_COLOR` and pipes are honoured by `styleText`. */
export function style(format: Style, text: string): string {
  return nodeUtil().styleText(format, text, { stream: process.stdout });
}

export interface Column {
  title: string;
  align?: "left" | "right";
  /** The column that gives way when the terminal is narrow. */
  flexible?: boolean;
}

/** Rows under their titles. Cells are made printable and cut to what fits. */
export function printTable(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
  process.stdout.write(`${renderTable(columns, rows).join("\n")}\n`);
}

/** The lines of the table, the titles first. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => printableLine(cell)));
  const widths = columns.map(({ title }, index) =>
    cells.reduce((widest, row) => Math.max(widest, textWidth(row[index] ?? "")), title.length),
  );
  narrow(columns, widths);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => fitToWidth(cell, widths[index] ?? 0, columns[index]?.align))
      .join("  ")
      .trimEnd();
  return [style("bold", line(columns.map(({ title }) => title))), ...cells.map(line)];
}

const NARROWEST = 12;

function narrow(columns: readonly Column[], widths: number[]): void {
  const flexible = columns.findIndex((column) => column.flexible === true);
  const excess = widths.reduce((sum, width) => sum + width + 2, -2) - terminalWidth();
  const width = widths[flexible];
  if (excess > 0 && width !== undefined) widths[flexible] = Math.max(NARROWEST, width - excess);
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
