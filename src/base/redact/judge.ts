/** Judges whether a match of `rules.ts` is a secret, from its own characters and from the text around it. */

/** `before` has 300 characters, including what the rule keeps; `after` has 40. */
export type Judge = (secret: string, before: string, after: string) => boolean;

/** Stands for a secret: a variable, asterisks, `your-token`, a value that was redacted before. */
const PLACEHOLDER =
  /^(?:\$[\w.({]|!\w|.{0,200}\$\{|%\w+%|%[({]|%s|#\{|<|\{\{|\[?redacted|[*•xX.…_-]{3,}[\]).,;:!?]*$|(?:your|my|some|new|old|the|change|replace|insert|example|dummy|fake|placeholder|user)[-_ .]?(?:own[-_ ])?(?:api|access|secret|passw|token|key|db|me\b|here|value|pass\b|example)|passw(?:or)?d?[-_ ]?(?:here|goes)|(?:changeme|example|passw(?:or)?d|pass|pwd|secret|token)$)|\[redacted\][\]).,;:!?"'`\\/]{0,4}$|^.{0,30}\.{3}$/i;
/** A call, a member of an object, a type, the name of a constant. */
const CODE =
  /^(?:[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[!?]{0,2}(?:[([<{]|=>)|[a-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[!)]{0,2}$|[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)+$|[({[&:]|\*\w|=>|[A-Z]{2,}(?:_[A-Z0-9]+)+$|[A-Z]{2,10}-\d{1,6}$|(?:[A-Z][a-z]+|[ui])(?:8|16|32|64|128)(?:[A-Z][a-z]+)?[,)]*$)/;
const PATH =
  /^(?:(?:env|file|vault|ref|secret|ssm|arn|sm):|[\w.+-]+@[\w-]+\.[\w.]+$|[.~]{0,2}\/|@[\w-]+\/|[A-Za-z]:\\|\w+:\/\/|\w[\w.@-]*\/[\w./@-]*$)|^[\w/@-][\w./@-]*\.[a-z]{1,8}(?::\d+)*$/;
/** A number with or without a unit, a range, a date, a colour, a version. */
const MEASURE =
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|(?:[-/][a-z]{1,12}){1,3})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$|^#[0-9a-f]{3,8}$|^v\d[\d.]*(?:[-+.][\w.+-]*|(?:alpha|beta|rc|pre|dev|[a-z])\d{0,3})?$/i;
/** Commits, checksums and session ids look like this too. */
const HEX = /^(?:0x)?[0-9a-fA-F]{7,64}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Algorithms, formats, ordinals, the password that everybody quotes. */
const NUMBERED =
  /^(?:sha|md|aes|rsa|ed|[hrpe]s|des|utf|base|argon|pbkdf|oauth|http|ipv|tls|user)[-_.]?\d+[a-z]{0,8}\d?(?:[-./_:][\w.:/-]{0,80})?$|^\d+(?:st|nd|rd|th)$|^[12]password|^password\d{1,4}$/i;
/** Types, literals and words that often follow `password` and are not passwords. */
const ABOUT_SECRETS = toWords(
  "string|str|text|(?:var)?char|bytes?|buffer|number|int|bool(?:ean)?|object|any|unknown|undefined|null|none|nil|true|false|yes|no",
  "void|never|await|async|typeof|readonly|function|return|const|default|input|fields?|values?|needed|requir(?:es?|ed)|optional|minimum|maximum|min|max|length",
  "passw(?:or[dt]|d)s?|pass(?:phrase|code|key)?s?|pwd|keys?|tokens?|secrets?|credentials?|auth\\w*|oauth|bearer|basic|log-?ins?|sign-?(?:in|up|on|out)",
  "users?|(?:user|host|nick|sur|first|last)?name|accounts?|e-?mail|phone|char(?:acter)?s?|letters?|digits?|symbols?|date|case|factory|code",
  "config\\w*|env\\w*|variables?|files?|vaults?|managers?|database|db|api|policy|prompt|hash(?:es)?|stor(?:e|age)|header|flag|option|argument|parameter",
  "use|see|ask|enter|type|change|update|reset|renew|match|meet|comply|contain|include|continue|proceed|work|unlock|access|verify|confirm|test|again|expire",
  "something|anything|whatever|nothing|today|tomorrow|yesterday|done|end|error|tbd|todo|n/a|strings?|leak|issue|problem|that|same-?origin|omit",
);
/** Adjectives without an ending that shows it. */
const ADJECTIVE = toWords(
  "wrong|right|(?:in)?valid|(?:in)?correct|empty|blank|weak|strong|short|long|safe|(?:in)?secure|unique|simple|plain|sensitive|same|lost|gone|private|public",
  "known|read-?only|lower|upper|random|static|ok(?:ay)?|out|fine|good|bad|great|new|old|easy|hard|open|ready|clear|common|terrible|silly|funny|mine|yours|theirs|ours",
  "hidden|broken|stolen|written|forgotten|chosen|given|taken|shown|set|unset|kept|sent|built|made|dead|trash|garbage|nonsense|rubbish|awful|plaintext|cleartext|case",
  "(?:long|short|weak|strong|safe|new|old|bett|small|simpl|eas|hard)i?er|lowercase|uppercase|worse|worthless|identical",
);
/** Function words of English and German: sentences have many of them, passwords none. */
const FUNCTION_WORD = toWords(
  "an?|the|th(?:is|at|ese|ose|en|an|ere)|its?|is|are|was|were|be(?:en|ing)?|am|ha(?:s|ve|d)|do(?:es)?|did|dont|will|would|can|cant|could|should|must|may|might",
  "not?|never|and|or|but|if|else|so|as|at|by|for|from|in|into|of|off|on|out|over|too?|up|with|without|about|after|before|because|since|until|when|where|which",
  "while|who|why|how|what|here|we|you|he|she|they|me|us|him|her|them|my|our|your|his|their|all|any|both|each|every|some|such|only|just|still|also|always|already",
  "once|now|later|please|very|via|per|yet|one|de[rmns]|das|die|ein\\w{0,2}|ist|sind|war|wird|hat|nicht|kein\\w{0,2}|und|oder|aber|auf|aus|bei|mit|nach|noch|nur",
  "von|vor|wenn|wie|wir|ich|sie|es|zu[mr]?|mehr",
);
const PREDICATE = /.{2}(?:ed|ing|ly|[ai]ble|less|ive|ful|ous|[ao]ry|[cnt]al|ic|[dr]ent)$/i;
const QUOTED = /["'`“„]$/;

function toWords(...words: readonly string[]): RegExp {
  return new RegExp(`^(?:${words.join("|")})$`, "i");
}

export function isReal(text: string): boolean {
  return !PLACEHOLDER.test(text);
}

/** Code that handles secrets, a path, a number. */
function isOrdinary(text: string): boolean {
  return !isRandom(text) && (CODE.test(text) || PATH.test(text) || MEASURE.test(text) || NUMBERED.test(text));
}

function isAboutSecrets(word: string): boolean {
  return ABOUT_SECRETS.test(word) || ADJECTIVE.test(word) || FUNCTION_WORD.test(word);
}

/**
 * How much a text looks like a password: 0 for anything that has another meaning, 1 for a word, 2 for joined words,
 * 3 for letters with a digit or a sign, 4 for what cannot be the name of something.
 */
export function strengthOf(text: string): 0 | 1 | 2 | 3 | 4 {
  if (isRandom(text)) return 4;
  if (/^\d{5,16}$/.test(text)) return 3;
  if (text.length < 4 || !isReal(text) || isOrdinary(text) || HEX.test(text) || isAboutSecrets(text)) return 0;
  if (/\p{L}[!$%^&*#]+\p{L}/u.test(text) && /^[^{}()\\[\]=/]{8,}$/.test(text)) return 4;
  if (isNoWord(text)) return isSure(text) ? 4 : 3;
  if (areJoinedWords(text)) return 2;
  return /^\p{L}{4,40}$/u.test(text) && !PREDICATE.test(text) ? 1 : 0;
}

/** Has letters with a digit or a sign among them, or is made of four joined words: not a word of any language. */
function isNoWord(text: string): boolean {
  if (!/\p{L}/u.test(text)) return false;
  return /\d|[!@#$%^&=~?](?=.)|\w\*+\w|\w[!#$%^&*]$/.test(text) || /^\p{Ll}+(?:-\p{Ll}+){3,}$/u.test(text);
}

function isSure(text: string): boolean {
  if (text.length < 6 || !/\d/.test(text) || /[{}()\\[\]]/.test(text)) return false;
  return text.length >= 8 || /\d.*\p{L}|\p{Ll}.*\p{Lu}|[_!@#$%^&+=~]/u.test(text);
}

/** `Marzipan-Falcon`, `copper-kettle-window`: words joined by signs or capitals, without words such as `invalid`. */
function areJoinedWords(word: string): boolean {
  if (!/^\p{L}{3,20}(?:[-_.&]\p{L}{3,20}){1,5}$|^(?:\p{Lu}\p{Ll}{3,20}){2,6}$/u.test(word)) return false;
  return (word.match(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu) ?? []).every((part) => !isAboutSecrets(part) && !/.{3}ed$/.test(part));
}

/** Signs, digits and letters without order, as programs generate them; blanks may be among them. */
function isNoise(text: string): boolean {
  const signs = text.match(/[^\p{L}\d\s.,:;/_-]/gu)?.length ?? 0;
  return text.length >= 16 && /\d/.test(text) && signs >= text.length / 8;
}

/** Prefixes of ids, which open nothing and which hand-offs refer to; addresses of wallets and contracts. */
const ID =
  /^(?:sha\d{1,3}-|(?:srv)?toolu_|(?:msg|req|call|chatcmpl|resp|run|thread|file|batch|evt|dpl|prj|org|session|cse|agent|ft|ftjob|asst|vs|cus|acct|price|prod|txn)[_-]|[a-z]{2,12}_01(?=[0-9A-Z])|AAAA[BCE])|^[a-z]{2,12}_[A-Za-z0-9]{8,28}$|^0x[0-9A-Fa-f]{40}$|^Qm[A-Za-z0-9]{44}$/;

/**
 * Whether a run of letters and digits was drawn at random. In names that people write, small letters, capitals
 * and digits change only where words begin; in a random run two of three neighbours differ.
 */
export function isRandom(run: string): boolean {
  if (run.length < 16 || run.length > 512 || ID.test(run) || !/[a-z]/.test(run) || !/[A-Z]/.test(run)) return false;
  const groups = run.replaceAll(/[^A-Za-z0-9]/g, "").match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const numbers = groups.filter((group) => /\d/.test(group)).length;
  const isLong = run.length >= 32;
  return numbers >= (isLong ? 2 : 3) && (groups.length - 1) / (run.length - 1) >= (isLong ? 0.4 : 0.5);
}

/** Addresses, paths, checksums, pictures and ids: what follows says where or what something is. */
const REFERENCE = /(?::\/\/|(?<![^\s"'`<>])[~.]{0,2}\/|\bsha\d{1,3}[-:]|base64,|\bh1:)[^\s"'`<>]*$|@$/i;
const ID_BEFORE =
  /(?:id|nonce|checksum|digest|fingerprint|commit|e-?tag|cursor|address|public[-_ ]?key|hash|cid|id-\d)["']?(?:\sis|[:=])?\s{0,2}["'`]?$/i;

export function isRandomRun(run: string, before: string): boolean {
  return isRandom(run) && !run.startsWith("/") && !REFERENCE.test(before) && !ID_BEFORE.test(before.slice(-30));
}

/** `DB_PASSWORD` */
function isConstant(before: string): boolean {
  return /(?:^|[^\w])[A-Z][A-Z0-9_]{5,}["']?(?:=|\s*,\s*)\s{0,2}["'`]?$/.test(before);
}

/** `tokenizer`, `SECRETARY`: letters of the same case go on after the word. */
function isInsideWord(before: string): boolean {
  const [, word = "", rest = ""] =
    /.*(passw(?:or[dt]|d)|phrase|code|pwd|psk|pass|pw|secret|token|credential|jwt|key)([\w-]*)[^\w-]{0,40}$/is.exec(
      before,
    ) ?? [];
  return /[a-z]$/.test(word) ? /^(?:s[a-z]|[a-rt-z])/.test(rest) : /^(?:S[A-Z]|[A-RT-Z])/.test(rest);
}

const FLAG = /(?:^|[\s"'(])--?\w[\w-]*[ =]["'`]?$/;

/** Almost anything can be a password. A sentence about one, or a variable that holds one, is not. */
export function isAssignedPassword(secret: string, before: string, after: string): boolean {
  const word = secret.replace(/[.,;:!?)\]}|&>[]+$/, "");
  if (!isReal(secret) || isInsideWord(before) || isAboutSecrets(word)) return false;
  const isQuoted = QUOTED.test(before);
  if (isOrdinary(secret) && !/^\d{4,}$/.test(secret) && !(isQuoted && areJoinedWords(secret))) return false;
  const isSetting = FLAG.test(before) || isConstant(before);
  if (/(?:==[ \t]*|[(,][ \t]*["'`])$/.test(before) && !isConstant(before) && !isNoWord(secret))
    return isQuoted && /==/.test(before);
  if (/^\p{L}[\p{L}'’]*(?:[ ,]+[\p{L}\d'’]+)+[.!?…:]?$/u.test(secret)) return isQuoted && arePhrase(secret, before);
  // `user_input`, `newValue`: variables.
  if (!isQuoted && !isSetting && /^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$|.{3}(?:ed|ing|[ai]ble)$/.test(secret)) return false;
  if (!/^\p{L}+[.,:!?]*$/u.test(secret)) return secret.length >= 4 && (isQuoted || !/^\d{1,3}[.,]?$/.test(secret));
  if (/passw|pwd/i.test(secret) || (FLAG.test(before) && /^[A-Z]+$/.test(secret))) return false;
  const isLine = /(?:^|\n)[ \t]*[\w-]+[ \t]*[:=][ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  if (secret.length < (isQuoted || isConstant(before) || isLine ? 4 : 6)) return false;
  return isQuoted || isSetting || !/^ \p{Ll}/u.test(after);
}

/** Words in quotes: a passphrase, unless they are a label or an error message. */
function arePhrase(words: string, before: string): boolean {
  if (FLAG.test(before) || /(?:phrase|psk)\W+$/i.test(before)) return !/[.!?…:]$/.test(words);
  const parts = words.split(/[ ,]+/);
  if (parts.length > 3 || /^\p{Lu}\p{Ll}+ \p{Ll}+/u.test(words)) return false;
  return !parts.some((part) => ABOUT_SECRETS.test(part) || (!isConstant(before) && FUNCTION_WORD.test(part)));
}

export function isAssignedSecret(secret: string, before: string): boolean {
  const isQuoted = QUOTED.test(before);
  if (!isReal(secret) || isAboutSecrets(secret) || isInsideWord(before)) return false;
  if (secret.length < 6 || /\s/.test(secret)) return isQuoted && isNoise(secret);
  if (isRandom(secret) || /^(?=.*\d)[A-Za-z0-9+/]{40,512}={0,2}$/.test(secret)) return true;
  if (isOrdinary(secret)) return /key\W+$/i.test(before) && /^\d{8,}$/.test(secret);
  if (!isQuoted && /^[A-Za-z_$][\w$]*(?:key|token|secret|credential)s?$/i.test(secret)) return false;
  const isNamed =
    isConstant(before) ||
    /--?[\w-]+[ =]["'`]?$|(?:[a-z][A-Z]|\w[_-])\w*["'\s\]`]*(?:[:=([]+|\|\||\?\?|or)>?\s*["'`]?$/.test(before);
  if (HEX.test(secret)) return isNamed || secret.length >= 16;
  if (isNoWord(secret)) return isNamed || secret.length >= 8;
  if (isConstant(before) || /^[\w-]{32,}$/.test(secret)) return true;
  return isQuoted && isNamed && secret.length >= 8 && !/^[A-Z_]+$|^X-/.test(secret);
}

/** Ends a clause, so that the word before it can be a whole password. */
const CLAUSE_END =
  /^["'`”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s{1,2}\(|\s{1,2}(?:and|or|but|then|now|for|on|in|at|until|so|because|please|if|when|last|I|temporarily|instead|again|everywhere|today)\b)/i;

/** The least strength that a sentence needs: anywhere, at the end of a clause, in quotes. */
export function told({ bare = 9, atEnd = 9, quoted = 9 }): Judge {
  return (secret, before, after) => {
    const strength = strengthOf(secret);
    const isTarget = /\b(?:to|from)\s{1,4}["'`]?$/i.test(before);
    if (strength >= (isTarget ? Math.max(bare, 4) : bare)) return true;
    return (QUOTED.test(before) && strength >= quoted) || (strength >= atEnd && CLAUSE_END.test(after));
  };
}

/** Words that form no sentence: "correct horse battery staple". */
export function isPassphrase(phrase: string, before: string, after: string): boolean {
  const words = phrase.split(" ");
  if (words.some((word) => ABOUT_SECRETS.test(word) || FUNCTION_WORD.test(word))) return false;
  if (words.filter((word) => ADJECTIVE.test(word)).length > 1 || /.{3}(?:ed|ing|ly)$/.test(words[0] ?? "")) return false;
  const isWhole = /^(?:["'`”“.,;:!?)\n\r]|$)/.test(after);
  return /phrase/i.test(before.slice(-80)) ? words.length >= (isWhole ? 3 : 4) : isWhole && words.length >= 4;
}

/** Capitals, small letters, digits and a sign that does not end a sentence, in a text about a password. */
export function isStrongPassword(secret: string, before: string, after: string): boolean {
  if (/@(?:\d|[\w-]+\.)/.test(secret) || isOrdinary(secret)) return false;
  const isSentenceEnd = !/[!#$^*?~@](?=[\w!#$^*?~@])|[#$^*~]$/.test(secret) && !/^ \p{Ll}/u.test(after);
  return !isSentenceEnd && /passw|pwd|\bpw\b|\bpass\b|creds|\blog ?in|\bsign in/i.test(before.slice(-120) + after);
}

/** Not a number of something. */
const COUNTED =
  /^ (?:rows?|lines?|files?|bytes?|[kmg]b|tests?|times?|items?|entries|records?|users?|calls?|chars?|tokens?|ms|seconds?|minutes?|days?)\b/i;

/** Digits, or digits and letters in groups. Years, round numbers and numbers of something are not codes. */
export function isCode(codes: string, before: string, after: string): boolean {
  if (/\bpin $|\b(?:to|from)\s+$/.test(before)) return false;
  const [first = ""] = codes.split(/["',\n]/);
  const groups = first.split(/[ -]/);
  if (COUNTED.test(after) || groups.every((group) => /^(?:(?:19|20)\d\d|\d{1,4}00)$/.test(group))) return false;
  if (groups.every((group) => /^\d+#?$/.test(group))) return true;
  if (groups.length === 1) return /^[A-Z\d]+$/.test(first);
  return groups.some((group) => /\d/.test(group) && /[A-Za-z]/.test(group));
}

/** The Luhn check: the last digit confirms the others. */
export function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replaceAll(/\D/g, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, at) => total + (at % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit), 0);
  return sum % 10 === 0;
}

/** `user:password` in base64. */
export function isBasicAuth(secret: string): boolean {
  return /^[\x20-\x7e]{1,100}:[\x20-\x7e]{2,200}$/.test(Buffer.from(secret, "base64").toString("latin1"));
}

/** A key or signature without a name that says so. */
export function isGenerated(secret: string): boolean {
  return (
    /^[0-9a-f]{32,128}$/.test(secret) ||
    isNoise(secret) ||
    (isReal(secret) && secret.length >= 16 && strengthOf(secret) === 4)
  );
}

export function isToldSecret(secret: string): boolean {
  if (HEX.test(secret)) return secret.length >= 20;
  return secret.length >= 8 && strengthOf(secret) === 4 && !/^[a-z]+(?:[-_.][a-z\d]+)+$/.test(secret);
}

export function atLeast(strength: number): Judge {
  return (secret) => strengthOf(secret) >= strength;
}

export function isBelowLabel(secret: string): boolean {
  return strengthOf(secret) === 4 || (secret.length >= 20 && HEX.test(secret));
}

export function always(): boolean {
  return true;
}
