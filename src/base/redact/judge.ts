/**
 * Judges how much a value looks like a secret. Placeholders and code are never secrets, random text always is. In
 * between, the weaker the value, the stronger its cue must be: joined words and letters with digits or signs need a
 * label such as "password", a plain word needs "password is" and the end of the clause.
 *
 * A plain word after "password is" either is the password or describes it. Words that describe are function words,
 * participles, adjectives and adverbs: known by their endings, the short ones from `data/secret-words.json`. In a
 * compound the last word decides, as in English: "case-sensitive" describes, "Marzipan-Falcon" does not.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";
import { lazily } from "../text.ts";

/** Strengths of values. */
const NONE = 0;
export const [WORD, JOINED, MIXED, RANDOM] = [1, 2, 3, 4];

const readLists = (name: string) => JSON.parse(readFileSync(dataFile(name), "utf8")) as Record<string, string>;
const WORDS = readLists("secret-words.json");
const setOf = (...lists: (string | undefined)[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));

/** An expression for the words of a list. */
export const oneOf = (list: string): string => `(?:${WORDS[list]?.replaceAll(" ", "|")})`;
export const PASSWORD = oneOf("password");
export const SECRET = oneOf("secret");

/** Words that can follow a complete clause. */
const CLAUSE_START = lazily(() => {
  const { english, other, common } = readLists("function-words.json");
  return setOf(english, other, common, WORDS.adverbs);
});
const SENTENCE_START = lazily(() => setOf(...CLAUSE_START(), WORDS.about, WORDS.verbs));
const DESCRIBING = lazily(() => setOf(...SENTENCE_START(), WORDS.describing, WORDS.values));
const DESCRIBING_END = /.{2}(?:ed|ing|[ai]ble|less|ive|ful|ous|[ao]ry|[cnrt]al|ic|[drstgc]ent|[tv]ant|lete)$/;

