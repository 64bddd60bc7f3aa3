/**
 * What of a message somebody says in their own words, line by line: code blocks, quoted lines and
 * pasted evidence are left out, and a line that leads to evidence knows it ("the build fails with:").
 */
import { isDiffLine, isEvidenceLine, startsDiff } from "./log-lines.ts";

export interface ProseLine {
  text: string;
  kind: "text" | "item" | "heading";
  /** A ticked or open check box in front of an item. */
  checked: boolean | undefined;
  /** Code or evidence comes right after it. */
  introducesEvidence: boolean;
  /** A blank line, or something left out, lies between this line and the one before. */
  startsBlock: boolean;
}

const FENCE = /^\s*(?:```|~~~)/;
const QUOTE = /^\s*>/;
const HEADING = /^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]{1,80})\*\*:?|__([^_]{1,80})__:?)\s*$/;
const ITEM = /^\s*(?:[-*+•‣–]|\d{1,3}[.)]|[a-z]\))\s+(.*)$/;
const CHECK_BOX = /^\[([ xX✓])\]\s*(.*)$/;

export function readProse(text: string): ProseLine[] {
  const lines: ProseLine[] = [];
  let fence = false;
  let diff = false;
  let startsBlock = true;
  const omit = (isEvidence: boolean) => {
    const last = lines.at(-1);
    if (isEvidence && last !== undefined) last.introducesEvidence = true;
    startsBlock = true;
  };
  for (const raw of text.split(/\r\n?|\n/)) {
    if (FENCE.test(raw)) {
      // A fence that opens and closes on one line holds its code there.
      fence = !fence && !/^\s*```.+```\s*$/.test(raw);
      omit(true);
      continue;
    }
    diff = startsDiff(raw) || (diff && isDiffLine(raw));
    if (fence || diff || isEvidenceLine(raw)) omit(true);
    else if (QUOTE.test(raw) || raw.trim() === "") omit(false);
    else {
      lines.push(readLine(raw, startsBlock));
      startsBlock = false;
    }
  }
  return lines;
}

function readLine(raw: string, startsBlock: boolean): ProseLine {
  const lineOf = (kind: ProseLine["kind"], text: string, checked?: boolean): ProseLine => {
    return { text, kind, checked, introducesEvidence: false, startsBlock };
  };
  const heading = HEADING.exec(raw);
  if (heading !== null) return lineOf("heading", heading[1] ?? heading[2] ?? heading[3] ?? "");
  const item = ITEM.exec(raw)?.[1];
  if (item === undefined) return lineOf("text", raw.trim());
  const box = CHECK_BOX.exec(item);
  return box === null ? lineOf("item", item.trim()) : lineOf("item", box[2] ?? "", box[1] !== " ");
}
