/** Cue words as data (data/handoff-cues.json), in the languages that the file covers. */
import { readFileSync } from "node:fs";
import { dataFile } from "../../base/package.ts";

/** What a sentence can have a word of. */
export const CUES = [
  "agrees",
  "declines",
  "reverses",
  "chooses",
  "contrasts",
  "waits",
  "fails",
  "remains",
  "later",
  "firstThing",
  "namesNext",
  "declares",
  "plans",
  "past",
  "supposes",
  "chats",
  "asksFor",
  "asks",
  "goesOn",
  "orders",
  "offers",
  "reports",
  "or",
  "times",
  "people",
  "contacted",
  "denies",
  "undoes",
] as const;

export type Cue = (typeof CUES)[number];

export function hasCue(text: string, cue: Cue): boolean {
  return cuesOf(text).anywhere.has(cue);
}

/** All cues of a text. */
export function cuesIn(text: string): ReadonlySet<string> {
  return cuesOf(text).anywhere;
}

export function startsWithCue(text: string, cue: Cue): boolean {
  return cuesOf(text).atStart.has(cue);
}

/** Words that may come before what is asked for. */
const LINKS = new Set(
  "and so ok okay now then also just first next please pls yes yep good great right und dann jetzt et puis y".split(
    " ",
  ),
);

/** Asks for a piece of work, politely or not. */
export function isRequest(text: string): boolean {
  return cuesOf(text).isRequest;
}

interface FoundCues {
  anywhere: ReadonlySet<string>;
  atStart: ReadonlySet<string>;
  isRequest: boolean;
}

/** A conversation is judged as a whole at each capture: the same sentences come again and again. */
const known = new Map<string, FoundCues>();
const MOST_KNOWN = 4_000;

function cuesOf(text: string): FoundCues {
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const found = findCues(text);
  known.set(text, found);
  return found;
}

/** `first_name` is a name and no word. */
const WORD = /(?<![\p{L}'_])[\p{L}']+(?:-\p{L}+)*(?![\p{L}'_])/gu;
/** Scripts without blanks between words. */
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff]/;

function findCues(text: string): FoundCues {
  lists ??= readLists();
  const words = text.toLowerCase().replaceAll("’", "'").match(WORD) ?? [];
  const anywhere = new Set(words.flatMap((word) => lists?.words.get(word) ?? []));
  const atStart = new Set(lists.words.get(words[0] ?? ""));
  const line = ` ${words.join(" ")} `;
  for (const word of words) {
    for (const [phrase, cue] of lists.phrases.get(word) ?? []) {
      if (!line.includes(phrase)) continue;
      anywhere.add(cue);
      if (line.startsWith(phrase)) atStart.add(cue);
    }
  }
  if (UNSPACED.test(text)) {
    for (const [piece, cue] of lists.pieces) if (text.includes(piece)) anywhere.add(cue);
  }
  const order = words.find((word) => !LINKS.has(word)) ?? "";
  const isOrder = lists.words.get(order)?.includes("orders") === true;
  return { anywhere, atStart, isRequest: anywhere.has("asksFor") || isOrder };
}

interface CueLists {
  words: ReadonlyMap<string, readonly string[]>;
  /** By their first word; with a blank before and after. */
  phrases: ReadonlyMap<string, readonly (readonly [phrase: string, cue: string])[]>;
  pieces: readonly (readonly [piece: string, cue: string])[];
}

let lists: CueLists | undefined;

/** In the file, words are separated by blanks, and the words of a phrase by `_`. */
function readLists(): CueLists {
  const file = JSON.parse(readFileSync(dataFile("handoff-cues.json"), "utf8")) as Record<Cue, string>;
  const entries = CUES.flatMap((cue) => file[cue].split(" ").map((entry) => [entry, cue] as const));
  const words = new Map<string, string[]>();
  for (const [entry, cue] of entries) {
    if (!entry.includes("_") && !UNSPACED.test(entry)) words.set(entry, [...(words.get(entry) ?? []), cue]);
  }
  const phrases = entries.filter(([entry]) => entry.includes("_"));
  return {
    words,
    phrases: Map.groupBy(
      phrases.map(([entry, cue]) => [` ${entry.replaceAll("_", " ")} `, cue] as const),
      ([phrase]) => phrase.slice(1).split(" ")[0] ?? "",
    ),
    pieces: entries.filter(([entry]) => UNSPACED.test(entry)),
  };
}
