/**
 * How answers to commands are laid out. A terminal shows columns; a messenger has a proportional font
 * and a narrow screen, where columns fall apart and a dash or a colon reads better.
 */
import { printableLine } from "../../base/printable.ts";
import type { MessageContext } from "../../keys/message-context.ts";

/**
 * Text that people or other programs chose, such as labels and the names of models, on one line: it cannot
 * steer a terminal, call somebody, hide a link, or be taken for a directive of a reply.
 */
export function shown(text: string, width = 100): string {
  return printableLine(text, width).replace(/\](?=\()|\[(?=\[)|<(?=[@#!])/g, "$& ");
}

/** A line each: `name: value`, or in columns. The values are shown as they are. */
export function layOut(ctx: MessageContext, rows: readonly Row[], separator = ": "): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows
    .map(([name, value]) => (hasColumns(ctx) ? `${name.padEnd(width)}${value}` : `${name}${separator}${value}`))
    .join("\n");
}

export type Row = readonly [name: string, value: string];

function hasColumns({ Surface, Provider }: MessageContext): boolean {
  return (Surface ?? Provider ?? "").toLowerCase() === "cli";
}

/** `840`, `1.2k`, `12k`, `1M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(Math.round(count));
  const [scaled, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, "") : scaled.toFixed(0)}${unit}`;
}

/** `1 message`, `2 messages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
