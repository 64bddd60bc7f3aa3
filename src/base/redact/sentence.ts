/** A secret in a sentence: "the password for staging is now …", "use … as the password". */
import type { Cue, Span } from "./cue.ts";
import type { Value } from "./value.ts";
import { isCodeOrSeed } from "./labelled.ts";
import { isRandomRun } from "./random-run.ts";
import { isHash, isWord, looksSecret, readValue, redactedPart, withoutSentenceEnd } from "./value.ts";

/** Words that say that the secret itself comes next. */
const TELLS =
  /^(?:is|was|are|were|be|being|to|from|=|equals|reads|says|ist|war|lautet|lauten|sind|zu|auf|von|est|était|sont|es|era|son|é|è|foi|sono|to|är|er|on|jest|là|это|—|–|-|->|→)$/i;
/** Words that may stand between. */
const MAY_STAND =
  /^(?:now|still|currently|actually|just|simply|again|also|probably|set|changed|reset|updated|rotated|called|the|following|this|that|it|in|for|of|on|at|the|a|an|my|our|your|his|her|their|its|new|old|temporary|temp|default|current|initial|same|jetzt|nun|noch|aktuell|immer|neue[rsn]?|alte[rsn]?|für|der|die|das|den|dem|vom|zum|zur|im|am|maintenant|toujours|pour|de|du|des|la|le|les|ahora|todavía|para|el|los|del|agora|do|da|per|il|lo|voor|van|het|een|nu)$/i;
