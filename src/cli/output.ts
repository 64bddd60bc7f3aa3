/** How commands speak: data on stdout, talk on stderr, colour only where a person looks. */
import type { styleText } from "node:util";
import { nodeUtil } from "../base/builtin.ts";
import { printable, printableLine } from "../base/printable.ts";

type Style = Parameters<typeof styleText>[0];

/** Text of any origin, made harmless for terminals. */
export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Text that contains our own colour codes; everything foreign in it went through `printable` before. */
export function printStyled(text: string): void {
  process.stdout.write(`${text}\n`);
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
  const cells = rows.map((row) => row.map((cell) => printableLine(cell)));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((row) => (row[index] ?? "").length)),
  );
  narrow(columns, widths);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        const text = printableLine(cell, width);
        return columns[index]?.align === "right" ? text.padStart(width) : text.padEnd(width);
      })
      .join("  ")
      .trimEnd();
  printStyled(style("bold", line(columns.map(({ title }) => title))));
  for (const row of cells) printStyled(line(row));
}

const NARROWEST = 12;

function narrow(columns: readonly Column[], widths: number[]): void {
  const available = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY;
  const flexible = columns.findIndex((column) => column.flexible === true);
  const excess = widths.reduce((sum, width) => sum + width + 2, -2) - available;
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
  return tokens < 10_000 ? String(tokens) : `${Math.round(tokens / 1000)}k`;
}
