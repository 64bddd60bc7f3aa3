/**
 * People can type what Holdfast itself puts around messages: a system line, a sender, an attachment, the
 * mark of the current message, a hand-off. Whatever a person wrote goes through here before it is put between the real ones,
 * so that nobody speaks as the system or as somebody else.
 */

/** The same text; what looks like Holdfast's own structure is changed visibly. */
export function disarmStructure(text: string): string {
  return text
    .replace(OTHER_LINE_BREAKS, "\n")
    .replace(SYSTEM_LINE, "$1 (untrusted):")
    .replace(BRACKET_LINE, "($1")
    .replace(CONTEXT_MARK, "($1)")
    .replace(HANDOFF_MARK, "($1");
}

/** What some programs show as the end of a line. */
export const OTHER_LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/** Spaces, and what is not seen at all: between two letters or words it changes nothing for a reader. */
const UNSEEN = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;
const GAP = String.raw`[[\s${UNSEEN}]--\n]*`;
const SYSTEM_LINE = new RegExp(`(?<=^${GAP})(${loosely("system")})${GAP}[:：]`, "gimv");
const BRACKET_LINE = new RegExp(
  String.raw`(?<=^${GAP})[\[［](${GAP}(?:${loosely("from")}|${loosely("media attached")})${GAP}[:：])`,
  "gimv",
);
const CONTEXT_MARKS = ["chat messages since your last reply - for context", "current message - respond to this"];
const CONTEXT_MARK = new RegExp(
  String.raw`[\[［]([\s${UNSEEN}]*(?:${CONTEXT_MARKS.map(loosely).join("|")})[\s${UNSEEN}]*)[\]］]`,
  "giv",
);
/** What the block of a hand-off begins and ends with. */
const HANDOFF_MARK = new RegExp(String.raw`[<＜]([[\s\/／${UNSEEN}]--\n]*${loosely("handoff")})`, "giv");

/** These words, however they are spaced, whatever unseen stands in them and whichever dash was typed. */
function loosely(words: string): string {
  const patterns = words.split(" ").map((word) => {
    return Array.from(word, (letter) => (letter === "-" ? String.raw`\p{Dash}` : letter)).join(`[${UNSEEN}]*`);
  });
  return patterns.join(String.raw`[\s${UNSEEN}]+`);
}
