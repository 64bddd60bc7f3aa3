/** The line a note shows: the sentence without its markup, harmless on a terminal, at most 200 characters. */

import { printableLine } from "../../base/text.ts";
const LONGEST = 200;
const MARKUP = /[[*_~]|^[\s\-+•>#]/;
/** Nothing that would have to be shown otherwise; most lines are so. */
const CLEAN = /^[!-~]+(?: [!-~]+)*$/;

export function excerpt(sentence: string): string {
  const bare = MARKUP.test(sentence)
    ? sentence
        .replace(/\[([^\]\n]{1,200})\]\([^)\n]{1,500}\)/g, "$1")
        .replace(/\*\*|__|~~/g, "")
        .replace(/^[\s\-*+•>#]+/, "")
    : sentence;
  // Control characters become longer when shown, so the cut comes after that.
  const head = bare.slice(0, 4 * LONGEST);
  const line = CLEAN.test(head) ? head : printableLine(head);
  if (line.length <= LONGEST) return line;
  const cut = line.slice(0, LONGEST - 1).replace(/[\ud800-\udbff]$/, "");
  const atWord = cut.replace(/\s+\S*$/, "");
  return `${atWord.length > LONGEST / 2 ? atWord : cut}…`;
}
