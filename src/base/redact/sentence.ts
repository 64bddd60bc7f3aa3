/** A secret in a sentence: "the password for staging is now …", "use … as the password". */
import type { Cue, Span } from "./cue.ts";
import type { Value } from "./value.ts";
import { groupedCode, isCodeOrSeed, isCounted } from "./codes.ts";
import { isRandomRun } from "./random-run.ts";
import { isHash, isWord, looksSecret, readValue, redactedPart, withoutSentenceEnd } from "./value.ts";
import { isPhrase, passphraseAt, passwordForProgram, walletWords } from "./words.ts";

/** Words that say that the secret itself comes next. */
const TELLS =
  /^(?:is|was|are|were|be|being|=|equals|reads|says|ist|war|lautet|lauten|sind|est|était|sont|es|era|son|é|è|foi|sono|är|er|jest|là|это|—|–|-|->|→)$/i;
/** Words that may say so, or where the secret belongs: "changed to …", "the password to the server". */
const MAY_TELL = /^(?:to|from|zu|auf|von|on)$/i;
/** Words that may stand between. */
const MAY_STAND =
  /^(?:now|still|currently|actually|just|simply|again|also|probably|set|changed|reset|updated|rotated|called|the|following|this|that|it|in|for|of|at|a|an|my|our|your|his|her|their|its|new|old|temporary|temp|default|current|initial|same|jetzt|nun|noch|aktuell|immer|neue[rsn]?|alte[rsn]?|für|der|die|das|den|dem|vom|zum|zur|im|am|maintenant|toujours|pour|de|du|des|la|le|les|ahora|todavía|para|el|los|del|agora|do|da|per|il|lo|voor|van|het|een|nu)$/i;
