/**
 * Tells in one pass over a text which rules can match it. Nearly every rule needs one of some words, a number or a long
 * run of letters and digits, and most texts have none of them. Trying every rule on every text would take half of the
 * time of a first search index.
 */
/** Common characters first: of the words that a rule needs, the rarest ones are looked for. */
const SIGNS = " 0etaoinsrhldcumfpgwybvkxjqz.,-/_:()='\"`;<>[]{}*#$|+@&!?%\\~^";
const OTHER = SIGNS.length;
/** All blanks are the same sign, all digits, all beyond ASCII, and a letter in both cases. */
const SIGN_OF = Uint8Array.from({ length: 128 }, (_, code) => {
  const sign = SIGNS.indexOf(String.fromCharCode(code).toLowerCase().replace(/\d/, "0").replace(/\s/, " "));
  return sign < 0 ? OTHER : sign;
});
const signOf = (code: number): number => (code < 128 ? (SIGN_OF[code] ?? OTHER) : OTHER);

/** A place stands for a sequence of three signs. */
const BITS = 6;
const LENGTH = 3;
const PLACES = 2 ** (BITS * LENGTH);
const nextPlace = (place: number, sign: number): number => ((place << BITS) | sign) & (PLACES - 1);

const RUN_LENGTH = 20;
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => (/[\w+/-]/.test(String.fromCharCode(code)) ? 1 : 0));

/** By rule: 1 if it can match. */
export type FindCandidates = (text: string) => Readonly<Uint8Array>;

export function createCandidates(expressions: readonly string[]): FindCandidates {
  const prepared = prepareRules(expressions.map(neededWords));
  return (text) => candidatesIn(text, prepared);
}

interface Word {
  signs: number[];
  /** Index of the last sign of its rarest sequence. */
  end: number;
  rule: number;
}

interface Prepared {
  /** For each place the index of a list in `lists`: words whose rarest sequence this is. */
  listAt: Uint16Array;
  lists: Word[][];
  /** Rules that need no word, and rules that need a run. */
  always: Uint8Array;
  atRun: number[];
}

function candidatesIn(text: string, { listAt, lists, always, atRun }: Prepared): Uint8Array {
  const found = always.slice();
  let [place, run] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    place = nextPlace(place, signOf(code));
    const list = listAt[place] ?? 0;
    if (list > 0) for (const word of lists[list] ?? []) if (isAt(text, at - word.end, word.signs)) found[word.rule] = 1;
    run = code < 128 && IN_RUN[code] === 1 ? run + 1 : 0;
    if (run === RUN_LENGTH) for (const rule of atRun) found[rule] = 1;
  }
  return found;
}

function isAt(text: string, start: number, signs: readonly number[]): boolean {
  for (let index = 0; index < signs.length; index += 1) {
    if (signOf(text.charCodeAt(start + index)) !== signs[index]) return false;
  }
  return true;
}

function prepareRules(needed: readonly (readonly string[])[]): Prepared {
  const lists: Word[][] = [[]];
  const listAt = new Uint16Array(PLACES);
  for (const [rule, words] of needed.entries()) {
    for (const text of words) {
      const word = { ...wordOf(text), rule };
      // A short word can follow any sign.
      const step = 2 ** (BITS * Math.min(LENGTH, text.length));
      const first = word.signs.slice(0, word.end + 1).reduce(nextPlace, 0);
      if (text === "" || text === RUN) continue;
      for (let place = first; place < PLACES; place += step) {
        listAt[place] ||= lists.push([]) - 1;
        lists[listAt[place] ?? 0]?.push(word);
      }
    }
  }
  const having = (word: string): number[] => [...needed.keys()].filter((rule) => needed[rule]?.includes(word));
  const always = new Uint8Array(needed.length);
  for (const rule of having("")) always[rule] = 1;
  return { listAt, lists, always, atRun: having(RUN) };
}

function wordOf(text: string): Omit<Word, "rule"> {
  const signs = Array.from({ length: text.length }, (_, at) => signOf(text.charCodeAt(at)));
  let end = Math.min(LENGTH, text.length) - 1;
  const rarityAt = (at: number): number => rarity([text.slice(at + 1 - LENGTH, at + 1)]);
  for (let at = LENGTH; at < text.length; at += 1) if (rarityAt(at) > rarityAt(end)) end = at;
  return { signs, end };
}

