/** What a tool of Claude Code answered, as Holdfast's transcript keeps it; Claude Code's own has all of it. */

/** A tool of Claude Code itself answers with less; one of somebody's MCP server may not. */
const MAX_CHARACTERS = 100_000;

export function toolResultText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS).toWellFormed()}\n[${text.length - MAX_CHARACTERS} characters more were left out]`;
}
