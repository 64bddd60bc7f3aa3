/**
 * Judges whether what an expression of `rules.ts` found is a secret: from its own characters, and from the text
 * around it where a rule needs that.
 */

/** `before` has 300 characters, with what the rule keeps; `after` has 40. */
type Judge = (secret: string, before: string, after: string) => boolean;

/** Ends a clause, so that the word before it can be a whole password. */
const CLAUSE_END =
  /^["'`”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s{1,2}(?:and|or|but|then|now|for|on|in|at|until|so|because|please|temporarily|instead|again|everywhere|today)\b)/i;
const USED_AS =
  /^["'`”]?\s{1,2}as\s[^\n]*?passw(?:or[dt]|d)["'`”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s{1,2}(?:and|or|but|for|on|in|now|until)\b)/i;
const AFTER_USE = /\b(?:us(?:e|ing|ed)|try|take|enter|type|choose|pick|put|give)\s{1,2}["'`]?$/i;
const BELOW_USER =
  /(?:^|\n)[ \t]{0,8}(?:user(?:name)?|login|e-?mail|account)[ \t]{0,4}[:=][^\n]{1,80}\n[ \t]{0,8}\w{2,4}[ \t]{0,4}[:=][ \t]{0,4}$/i;
/** Addresses, paths, checksums, pictures and ids: what follows says where or what something is. */
const REFERENCE = /(?::\/\/|(?<![^\s"'`<>])[~.]{0,2}\/|\bsha\d{1,3}[-:]|base64,|\bh1:)[^\s"'`<>]*$|@$/i;
const ID_BEFORE =
  /(?:id|nonce|checksum|digest|fingerprint|commit|e-?tag|cursor|address|public[-_ ]?key|hash|cid|id-\d)["']?(?:\sis|[:=])?\s{0,2}["'`]?$/i;

/** Stands for a secret: a variable, asterisks, `your-token`, a value that was redacted before. */
const PLACEHOLDER =
  /^(?:\$[\w.({]|!\w|.{0,200}\$\{|%\w+%|%[({]|#\{|<|\{\{|\[?redacted|[*•xX.…_-]{3,}[\]).,;:!?]*$|(?:your|my|some|new|old|the|change|insert|example|dummy|fake|placeholder)[-_ .]?(?:own[-_ ])?(?:api|access|secret|passw|token|key|db|me\b|here|value|pass\b|example))|\[redacted\][\]).,;:!?"'`\\/]{0,4}$/i;
/** A call, a member of an object, a type, the name of a constant. */
const CODE =
  /^(?:[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[!?]{0,2}(?:[([<{]|=>)|[a-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[!)]{0,2}$|[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)+$|[({[&:]|=>|[A-Z]{2,}(?:_[A-Z0-9]+)+$|[A-Z]{2,10}-\d{1,6}$)/;
const PATH =
  /^(?:(?:env|file|vault|ref|secret|ssm|arn|sm):|[\w.+-]+@[\w-]+\.[\w.]+$|[.~]{0,2}\/|@[\w-]+\/|[A-Za-z]:\\|\w+:\/\/|\w[\w.@-]*\/[\w./@-]*$)|^[\w/@-][\w./@-]*\.[a-z]{1,8}(?::\d+)*$/;
/** A number with or without a unit, a range, a date, a colour, a version. */
const MEASURE =
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|(?:[-/][a-z]{1,12}){1,3})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$|^#[0-9a-f]{3,8}$|^v\d[\d.]*(?:[-+.][\w.+-]*|(?:alpha|beta|rc|pre|dev|[a-z])\d{0,3})?$/i;
/** Commits, checksums and session ids look like this too. */
const HEX = /^(?:0x)?[0-9a-fA-F]{7,64}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Algorithms, formats and ordinals. */
const NUMBERED =
  /^(?:sha|md|aes|rsa|ed|[hrpe]s|des|utf|base|argon|pbkdf|oauth|http|ipv|tls|user)[-_.]?\d+[a-z]{0,8}\d?(?:[-./_:][\w.:/-]{0,80})?$|^\d+(?:st|nd|rd|th)$|^[12]password/i;
/** Types, literals and other words that often follow `password` and are not passwords. */
const ABOUT_SECRETS = new RegExp(
  `^(?:${[
    "string|str|text|(?:var)?char|bytes?|buffer|number|int|bool(?:ean)?|object|any|unknown|undefined|null|none|nil|true|false",
    "void|never|await|async|typeof|readonly|function|return|const|optional|required?|default|input|fields?|values?|needed",
    "passw(?:or[dt]|d)s?|pass(?:phrase|code)?s?|pwd|keys?|tokens?|secrets?|credentials?|auth\\w*|oauth|bearer|basic|log-?ins?|sign-?(?:in|up|on|out)",
    "users?|(?:user|host|nick|sur|first|last)?name|accounts?|e-?mail|phone|char(?:acter)?s?|letters?|digits?|symbols?|min(?:imum)?|max(?:imum)?|length",
    "wrong|invalid|incorrect|valid|missing|empty|unset|expired?|weak(?:er)?|strong(?:er)?|short(?:er)?|long(?:er)?|safer?|secure|unique|simpler?|plain(?:text)?",
    "case|sensitive|different|same|lost|private|public|hidden|known|factory|read-?only|lower(?:case)?|upper(?:case)?|random|static|shared|blank|ok(?:ay)?|error|tbd|todo|n/a",
    "config\\w*|env\\w*|variables?|files?|vaults?|managers?|database|db|api|policy|prompt|hash(?:es)?|stor(?:e|age)|header|flag|option|argument|parameter",
    "use|see|ask|enter|type|change|update|reset|renew|match|meet|comply|contain|include|continue|proceed|work|unlock|access|verify|confirm|test|again",
    "something|anything|whatever|nothing|today|tomorrow|yesterday|done|encrypted|expected|end|date|out",
  ].join("|")})$`,
  "i",
);
/** Function words of English and German: sentences have many of them, passwords none. */
const FUNCTION_WORD =
  /^(?:an?|the|th(?:is|at|ese|ose|en|an|ere)|its?|is|are|was|were|be(?:en|ing)?|am|ha(?:s|ve|d)|do(?:es)?|did|dont|will|would|can|cant|could|should|must|may|might|not?|never|and|or|but|if|else|so|as|at|by|for|from|in|into|of|off|on|out|over|too?|up|with|without|about|after|before|because|since|until|when|where|which|while|who|why|how|what|here|we|you|he|she|they|me|us|him|her|them|my|our|your|his|their|all|any|both|each|every|some|such|only|just|still|also|always|already|once|now|later|please|very|via|per|yet|de[rmns]|das|die|ein\w{0,2}|ist|sind|war|wird|hat|nicht|kein\w{0,2}|und|oder|aber|auf|aus|bei|mit|nach|noch|nur|von|vor|wenn|wie|wir|ich|sie|es|zu[mr]?|mehr)$/i;
/** A sign between letters: not a way to sign in, such as `OAuth2`. */
const SIGN_INSIDE = /[\p{L}\d][!#$%^&*+=~?]+[\p{L}\d]/u;

/** By the name of the rule. Default: every match is a secret, unless it stands for one. */
export const JUDGES: Readonly<Record<string, Judge>> = {
  "random run": (run, before) =>
    isRandom(run) && !run.startsWith("/") && !REFERENCE.test(before) && !ID_BEFORE.test(before.slice(-30)),
  "payment card": isCardNumber,
  command: isReal,
  "password in an address": isReal,
  "authorization header": isReal,
  "password after its name": isAssignedPassword,
  "secret after its name": isAssignedSecret,
  authorization: looksSecret,
  "signatures and other keys": (secret) =>
    /^[0-9a-f]{32,128}$/.test(secret) || isNoise(secret) || (secret.length >= 16 && isSurelySecret(secret)),
  "secret in a sentence": (secret) =>
    (secret.length >= 8 && isSurelySecret(secret) && !/^[a-z]+(?:[-_.][a-z\d]+)+$/.test(secret)) ||
    (secret.length >= 20 && HEX.test(secret)),
  "login call": isSurelySecret,
  "card number": isCardNumber,
  "address and password": (secret) => isSurelySecret(secret) && !secret.includes("/"),
  "default of a variable": isPassword,
  codes: isCode,
  "short name for a password": (secret, before) =>
    looksSecret(secret) || (isPlainPassword(secret) && BELOW_USER.test(before)),
  passphrase: isPassphrase,
  "password in a sentence": isToldPassword,
  "password of names": (word, before, after) =>
    (areJoinedWords(word) || (isPlainPassword(word) && /\b(?:is|was|ist|lautet)\s$/.test(before))) &&
    CLAUSE_END.test(after),
  "password that was set": (word, _before, after) => isPassword(word) && CLAUSE_END.test(after),
  "password right after the word": (secret, before) =>
    isSurelySecret(secret) || (/["'`]$/.test(before) && areJoinedWords(secret)),
  "value below its label": (secret, before) =>
    /(?:pass|pwd|kennwort)[^\n]*[:：][*_]{0,2}\s+(?:`{3}\w*\s+)?["'`]?$/i.test(before)
      ? isPassword(secret)
      : isSurelySecret(secret) || (secret.length >= 20 && HEX.test(secret)),
  "login and password": (secret, before) =>
    !/^\w{1,32}=|@[\w-]{1,64}\./.test(secret) &&
    (/(?:with|using)\s+["'`]?$/.test(before)
      ? isSurelySecret(secret) || SIGN_INSIDE.test(secret)
      : isSurelySecret(secret)),
  "password before the word": (secret, before, after) =>
    isSurelySecret(secret) || (isPassword(secret) && AFTER_USE.test(before) && USED_AS.test(after)),
  "strong password near the word": isStrongPassword,
  "app password": isPassphrase,
  "another secret after one": isSurelySecret,
};

export function isReal(text: string): boolean {
  return !PLACEHOLDER.test(text);
}

/** Code that handles secrets, a path, a number: never a secret unless it was drawn at random. */
function isOrdinary(text: string): boolean {
  if (isRandom(text)) return false;
  return CODE.test(text) || PATH.test(text) || MEASURE.test(text) || NUMBERED.test(text);
}

/** A word of the two lists above. */
function isAboutSecrets(word: string): boolean {
  return ABOUT_SECRETS.test(word) || FUNCTION_WORD.test(word);
}

/** One word of letters that can only be the password, where the text says that a password comes next. */
function isPlainPassword(word: string): boolean {
  return /^\p{L}{4,40}$/u.test(word) && !isAboutSecrets(word) && !/.{3}(?:ed|ing|ly|[ai]ble|less|ive)$/i.test(word);
}

/** `Marzipan-Falcon`, `copper-kettle-window`: words joined by signs or capitals, without words such as `invalid` or `reset`. */
function areJoinedWords(word: string): boolean {
  if (!/^\p{L}{3,20}(?:[-_.]\p{L}{3,20}){1,5}$|^(?:\p{Lu}\p{Ll}{3,20}){2,6}$/u.test(word)) return false;
  return (word.match(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu) ?? []).every((part) => !isAboutSecrets(part));
}

export function isPassword(text: string): boolean {
  return looksSecret(text) || isPlainPassword(text) || areJoinedWords(text);
}

/** Has letters with a digit or a sign among them, or is made of four joined words: not a word of any language. */
function isNoWord(text: string): boolean {
  if (!/\p{L}/u.test(text)) return false;
  return /\d|[!@#$%^&=~?](?=.)|\w\*+\w|\w[!#$%^&*]$/.test(text) || /^\p{Ll}+(?:-\p{Ll}+){3,}$/u.test(text);
}

export function looksSecret(text: string): boolean {
  if (text.length < 4 || PLACEHOLDER.test(text) || isOrdinary(text) || HEX.test(text)) return false;
  return isRandom(text) || (isNoWord(text) && !isAboutSecrets(text));
}

/** The same without what could be the name of something: needs both letters and digits, and no brackets. */
export function isSurelySecret(text: string): boolean {
  if (text.length < 6 || !looksSecret(text) || /[{}()\\[\]]/.test(text)) return false;
  if (!/\d/.test(text) || !/\p{L}/u.test(text)) return false;
  return text.length >= 8 || /\d.*\p{L}|\p{Ll}.*\p{Lu}|[_!@#$%^&+=~]/u.test(text);
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

/** Almost anything can be a password. A sentence about one, or a variable that holds one, is not. */
function isAssignedPassword(secret: string, before: string, after: string): boolean {
  const word = secret.replace(/[.,;:!?)\]}|&>[]+$/, "");
  if (isInsideWord(before) || isAboutSecrets(word) || (isOrdinary(secret) && !/^\d{4,}$/.test(secret))) return false;
  const isQuoted = /["'`“„]$/.test(before);
  const isFlag = /(?:^|[\s"'(])--?\w[\w-]*[ =]["'`]?$/.test(before);
  if (/(?:==[ \t]*|[(,][ \t]*["'`])$/.test(before) && !isConstant(before) && !isNoWord(secret))
    return isQuoted && /==/.test(before);
  if (/^\p{L}[\p{L}'’]*(?:[ ,]+[\p{L}'’]+)+[.!?…:]?$/u.test(secret))
    return isQuoted && (isFlag || /phrase\W+$/i.test(before));
  // `user_input`, `newValue`: variables.
  if (!isQuoted && !isFlag && !isConstant(before) && /^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$/.test(secret)) return false;
  if (!/^\p{L}+[.,:!?]*$/u.test(secret)) return secret.length >= 4 && (isQuoted || !/^\d{1,3}[.,]?$/.test(secret));
  if (/passw|pwd/i.test(secret) || (isFlag && /^[A-Z]+$/.test(secret))) return false;
  const isSetting = isConstant(before);
  const isLine = /(?:^|\n)[ \t]*[\w-]+[ \t]*[:=][ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  if (secret.length < (isQuoted || isSetting || isLine ? 4 : 6)) return false;
  return isQuoted || isSetting || isFlag || !/^ \p{Ll}/u.test(after);
}

function isAssignedSecret(secret: string, before: string): boolean {
  const isQuoted = /["'`“„]$/.test(before);
  if (isAboutSecrets(secret) || isInsideWord(before)) return false;
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
  return isQuoted && isNamed && secret.length >= 8 && !/^[A-Z_]+$/.test(secret);
}

function isToldPassword(secret: string, before: string, after: string): boolean {
  if (/\b(?:to|from)\s{1,4}["'`]?$/i.test(before) ? isSurelySecret(secret) : looksSecret(secret)) return true;
  if (/^\d{5,}$/.test(secret) || (/["'`“]$/.test(before) && isPassword(secret))) return true;
  return areJoinedWords(secret) && /^\p{Lu}|[-_.].+[-_.]|_/u.test(secret) && CLAUSE_END.test(after);
}

/** Words that form no sentence: "correct horse battery staple". */
function isPassphrase(phrase: string, before: string, after: string): boolean {
  const words = phrase.split(" ");
  if (words.some(isAboutSecrets) || /.{3}(?:ed|ing|ly)$/.test(words[0] ?? "")) return false;
  const isWhole = /^(?:["'`”“.,;:!?)\n\r]|$)/.test(after);
  return /phrase/i.test(before.slice(-80)) ? words.length >= (isWhole ? 3 : 4) : isWhole && words.length >= 4;
}

/** Capitals, small letters, digits and a sign that does not end a sentence, in a text about a password. */
function isStrongPassword(secret: string, before: string, after: string): boolean {
  if (/@(?:\d|[\w-]+\.)/.test(secret) || isOrdinary(secret)) return false;
  const isSentenceEnd = !/[!#$^*?~@](?=[\w!#$^*?~@])|[#$^*~]$/.test(secret) && !/^ \p{Ll}/u.test(after);
  return !isSentenceEnd && /passw|pwd|\bpw\b|\bpass\b|creds|\blog ?in|\bsign in/i.test(before.slice(-120) + after);
}

const COUNT_AFTER =
  /^ (?:rows?|lines?|files?|bytes?|[kmg]b|tests?|times?|items?|entries|records?|users?|calls?|chars?|tokens?|ms|seconds?|minutes?|days?)\b/i;

/** Digits, or digits and letters in groups. Years, round numbers and numbers of something are not codes. */
function isCode(codes: string, before: string, after: string): boolean {
  if (/\bpin $|\b(?:to|from)\s+$/.test(before)) return false;
  const [first = ""] = codes.split(/["',\n]/);
  const groups = first.split(/[ -]/);
  if (COUNT_AFTER.test(after) || groups.every((group) => /^(?:(?:19|20)\d\d|\d{1,4}00)$/.test(group))) return false;
  if (groups.every((group) => /^\d+#?$/.test(group))) return true;
  if (groups.length === 1) return /^[A-Z\d]+$/.test(first);
  return groups.some((group) => /\d/.test(group) && /[A-Za-z]/.test(group));
}

/** The Luhn check: the last digit confirms the others. */
function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replaceAll(/\D/g, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, at) => total + (at % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit), 0);
  return sum % 10 === 0;
}
