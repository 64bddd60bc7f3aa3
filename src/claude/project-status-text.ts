/**
 * Text of a repo on its way to a model. Whoever writes a commit message, a branch name or a title may
 * want it to look like something else; here it becomes one line without control or invisible
 * characters, and in a rendering a quoted string that cannot end early, start a line or open a tag.
 */
import { printableLine } from "../base/printable.ts";

// Format characters (zero width, tags, direction), private use and halves of characters.
const INVISIBLE = /[\p{Cf}\p{Co}\p{Cs}]/gu;
const PLAIN = /^[\w./@+#~=-]+$/;

/** One line of plain data, at most `width` characters. */
export function dataLine(text: string, width: number): string {
  return printableLine(text.slice(0, width * 4).replace(INVISIBLE, ""), width);
}

/** The same as a JSON string that contains no angle bracket. */
export function quoted(text: string, width: number): string {
  return JSON.stringify(dataLine(text, width)).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

/** A name: bare when it is an ordinary one, else quoted. */
export function named(text: string, width: number): string {
  return text.length <= width && PLAIN.test(text) ? text : quoted(text, width);
}

/** How long before `now` it was, roughly: `5m ago`. Empty when the time is unknown. */
export function ageOf(at: string | Date, now: string): string {
  const seconds = Math.max(0, (Date.parse(now) - new Date(at).getTime()) / 1_000);
  if (Number.isNaN(seconds)) return "";
  if (seconds < 60) return "just now";
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3_600)}h ago`;
  return `${Math.floor(seconds / 86_400)}d ago`;
}

/** About four times the tokens: a plain character is a quarter of a token, any other one to two. */
export function textWeight(text: string): number {
  let weight = 0;
  for (const character of text) weight += character < "\u0080" ? 1 : character.length * 4;
  return weight;
}
