/** Judges whether a match of `rules.ts` is a secret, from its own characters and from the text around it. */

/** `before` has 300 characters, including what the rule keeps; `after` has 40. */
export type Judge = (secret: string, before: string, after: string) => boolean;

/** Placeholders for a secret: a variable, asterisks, `your-token`, a value that was redacted before. */
const PLACEHOLDER: readonly RegExp[] = [
  /^(?:\$[\w.({]|!\w|.{0,200}\$\{|%\w+%|%[({]|%s|#\{|<|\{\{|\[?redacted|[*•xX.…_-]{3,}[\]).,;:!?]*$|.{0,30}\.{3}$)/i,
  /^(?:(?:changeme|example|passw(?:or)?d|pass|pwd|secret|token)$|passw\w{0,3}[-_ ](?:here|goes))|\[redacted\][\]).,;:!?"'`\\/]{0,4}$/i,
  /^(?:your|my|some|new|old|the|change|replace|insert|example|dummy|fake|placeholder|user)[-_ .]?(?:own[-_ ])?(?:api|access|secret|passw|token|key|db|me\b|here|value|pass\b|example)/i,
];
/** Code; paths, addresses and files; numbers, dates, colours and versions; algorithms; the password that everybody quotes. */
const ORDINARY: readonly RegExp[] = [
  /^(?:[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)*[!?]{0,2}\.?(?:[([<{]|=>)|[a-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[!)]{0,2}$)/,
  /^(?:[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)+$|[({[&:]|\*\w|=>|[A-Z]{2,}(?:_[A-Z0-9]+)+$|[A-Z]{2,10}-\d{1,6}$|[A-Z][a-z]+(?:8|16|32|64)[A-Z][a-z]+\W*$)/,
  /^(?:(?:env|file|vault|ref|secret|ssm|arn|sm):|[\w.+-]+@[\w-]+\.[\w.]+$|[.~]{0,2}\/|@[\w-]+\/|[A-Za-z]:\\|\w+:\/\/|\w[\w.@-]*\/[\w./@-]*$)/,
  /^[\w/@-][\w./@-]*\.[a-z]{1,8}(?::\d+)*$/,
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|(?:[-/][a-z]{1,12}){1,3})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$|^#[0-9a-f]{3,8}$/i,
  /^v\d[\d.]*(?:[-+.][\w.+-]*|(?:alpha|beta|rc|pre|dev|[a-z])\d{0,3})?$|^\d+(?:st|nd|rd|th)$|^[12]password|^password\d{1,4}$/i,
  /^(?:sha|md|aes|rsa|ed|[hrpe]s|des|utf|base|argon|pbkdf|oauth|http|ipv|tls|user)[-_.]?\d+[a-z]{0,8}\d?(?:[-./_:][\w.:/-]{0,80})?$/i,
];
/** Commits, checksums and session ids look like this too. */
const HEX = /^(?:0x)?[0-9a-fA-F]{7,64}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Types, literals and words that often follow `password`; function words of English and some of German. */
const WORDS = [
  "str(?:ings?)?|text|(?:var)?char|bytes?|buffer|number|int|bool(?:ean)?|object|any|unknown|undefined|null|none|nil|true|false|yes|void|never|await|async",
  "typeof|readonly|function|return|const|default|input|fields?|values?|needed|requir(?:es?|ed)|optional|min(?:imum)?|max(?:imum)?|length|header|flag",
  "passw(?:or[dt]|d)s?|pass(?:phrase|code|key)?s?|pwd|keys?|tokens?|secrets?|credentials?|auth\\w*|oauth|bearer|basic|log-?ins?|sign-?(?:in|up|on|out)",
  "users?|(?:user|host|nick|sur|first|last)?name|accounts?|e-?mail|phone|char(?:acter)?s?|letters?|digits?|symbols?|date|factory|code|config\\w*|env\\w*",
  "variables?|files?|vaults?|managers?|database|db|api|policy|prompt|hash(?:es)?|stor(?:e|age)|option|argument|parameter|leak|issue|problem|end|error|done",
  "use|see|ask|enter|type|change|update|reset|renew|match|meet|comply|contain|include|continue|proceed|work|unlock|access|verify|confirm|test|again|expire",
  "(?:any|every|some|no)(?:thing|where|one)|whatever|today|tomorrow|yesterday|tbd|todo|n/a|omit|inside|between|part|history|an?|the|th(?:is|at|ese|ose|e[nmyr]e?|an|eir)",
  "its?|is|are|was|were|be(?:en|ing)?|am|ha(?:s|ve|d)|do(?:es|nt)?|did|w(?:ill|ould)|cant?|[cw]ould|should|must|may|might|not?|and|or|but|if|else|so|as|at|by|for|from",
  "in(?:to)?|off?|on(?:ce|ly|e)?|out|over|too?|up|with(?:out)?|about|after|before|because|since|until|w(?:hen|here|hich|hile|ho|hy|hat)|how|here|we|you|s?he|me|us|him|her",
  "my|our|your|his|all|both|each|every|some|such|just|still|also|al(?:ways|ready)|now|later|please|very|via|per|yet|d(?:er|em|en|as|ie)|ist|nicht|kein\\w{0,2}|und|mehr|noch",
];
const WORD = new RegExp(`^(?:${WORDS.join("|")})$`, "i");
/** Adjectives and participles that describe a password. */
const ADJECTIVE =
  /^(?:wrong|right|(?:in)?valid|(?:in)?correct|empty|blank|weak|strong|short|long|safe|(?:in)?secure|unique|simple|plain(?:text)?|sensitive|same|lost|gone|private|public|known|read-?only|(?:low|upp)er(?:case)?|random|static|ok(?:ay)?|fine|good|bad|great|new|old|easy|hard|open|ready|clear|common|silly|funny|mine|yours|theirs|ours|hidden|broken|stolen|written|forgotten|chosen|given|taken|shown|(?:un)?set|kept|sent|made|dead|trash|garbage|nonsense|rubbish|case|(?:long|short|weak|strong|safe|new|old|bett|simpl|eas|hard)i?er|worse)$/i;
const ADJECTIVE_END = /.{2}(?:ed|ing|ly|[ai]ble|less|ive|ful|ous|[ao]ry|[cnt]al|ic|[dr]ent)$/i;
const SURE = /^(?=.*\d)[^{}()\\[\]]{8,}$|^(?=.*\d)(?=.*(?:\d.*\p{L}|\p{Ll}.*\p{Lu}|[_!@#$%^&+=~]))[^{}()\\[\]]{6,7}$/u;
/** A digit or a sign among the letters, or four joined words: not a word of any language. */
const NO_WORD = /^(?=.*\p{L})(?:.*(?:\d|[!@#$%^&=~?](?=.)|\w\*+\w|\w[!#$%^&*]$)|\p{Ll}+(?:-\p{Ll}+){3,}$)/u;
const QUOTED = /["'`“„]$/;
const FLAG = /(?:^|[\s"'(])--?\w[\w-]*[ =]["'`]?$/;
/** `field("`: often the name of something. */
const ARGUMENT = /(?<!\b(?:set|put)\w*\([^()]*)[(,][ \t]*["'`]$/i;
/** `--token=`, `clientSecret:`, `app_token = `: more than the bare word. */
const NAMED = /--?[\w-]+[ =]["'`]?$|(?:[a-z][A-Z]|\w[_-])\w*["'\s\]`]*(?:[:=([]+|\|\||\?\?|or)>?\s*["'`]?$/;
/** `DB_PASSWORD=` */
const CONSTANT = /(?:^|[^\w])[A-Z][A-Z0-9_]{5,}["']?(?:=|\s*,\s*)\s{0,2}["'`]?$/;

export const isReal = (text: string): boolean => !PLACEHOLDER.some((expression) => expression.test(text));
const isOrdinary = (text: string): boolean => !isRandom(text) && ORDINARY.some((expression) => expression.test(text));
const isAboutSecrets = (word: string): boolean => WORD.test(word) || ADJECTIVE.test(word);

/**
 * How much a text looks like a password: 0 for anything with another meaning, 1 for a word, 2 for joined words, 3 for
 * letters with a digit or a sign, 4 for text that cannot be a name.
 */
export function strengthOf(text: string): number {
  if (isRandom(text)) return 4;
  if (/^\d{5,16}$/.test(text)) return 3;
  if (text.length < 4 || !isReal(text) || isOrdinary(text) || HEX.test(text) || isAboutSecrets(text)) return 0;
  if (/\p{L}[!$%^&*#]+\p{L}/u.test(text) && /^[^{}()\\[\]=/]{8,}$/.test(text)) return 4;
  if (NO_WORD.test(text)) return SURE.test(text) ? 4 : 3;
  if (areJoinedWords(text)) return 2;
  return /^\p{L}{4,40}$/u.test(text) && !ADJECTIVE_END.test(text) ? 1 : 0;
}

/** `Marzipan-Falcon`, `copper-kettle-window`: words joined by signs or capitals, without words such as `invalid`. */
function areJoinedWords(word: string): boolean {
  if (!/^\p{L}{3,20}(?:[-_.&]\p{L}{3,20}){1,5}$|^(?:\p{Lu}\p{Ll}{3,20}){2,6}$/u.test(word)) return false;
  return (word.match(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu) ?? []).every((part) => !isAboutSecrets(part) && !/.{3}ed$/.test(part));
}

/** Prefixes of ids, which open nothing and which hand-offs refer to; addresses of wallets and contracts. */
const ID =
  /^(?:sha\d{1,3}-|(?:srv)?toolu_|(?:msg|req|call|chatcmpl|resp|run|thread|file|batch|evt|dpl|prj|org|session|cse|agent|ft|ftjob|asst|vs|cus|acct|price|prod|txn)[_-]|[a-z]{2,12}_01(?=[0-9A-Z])|AAAA[BCE])|^[a-z]{2,12}_[A-Za-z0-9]{8,28}$|^0x[0-9A-Fa-f]{40}$|^Qm[A-Za-z0-9]{44}$/;

/** Random text. In names that people write, case and digits change only where a word begins. */
export function isRandom(run: string): boolean {
  if (run.length < 16 || run.length > 512 || ID.test(run) || !/[a-z]/.test(run) || !/[A-Z]/.test(run)) return false;
  const groups = run.replaceAll(/[^A-Za-z0-9]/g, "").match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const numbers = groups.filter((group) => /\d/.test(group)).length;
  const isLong = run.length >= 32;
  return numbers >= (isLong ? 2 : 3) && (groups.length - 1) / (run.length - 1) >= (isLong ? 0.4 : 0.5);
}

/** Text before an address, path, checksum, picture or id, which is a reference and not a secret. */
const REFERENCE =
  /(?:(?::\/\/|(?<![^\s"'`<>])[~.]{0,2}\/|\bsha\d{1,3}[-:]|base64,|\bh1:)[^\s"'`<>]*|@|(?:id|nonce|checksum|digest|fingerprint|commit|e-?tag|cursor|address|public[-_ ]?key|hash|cid|id-\d)["']?(?:\sis|[:=])?\s{0,2}["'`]?)$/i;

export const isRandomRun: Judge = (run, before) => isRandom(run) && !run.startsWith("/") && !REFERENCE.test(before);

/** Signs, digits and letters without order, as programs generate them; blanks may be among them. */
function isNoise(text: string): boolean {
  const signs = text.match(/[^\p{L}\d\s.,:;/_-]/gu)?.length ?? 0;
  return text.length >= 16 && /\d/.test(text) && signs >= text.length / 8;
}

/** A key or signature whose name does not say that it is secret. */
export const isGenerated: Judge = (secret) =>
  /^[0-9a-f]{32,128}$/.test(secret) || isNoise(secret) || (secret.length >= 16 && strengthOf(secret) === 4);
export const isLoneSecret: Judge = (secret) =>
  HEX.test(secret) ? secret.length >= 20 : strengthOf(secret) === 4 && secret.length >= 8;
/** `user:password` in base64. */
export const isBasicAuth: Judge = (secret) =>
  /^[\x20-\x7e]{1,100}:[\x20-\x7e]{2,200}$/.test(Buffer.from(secret, "base64").toString("latin1"));

/** Almost anything can be a password. A sentence about one, or a variable that holds one, is not. */
export function isAssignedPassword(secret: string, before: string, after: string): boolean {
  if (!isReal(secret) || isAboutSecrets(secret.replace(/[.,;:!?)\]}|&>[]+$/, ""))) return false;
  const isQuoted = QUOTED.test(before);
  const isConstant = CONSTANT.test(before);
  if (isOrdinary(secret) && !/^\d{4,}$/.test(secret) && !(isQuoted && areJoinedWords(secret))) return false;
  if (ARGUMENT.test(before) && !isConstant && !NO_WORD.test(secret)) return false;
  if (/^\p{L}[\p{L}'’]*(?:[ ,]+[\p{L}\d'’]+)+[.!?…:]?$/u.test(secret))
    return isQuoted && (isConstant || FLAG.test(before) || isPassphrase(secret, before, after));
  if (/^\p{L}*passw|^pwd/iu.test(secret) || (FLAG.test(before) && /^[A-Z]+$/.test(secret))) return false;
  if (isQuoted || isConstant || FLAG.test(before)) return secret.length >= 4;
  // `user_input`, `newValue`, `expired`
  if (/^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$|.{3}(?:ed|ing|[ai]ble)\W*$/.test(secret)) return false;
  if (!/^\p{L}+[.,:!?]*$/u.test(secret)) return secret.length >= 4;
  const isLine = /(?:^|\n)[ \t]*[\w-]+[ \t]*[:=][ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  return secret.length >= (isLine ? 4 : 6) && !/^ \p{Ll}/u.test(after);
}

/** Words that form no sentence: "correct horse battery staple". In quotes they can be fewer. */
export function isPassphrase(phrase: string, before: string, after: string): boolean {
  const words = phrase.split(/[ ,]+/);
  const isNamed = /phrase|psk/i.test(before.slice(-80));
  const isValue = /(?:[:=]>?|\b(?:is|was|now|still)|['’]s|,)\s*["'`“]$/i.test(before);
  if (isNamed && isValue) return !/[.!?…:]$/.test(phrase);
  if (words.some((word) => WORD.test(word)) || words.filter((word) => ADJECTIVE.test(word)).length > 1) return false;
  if (isValue) return words.length <= 3 && !/^\p{Lu}\p{Ll}+ \p{Ll}+/u.test(phrase);
  if (/^\S{3,}(?:ed|ing|ly) /.test(phrase)) return false;
  const isWhole = /^(?:["'`”“.,;:!?)\n\r]|$)/.test(after);
  if (isNamed) return words.length >= (QUOTED.test(before) ? 2 : isWhole ? 3 : 4);
  return isWhole && words.length >= 4;
}

export function isAssignedSecret(secret: string, before: string): boolean {
  const isQuoted = QUOTED.test(before);
  if (!isReal(secret) || isAboutSecrets(secret) || /^x-/i.test(secret)) return false;
  const isPhrase = /\s/.test(secret) && /secret\W+$/i.test(before) && isPassphrase(secret, before, "");
  if (secret.length < 6 || /\s/.test(secret)) return isQuoted && (isPhrase || isNoise(secret));
  if (isRandom(secret) || /^(?=.*\d)[A-Za-z0-9+/]{40,512}={0,2}$/.test(secret)) return true;
  if (isOrdinary(secret)) return /key\W+$/i.test(before) && /^\d{8,}$/.test(secret);
  if (!isQuoted && /^[A-Za-z_$][\w$]*(?:key|token|secret|credential)\w*\W*$/i.test(secret)) return false;
  const isConstant = CONSTANT.test(before);
  const isNamed = isConstant || NAMED.test(before);
  if (HEX.test(secret)) return isNamed || secret.length >= 16;
  if (NO_WORD.test(secret)) return isNamed || secret.length >= 8;
  if (isConstant || /^[\w-]{32,}$/.test(secret)) return true;
  return isQuoted && isNamed && secret.length >= 8 && !/^[A-Z_]+$|^token-/.test(secret) && !/\(\W*$/.test(before);
}

/** Ends a clause, so that the word before it can be a whole password. */
const CLAUSE_END =
  /^["'`”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s{1,2}\(|\s{1,2}(?:and|or|but|then|now|for|on|in|at|until|so|because|please|if|when|last|I|temporarily|instead|again|everywhere|today)\b)/i;

/** The minimum strength of a password in a sentence: anywhere, at the end of a clause, in quotes. */
export function told({ bare = 9, atEnd = 9, quoted = 9 }): Judge {
  return (secret, before, after) => {
    const strength = strengthOf(secret);
    const least = /\b(?:to|from)\s{1,4}["'`]?$/i.test(before) ? Math.max(bare, 4) : bare;
    return (
      strength >= least || (QUOTED.test(before) && strength >= quoted) || (strength >= atEnd && CLAUSE_END.test(after))
    );
  };
}

/** Digits, or digits and letters in groups. Years and round numbers are not codes. */
export function isCode(codes: string, before: string): boolean {
  const [first = ""] = codes.split(/["',\n]/);
  const groups = first.split(/[ -]/);
  const isRound = groups.every((group) => /^(?:(?:19|20)\d\d|\d{1,4}00)$/.test(group));
  if (isRound || /\bpin $|\b(?:to|from)\s+$/.test(before)) return false;
  if (groups.length === 1) return /^[A-Z\d]+#?$/.test(first);
  return /^[\d -]+$/.test(first) || groups.some((group) => /\d/.test(group) && /[A-Za-z]/.test(group));
}

/** The Luhn check: the last digit confirms the others. */
export function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replaceAll(/\D/g, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, at) => total + (at % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit), 0);
  return sum % 10 === 0;
}
