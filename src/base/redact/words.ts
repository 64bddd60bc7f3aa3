/** Secrets of plain words: passphrases, and the words from which a wallet can be made again. */
import type { Cue, Span } from "./cue.ts";

const IS_WALLET = /(?:(?:seed|recovery|backup|mnemonic|wallet)[- ]?(?:phrase|words)|mnemonic)$/i;

/** Short enough to be one of them, but they never are. */
const NO_WALLET_WORD = String.raw`(?:the|and|are|for|not|but|was|has|its|our|from|your|been|were|does)\b`;

/** Twelve words or more, which may be numbered, in one line or each in its own. */
const WALLET = new RegExp(
  String.raw`[^\n]{0,40}?\s{0,4}(${[String.raw`[ \t,]{1,3}`, String.raw`[ \t,]{0,2}\r?\n[ \t]{0,8}`]
    .map((divider) => numberedWords(divider))
    .join("|")})(?![\w:=])`,
  "y",
);

export function walletWords(text: string, cue: Cue): Span | undefined {
  if (!IS_WALLET.test(text.slice(cue.start, cue.end))) return undefined;
  WALLET.lastIndex = cue.nameEnd;
  const words = WALLET.exec(text)?.[1];
  return words === undefined ? undefined : { start: WALLET.lastIndex - words.length, end: WALLET.lastIndex };
}

function numberedWords(divider: string): string {
  const word = String.raw`(?:(?:\d{1,2}[.):]?|[*-])[ \t]{0,2})?(?!${NO_WALLET_WORD})[a-z]{3,8}`;
  return `(?:${word}${divider}){11,23}${word}`;
}

const WORDS = /["'`“„]?(\p{L}{2,14}(?: \p{L}{2,14}(?![\p{L}\p{N}_@/:=-])){2,11})/uy;
/** Without these nobody says anything about a passphrase; people make none of them. */
const GRAMMAR =
  /^(?:a|an|the|this|that|these|those|it|its|is|are|was|were|be|been|being|am|has|have|had|do|does|did|dont|will|would|can|cant|could|should|shall|may|might|must|not|no|never|none|nothing|and|or|but|nor|if|then|else|than|so|as|at|by|for|from|in|into|of|off|on|onto|out|over|to|too|up|with|without|about|after|before|because|since|until|when|where|which|while|who|whose|why|how|what|there|here|we|you|he|she|they|me|us|him|her|them|my|our|your|his|their|all|any|both|each|every|some|such|same|only|just|still|also|again|always|already|now|later|please|very|via|per|yet|der|die|das|den|dem|des|ein|eine[nmrs]?|ist|sind|war|wird|werden|wurde|hat|nicht|kein|keine|und|oder|aber|auch|auf|aus|bei|bis|durch|für|im|mit|nach|noch|nur|ohne|schon|seit|sich|über|um|unter|vom|von|vor|wenn|wie|wir|ich|du|er|sie|es|zu|zum|zur|mehr|immer|hier|dort|le|la|les|un|une|du|de|et|ou|est|sont|pas|ne|que|qui|dans|pour|par|sur|avec|sans|plus|trop|ce|cette|il|elle|nous|vous|el|los|las|una|son|con|sin|para|por|del|al|en|se|su|muy|más|em|com|sem|um|uma|não|muito|lo|gli|di|che|non|het|een|niet|van|voor|op|te|dat|zijn|wordt|deze)$/iu;
/** What one says of a secret. */
const ABOUT =
  /^(?:pass(?:word|phrase|code)?s?|log(?:in)?s?|users?|accounts?|char(?:acter)?s?|letters?|digits?|symbols?|min(?:imum)?|max(?:imum)?|length|short|strings?|fields?|values?|hash(?:es)?|text|plain|config\w*|env\w*|variables?|files?|vault|managers?|default|admin|requir\w*|optional|need\w*|missing|wrong|invalid|incorrect|expired?|valid|unknown|empty|lost|private|public|keys?|tokens?|secrets?|auth\w*|database|db|api|reset|policy|prompt|ask|enter|type|use|see|rotat\w*|encrypt\w*|decrypt\w*|stor(?:e|ed|age)|saved?|different|case|sensitive)$/i;

/** As mail providers give them to programs: "app password abcd efgh ijkl mnop". */
const FOR_PROGRAMS = /["'`“„]?([a-z]{4}(?: [a-z]{4}){3})(?![ -]?\w)/y;

export function passwordForProgram(text: string, at: number, cue: Cue): Span | undefined {
  FOR_PROGRAMS.lastIndex = at;
  if (!/app[- ]?$/i.test(text.slice(Math.max(0, cue.start - 4), cue.start))) return undefined;
  const written = FOR_PROGRAMS.exec(text)?.[1];
  if (written === undefined || written.split(" ").some((word) => GRAMMAR.test(word))) return undefined;
  return { start: FOR_PROGRAMS.lastIndex - written.length, end: FOR_PROGRAMS.lastIndex };
}

/**
 * "… is correct horse battery staple": words that make no sentence. One who tells a password rather than a
 * passphrase says more often something about it, so that four words are needed and nothing behind them.
 */
export function passphraseAt(text: string, at: number, cue: Cue): Span | undefined {
  WORDS.lastIndex = at;
  const run = WORDS.exec(text)?.[1];
  if (run === undefined) return undefined;
  const words = run.split(" ");
  const sense = words.findIndex((word) => GRAMMAR.test(word));
  const told = sense < 0 ? words : words.slice(0, sense);
  if (told.some((word) => ABOUT.test(word)) || /.{3}(?:ed|ing|ly)$/.test(told[0] ?? "")) return undefined;
  const isWhole = sense < 0 && /^(?:["'`”“.,;:!?)\n\r]|$)/.test(text.slice(WORDS.lastIndex, WORDS.lastIndex + 1));
  const fewest = isWhole && isPhrase(text, cue) ? 3 : 4;
  if (told.length < fewest || (!isWhole && !isPhrase(text, cue))) return undefined;
  const start = WORDS.lastIndex - run.length;
  return { start, end: start + told.join(" ").length };
}

export function isPhrase(text: string, { start, end }: Cue): boolean {
  return /phrase$/i.test(text.slice(start, end));
}
