/**
 * People can type what Holdfast itself puts around messages: a system line, a sender, the mark of the
 * current message. Whatever a person wrote goes through here before it is put between the real ones,
 * so that nobody speaks as the system or as somebody else.
 */

/** The same text; what looks like Holdfast's own structure is changed visibly. */
export function disarmStructure(text: string): string {
  return text
    .replace(OTHER_LINE_BREAKS, "\n")
    .replace(SYSTEM_LINE, "$1 (untrusted):")
    .replace(SENDER_LINE, "($1")
    .replace(CONTEXT_MARK, "($1)");
}

/** What some programs show as the end of a line. */
export const OTHER_LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

const SYSTEM_LINE = /(?<=^[[\s\p{Cf}]--\n]*)(system)[[\s\p{Cf}]--\n]*[:：]/gimv;
const SENDER_LINE = /(?<=^[[\s\p{Cf}]--\n]*)\[([[\s\p{Cf}]--\n]*from[[\s\p{Cf}]--\n]*[:：])/gimv;
const CONTEXT_MARK =
  /\[\s*(chat messages since your last reply - for context|current message - respond to this)\s*\]/gi;
