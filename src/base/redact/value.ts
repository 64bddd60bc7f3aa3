/** What stands where a secret would: how far it goes, and whether it is one. */
import type { Span } from "./cue.ts";
import { REDACTED } from "./mark.ts";
import { isRandomRun } from "./random-run.ts";

export interface Value extends Span {
  text: string;
  isQuoted: boolean;
}

const LONGEST = 8192;
/** Some languages have a letter before it that says what kind of text follows. */
const OPENING_QUOTE = /(?:[NEbru]|@)?\\{0,4}["'`“„«‘]/y;
const CLOSING: Readonly<Record<string, string>> = { "“": "”", "„": "“", "«": "»", "‘": "’" };
/** To the next space; a comma, a semicolon or an ampersand ends it if something follows that it would divide. */
const BARE =
  /(?:[^\s"'`,;<>&|“”«»\\]|\\(?![nrt"'`\\])|&(?![\w-]{1,40}=)|[,;](?![\s"'`]|$|[\w .-]{1,40}[=:])|\|(?!\s)){1,512}/y;
/** Where a longer one ends. */
const REST = /[^\s"'`,;<>]{1,8192}/y;
const JUDGED_LENGTH = 512;

export function readValue(text: string, at: number): Value | undefined {
  OPENING_QUOTE.lastIndex = at;
  const quote = OPENING_QUOTE.exec(text)?.[0];
  if (quote !== undefined) return quotedValue(text, at + quote.length, quote.slice(-1));
  BARE.lastIndex = at;
  const bare = BARE.exec(text)?.[0];
  return bare === undefined ? undefined : { start: at, end: at + bare.length, text: bare, isQuoted: false };
}

/** What is judged is only the beginning of a long value; all of it is taken. */
export function wholeValue(text: string, { start, end }: Value): Span {
  if (end - start < JUDGED_LENGTH) return { start, end };
  REST.lastIndex = end;
  return { start, end: REST.test(text) ? REST.lastIndex : end };
}

/** To the closing quote on the same line; of one that was cut off, to the next space. */
function quotedValue(text: string, start: number, quote: string): Value | undefined {
  const within = text.slice(start, start + LONGEST);
  const line = within.search(/[\r\n]/);
  const close = within.indexOf(CLOSING[quote] ?? quote);
  if (close >= 0 && (line < 0 || close < line)) {
    const inner = within.slice(0, close).replace(/\\{1,4}$/, "");
    return inner === "" ? undefined : { start, end: start + inner.length, text: inner, isQuoted: true };
  }
  const [bare = ""] = /^[^\s"'`]{0,8192}/.exec(within) ?? [];
  return bare === "" ? undefined : { start, end: start + bare.length, text: bare, isQuoted: false };
}

/** Without what ends the sentence around it. */
export function withoutSentenceEnd(value: Value): Value {
  if (value.isQuoted) return value;
  const text = value.text.replace(/[([{]/.test(value.text) ? /[.,;:?…]{1,8}$/ : /[.,;:?…)\]}*]{1,8}$/, "");
  return { ...value, text, end: value.start + text.length };
}

const PLACEHOLDER =
  /^(?:\$[\w.(]|.{0,200}\$\{|%\w+%|<|\{\{|\[?redacted|\[REDACTED|[*•xX.…_-]{3,}[\]).,;:!?]*$|(?:your|my|some|new|old|the|change|insert|example|dummy|fake|placeholder)[-_ .]?(?:own[-_ ])?(?:api|access|secret|password|token|key|db|me\b|here|value|passw|pass\b|example))/i;
const ENDS_REDACTED = /\[redacted\][\]).,;:!?"'`\\/]{0,4}$/;

/** Stands for a secret and is none: a variable, asterisks, what was redacted before. */
export function isPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text) || ENDS_REDACTED.test(text);
}

/** Where a value was redacted before: it counts as found, so that what follows is judged as it was then. */
export function redactedPart({ start, text }: Value): Span | undefined {
  const at = text.lastIndexOf(REDACTED);
  return at < 0 || !ENDS_REDACTED.test(text) ? undefined : { start: start + at, end: start + at + REDACTED.length };
}

/** A type, a call, a member of something, a name in capitals: a program speaks of a secret and holds none. */
const CODE =
  /^(?:[A-Za-z_$][A-Za-z_$]*(?:\??\.[A-Za-z_$][\w$]*){0,6}!?(?:\(|\[|<|\{$|=>)|[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*){0,6}\(.{0,400}\)|[\w$.]+\?\.|[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+\(|\(|\{|\[|=>|(?:process|this|self|NodeJS|React|Buffer|System|import|config|options?|env|req|request|res|os|args?|params?|props|state|ctx|context|settings|secrets|vars?|local|data|event|input|body|user)\??\.[\w$.?[\]]+[!)]?$|[a-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*){0,4}\.\w*(?:[Tt]oken|[Ss]ecret|[Pp]assword|[Kk]ey|value|text)s?[!)]{0,2}$|[A-Z]{2,}(?:_[A-Z]+)+$|\/)/;
const WORD =
  /^(?:string|number|boolean|bool|object|unknown|undefined|null|none|nil|true|false|void|never|any|str|bytes|buffer|text|optional|required|needed|missing|invalid|incorrect|wrong|expired|empty|unset|changed|rotated|revoked|leaked|exposed|enabled|disabled|default|correct|valid|stored|saved|hashed|encrypted|plaintext|plain|hidden|masked|secret|token|password|await|async|new|typeof|readonly|function|return|const|yes|no|not|is|are|was|the|a|an|and|or|in|on|of|for|from|to|see|same|both|only|with|without|should|must|can|will|has|have|does|did|flag|option|argument|parameter|field|value|header|file|variable|based|auth|oauth|bearer|basic|ok|okay|failed|error|tbd|todo|n\/a|unchanged|ignored|redacted|generated|random|provided|given|input|again|there|here|this|that|it|we|you|they|because|which|when|where|how|what|who|why|never|always|also|already|still)[.,;:!?)\]}|&>[]*$/i;
const PATH =
  /^(?:[.~]{0,2}\/|@[\w-]+\/|[A-Za-z]:\\|https?:|file:|\w[\w.@-]*\/[\w./@-]*$)|^[\w./@-]+\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|txt|py|go|rs|rb|java|kt|php|sh|env|ini|cfg|conf|html?|css|s?css|sql|lock|log|pem|crt|key|csv|xml|vue|svelte|xlsx?|docx?|pptx?|pdf|png|jpe?g|svg|gif|webp|mp[34]|mov|zip|t?gz|tar|db|sqlite|jsonl|bak|ppk|p12|pfx|jks)(?::\d+)*$/;
const MEASURE =
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|(?:[-/](?:[a-z]{1,12})){1,3})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$|^v\d[\d.]*(?:[-+.][\w.+-]*|(?:alpha|beta|rc|pre|dev|[a-z])\d{0,3})?$/;
const HASH = /^(?:0x)?[0-9a-f]{7,64}$|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Names that end in a number, as versions and algorithms have them. */
const NUMBERED =
  /^(?:sha|md|aes|hs|rs|ps|es|utf|base|oauth|http|ipv|ed|x|curve|secp|argon|pbkdf|gpt|claude|sonnet|opus|haiku|node|python|java|php|ubuntu|postgres|postgresql|mysql|win|user|step|line|day|week|phase|part|pr|issue|rfc|cve|q|v|u|api|web|s|ec|k|p|c|h|i|l|e|a|b|d|t|vitest|react|vue|tls|ssl|log|port|host|server|node|worker|shard|env|stage|test|case|table|figure|section|chapter|version|release|build|room|floor|team|group|sprint|milestone)[-_.]?\d+(?:id|url|[a-z])?(?:[-./_:][\w.:/-]{0,80})?$|^\d+(?:st|nd|rd|th|[a-z]{1,2})$|^[a-z]\d+[a-z]$|^[12]password$/i;

export function isCode(text: string): boolean {
  return CODE.test(text);
}

export function isWord(text: string): boolean {
  return WORD.test(text);
}

export function isPath(text: string): boolean {
  return PATH.test(text);
}

/** A number with or without a unit, a time, a version. */
export function isMeasure(text: string): boolean {
  return MEASURE.test(text);
}

/** As commits, files and sessions have them. */
export function isHash(text: string): boolean {
  return HASH.test(text);
}

/** Letters with a digit or a sign among them, or four words and more that were joined. */
export function isNoWord(text: string): boolean {
  if (!/\p{L}/u.test(text)) return false;
  return /\d|[!@#$%^&+=~?](?=.)|\w\*+\w|\w[!#$%^&*]$/.test(text) || /^\p{Ll}+(?:-\p{Ll}+){3,}$/u.test(text);
}

/**
 * No word of any language and no name of a thing: letters with a digit or a sign among them.
 * `surely` leaves out what is a name as often as a password.
 */
export function looksSecret(text: string, surely = false): boolean {
  if (text.length < (surely ? 6 : 4) || text.length > JUDGED_LENGTH || isPlaceholder(text) || isCode(text))
    return false;
  if (isPath(text) || isMeasure(text) || isHash(text)) return false;
  if (NUMBERED.test(text) || isWord(text) || (surely && /[{}()\\]|\[(?!redacted)/.test(text))) return false;
  if (/^[A-Z2-7]{16,128}=*$/.test(text) && /\d/.test(text)) return true;
  if (text.length >= 16 && isRandomRun(text)) return true;
  if (!surely) return isNoWord(text);
  if (!/\d/.test(text) || !/\p{L}/u.test(text)) return false;
  return text.length >= 8 || /\d.*\p{L}|\p{Ll}.*\p{Lu}|[_!@#$%^&+=~]/u.test(text);
}
