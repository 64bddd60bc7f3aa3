/** Judges whether a match of `rules.ts` is a secret, from its own characters and from the text around it. */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";

/** `before` has 300 characters, including what the rule keeps; `after` has 40. */
export type Judge = (secret: string, before: string, after: string) => boolean;

/** Placeholders for a secret: a variable, asterisks, `your-token`, a value that was redacted before. */
const PLACEHOLDER: readonly RegExp[] = [
  /^(?:\$[\w.({]|!\w|.{0,200}\$\{|%\w+%|%[({]|%s|#\{|<|\{\{|\[?redacted|[*•xX.…_-]{3,}[\]).,;:!?]*$|.{0,30}\.{3}$|[\w-]{0,20}[xX*]{8,}$)/i,
  /^(?:(?:changeme|example|passw(?:or)?d|pass|pwd|secret|token)$|passw\w{0,3}[-_ ](?:here|goes))|\[redacted\][\]).,;:!?"'`\\/]{0,4}$/i,
  /^(?:your|my|some|new|old|the|change|replace|insert|example|dummy|fake|placeholder|user)[-_ .]?(?:own[-_ ])?(?:api|access|secret|passw|token|key|db|me\b|here|value|pass\b|example)/i,
];
/** Code; rules and ids; paths, addresses and files; numbers, dates, colours and versions; algorithms; the password that everybody quotes. */
const ORDINARY: readonly RegExp[] = [
  /^(?:[A-Za-z_$][\w$]*(?:(?:\??\.|::)[A-Za-z_$][\w$]*)*[!?]{0,2}\.?(?:[([<{]|=>)|[a-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+[!)]{0,2}$|\w+(?:::\w+)+)/,
  /^[a-z_]+(?::[^|]{1,40})?(?:\|[a-z_]+(?::[^|]{1,40})?)+$|^[a-z][\w.-]*(?::[\w.-]+){2,}$/,
  /^(?:[A-Z][A-Za-z]*(?:\.[A-Z][A-Za-z]*)+$|[({[&:]|\*\w|=>|[A-Z]{2,}(?:_[A-Z0-9]+)+$|[A-Z]{2,10}-\d{1,6}$|[A-Z][a-z]+(?:8|16|32|64)[A-Z][a-z]+\W*$)/,
  /^(?:(?:env|file|vault|ref|secret|ssm|arn|sm):|[\w.+-]+@[\w-]+\.[\w.]+$|[.~]{0,2}\/|@[\w-]+\/|[A-Za-z]:\\|\w+:\/\/|(?!(?=.*\d).*[A-Z])\w[\w.@-]*\/[\w./@-]*$)/,
  /^[\w/@-][\w./@-]*\.[a-z]{1,8}(?::\d+)*$/,
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|(?:[-/][a-z]{1,12}){1,3})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$|^#[0-9a-f]{3,8}$/i,
  /^v\d[\d.]*(?:[-+.][\w.+-]*|(?:alpha|beta|rc|pre|dev|[a-z])\d{0,3})?$|^\d+(?:st|nd|rd|th)$|^[12]password|^password\d{1,4}$|^12345\d*$/i,
  /^(?:sha|md|aes|rsa|ed|[hrpe]s|des|utf|base|argon|pbkdf|oauth|http|ipv|tls|user)[-_.]?\d+[a-z]{0,8}\d?(?:[-./_:][\w.:/-]{0,80})?$/i,
];
/** Commits, checksums and session ids look like this too. */
const HEX = /^(?:0x)?[0-9a-fA-F]{7,64}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Ordinary words, words about secrets, commands; how tokens begin or look by vendor; how a password is given to a tool. */
export const DATA = JSON.parse(readFileSync(dataFile("secret-words.json"), "utf8")) as Record<Kind, Lists>;
type Kind = "words" | "prose" | "commands" | "prefixes" | "shapes" | "tools";
type Lists = Readonly<Record<string, string>>;
const anyOf = (kind: Kind): string => Object.values(DATA[kind]).join("|").replaceAll(" ", "|");
const WORD = new RegExp(`^(?:(?:${anyOf("words")}|${anyOf("prose")})s?(?:[-_]|\\**$))+$`, "i");
const PROSE = new RegExp(`^(?:${anyOf("prose")}|${anyOf("commands")})s?$`, "i");
const ADJECTIVE_END =
  /.{2}(?:ed|ing|ly|[ai]ble|less|ive|ful|ous|[ao]ry|[cnt]al|ic|(?:[drstg]|ci)ent|[tv]ant|[lr]ete|[cr]ally|pt)$/i;
const SURE = /^(?=.*\d)[^{}()\\[\]]{8,}$|^(?=.*\d)(?=.*(?:\d.*\p{L}|\p{Ll}.*\p{Lu}|[_!@#$%^&+=~]))[^{}()\\[\]]{6,7}$/u;
/** A digit or a sign among the letters, or four joined words: not a word of any language. */
const NO_WORD = /^(?=.*\p{L})(?:.*(?:\d|[!@#$%^&=~?](?=.)|\w\*+\w|\w[!#$%^&*]$)|\p{Ll}+(?:-\p{Ll}+){3,}$)/u;
/** The name of a variable or a type that holds a secret. */
const NAME = /^[A-Za-z_$][\w$]*(?:key|token|secret|credential)\w*\W*$/i;
const QUOTED = /["'`“„]$|«\s?$/;
const FLAG = /(?:^|[\s"'(])(?:--?\w[\w-]*|requirepass|bindpw|rootpw)[ =]["'`]?$/;
/** `field("`: often the name of something. */
const ARGUMENT = /(?<!\b(?:set|put|fill|type|send)\w*\([^()]*)[(,][ \t]*["'`]$/i;
/** `--token=`, `clientSecret:`, `app_token = `: more than the bare word. */
const NAMED = /--?[\w-]+[ =]["'`]?$|(?:[a-z][A-Z]|\w[_-])\w*["'\s\]`]*(?:[:=([]+|\|\||\?\?|or)>?\s*["'`]?$/;
/** `DB_PASSWORD=` */
const CONSTANT = /(?:^|[^\w])[A-Z][A-Z0-9_]{5,}["']?(?:=|\s*,\s*|(?<=#define \w+) +)\s{0,2}["'`]?$/;

export const isReal = (text: string): boolean => !PLACEHOLDER.some((expression) => expression.test(text));
const isOrdinary = (text: string): boolean => !isRandom(text) && ORDINARY.some((expression) => expression.test(text));

/** How much a text looks like a password: 0 not at all, 1 a word, 2 joined words, 3 with a digit or a sign, 4 surely. */
export function strengthOf(text: string): number {
  if (isRandom(text)) return 4;
  if (/^(?!12345)\d{5,16}$/.test(text)) return 3;
  if (text.length < 4 || !isReal(text) || (isOrdinary(text) && !CAPITALS.test(text)) || HEX.test(text)) return 0;
  if (WORD.test(text.replace(/[!?]+$/, ""))) return 0;
  if (/\p{L}[!$%^&*#]+\p{L}/u.test(text) && /^[^{}()\\[\]=/]{8,}$/.test(text)) return 4;
  if (NO_WORD.test(text)) return SURE.test(text) ? 4 : 3;
  if (areJoinedWords(text)) return 2;
  return /^\p{L}{4,40}$/u.test(text) && !/^[a-z]+[A-Z]/.test(text) && !ADJECTIVE_END.test(text) ? 1 : 0;
}

const CAPITALS = /^\p{Lu}\p{Ll}{2,20}(?:(?:\+\p{Lu}\p{Ll}{2,20}){1,5}|(?:\/\p{Lu}\p{Ll}{2,20}){2,5})$/u;
/** `Marzipan-Falcon`, `copper-kettle-window`: words joined by signs or capitals, without words such as `invalid`. */
function areJoinedWords(word: string): boolean {
  if (!CAPITALS.test(word) && !/^\p{L}{3,20}(?:[-_.&]\p{L}{3,20}){1,5}$|^(?:\p{Lu}\p{Ll}{3,20}){2,6}$/u.test(word))
    return false;
  const parts = word.match(/\p{Lu}?\p{Ll}+|\p{Lu}+/gu) ?? [];
  if (parts.some((part) => /.{3}ed$/.test(part)) || ADJECTIVE_END.test(parts.at(-1) ?? "")) return false;
  return parts.filter((part) => WORD.test(part)).length < parts.length / 2;
}

/** Prefixes of ids, which open nothing and which hand-offs refer to; addresses of wallets and contracts. */
const ID =
  /^(?:(?:sha|SHA)\d{1,3}[-:]|nonce-|[xyz]pub|(?:srv)?toolu_|(?:msg|req|call|chatcmpl|resp|run|thread|file|batch|evt|dpl|prj|org|session|cse|agent|ft|ftjob|asst|vs|cus|acct|price|prod|txn)[_-]|[a-z]{2,12}_01(?=[0-9A-Z])|AAAA[BCE])|^[a-z]{2,12}_[A-Za-z0-9]{8,28}$|^0x[0-9A-Fa-f]{40}$|^Qm[A-Za-z0-9]{44}$/;
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
  /(?:(?::\/\/|(?<![^\s"'`<>])[~.]{0,2}\/|\bsha-?\d{1,3}[-:=]|base64,|\bh1:)[^\s"'`<>]*|@|(?:id|nonce|checksum|digest|fingerprint|commit|e-?tag|if-[a-z-]{1,10}|websocket-[a-z]{1,6}|md5|cache[^\n]{0,20}key|cursor|address|public[-_ ]?key|hash|cid|id-\d)["']?(?:\sis|[:=])?\s{0,2}["'`\\]{0,3}|\bW\/["'`\\]{1,3})$/i;
export const isRandomRun: Judge = (run, before) => isRandom(run) && !run.startsWith("/") && !REFERENCE.test(before);

/** Signs, digits and letters without order, as programs generate them; blanks may be among them. */
const isNoise = (text: string): boolean =>
  text.length >= 16 && /\d/.test(text) && text.replaceAll(/[\p{L}\d\s.,:;/_-]/gu, "").length >= text.length / 8;
/** The password among the arguments of a call that logs in. */
export const isArgument: Judge = (secret) =>
  isReal(secret) && (strengthOf(secret) >= 2 || areJoinedWords(secret) || /^[a-z]{3,}[A-Z][a-z]{2,}$/.test(secret));
/** Text about authenticator apps. */
export const isSetupKey: Judge = (secret, before, after) =>
  /\d.*\d/.test(secret) &&
  /secret|otp|[2m]fa|authenticat|\bscan|set-?up|seed|by hand|manual/i.test(before.slice(-120) + after);
/** A key or signature whose name does not say that it is secret. */
export const isGenerated: Judge = (secret) =>
  /^[0-9a-f]{32,128}$/.test(secret) ||
  (!isOrdinary(secret) && (isNoise(secret) || (secret.length >= 16 && strengthOf(secret) === 4)));
export const isLoneSecret: Judge = (secret) =>
  HEX.test(secret) ? secret.length >= 12 : secret.length >= 8 && strengthOf(secret) === 4 && !NAME.test(secret);
/** `user:password` in base64. */
export const isBasicAuth: Judge = (secret) =>
  /^[\x20-\x7e]{1,100}:[\x20-\x7e]{2,200}$/.test(Buffer.from(secret, "base64").toString("latin1"));
/** `hasToken: "hasToken"` */
const isOwnName = (secret: string, before: string): boolean =>
  before.toLowerCase().lastIndexOf(secret.toLowerCase()) >= Math.max(0, before.length - secret.length - 5);

/** Almost anything can be a password. A sentence about one, or a variable that holds one, is not. */
export function isAssignedPassword(secret: string, before: string, after: string): boolean {
  if (!isReal(secret) || isOwnName(secret, before) || /^\p{L}*passw|^pwd/iu.test(secret)) return false;
  if (WORD.test(secret.replace(/[.,;:!?)\]}|&>[]+$/, ""))) return false;
  const isQuoted = QUOTED.test(before);
  const isConstant = CONSTANT.test(before);
  const isFlag = FLAG.test(before);
  if (isOrdinary(secret) && !/^\d{4,}$/.test(secret) && !(isQuoted && areJoinedWords(secret))) return false;
  if (ARGUMENT.test(before) && !isConstant && !NO_WORD.test(secret)) return false;
  if (/^\p{L}[\p{L}'’]*(?:,? +[\p{L}\d'’]+)+[.!?…:]?$/u.test(secret))
    return isQuoted && (isConstant || isFlag || isPassphrase(secret, before, after));
  if (isQuoted || isConstant || isFlag) return secret.length >= 4 && !(isFlag && /^[A-Z]+$/.test(secret));
  // `user_input`, `newValue`, `expired`
  if (/^[a-z]+(?:_[a-z]+|[A-Z][a-z]+)+$|.{3}(?:ed|ing|[ai]ble)\W*$/.test(secret)) return false;
  if (!/^\p{L}+[.,:!?]*$/u.test(secret) || /\w=$/.test(before)) return secret.length >= 4;
  const isType = /^(?:\p{Lu}+\p{Ll}+){2,}$/u.test(secret) && /^(?:[;)]| [|&])/.test(after);
  const isLine = /(?:^|\n)[ \t]*[\w-]+[ \t]*[:=][ \t]*$/.test(before) && /^[ \t]*(?:\r?\n|$)/.test(after);
  const isProse = /words\W*$/i.test(before) || /^ (?:\d+ )?\p{Ll}/u.test(after);
  return secret.length >= (isLine ? 4 : 6) && !isType && !isProse;
}

/** Words on a line of their own that say nothing about the password or secret whose name is before them. */
export function isPhrase(phrase: string, before: string): boolean {
  const words = phrase.split(/[ ,]+/);
  const [first = ""] = words;
  if (!isReal(phrase) || !isReal(first) || /^\d+ \p{Ll}+$|^\p{Ll}{3,}(?:ed|ing|ly) /u.test(phrase)) return false;
  if (/^(?:from|in|on|at|by|as|for|if|when|only|not?|same|any|some|your|this) /i.test(phrase)) return false;
  if (words.some((word) => PROSE.test(word))) return false;
  const known = words.filter((word) => WORD.test(word)).length / words.length;
  if (/\w[_-]\w+[ \t]*[:=][ \t]*$/.test(before)) return known <= 1 / 2;
  if (/\d/.test(phrase) || /(?:phrase|psk)\W.{0,60}$|(?:^|\s)(?:key|schlüssel|pass|pw)\W+$/i.test(before))
    return known <= 1 / 3;
  return known <= 1 / 4 && !WORD.test(first);
}

/** Words that form no sentence: "correct horse battery staple". In quotes they can be fewer. */
export function isPassphrase(phrase: string, before: string, after: string): boolean {
  const words = phrase.split(/[ ,]+/);
  const isNamed = /phrase|psk/i.test(before.slice(-80));
  const isValue = /(?:[:=]>?|\b(?:is|was|now|still|and pass\w+)|['’]s|,)\s*["'`“]$/i.test(before);
  if (isNamed && isValue) return !/[.!?…:]$/.test(phrase);
  if (!isPhrase(phrase, before)) return false;
  if (isValue) return words.length <= 3 && !/^\p{Lu}\p{Ll}+ \p{Ll}+/u.test(phrase);
  const isWhole = /^(?:["'`”“.,;:!?)\n\r]|$)/.test(after);
  const least = isNamed && QUOTED.test(before) ? 2 : isNamed && isWhole ? 3 : 4;
  return words.length >= least && (isNamed || isWhole);
}

export function isAssignedSecret(secret: string, before: string): boolean {
  const isQuoted = QUOTED.test(before);
  if (!isReal(secret) || isOwnName(secret, before) || WORD.test(secret) || /^x-/i.test(secret)) return false;
  const isPhrase = /\s/.test(secret) && /secret\W+$/i.test(before) && isPassphrase(secret, before, "");
  if (secret.length < 6 || /\s/.test(secret)) return isQuoted && (isPhrase || isNoise(secret));
  if (isOrdinary(secret)) return /key\W+$/i.test(before) && /^\d{8,}$/.test(secret);
  if (!isQuoted && (NAME.test(secret) || /^\p{Ll}{3,}ed$/u.test(secret))) return false;
  const isConstant = CONSTANT.test(before);
  const isNamed = isConstant || NAMED.test(before);
  if (HEX.test(secret)) return isNamed || secret.length >= 16;
  if (NO_WORD.test(secret)) return isNamed || secret.length >= 8;
  if (isConstant || /^[\w-]{32,}$/.test(secret)) return true;
  return isQuoted && isNamed && secret.length >= 8 && !/^[A-Z_]+$|^token-/.test(secret) && !/\(\W*$/.test(before);
}

/** Ends a clause, so that the word before it can be a whole password. */
export const CLAUSE_END = String.raw`["'\x60”]?(?:\s{0,4}(?:$|[.,;!?)\n]|<\/)|\s{1,2}(?:[(–—-]|(?:and|all|or|but|then|now|for|from (?:now|today)|on|in|at|until|before|after|while|rather|these|so|because|please|if|when|last|I|you|there|temporarily|instead|again|everywhere|today|yesterday|tonight|though|btw|thanks|as|with|without|since|up|too|und|oder|für|et|y)\b))`;
const AT_CLAUSE_END = new RegExp(`^${CLAUSE_END}`, "i");
const COPULA = /(?:\b(?:is|was|be|now|ist|lautet|est|es)|[:=é])\s{0,4}["'`]?$/i;

/** The minimum strength of a password in a sentence: anywhere, at the end of a clause, in quotes. */
export function told({ bare = 9, atEnd = 9, quoted = 9, words = false }): Judge {
  return (secret, before, after) => {
    if (HEX.test(secret) && /\d/.test(secret)) return secret.length >= 8 && COPULA.test(before);
    if (/\s/.test(secret)) return words && isPhrase(secret, before);
    const strength = strengthOf(secret);
    const least = /\b(?:to|from)\s{1,4}["'`]?$/i.test(before) ? Math.max(bare, 4) : bare;
    const isQuoted = QUOTED.test(before) && /^\\{0,4}["'`”“]|^\s?»/.test(after);
    return strength >= least || (isQuoted && strength >= quoted) || (AT_CLAUSE_END.test(after) && strength >= atEnd);
  };
}

/** Digits, or digits and letters in groups. Years and round numbers are not codes. */
export function isCode(codes: string, before: string): boolean {
  const [first = ""] = codes.split(/["',\n]| and /);
  const groups = first.split(/[ -]/);
  const isValue = COPULA.test(before);
  const isRound = groups.every((group) => /^(?:(?:19|20)\d\d|\d{1,4}00)$/.test(group));
  if (isRound && (groups.length > 1 || !isValue)) return false;
  if (/(?<!(?:voicemail|sim|card|phone|my) )\bpin $|\b(?:to|from)\s+$/.test(before)) return false;
  if (groups.length === 1) return isValue || /^[*#]?\d+#?$|^[A-Z\d]{16,}$/.test(first);
  return /^[\d -]+$/.test(first) || groups.some((group) => /\d/.test(group) && /[A-Za-z]/.test(group));
}

/** The Luhn check: the last digit confirms the others. */
export function isCardNumber(written: string): boolean {
  const digits = Array.from(written.replaceAll(/\D/g, ""), Number).toReversed();
  const sum = digits.reduce((total, digit, at) => total + (at % 2 === 1 ? digit * 2 - (digit > 4 ? 9 : 0) : digit), 0);
  return sum % 10 === 0;
}