const PLACEHOLDER: readonly RegExp[] = [
  // a variable, something left out, the word itself, "your-token", "changeme"
  /^[$%!#&]?[{<([]|^\$[\w!@]|^%\w{0,40}%?$|^!\w+$|\$\{|\{\{|redacted/i,
  /^\.{3}|\.{3}$|…|^[\w-]{0,20}[xX*•_.-]{4,}$|^[*•]+$/,
  new RegExp(`^${PASSWORD}$`, "i"),
  /^(?:your|my|some|new|old|the|replace|insert|dummy|fake)[-_ .]?(?:own|api|access|secret|pass|token|key|db|user)/i,
  /^(?:change[-_]?(?:me|it)[-_\w]{0,9}|example|sample|foobar|12345\d*|[\w-]{0,20}[-_ ]here)$/i,
];

const CODE: readonly RegExp[] = [
  // members, calls, names, keys, rules
  /^!{0,2}[a-z_$][\w$:]*(?:\??\.#?[A-Za-z_$][\w$]*)+$|^\w+(?:::\w+)+(?:\.\w+)*$|^[A-Z]\w*(?:\.[A-Z]\w*)+$/,
  /^[\w$.]+[([]|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[a-z]+(?:[A-Z][a-z]+)+$|^[a-z]+(?:_[a-z]+)+$/,
  /^(?:\w+:|[a-z_]+=)$|^[a-z]{2,20}=\w|^!\d|^[*&?#@][a-z_.-]+$|^--?\w/,
  /^[a-z_]+(?::[^|]{1,40})?(?:\|[a-z_]+(?::[^|]{1,40})?)+$|^[\w./-]+(?::[\w./-]*){2,}$/,
  // addresses, paths, files, references
  /^[\w.+-]+@[\w-]+\.[\w.]+$|^(?:[.~]{0,2}\/|@|\w+:\/\/|[A-Za-z]:\\)|^(?:env|file|vault|ssm|arn|op):/,
  /^(?![^/]*\d[^/]*[A-Z])\w[\w.@-]*\/[\w./@-]*$|^[\w/@-][\w./@-]*\.[a-z]{1,5}(?::\d+)*$|^[A-Z]{2,10}-\d{1,6}$/,
  // numbers, dates, versions, ordinals, colours, standards
  /^[~^<>=≈+#-]{0,2}[$€£]?\d[\d.,:_/–-]*(?:[a-zA-Z%°µ]{0,5}|[-/][a-z-]{1,20})$|^\d{4}-\d\d-\d\dT[\d:.]+Z?$/,
  /^v\d[\w.+-]*$|^\d+(?:st|nd|rd|th)$|^#[0-9a-f]{3,8}$|^0x[0-9a-f]{1,8}$/i,
  /^(?:sha|md|aes|rsa|ed|[hrpe]s|des|utf|base|argon|o?auth|http|ipv|tls|wpa|i18n|k8s|es|user|u?int|float)-?\d/i,
];

const matches = (list: readonly RegExp[], text: string): boolean => list.some((expression) => expression.test(text));
const isPlaceholder = (text: string): boolean => matches(PLACEHOLDER, text);

/** Commits, checksums and ids look like this too, so it needs a label. */
export const isHex = (value: string): boolean =>
  /^(?:0x)?(?=[a-f]*\d)[0-9a-f]{7,128}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

export function strengthOf(value: string): number {
  if (value.length > 512) return /^[\w+/=.-]+$/.test(value) ? RANDOM : NONE;
  if (value.length < 4 || /^\s|\s$/.test(value) || isPlaceholder(value)) return NONE;
  if (/\s/.test(value)) return strengthOfPhrase(value.split(/\s+/));
  if (isRandom(value)) return RANDOM;
  if (/[!?]$/.test(value)) return strengthOf(value.replace(/[!?]+$/, ""));
  if (isHex(value) || matches(CODE, value) || !/\p{L}/u.test(value)) return NONE;
  if (/^\p{L}+$/u.test(value) && !/\p{Ll}\p{Lu}/u.test(value)) return describes(value) ? NONE : WORD;
  if (/\d\p{L}|\p{L}\d|[^\p{L}\d._&+/-]/u.test(value)) return MIXED;
  return areDescribing(wordsOf(value)) && !/\W\d+$|_\d+$/.test(value) ? NONE : JOINED;
}

/** "velvet hammer sunday", but no sentence and no code. */
function strengthOfPhrase(written: readonly string[]): number {
  const words = written.map((word) => word.replace(/[.,!?]+$/, ""));
  if (words.length > 7 || SENTENCE_START().has((words[0] ?? "").toLowerCase()) || areDescribing(words)) return NONE;
  return words.some((word) => matches(CODE, word) && !/^\d+$/.test(word)) ? NONE : JOINED;
}

const wordsOf = (value: string): readonly string[] => value.match(/\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+/gu) ?? [];

function describes(word: string): boolean {
  const lower = word.toLowerCase();
  return DESCRIBING().has(lower) || DESCRIBING().has(lower.replace(/s$/, "")) || DESCRIBING_END.test(lower);
}

/** Of two joined words either may describe ("per-user"), of more the last or most. */
function areDescribing(words: readonly string[]): boolean {
  const count = words.filter(describes).length;
  return words.length < 3 ? count > 0 : describes(words.at(-1) ?? "") || count > words.length / 2;
}

/** `snowPlough`, `snow_plough` */
const looksLikeName = (value: string): boolean => /^[a-z]+(?:[A-Z][a-z]+|_[a-z]+)+$/.test(value);

/** A sign between letters, or a digit among letters of both cases. */
const looksTyped = (value: string): boolean =>
  /[\p{L}\d][!@#$%^&*+=~]+[\p{L}\d]/u.test(value) ||
  (/\d/.test(value) && /\p{Lu}/u.test(value) && /\p{Ll}/u.test(value));

/** Prefixes of ids, which open nothing; addresses of wallets. */
const ID = /^(?:sha\d{1,3}[-:]|nonce-|[xyz]pub|AAAA[BCE]|0x[0-9a-f]{40}$|Qm[a-z0-9]{44}$|[a-z]{2,12}_[a-z0-9]{8,28}$)/i;

/** In names that people write, case and digits change only where a word begins. */
function isRandom(run: string): boolean {
  if (run.length < 16 || run.length > 512 || ID.test(run) || !/[a-z]/.test(run) || !/[A-Z]/.test(run)) return false;
  const letters = run.replaceAll(/[^A-Za-z]/g, "").length;
  const groups = run.match(/[a-z]+|[A-Z]+|\d+/g) ?? [];
  const numbers = groups.filter((group) => /\d/.test(group)).length;
  const isLong = run.length >= 32;
  const changes = (groups.length - 1) / (run.length - 1);
  return letters >= run.length / 2 && numbers >= (isLong ? 2 : 3) && changes >= (isLong ? 0.4 : 0.5);
}

/** The end of a line or a sentence. */
const isLast = (after: string): boolean =>
  /^["'`*]{0,2}[.,;!?)]{0,3}(?:\s*\n|\s*$|(?<=[.,;!?)])\s|[ \t]?…|[ \t][(–—/*-]|[ \t]\w{2,12}:[ \t])/.test(after);

/** The end of a clause: also before a function word or an adverb. */
function clauseEnds(after: string): boolean {
  const [, word = ""] = /^["'`*]{0,2}[ \t]([\p{L}']+)/u.exec(after) ?? [];
  return CLAUSE_START().has(word.toLowerCase()) || isLast(after);
}

/** What the rule keeps, the 1,000 characters before it and the 60 after the value. */
export type Cue = Readonly<{ kept: string; before: string; after: string; isQuoted: boolean }>;
export type Judge = (secret: string, cue: Cue) => boolean;

const NAME = new RegExp(`[\\w-]{0,40}?(?:${PASSWORD}|pass|pw|${SECRET})[\\w-]{0,12}`, "i");
const PASSWORD_LABEL = new RegExp(`${PASSWORD}(?!s)`, "i");
const PASSWORD_NAME = new RegExp(`${PASSWORD}|pass|pw`, "i");
/** "api key", `client_secret`, `--token`: more than a bare "token". */
const QUALIFIED = /\w[_-]\w|[a-z][A-Z]|[Kk]ey|^-|\b(?:api|API|[Aa]ccess|[Cc]lient|[Bb]earer|[Aa]uth|[Aa]pp|[Bb]ot)\s/;
const OWNER = new RegExp(String.raw`\b${oneOf("owner")}\b|@`, "i");
/** Only the describing words of English are known. In other languages they begin with a small letter. */
const ENGLISH = /(?:pass(?:word|wd|code|[-_ ]?phrase|\b)|pwd?|psk|key)(?!.*\s(?:ist|lautet|est|es|é|è|är)\s)/i;
const mayBeWord = (kept: string, secret: string): boolean => ENGLISH.test(kept) || /^\p{Lu}\p{Ll}/u.test(secret);

const CONSTANT = /^[A-Z][A-Z0-9_]{2,}$/;
/** Names of variables and fields that hold nothing but a secret: in quotes, a word or a file name is one as well. */
const CLEAR_NAME = new RegExp(`(?:${PASSWORD}|[_-]pass|_secret(?:_key)?)$`, "i");
/** A path, a version, an address, a rule, a member, a type. */
const OTHER_VALUE = /\s|^.{0,3}$|^[#.~]?\/|^(?:v|sha)?\d|:\/\/|[|]|^\w+(?:\.\w+){2}|string/i;
function isAnyValue(value: string, isConstant: boolean): boolean {
  if (isPlaceholder(value) || OTHER_VALUE.test(value) || NAME.test(value) || CONSTANT.test(value)) return false;
  return isConstant || !areDescribing(wordsOf(value));
}

/** `password: PasswordInput;` */
const isType = (word: string, around: string): boolean => /: ;/.test(around) && /^(?:[A-Z]+[a-z]+){2,}$/.test(word);
const joined = (text: string): string => text.replaceAll(/[_.-]/g, "").toLowerCase();

/** `name = value` */
export const isAssigned: Judge = (secret, { kept, before, after, isQuoted }) => {
  const name = NAME.exec(/[\w -]*$/.exec(before.slice(-20))?.[0] + kept)?.[0] ?? "";
  if (/[a-z]pass$|[A-Z]PASS$|[a-z]pw$|[A-Z]PW$/.test(name)) return false; // `bypass`
  if (joined(name).includes(joined(secret))) return false; // `POSTGRES_PASSWORD=postgres`
  if (isType(secret, kept + after)) return false;
  const isConstant = CONSTANT.test(name);
  const strength = strengthOf(secret);
  const isClear = isQuoted && CLEAR_NAME.test(name) && (isConstant || /[:=>(]\s*$|^\(.*[#[_]/.test(kept));
  if (isClear && isAnyValue(secret, isConstant)) return true;
  if (!PASSWORD_NAME.test(kept)) {
    const isWord = isConstant && strength >= WORD && secret.length >= 8 && clauseEnds(after);
    return isWord || isToken(secret, before.slice(-20) + kept, isQuoted);
  }
  if (strength >= MIXED || /^(?!12345)\d{6,16}$/.test(secret)) return true;
  if (/[^s]s$/.test(name)) return false; // "Passwords: Ada asks for them"
  if (!isQuoted && !isConstant && !/[^\s=]=$|[>|]\s*$/.test(kept) && !isLast(after)) return false;
  if (strength === JOINED || isHex(secret) || (isConstant && /^\p{L}+(?:-\p{L}+)+$/u.test(secret))) return true;
  if (strength !== WORD || isConstant) return strength === WORD;
  if (/,\s*$/.test(kept) || (!isQuoted && kept.endsWith(":"))) return false; // `hash("password", "salt")`
  return isQuoted || OWNER.test(before) || (!/^(?:pass|pw)$/i.test(name) && mayBeWord(kept, secret));
};

/** "the password is …" */
export const isTold: Judge = (secret, { kept, before, after, isQuoted }) => {
  if (!PASSWORD_NAME.test(kept)) return isToken(secret, before.slice(-20) + kept, isQuoted && !QUALIFIED.test(kept));
  const strength = isType(secret, kept + after) ? NONE : strengthOf(secret);
  if (strength >= MIXED) return !areDescribing([secret.replace(/\d+$/, "")]);
  if (/\sfrom\s+$/.test(kept)) return false;
  if (looksLikeName(secret)) return isLast(after) && !PASSWORD_NAME.test(secret) && !areDescribing(wordsOf(secret));
  if (strength === JOINED || (isHex(secret) && secret.length > 7))
    return isQuoted || (strength === JOINED && /\d/.test(secret)) || clauseEnds(after);
  if (strength !== WORD || (!isQuoted && !mayBeWord(kept, secret))) return false;
  if (/[:=]\s*$/.test(kept)) return isLast(after) && !/[^s]s:/.test(kept);
  const isChanged = /\b(?:set|chang|reset|updat)\w*\b[^.\n]{0,60}$/i.test(before + kept);
  return clauseEnds(after) && (isChanged || !/\sto\s+$/.test(kept));
};

/** "the password …": without a verb. */
export const isBeside: Judge = (secret, { kept, before, after, isQuoted }) => {
  if (!PASSWORD_NAME.test(kept)) return !kept.includes(",") && isToken(secret, "", false);
  const strength = strengthOf(secret);
  if (strength >= MIXED) return secret.length >= 6 && !areDescribing(wordsOf(secret));
  if (isQuoted && /\b(?:his|her|my|the|our|their|your) $/i.test(before)) return strength >= WORD && clauseEnds(after);
  if (strength < WORD || /^pass\W|^pw\W|,/i.test(kept)) return false;
  if (isQuoted || (strength === JOINED && /\d/.test(secret))) return clauseEnds(after);
  const isName = strength === JOINED || /^\p{Lu}\p{Ll}/u.test(secret);
  if (isName && /\b(?:with|and|has|mit|und)(?: the| das)? $/.test(before)) return isLast(after);
  return /[,(]\s*$/.test(before) && OWNER.test(before) && isLast(after);
};

/** Alone on a line below its label. */
export const isBelow: Judge = (secret, { kept, before }) => {
  const strength = strengthOf(secret);
  if (!PASSWORD_NAME.test(kept)) return isToken(secret, before.slice(-20) + kept, false);
  if (strength >= MIXED || isHex(secret)) return secret.length >= 6;
  return strength === JOINED || (strength === WORD && /^[\w-]+\W*[:|>]/.test(kept));
};

/** No name in capitals and no `camelCase`. */
const LONG = /^(?![A-Z]+$|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+$)[A-Za-z0-9]{24,}$/;
/** Several signs and a digit, but no template. */
const GENERATED = /^(?!.*\$\{)(?=.*\d)(?:.*[^\w\s.,:;/-]){4}/;

/** Tokens and keys are never plain words. */
function isToken(secret: string, label: string, isQuoted: boolean): boolean {
  const strength = strengthOf(secret);
  if (strength === RANDOM || (isHex(secret) && secret.length >= 12) || LONG.test(secret)) return true;
  if (isQuoted && GENERATED.test(secret)) return true;
  if (secret.length < 8) return false;
  if (strength === MIXED) return isQuoted || looksTyped(secret) || /(?:\d.*){3}/.test(secret);
  return strength === JOINED && /\d/.test(secret) && !NAME.test(secret) && (isQuoted || QUALIFIED.test(label));
}

/** "use … as the password" */
const AS_PASSWORD = new RegExp(`^["'\`]? as (?:[\\w']{1,12} ){0,2}${PASSWORD}`, "i");
export const isNamed: Judge = (secret, { after }) =>
  strengthOf(secret) >= (clauseEnds(after.replace(AS_PASSWORD, "")) ? WORD : MIXED);

/** A user and a password side by side. */
export const isPair: Judge = (secret, { kept, after, isQuoted }) => {
  if (/\bcred.*:$/i.test(kept)) return strengthOf(secret) >= WORD;
  const isLabelled = isQuoted || /\b(?:cred|zugang).*\/ $/i.test(kept);
  if (strengthOf(secret) === JOINED && /\d/.test(secret) && isLabelled) return true;
  const isUser = /[.@\d]\w*["'`]? ?[/|:] ?$/.test(kept); // "Google / GitHub" are not
  if (isUser && /^\p{Lu}\p{Ll}/u.test(secret) && isLast(after)) return strengthOf(secret) >= WORD;
  return (
    strengthOf(secret) >= MIXED && secret.length >= 6 && (looksTyped(secret) || /(?:\s|\badmin.|\broot.)$/.test(kept))
  );
};

/** Letters with digits or signs; any word in quotes. */
export const isTyped: Judge = (secret, { after, isQuoted }) => {
  const strength = strengthOf(secret);
  if (strength === JOINED && /\d/.test(secret)) return clauseEnds(after);
  return strength >= MIXED ? secret.length >= 6 : isQuoted && strength >= WORD;
};

/** `admin:Password1`, but no role, tag, path or version. */
export const isAccount: Judge = (secret, { kept, before }) => {
  if (strengthOf(secret) < MIXED || /\d\.\d|[@:]/.test(secret) || /\bch(?:own|grp) $/.test(before)) return false;
  if (/[^\w.-]/.test(secret) || secret.length >= 8) return looksTyped(secret) && secret.length >= 6;
  return kept.endsWith(":") && /\d\w|\d{2}/.test(secret);
};

/** Below a heading such as "Passwords". */
export const isListed: Judge = (secret) =>
  strengthOf(secret) >= JOINED && secret.length >= 8 && (looksTyped(secret) || /\d{2}(?:-\w)?$/.test(secret));

/** Several words up to the end of the line: in a variable, beside a user, with a number, or as a title. */
export const isPhrase: Judge = (secret, { kept, before }) => {
  const words = secret.split(" ");
  if (strengthOf(secret) < JOINED) return false;
  if (/[A-Z]{3}=$/.test(kept)) return words.length > 2;
  const isBesideUser = OWNER.test((before + kept).slice(-120));
  if (!PASSWORD_LABEL.test(kept) && !(isBesideUser && PASSWORD_NAME.test(kept))) return false;
  const isTitle = words.every((word) => /^\p{Lu}\p{Ll}|^\d+$/u.test(word));
  const isPlain = words.every((word) => /^[\p{Ll}\d]+$/u.test(word));
  if (!isTitle && !isPlain) return false;
  return /\d$/.test(secret) || (words.length > 2 && isTitle) || (isBesideUser && (words.length > 2 || isTitle));
};

/** "ada@example.org / …" without a label */
export const isPlainPair: Judge = (secret, cue) =>
  isPair(secret, cue) &&
  secret.length >= 8 &&
  (/\w[!$%&*?]\w/.test(secret) || (/@.*\/ $/.test(cue.kept) && /\d/.test(secret)));

/** Given to a tool or a server as a password, so any word counts. */
export const isGiven: Judge = (secret, { kept, after }) => {
  if (/^[a-z]+$/.test(secret) && /^ (?:an?|the|your|its|as)\b/.test(after)) return false; // "unzip -P expects the …"
  if (kept.endsWith("PASSWORD=")) return !/^[$<{*]/.test(secret);
  const isOther = /^\d{1,5}[/?#]|^[@-]|^(?:pass|secret)$/i.test(secret); // a port, a file, an option
  return !isOther && !isPlaceholder(secret) && !kept.endsWith(`/${secret}:`);
};

/** Not a word and not a name. */
export const isOpaque: Judge = (secret) =>
  !isPlaceholder(secret) && (strengthOf(secret) >= MIXED || isHex(secret) || /^[A-Za-z0-9+/]{20,}=*$/.test(secret));

/** The Base64 of `user:password`. */
export const isBasicAuth: Judge = (secret) =>
  /^[\x21-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(secret, "base64").toString());

const LONG_COOKIE = /=(?=[^;]{0,60}\d)[\w%.~+/=-]{16}/;
const SESSION_COOKIE = /(?:sess\w{0,12}|sid|auth\w{0,12}|token|jwt)=(?=[^;]{0,40}\d)[^\s;]{6}/i;
export const holdsSession: Judge = (cookies) => LONG_COOKIE.test(cookies) || SESSION_COOKIE.test(cookies);

/** Text before an address, a path, a checksum or a picture; names of things that are public. */
const IN_ADDRESS =
  /(?:(?::\/\/|(?:^|[\s"'`<>(])[~.]{0,2}\/|\bsha-?\d{1,3}[-:=]|\bh1:|base64,)[^\s"'`<>]*|@|W\/["'\\]+)$/i;
const PUBLIC = /\b(?:\w*id|nonce|checksum|digest|hash|md5|commit|e-?tag|cursor|address|\w*socket-key)\W{0,8}$/i;
const PUBLIC_KEY = /\b(?:pub(?:lic)?[-_ ]?key|cache|if-[a-z-]{1,14}:)[^\n]{0,30}$/i;
export const isRandomRun: Judge = (run, { before }) =>
  isRandom(run) && !run.startsWith("/") && ![IN_ADDRESS, PUBLIC, PUBLIC_KEY].some((name) => name.test(before));

/** Words have no digits inside them. */
export const isBase32: Judge = (secret) => /\d.*\d|\d[A-Z]|^[A-Z]{26,}$/.test(secret);
export const isReal: Judge = (secret) => !isPlaceholder(secret);
export const isCode: Judge = (code, { after }) => /\d{6}/.test(code) || clauseEnds(after);
export const isSeed: Judge = (secret) => secret.split(/\s+/).filter((word) => CLAUSE_START().has(word)).length < 4;
