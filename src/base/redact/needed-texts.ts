/**
 * Tells cheaply that an expression cannot match a text. Most rules need certain words, such as `curl` or `password`.
 * Trying a hundred rules at every character took two thirds of the time of a first search index. One pass over a text
 * notes which three characters follow each other in it; a rule is only tried if those of a word that it needs are there.
 */
import { lazily } from "../text.ts";

/** The expression, which is made on the first call. Undefined: the text cannot match. */
export type Find = (text: string) => RegExp | undefined;

export function finder(source: string, flags: string): Find {
  const needed = lazily(() => neededTexts(source).map(placesOf));
  const expression = lazily(() => new RegExp(source, flags));
  return (text) => {
    if (text !== noted) note(text);
    for (const places of needed()) if (hasAll(places)) return expression();
    return undefined;
  };
}

function hasAll(places: readonly number[]): boolean {
  for (const place of places) if (seen[place] !== count) return false;
  return true;
}

/** An escape, a class, the start of a group, or one character; and how often it may occur. */
const PIECE =
  /(\\(?:x..|u....|p\{\w+\}|.)|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|[-i]{0,2}:)|[^])((?:[?*+]|\{\d+,?\d*\})\??)?/y;
/** One character, or one of several beyond ASCII, which count as the same. */
const LITERAL = /^(?:[^()[\].|^$\\]|\\[^A-Za-z0-9]|\[[\u0080-\uffff]+\])$/;
const MAY_BE_ABSENT = /^(?:[?*]|\{0)/;

/** Every match contains one of these texts, or is next to it; in any case of letters. An empty one says nothing. */
export function neededTexts(expression: string): string[] {
  let at = 0;
  /** Up to the end of the group or of the expression. */
  const readAlternatives = (): { texts: string[]; repeat: string } => {
    const texts: string[] = [];
    let best = [""];
    let run = "";
    const offer = (offered: string[]): void => {
      if (shortest(offered) > shortest(best)) best = offered;
    };
    for (;;) {
      PIECE.lastIndex = at;
      const [whole = "", piece = "", repeat = ""] = PIECE.exec(expression) ?? [];
      at += whole.length;
      if (LITERAL.test(piece) && repeat === "") {
        run += piece.startsWith("[") ? piece.charAt(1) : (piece.at(-1) ?? "");
        continue;
      }
      offer([run]);
      run = "";
      if (piece.startsWith("(")) {
        const group = readAlternatives();
        if (!piece.endsWith("!") && !MAY_BE_ABSENT.test(group.repeat)) offer(group.texts);
      } else if (piece === "|" || piece === ")" || piece === "") {
        texts.push(...best);
        best = [""];
        if (piece !== "|") return { texts, repeat };
      }
    }
  };
  return [...new Set(readAlternatives().texts)];
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map((text) => text.trim().length));
}

const ASCII = 128;
const FOLDED = Uint8Array.from({ length: ASCII }, (_, code) => String.fromCharCode(code).toLowerCase().charCodeAt(0));
const BEYOND_ASCII = 127;
/** A place for each sequence of up to three characters. Several share one, so at worst a rule is tried in vain. */
const PLACES = 2 ** 15;
const nextPlace = (place: number, character: number): number => ((place << 5) ^ character) & (PLACES - 1);
/** By place, the number of the last text with such a sequence. */
const seen = new Uint32Array(PLACES);
let noted = "";
let count = 0;

function note(text: string): void {
  [noted, count] = [text, count + 1];
  let [before, place] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const character = code < ASCII ? (FOLDED[code] ?? BEYOND_ASCII) : BEYOND_ASCII;
    place = nextPlace(place, character);
    seen[character] = count;
    seen[nextPlace(before, character)] = count;
    seen[place] = count;
    before = character;
  }
}

/** The places of all sequences of three in a text, or of a shorter text as a whole. */
function placesOf(needed: string): number[] {
  const characters = Array.from({ length: needed.length }, (_, at) => FOLDED[needed.charCodeAt(at)] ?? BEYOND_ASCII);
  const length = Math.min(needed.length, 3);
  const starts = characters.slice(0, characters.length - length + 1);
  return needed === "" ? [] : starts.map((_, at) => characters.slice(at, at + length).reduce(nextPlace, 0));
}
