/**
 * What a shell's completion script calls on every Tab: `holdfast __complete <words…>`. Prints a word a
 * line, a tab and its description after it; the first line says whether files or folders fit as well.
 */
import { printableLine } from "../../base/printable.ts";
import { COMMANDS } from "../commands.ts";
import { lookUp } from "./look-up.ts";
import { type Suggestion, suggest } from "./suggest.ts";

export async function complete(line: readonly string[]): Promise<void> {
  const { words, values, prefix, typed } = suggest(line, COMMANDS);
  const found = values === undefined ? [] : await lookUp(values, line).catch(() => []);
  const fitting = [...words, ...found.filter(({ word }) => word.startsWith(typed))];
  const head = values === "file" || values === "folder" ? `:${values}` : ":words";
  process.stdout.write([head, ...fitting.map((suggestion) => toLine(suggestion, prefix)), ""].join("\n"));
}

/** Labels and keys are foreign text: nothing in them may end the line or move the cursor. */
function toLine({ word, description }: Suggestion, prefix: string): string {
  const text = `${prefix}${printableLine(word)}`;
  return description === undefined ? text : `${text}\t${printableLine(description, 80)}`;
}
