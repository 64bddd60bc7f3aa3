/**
 * People can type what Holdfast itself puts around messages: a system line, a sender, an attachment, the
 * mark of the current message, a hand-off. Whatever a person wrote goes through here before it is put between the real ones,
 * so that nobody speaks as the system or as somebody else.
 */

/** The same text; what looks like Holdfast's own structure is changed visibly. */
export function disarmStructure(text: string): string {
  const { systemLine, bracketLine, contextMark, handoffMark } = UNSEEN.test(text) ? spreadStructure() : structure();
  return text
    .replace(OTHER_LINE_BREAKS, "\n")
    .replace(systemLine, "$1 (untrusted):")
    .replace(bracketLine, "($1")
    .replace(contextMark, "($1)")
    .replace(handoffMark, "($1");
}

/** What some programs show as the end of a line. */
export const OTHER_LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/** What is not seen at all: between two letters or words it changes nothing for a reader. */
const UNSEEN_CHARACTERS = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;
const UNSEEN = new RegExp(`[${UNSEEN_CHARACTERS}]`, "v");

interface Structure {
  systemLine: RegExp;
  bracketLine: RegExp;
  contextMark: RegExp;
  /** What the block of a hand-off begins and ends with. */
  handoffMark: RegExp;
}

const structure = lazily(() => expressionsFor(""));
/** Only for a text that has something unseen in it, as hardly any has: compiling this takes many milliseconds. */
const spreadStructure = lazily(() => expressionsFor(UNSEEN_CHARACTERS));

const CONTEXT_MARKS = ["chat messages since your last reply - for context", "current message - respond to this"];

/** `unseen`: the characters that may stand anywhere in it. */
function expressionsFor(unseen: string): Structure {
  const gap = String.raw`[[\s${unseen}]--\n]*`;
  const loose = (words: string): string => loosely(words, unseen);
  const attached = `${loose("from")}|${loose("media attached")}`;
  const marks = CONTEXT_MARKS.map(loose).join("|");
  return {
    systemLine: new RegExp(`(?<=^${gap})(${loose("system")})${gap}[:：]`, "gimv"),
    bracketLine: new RegExp(String.raw`(?<=^${gap})[\[［](${gap}(?:${attached})${gap}[:：])`, "gimv"),
    contextMark: new RegExp(String.raw`[\[［]([\s${unseen}]*(?:${marks})[\s${unseen}]*)[\]］]`, "giv"),
    handoffMark: new RegExp(String.raw`[<＜]([[\s\/／${unseen}]--\n]*${loose("handoff")})`, "giv"),
  };
}

/** These words, however they are spaced, whatever unseen stands in them and whichever dash was typed. */
function loosely(words: string, unseen: string): string {
  const between = unseen === "" ? "" : `[${unseen}]*`;
  const patterns = words.split(" ").map((word) => {
    return Array.from(word, (letter) => (letter === "-" ? String.raw`\p{Dash}` : letter)).join(between);
  });
  return patterns.join(String.raw`[\s${unseen}]+`);
}

function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