/** Stands for a run. */
const RUN = "\0";
const RUN_RARITY = 110;
const RUN_CLASS = /^(?:\\w|\[(?:\\w|\w-\w|[\w+/]|-(?=\]))+\])$/;
/** An escape, a class, the start of a group, or one character; and how often it may occur. */
const PIECE = /(\\(?:x..|u....|.)|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:)|[^])((?:[?*+]|\{(\d+)[^}]*\})\??)?/y;
const ONE_SIGN = /^(?:[^()[\].|^$\\]|\\[^A-Za-z0-9]|\\[dnrst])$/;
const ESCAPED: Readonly<Record<string, string>> = { d: "0", n: " ", r: " ", s: " ", t: " " };
const FEW_SIGNS = /^\[[^\\^-]{2,6}\]$/;
const MAX_VARIANTS = 64;

/** What an alternative needs, and every text that it can be, if these are few. */
interface Needed {
  words: string[];
  whole: string[] | undefined;
}

/**
 * Every match of an expression contains one of these words or is next to it, in any case of letters and with any digit
 * for `0`. An empty one means that nothing is needed.
 */
export function neededWords(expression: string): string[] {
  let at = 0;
  const readPiece = (): { piece: string; repeat: string; least: number } => {
    PIECE.lastIndex = at;
    const [whole = "", piece = "", repeat = "", count = "1"] = PIECE.exec(expression) ?? [];
    at += whole.length;
    return { piece, repeat, least: /^[?*]/.test(repeat) ? 0 : Number(count) };
  };
  /** Up to the end of the group or of the expression. */
  const readGroup = (): Needed & { repeat: string; least: number } => {
    const alternatives: Needed[] = [];
    let alternative = createAlternative();
    for (;;) {
      const { piece, repeat, least } = readPiece();
      if (piece === "|" || piece === ")" || piece === "") {
        alternatives.push(alternative.finish());
        alternative = createAlternative();
        if (piece === "|") continue;
        const words = [...new Set(alternatives.flatMap(({ words: own }) => own))];
        const isWhole = alternatives.every(({ whole }) => whole !== undefined);
        return { words, whole: isWhole ? alternatives.flatMap(({ whole = [] }) => whole) : undefined, repeat, least };
      }
      if (piece.startsWith("(")) {
        const group = readGroup();
        const isAround = /[=!]$/.test(piece);
        if (!piece.endsWith("!") && group.least > 0) alternative.offer(group.words);
        if (!piece.endsWith("!")) alternative.add(isAround ? undefined : group.whole, group.repeat, group.least);
      } else if (piece !== String.raw`\b`) {
        if (least >= RUN_LENGTH && RUN_CLASS.test(piece)) alternative.offer([RUN]);
        alternative.add(variantsOf(piece), repeat, least);
      }
    }
  };
  return readGroup().words;
}

function variantsOf(piece: string): string[] | undefined {
  const last = piece.at(-1) ?? "";
  if (ONE_SIGN.test(piece)) return [piece === last ? last : (ESCAPED[last] ?? last)];
  return FEW_SIGNS.test(piece) ? Array.from(piece.slice(1, -1)) : undefined;
}

/** Reads the pieces of one alternative. */
function createAlternative() {
  let words = [""];
  let best = 0;
  /** The texts that can stand directly before the next piece. */
  let texts = [""];
  let isWhole = true;
  const offer = (offered: readonly string[]): void => {
    const own = rarity(offered);
    if (own > best) [words, best] = [[...offered], own];
  };
  const restart = (from: string[]): void => {
    offer(texts);
    [texts, isWhole] = [from, false];
  };
  return {
    offer,
    add: (variants: readonly string[] | undefined, repeat: string, least: number): void => {
      if (variants === undefined || texts.length * variants.length > MAX_VARIANTS) return restart([""]);
      const repeated = variants.map((variant) => variant.repeat(Math.max(1, Math.min(least, LENGTH))));
      const longer = texts.flatMap((text) => repeated.map((variant) => text + variant));
      if (repeat.startsWith("?")) texts = [...texts, ...longer];
      else if (least > 0) texts = longer;
      if (repeat !== "" && !repeat.startsWith("?")) restart(least > 0 ? repeated : [""]);
    },
    finish: (): Needed => {
      offer(texts);
      return { words, whole: isWhole ? texts : undefined };
    },
  };
}

/** Of the most common one. A word is the rarer the longer it is, but blanks and digits are in most texts. */
function rarity(words: readonly string[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    let own = word === RUN ? RUN_RARITY : 0;
    for (let at = 0; at < word.length; at += 1) {
      const sign = signOf(word.charCodeAt(at));
      own += sign < 2 ? 0 : 20 + sign;
    }
    least = Math.min(least, own);
  }
  return least;
}