const GAP =
  /[ \t]{0,4}(?:\r?\n[ \t]{0,8})?(?:[:=,：]|(?<=\s)\(|->|→|是|为|為|は|는|은){0,2}[ \t]{0,4}(?:\r?\n[ \t]{0,8}){0,2}/y;
const TELLING_GAP = /[:=：→是为為は는은]|->/;
/** What stands before each of a list of codes, and between them. */
const BULLET = /(?:[*•-]|\d{1,2}[.)])[ \t]{1,4}(?=\S)/y;
const NEXT_CODE = /["']?(?:,?\s{1,40}|,)(?:(?:[*•-]|\d{1,2}[.)])[ \t]{1,4})?["']?/y;
const AND_ANOTHER =
  /["'`”»]{0,1},?[ \t]{1,3}(?:to|into|and|or|then|auf|zu|und|oder|à|et|ou|a|y|o|e|en|of|->|→)[ \t]{1,3}|["'`”»]{0,1}(?:,[ \t]?|[ \t]?\/[ \t]?)/y;
const MOST_WORDS = 8;
const MOST_PLAIN_WORDS = 3;
const MOST_OTHERS = 24;

export function secretsInSentence(text: string, cue: Cue): readonly Span[] {
  if (!/^(?:s|\d{0,2})$/.test(text.slice(cue.end, cue.nameEnd)) || text.startsWith("dentified", cue.start + 1))
    return [];
  const first = cue.kind === "login" ? secondOfPair(text, cue) : (walletWords(text, cue) ?? firstSecret(text, cue));
  return first === undefined ? [] : [first, ...othersBehind(text, cue, first)];
}

/** How far a sentence was read behind its cue. */
interface Read {
  at: number;
  words: number;
  /** Words that say nothing of the secret. */
  plainWords: number;
  /** The words said that the secret itself comes next, or that it may. */
  isTold: boolean;
  mayBeTold: boolean;
}

function firstSecret(text: string, cue: Cue): Span | undefined {
  if (cue.kind === "weak" && !/^(?:pass|pw|mdp)$/i.test(text.slice(cue.start, cue.end))) return undefined;
  let read: Read | undefined = beginning(text, cue);
  while (read !== undefined && read.words < MOST_WORDS) {
    const reached = overGap(text, cue, read);
    const value = reached === undefined ? undefined : valueAt(text, reached.at, cue);
    if (reached === undefined || value === undefined) return undefined;
    const secret = secretAt(text, cue, reached, value);
    if (secret !== undefined) return secret;
    read = overWord(text, reached, value);
  }
  return undefined;
}

function beginning(text: string, cue: Cue): Read {
  const at = cue.kind === "code" ? beginningOfList(text, cue) : cue.nameEnd;
  const isTold = at > cue.nameEnd || (cue.kind === "weak" && isBehindUser(text, cue));
  return { at, words: 0, plainWords: 0, isTold, mayBeTold: false };
}

/** To the next word; not into the next line unless something was announced. */
function overGap(text: string, cue: Cue, read: Read): Read | undefined {
  GAP.lastIndex = read.at;
  const [gap = ""] = GAP.exec(text) ?? [];
  if (gap === "" && (read.words > 0 || read.at === cue.nameEnd)) return undefined;
  const isTold = read.isTold || TELLING_GAP.test(gap);
  if (gap.includes("\n") && !isTold) return undefined;
  return { ...read, at: behindBullet(text, read.at + gap.length, cue), isTold };
}

function secretAt(text: string, cue: Cue, read: Read, value: Value): Span | undefined {
  const { at, words, isTold, mayBeTold } = read;
  const redacted = redactedPart(value);
  if (redacted !== undefined) return redacted;
  const mayBeWords = isTold || (value.isQuoted && words === 0) || (mayBeTold && isPhrase(text, cue));
  const phrase = wordsAt(text, at, cue, mayBeWords);
  if (phrase !== undefined) return phrase;
  const word = withoutSentenceEnd(value);
  if (cue.kind === "code" && isCounted(text, word.end)) return undefined;
  const bond = isTold || mayBeTold ? "told" : words === 0 ? "next" : "near";
  return isSecretWord(word, cue, bond) ? word : undefined;
}

/** What the word says of the next one; nothing if the sentence ends with it or tells something else. */
function overWord(text: string, read: Read, value: Value): Read | undefined {
  const word = withoutSentenceEnd(value);
  const end = text.slice(word.end, value.end);
  if (/[.?;)]/.test(end) || word.text.endsWith("!")) return undefined;
  const next = { ...read, at: value.end + (value.isQuoted ? 1 : 0), words: read.words + 1 };
  if (MAY_TELL.test(word.text)) return { ...next, mayBeTold: true };
  if (TELLS.test(word.text) || end.includes(":")) return { ...next, isTold: true };
  if (MAY_STAND.test(word.text)) return next;
  if (read.isTold || read.plainWords === MOST_PLAIN_WORDS) return undefined;
  return { ...next, plainWords: read.plainWords + 1, mayBeTold: false };
}

const LIST = /["']?[ \t]{0,4}[:=][ \t]{0,4}\[\s{0,40}/y;

/** `"recovery_codes": ["…", "…"]` */
function beginningOfList(text: string, { nameEnd }: Cue): number {
  LIST.lastIndex = nameEnd;
  return LIST.test(text) ? LIST.lastIndex : nameEnd;
}

function behindBullet(text: string, at: number, cue: Cue): number {
  BULLET.lastIndex = at;
  return cue.kind === "code" && /\s/.test(text.charAt(at - 1)) && BULLET.test(text) ? BULLET.lastIndex : at;
}

/** "user mailer, pass …" */
function isBehindUser(text: string, { nameStart }: Cue): boolean {
  return /\b(?:user(?:name)?|login):? \S{1,64}(?:[,;] (?:and )?| and | \/ )$/i.test(
    text.slice(Math.max(0, nameStart - 90), nameStart),
  );
}

/** Codes are often written in groups, as are keys that somebody has to type. */
function valueAt(text: string, at: number, { kind, start, end }: Cue): Value | undefined {
  const isTyped = kind === "code" || (kind === "secret" && /key$/i.test(text.slice(start, end)));
  return (isTyped ? groupedCode(text, at) : undefined) ?? readValue(text, at);
}

function wordsAt(text: string, at: number, cue: Cue, isTold: boolean): Span | undefined {
  if (cue.kind !== "password") return undefined;
  return (isTold ? passphraseAt(text, at, cue) : undefined) ?? passwordForProgram(text, at, cue);
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

/** `admin / password`, `admin:password` */
const PAIR =
  /(?:[ \t:]{1,3}[A-Za-z]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?: ?\/ ?| \| |:|(?<=@[\w.-]{1,64}) and )(?=["'`]?[^\s"'`/]{4,128})/y;

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
  while (found.length < MOST_OTHERS) {
    const at = behindDivider(text, end, cue);
    const value = at === undefined ? undefined : valueAt(text, at, cue);
    if (value === undefined) return found;
    const redacted = redactedPart(value);
    const word = redacted ?? withoutSentenceEnd(value);
    if (redacted === undefined && !isAnother(text.slice(word.start, word.end), cue)) return found;
    found.push(word);
    ({ end } = word);
  }
  return found;
}

function behindDivider(text: string, end: number, cue: Cue): number | undefined {
  for (const divider of cue.kind === "code" ? [AND_ANOTHER, NEXT_CODE] : [AND_ANOTHER]) {
    divider.lastIndex = end;
    if (divider.test(text)) return divider.lastIndex;
  }
  return undefined;
}

function isAnother(written: string, cue: Cue): boolean {
  return cue.kind === "code" ? isCodeOrSeed(written) : looksSecret(written, cue.kind !== "password");
}

const SAID_BEFORE =
  /(?:^|\s)(\S{4,128})\s{1,2}(?:[–—-]\s)?(?:(?:that|this|which|it)(?:['’]s| is)|das ist|c['’]est|as|is|was|for|als|ist|für|comme|est|como|es|come|per|om|som)\s{1,2}(?:(?:the|a|an|my|our|your|its|new|old|right|correct|current|root|admin|user|db|database|das|dein|mein|unser|neue[sr]?|le|la|el|il|nouveau|nueva|sua|mot|de)\s{1,2}){0,4}[\w.-]{0,20}\s?$/i;
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
