/** The text of a note: a sentence without markup, safe on a terminal, at most 200 characters. */
import { printableLine } from "../../base/text.ts";

const LONGEST = 200;
const MARKUP = /[[*_~]|^[\s\-+•>#]/;
/** Printable as it is, like most lines. */
const CLEAN = /^[!-~]+(?: [!-~]+)*$/;

export function excerpt(sentence: string): string {
  const bare = MARKUP.test(sentence)
    ? sentence
        .replace(/\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)/g, "$1")
        .replace(/\*\*|__|~~/g, "")
        .replace(/^[\s\-*+•>#]+/, "")
    : sentence;
  // Control characters become longer when printed, so the cut comes later.
  const head = bare.slice(0, 4 * LONGEST);
  const line = CLEAN.test(head) ? head : printableLine(head);
  if (line.length <= LONGEST) return line;
  const cut = line.slice(0, LONGEST - 1).replace(/[\ud800-\udbff]$/, "");
  const atWord = cut.replace(/\s+\S*$/, "");
  return `${atWord.length > LONGEST / 2 ? atWord : cut}…`;
}
