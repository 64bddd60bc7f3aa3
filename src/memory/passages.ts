/**
 * What is searched for and found: a piece of text of a readable size, with its place. Text is redacted
 * as a whole before it is cut, because half a secret is no longer recognised as one.
 */
import { redactText } from "../base/redact.ts";

export interface Passage {
  role?: string;
  /** In ms. */
  at?: number;
  entryId?: string;
  /** Counted from 1; the line of the file where the passage starts, and where it ends. */
  line: number;
  endLine: number;
  /** Byte offset of the line, or of the whole entry, in the file. */
  offset: number;
  /** The working folder. */
  folder?: string;
  /** Redacted. */
  text: string;
}

/** About a screen of text: enough for a snippet, little enough for an embedding. */
const PASSAGE_LENGTH = 1500;
/** What one entry can take up; beyond it is a paste that nobody looks for by its end. */
const ENTRY_LENGTH = 96 * 1024;
const SHORT_FIELD = 200;

/** The text of one transcript entry as passages. */
export function entryPassages(text: string, place: Omit<Passage, "text">): Passage[] {
  const entryId = place.entryId === undefined ? {} : { entryId: redactText(place.entryId).slice(0, SHORT_FIELD) };
  return cutText(redactText(text).slice(0, ENTRY_LENGTH)).map((piece) => ({ ...place, ...entryId, text: piece }));
}

/** At ends of paragraphs, lines, sentences or words, in this order of preference. */
export function cutText(text: string): string[] {
  const pieces: string[] = [];
  let rest = text.trim();
  while (rest.length > PASSAGE_LENGTH) {
    const cut = cutPlace(rest);
    pieces.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

function cutPlace(text: string): number {
  for (const end of ["\n\n", "\n", ". ", " "]) {
    const found = text.lastIndexOf(end, PASSAGE_LENGTH - end.length);
    if (found > PASSAGE_LENGTH / 3) return found + end.length;
  }
  const last = text.charCodeAt(PASSAGE_LENGTH - 1);
  return last >= 0xd800 && last < 0xdc00 ? PASSAGE_LENGTH - 1 : PASSAGE_LENGTH;
}
