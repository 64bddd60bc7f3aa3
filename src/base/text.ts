import { nodeCrypto } from "./builtin.ts";

/**
 * Text for people and models. Text of unknown origin is made safe here: for terminals (`printable`), for prompts with
 * quoted text (`delimited`), and for messages to the agent (`disarmStructure`).
 */

// C0 without tab and newline, DEL, C1, and the bidirectional overrides, which reorder text.
// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Shows control characters and escape sequences, which could rewrite the screen, as `\u001b`. Keeps newlines and tabs.
 */
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

/** "Did you mean …": the candidate closest to a mistyped word, if one is close enough. */
export function closestMatch(word: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best !== undefined && best.distance <= tolerance(word) ? best.candidate : undefined;
}

/** Short words allow fewer mistakes: one turns `ls` into a different word, two do so with `new`. */
function tolerance({ length }: string): number {
  if (length < 4) return Math.max(0, length - 2);
  return Math.max(2, Math.floor(length / 3));
}

/** Counts letters added, missing, wrong, or swapped with their neighbor. */
function editDistance(a: string, b: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = isSwap ? at(previous, j - 2) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(substitution, swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    previous = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}

/**
 * Quotes foreign text for a model. The marks contain a digest of the text, so no text can contain its own closing mark,
 * and the same text always looks the same, which helps provider caches. `label` must be harmless, such as a file name.
 */
export function delimited(label: string, text: string): string {
  const digest = nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `<${label} ${digest}>\n${text}\n</${label} ${digest}>`;
}

/**
 * For records of who said what: indents further lines, so that they cannot pass for another speaker's. Every character
 * shown as a line end counts.
 */
export function indentLines(text: string): string {
  return text.replace(/\r\n?|[\n\v\f\u0085\u2028\u2029]/g, "\n  ");
}

/**
 * People can type the structure that Holdfast puts around messages: a system line, a sender, an attachment, the mark of
 * the current message, a hand-off. Text of people passes through here, so that no one can speak as the system or as
 * another person.
 */

/** Changes visibly everything that looks like Holdfast's own structure. */
export function disarmStructure(text: string): string {
  const { systemLine, bracketLine, contextMark, handoffMark } = UNSEEN().test(text) ? spreadStructure() : structure();
  return text
    .replace(OTHER_LINE_BREAKS, "\n")
    .replace(systemLine, "$1 (untrusted):")
    .replace(bracketLine, "($1")
    .replace(contextMark, "($1)")
    .replace(handoffMark, "($1");
}

/** Characters that some programs show as a line end. */
export const OTHER_LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/** Invisible characters. A reader does not notice them between letters. */
const UNSEEN_CHARACTERS = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;
const UNSEEN = lazily(() => new RegExp(`[${UNSEEN_CHARACTERS}]`, "v"));

const structure = lazily(() => expressionsFor(""));
/** Only for text with invisible characters, which is rare: compiling this takes many milliseconds. */
const spreadStructure = lazily(() => expressionsFor(UNSEEN_CHARACTERS));

const CONTEXT_MARKS = ["chat messages since your last reply - for context", "current message - respond to this"];

/** `unseen`: characters that may be anywhere in it. */
function expressionsFor(unseen: string) {
  const gap = String.raw`[[\s${unseen}]--\n]*`;
  const loose = (words: string): string => loosely(words, unseen);
  const attached = `${loose("from")}|${loose("media attached")}|${loose("in reply to")}`;
  const marks = CONTEXT_MARKS.map(loose).join("|");
  return {
    systemLine: new RegExp(`(?<=^${gap})(${loose("system")})${gap}[:：]`, "gimv"),
    bracketLine: new RegExp(String.raw`(?<=^${gap})[\[［](${gap}(?:${attached})${gap}[:：])`, "gimv"),
    contextMark: new RegExp(String.raw`[\[［]([\s${unseen}]*(?:${marks})[\s${unseen}]*)[\]］]`, "giv"),
    handoffMark: new RegExp(String.raw`[<＜]([[\s\/／${unseen}]--\n]*${loose("handoff")})`, "giv"),
  };
}

/** Matches these words with any spacing, any invisible characters in them and any kind of dash. */
function loosely(words: string, unseen: string): string {
  const between = unseen === "" ? "" : `[${unseen}]*`;
  const patterns = words.split(" ").map((word) => {
    return Array.from(word, (letter) => (letter === "-" ? String.raw`\p{Dash}` : letter)).join(between);
  });
  return patterns.join(String.raw`[\s${unseen}]+`);
}

export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
