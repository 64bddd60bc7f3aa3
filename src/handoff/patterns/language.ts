/**
 * The cues are English. In another language a look-alike ("Problem", "final", "die", "error") means
 * nothing to them, so a sentence that is not English is left alone.
 */
import { wordSet } from "./word-set.ts";
import { createWordTable } from "./word-table.ts";

const ENGLISH =
  wordSet(`the a an is are was were be been am i you we they he she it this that these those my your our their its and or but
  if so to of in on for with from at by as not do does did have has had will would can could should no yes what why how
  when where who which there here now just still then than too also after before since until because all some any every
  about into out up down over again more most very really please thanks let us going get got`);

/** Function words of other languages; those that English text has too ("per", "plus", "MIT") are left out. */
const OTHERS = wordSet(`der das und ist nicht ich wir ihr für auf ein eine einen kann kannst aber noch haben habe dem zu
  sind wird werden bei nach auch nur wie wenn dann jetzt schon mich dich uns kein keine alle alles von vom zum zur
  geht gibt muss doch nein danke bitte heute gestern morgen machen macht wegen weiß gemerged gefixt läuft immer wieder
  de le la les pas je tu nous vous il elle une du dans pour avec sur au aux que qui ce cette mais ça ou où sont
  ont été être fait très bien merci mon ma mes notre toujours encore ne sans suis avons avez
  el los las está están por con para una uno unos pero muy más hay hemos han del mi tu su ya todo todos como
  esto eso funciona sigue puedo puede gracias vamos cuando porque también nada
  não uma ao das você isso meu minha mas foi consigo obrigado tudo
  che di sono gli della nel è ho abbiamo anche questo sì grazie tutto perché
  det går inte att och är jag vi på som med har ett ikke og jeg på ikke
  het een niet ik wij gaan nemen doen optie zijn voor dat deze maar ook naar kan heb hebben
  nie jest się że jak czy
  bir için değil ama çok`);

// oxlint-disable-next-line no-control-regex -- all of ASCII, control characters too
const ASCII = /^[\0-\x7f]*$/;

/** "other": more foreign than English function words, or a script that English does not use. "mixed": some. */
export function languageOf(text: string): "english" | "mixed" | "other" {
  const sample = text.slice(0, 2000).toLowerCase();
  const isAscii = ASCII.test(sample);
  const foreignScript = isAscii
    ? 0
    : (sample.match(/[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc]/g)?.length ?? 0);
  if (foreignScript > 0) {
    const latin = sample.match(/[a-z]/g)?.length ?? 0;
    if (foreignScript * 4 >= latin) return "other";
  }
  let english = 0;
  let other = 0;
  const count = (start: number, end: number) => {
    const spoken = SPOKEN.at(sample, start, end);
    english += spoken.english;
    other += spoken.other;
  };
  if (isAscii) forEachAsciiWord(sample, count);
  else for (const { 0: word, index } of sample.matchAll(/[\p{L}']+/gu)) count(index, index + word.length);
  if (other >= Math.max(english * 0.8, english > 0 ? 1.1 : 0.1)) return "other";
  return other > 0 || foreignScript > 0 || text.length > sample.length ? "mixed" : "english";
}

function forEachAsciiWord(sample: string, take: (start: number, end: number) => void): void {
  for (let at = 0; at < sample.length; at += 1) {
    const start = at;
    while (isAsciiLetter(sample.charCodeAt(at))) at += 1;
    if (at > start) take(start, at);
  }
}

const A = "a".charCodeAt(0);
const Z = "z".charCodeAt(0);
const APOSTROPHE = "'".charCodeAt(0);

function isAsciiLetter(code: number): boolean {
  return (code >= A && code <= Z) || code === APOSTROPHE;
}

/** How much a word speaks for English, and how much for another language. */
const SPOKEN = createWordTable(readSpoken);

function readSpoken(word: string): { english: number; other: number } {
  if (ENGLISH.has(word)) return { english: 1, other: 0 };
  const elided = /^(?:l|d|j|c|n|s|qu)'/.exec(word)?.[0] ?? "";
  const other = elided === "" ? 0 : 1;
  const plain = word.slice(elided.length);
  if (ENGLISH.has(plain) || /(?:n't|'s|'re|'ve|'ll|'m)$/.test(plain)) return { english: 1, other };
  if (OTHERS.has(plain)) return { english: 0, other: other + 1 };
  return { english: 0, other: /[à-öø-ÿąęłńśźżčřšžğış]/.test(plain) ? other + 0.5 : other };
}
