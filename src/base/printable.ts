/**
 * Text of unknown origin on its way to a terminal. Control characters and escape sequences could
 * move the cursor, rewrite what was printed or change the window title; here they become visible.
 */

// C0 without tab and newline, DEL, C1, and the bidirectional overrides that reorder what is shown.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Keeps newlines and tabs; shows every other control character as `\u001b`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The same on one line, cut to `width` characters with an ellipsis. */
export function printableLine(text: string, width = Number.POSITIVE_INFINITY): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  if (line.length <= width) return line;
  const characters = Array.from(line);
  return characters.length <= width ? line : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}