const GAP =
  /[ \t]{0,4}(?:\r?\n[ \t]{0,8})?(?:[:=,：]|(?<=\s)\(|->|→|是|为|為|は){0,2}[ \t]{0,4}(?:\r?\n[ \t]{0,8}){0,2}/y;
const TELLING_GAP = /[:=：→是为為は]|->/;
const AND_ANOTHER =
  /["'`”»]{0,1},?[ \t]{1,3}(?:to|into|and|or|then|auf|zu|und|oder|à|et|ou|a|y|o|e|en|of|->|→)[ \t]{1,3}|["'`”»]{0,1}(?:,[ \t]?|[ \t]?\/[ \t]?)/y;
const MOST_WORDS = 8;

export function secretsInSentence(text: string, cue: Cue): readonly Span[] {
  if (!/^(?:s|\d{0,2})$/.test(text.slice(cue.end, cue.nameEnd))) return [];
  const first = cue.kind === "login" ? secondOfPair(text, cue) : (mnemonic(text, cue) ?? firstSecret(text, cue));
  return first === undefined ? [] : [first, ...othersBehind(text, cue, first)];
}

function firstSecret(text: string, cue: Cue): Span | undefined {
  if (cue.kind === "weak" && !/^(?:pass|pw|mdp)$/i.test(text.slice(cue.start, cue.end))) return undefined;
  let at = cue.nameEnd;
  let isTold = false;
  let plainWords = 0;
  for (let count = 0; count < MOST_WORDS; count++) {
    GAP.lastIndex = at;
    const [gap = ""] = GAP.exec(text) ?? [];
    if (gap === "") return undefined;
    if (TELLING_GAP.test(gap)) isTold = true;
    else if (gap.includes("\n") && !isTold) return undefined;
    const value = readValue(text, at + gap.length);
    if (value === undefined) return undefined;
    const redacted = redactedPart(value);
    if (redacted !== undefined) return redacted;
    const word = withoutSentenceEnd(value);
    if (isSecretWord(word, cue, isTold ? "told" : count === 0 ? "next" : "near")) return word;
    const end = text.slice(word.end, value.end);
    if (/[.?;)]/.test(end) || /[!]$/.test(word.text)) return undefined;
    if (TELLS.test(word.text) || end.includes(":")) isTold = true;
    else if (!MAY_STAND.test(word.text)) {
      // Something else is told.
      if (isTold || ++plainWords > 3) return undefined;
    }
    at = value.end + (value.isQuoted ? 1 : 0);
  }
  return undefined;
}

/** How the word is bound to the cue: said to be it, right behind it, or somewhere behind it. */
type Bond = "told" | "next" | "near";

function isSecretWord({ text: written, isQuoted }: Value, cue: Cue, bond: Bond): boolean {
  if (written.length < 4 || written.length > 8192) return false;
  if (cue.kind === "code") return bond !== "near" && /^(?!(?:19|20)\d\d$)/.test(written) && isCodeOrSeed(written);
  // One passes many things.
  if (cue.kind === "weak" && bond !== "told") return false;
  if (bond === "near")
    return cue.kind === "secret" ? written.length >= 16 && isRandomRun(written) : looksSecret(written, true);
  if (bond === "next") return looksSecret(written, true) && (cue.kind !== "secret" || written.length >= 8);
  if (looksSecret(written)) return cue.kind === "password" || written.length >= 6;
  if (isHash(written)) return written.length >= (cue.kind === "secret" ? 20 : 7) && /\d/.test(written);
  if (cue.kind !== "password") return false;
  return /^\d{5,}$/.test(written) || (isQuoted && !isWord(written) && /^\S+$/.test(written));
}

/** Twelve words or more from which a wallet can be made again. */
const MNEMONIC = /[^\n]{0,40}?((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![a-z])/y;

function mnemonic(text: string, cue: Cue): Span | undefined {
  if (!/(?:seed|recovery|backup|mnemonic)[- ]?phrase$/i.test(text.slice(cue.start, cue.end))) return undefined;
  GAP.lastIndex = cue.nameEnd;
  MNEMONIC.lastIndex = cue.nameEnd;
  const words = MNEMONIC.exec(text)?.[1];
  return words === undefined ? undefined : { start: MNEMONIC.lastIndex - words.length, end: MNEMONIC.lastIndex };
}

/** `admin / password`, `admin:password` */
const PAIR = /(?:[ \t:]{1,3}[A-Za-z]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?: ?\/ ?| \| |:)(?=["'`]?[^\s"'`/]{4,128})/y;

function secondOfPair(text: string, cue: Cue): Span | undefined {
  PAIR.lastIndex = cue.nameEnd;
  if (!PAIR.test(text)) return undefined;
  const value = readValue(text, PAIR.lastIndex);
  if (value === undefined) return undefined;
  const word = withoutSentenceEnd(value);
  return looksSecret(word.text) ? word : undefined;
}

/** "from … to …", "… and …" */
function othersBehind(text: string, cue: Cue, first: Span): readonly Span[] {
  const found: Span[] = [];
  let { end } = first;
  while (found.length < 4) {
    AND_ANOTHER.lastIndex = end;
    if (!AND_ANOTHER.test(text)) return found;
    const value = readValue(text, AND_ANOTHER.lastIndex);
    if (value === undefined) return found;
    const redacted = redactedPart(value);
    const word = redacted ?? withoutSentenceEnd(value);
    if (redacted === undefined && !isAnother(text.slice(word.start, word.end), cue)) return found;
    found.push(word);
    ({ end } = word);
  }
  return found;
}

function isAnother(written: string, cue: Cue): boolean {
  return cue.kind === "code" ? isCodeOrSeed(written) : looksSecret(written, cue.kind !== "password");
}

const SAID_BEFORE =
  /(?:^|\s)(\S{4,128})\s{1,2}(?:as|is|was|for|als|ist|für|comme|est|como|es|come|per|om|som)\s{1,2}(?:(?:the|a|an|my|our|your|its|new|old|right|correct|current|root|admin|user|db|database|das|dein|mein|unser|neue[sr]?|le|la|el|il|nouveau|nueva|sua|mot|de)\s{1,2}){0,4}[\w.-]{0,20}\s?$/i;
const LOOK_BACK = 160;

/** "use … as the password" */
export function secretBefore(text: string, cue: Cue, from: number): Span | undefined {
  if (cue.kind !== "password" && cue.kind !== "secret") return undefined;
  const begin = Math.max(from, cue.nameStart - LOOK_BACK);
  const match = SAID_BEFORE.exec(text.slice(begin, cue.nameStart));
  const written = match?.[1];
  if (match === null || written === undefined) return undefined;
  const start = begin + match.index + match[0].indexOf(written);
  const value = readValue(text, start);
  if (value === undefined || value.end > cue.start) return undefined;
  const word = withoutSentenceEnd(value);
  return looksSecret(word.text, true) ? word : undefined;
}
