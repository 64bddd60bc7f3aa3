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

/** Strengths of values. */
const NONE = 0;
export const [WORD, JOINED, MIXED, RANDOM] = [1, 2, 3, 4];

type Lists = Readonly<Record<string, string>>;
type Table = Record<"alphabets" | "tokens" | "shapes" | "tools" | "placeholders" | "code" | "public", Lists>;
const readData = (name: string): unknown => JSON.parse(readFileSync(dataFile(name), "utf8"));
export const TABLE = readData("secret-tokens.json") as Table;
const WORDS = readData("secret-words.json") as Lists;
const COMMON = readData("function-words.json") as Lists;
const setOf = (...lists: (string | undefined)[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));

/** An expression for any of several. */
export const anyOf = (parts: Lists | readonly string[]): string => `(?:${Object.values(parts).join("|")})`;
/** An expression for the words of a list. */
export const oneOf = (list: string): string => `(?:${WORDS[list]?.replaceAll(" ", "|")})`;
export const PASSWORD = oneOf("password");
export const SECRET = oneOf("secret");

/** Words that can follow a complete clause. */
const CLAUSE_START = setOf(COMMON.english, COMMON.other, COMMON.common, WORDS.adverbs);
const SENTENCE_START = setOf(...CLAUSE_START, WORDS.about, WORDS.verbs);
const DESCRIBING = setOf(...SENTENCE_START, WORDS.describing, WORDS.values);
const DESCRIBING_END = /.{2}(?:ed|ing|[ai]ble|less|ive|ful|ous|[ao]ry|[cnrt]al|ic|[drstgc]ent|[tv]ant|lete)$/;

const PLACEHOLDER = new RegExp(`${anyOf(TABLE.placeholders)}|^${PASSWORD}$`, "i");
const CODE = new RegExp(anyOf(TABLE.code));
const PUBLIC = new RegExp(`${anyOf(TABLE.public)}$`, "i");
/** The name or address before a value says that anyone may see it. */
export const isPublic = (before: string): boolean => PUBLIC.test(before);
const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text);

/** Commits, checksums and ids look like this too, so it needs a label. */
export const isHex = (value: string): boolean =>
  /^(?:0x)?(?=[a-f]*\d)[0-9a-f]{7,128}$|^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);

export function strengthOf(value: string): number {
  if (value.length > 512) return /^[\w+/=.-]+$/.test(value) ? RANDOM : NONE;
  if (value.length < 4 || /^\s|\s$/.test(value) || isPlaceholder(value)) return NONE;
  if (/\s/.test(value)) return strengthOfPhrase(value.split(/\s+/));
  if (isRandom(value)) return RANDOM;
  if (/[!?]$/.test(value)) return strengthOf(value.replace(/[!?]+$/, ""));
  if (isHex(value) || CODE.test(value) || !/\p{L}/u.test(value)) return NONE;
  if (/^\p{L}+$/u.test(value) && !/\p{Ll}\p{Lu}/u.test(value)) return describes(value) ? NONE : WORD;
  if (/\d\p{L}|\p{L}\d|[^\p{L}\d._&+/-]/u.test(value)) return MIXED;
  return areDescribing(wordsOf(value)) && !/\W\d+$|_\d+$/.test(value) ? NONE : JOINED;
}

/** "velvet hammer sunday", but no sentence and no code. */
function strengthOfPhrase(written: readonly string[]): number {
  const words = written.map((word) => word.replace(/[.,!?]+$/, ""));
  if (words.length > 7 || SENTENCE_START.has((words[0] ?? "").toLowerCase()) || areDescribing(words)) return NONE;
  return words.some((word) => CODE.test(word) && !/^\d+$/.test(word)) ? NONE : JOINED;
}

const wordsOf = (value: string): readonly string[] => value.match(/\p{Lu}?\p{Ll}+|\p{Lu}+|\p{Lo}+/gu) ?? [];

function describes(word: string): boolean {
  const lower = word.toLowerCase();
  return DESCRIBING.has(lower) || DESCRIBING.has(lower.replace(/s$/, "")) || DESCRIBING_END.test(lower);
}

/** "snowboarding", but not "expiring". */
function namesActivity(word: string): boolean {
  const stem = /^([a-z]{3,})ing$/.exec(word)?.[1] ?? "";
  return stem !== "" && ![stem, `${stem}e`, stem.slice(0, -1), word].some((form) => DESCRIBING.has(form));
}

/** Of two joined words either may describe ("per-user"), of more the last or most. */
function areDescribing(words: readonly string[]): boolean {
  const count = words.filter(describes).length;
  return words.length < 3 ? count > 0 : describes(words.at(-1) ?? "") || count > words.length / 2;
}

/** `snowPlough`, `snow_plough` */
const looksLikeName = (value: string): boolean => /^[a-z]+(?:[A-Z][a-z]+|_[a-z]+)+$/.test(value);

/** A sign between letters, or a digit among letters of both cases. */
export const looksTyped = (value: string): boolean =>
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
  /^["'`*]{0,2}[.,;!?)]{0,3}(?:\s*\n|\s*$|(?<=[.,;!?)])\s|[ \t]?…|[ \t]+[(–—/*#-]|[ \t]\w{2,12}:[ \t])/.test(after);

/** The end of a clause: also before a function word or an adverb. */
function clauseEnds(after: string): boolean {
  const [, word = ""] = /^["'`*]{0,2}[ \t]([\p{L}']+)/u.exec(after) ?? [];
  return CLAUSE_START.has(word.toLowerCase()) || isLast(after);
}

/** What the rule keeps, the 1,000 characters before it and the 60 after the value. */
export type Cue = Readonly<{ kept: string; before: string; after: string; isQuoted: boolean }>;
export type Judge = (secret: string, cue: Cue) => boolean;

const NAME = new RegExp(`[\\w-]{0,40}?(?:${PASSWORD}|pass|pw|${SECRET})[\\w-]{0,12}`, "i");
const PASSWORD_NAME = new RegExp(`${PASSWORD}|pass|pw`, "i");
/** Names of variables and fields that hold nothing but a secret. */
const CLEAR_NAME = new RegExp(`(?:${PASSWORD}|[_-]pass|_secret(?:_key)?)$`, "i");
const CONSTANT = /^[A-Z][A-Z0-9_]{2,}$/;
const OWNER = new RegExp(String.raw`\b${oneOf("owner")}\b|@`, "i");
/** Only the describing words of English are known. In other languages they begin with a small letter. */
const ENGLISH = /(?:pass(?:word|wd|code|[-_ ]?phrase|\b)|pwd?|psk|key)(?!.*\s(?:ist|lautet|est|es|é|è|är)\s)/i;
const mayBeWord = (kept: string, secret: string): boolean => ENGLISH.test(kept) || /^\p{Lu}\p{Ll}/u.test(secret);
/** `password: PasswordInput;` */
const isType = (word: string, around: string): boolean => /: ;/.test(around) && /^(?:[A-Z]+[a-z]+){2,}$/.test(word);
const joined = (text: string): string => text.replaceAll(/[_.-]/g, "").toLowerCase();

/** `name = value` */
export const isAssigned: Judge = (secret, cue) => {
  const { kept, before, after, isQuoted } = cue;
  const name = NAME.exec(/[\w -]*$/.exec(before.slice(-20))?.[0] + kept)?.[0] ?? "";
  if (/[a-z]pass$|[A-Z]PASS$|[a-z]pw$|[A-Z]PW$/.test(name)) return false; // `bypass`
  const isNameItself = joined(name).includes(joined(secret)); // `POSTGRES_PASSWORD=postgres`
  if (isNameItself || isType(secret, kept + after)) return false;
  const isConstant = CONSTANT.test(name);
  const strength = strengthOf(secret);
  const isClear = isQuoted ? isConstant || /[:=>(]\s*$|^\(.*[#[_]/.test(kept) : isSetting(secret, cue);
  if (isClear && CLEAR_NAME.test(name) && isAnyValue(secret, name)) return true;
  if (!PASSWORD_NAME.test(kept)) {
    const isWord = isConstant && strength >= WORD && secret.length >= 8 && clauseEnds(after);
    return isWord || isToken(secret, isQuoted);
  }
  if (strength >= MIXED || /^(?!12345)\d{6,16}$/.test(secret)) return true;
  if (!isQuoted && !isConstant && !/[^\s=]=$|[>|]\s*$|^\s*--?\S+ $/.test(kept) && !isLast(after)) return false;
  const isCompound = /^\p{L}+(?:-\p{L}+)+$/u.test(secret) && !isPlaceholder(secret);
  if (strength === JOINED || isHex(secret) || (isConstant && isCompound)) return true;
  if (strength !== WORD || /,\s*$/.test(kept) || (!isQuoted && kept.endsWith(":"))) return false; // `hash("password", "salt")`
  return isQuoted || isConstant || OWNER.test(before) || (!/^(?:pass|pw)$/i.test(name) && mayBeWord(kept, secret));
};

/** A path, a version, an address, a rule, a member, a type. */
const OTHER_VALUE = /\s|^.{0,3}$|^[#.~]?\/|^(?:v|sha)?\d|:\/\/|[|]|^\w+(?:\.\w+){2}|string/i;

/** After a clear name any value is a secret, also a word or a file name, unless it refers to or describes one. */
function isAnyValue(value: string, name: string): boolean {
  if (isPlaceholder(value) || OTHER_VALUE.test(value) || NAME.test(value) || CONSTANT.test(value)) return false;
  if (/^[A-Z0-9]+_[A-Z0-9_]+$/.test(name)) return !DESCRIBING.has(value.toLowerCase());
  return !areDescribing(value.includes(".") ? wordsOf(value) : wordsOf(value).slice(-1));
}

/** A line with nothing but a name and a value. The line above does not end as code does. */
function isSetting(secret: string, { kept, before, after }: Cue): boolean {
  if (!/[:=]\s*$/.test(kept) || (looksLikeName(secret) && !/\S=$|:[ \t]$/.test(kept))) return false;
  const isStart = /(?:^|[^{(,;\s][ \t]*\n|\n\n)[ \t]*(?:[-+>] ?|export |set )?[\w.-]*$/.test(before);
  return isStart && /^[ \t]*(?:#|\r?\n|$)/.test(after);
}

/** In a sentence. Values that are no words are secrets after any label; `isWord` judges words. */
const inText =
  (isWord: Judge): Judge =>
  (secret, cue) => {
    const { kept, after, isQuoted } = cue;
    if (!PASSWORD_NAME.test(kept)) return !/,\s*$/.test(kept) && isToken(secret, false);
    const strength = isType(secret, kept + after) ? NONE : strengthOf(secret);
    if (strength >= MIXED) return secret.length >= 6 && !DESCRIBING.has(secret.replace(/\d+$/, "").toLowerCase());
    if (isHex(secret) || /^\d{6}$/.test(secret)) return secret.length !== 7 && clauseEnds(after);
    if (strength === JOINED && (isQuoted || /\d/.test(secret))) {
      return isQuoted ? !/\s/.test(secret) || mayBeWord(kept, secret) : clauseEnds(after);
    }
    return (strength >= WORD || looksLikeName(secret) || namesActivity(secret)) && isWord(secret, cue);
  };

/** "the password is …" */
export const isTold = inText((secret, { kept, before, after, isQuoted }) => {
  if (looksLikeName(secret)) return isLast(after) && !PASSWORD_NAME.test(secret) && !areDescribing(wordsOf(secret));
  if (namesActivity(secret)) return isLast(after) && OWNER.test(/[^.\n]*$/.exec(before)?.[0] ?? "");
  if (strengthOf(secret) === JOINED) return clauseEnds(after);
  if ((!isQuoted && !mayBeWord(kept, secret)) || /^ (?:to|than)\b/.test(after)) return false;
  const isChanged = /\b(?:set|chang|reset|updat)\w*\b[^.\n]{0,60}$/i.test(before + kept);
  return (/[:=]\s*$/.test(kept) ? isLast : clauseEnds)(after) && (isChanged || !/\s(?:to|from)\s+$/.test(kept));
});

/** "the password …": without a verb. */
export const isBeside = inText((secret, { kept, before, after, isQuoted }) => {
  if (strengthOf(secret) < WORD || /^pass\W|^pw\W|,/i.test(kept)) return false;
  if (isQuoted || /(?:\w-\w.*){3}/.test(secret)) return clauseEnds(after);
  const isName = /^\p{Lu}\p{Ll}|\p{L}\W\p{L}/u.test(secret) || / (?:as|into|als) .* (?:with|mit) /.test(before);
  const isGivenTo = /\b(?:with|and|has|mit|und)(?: the| das| dem)? $/.test(before);
  return isLast(after) && ((isName && isGivenTo) || (/[,(]\s*$/.test(before) && OWNER.test(before)));
});

/** Alone on a line below its label. */
const isLine = inText((secret, { kept }) => strengthOf(secret) >= (/^[\w-]+\W*[:|>]/.test(kept) ? WORD : JOINED));
/** On the line below its label. `NAME=…` there is another setting. */
export const isBelow: Judge = (secret, cue) => !/^\w+=/.test(secret) && isLine(secret, cue);

const REQUEST = new RegExp(String.raw`\?|\b${oneOf("request")}\b`, "i");
const PLAIN_REQUEST = /\b(?!.*\b(?:where|who|when|how|why)\b)(?:what|which|enter|type|send|give|tell|wie|welche)/i;
const questionOf = ({ kept, before }: Cue): string => /[^\n]*$/.exec(before)?.[0] + (/^[^\n]*/.exec(kept)?.[0] ?? "");
export const isRequested: Judge = (_, cue) => REQUEST.test(questionOf(cue));

const isReply = inText((secret, cue) => {
  const isAsked = strengthOf(secret) === JOINED || PLAIN_REQUEST.test(questionOf(cue));
  return strengthOf(secret) >= WORD && isAsked && !hasFunctionWord(secret) && clauseEnds(cue.after);
});
/** The next speaker answers a request for a secret. */
export const isAnswer: Judge = (secret, cue) => isRequested(secret, cue) && isReply(secret, cue);

/** No name in capitals and no `camelCase`; Base32. */
const LONG = /^(?![A-Z]+$|[A-Za-z][a-z]+(?:[A-Z][a-z]+)+$)[A-Za-z0-9]{24,}$|^(?=(?:[A-Z]*\d){2})[A-Z0-9]{16,}$/;
/** Several signs and a digit, but no template. */
const GENERATED = /^(?!.*\$\{)(?=.*\d)(?:.*[^\w\s.,:;/-]){4}/;
export const isGenerated: Judge = (secret) => GENERATED.test(secret);

/** Tokens and keys are never plain words. */
function isToken(secret: string, isQuoted: boolean): boolean {
  if (isPlaceholder(secret)) return false;
  const strength = strengthOf(secret);
  if (strength === RANDOM || (isHex(secret) && secret.length >= 12) || LONG.test(secret)) return true;
  if (isQuoted && GENERATED.test(secret)) return true;
  if (secret.length < 8 || strength < JOINED) return false;
  if (strength === MIXED) return isQuoted || looksTyped(secret) || /(?:\d.*){3}/.test(secret);
  return /\d/.test(secret) && !NAME.test(secret) && isQuoted;
}

/** "hopscotch42", "Caffe.Lungo88", "glacier99BEAR": people choose such words as passwords and as hardly anything else. */
const CHOSEN =
  /^(?=.*[a-z]{4})(?:[A-Za-z][a-z]+(?:[._-]?[A-Za-z]+)*[-_.]?\d{2,4}|[A-Za-z]*[a-z]\d{1,4}[A-Z][A-Za-z]+)!?$/;
/** A label, then a verb that gives a value, in one sentence. */
const GIVES = "(?:is|was|reads|enter|typed?|use|ist|war|lautet|est|es|era|è)";
const NEAR_LABEL = new RegExp(String.raw`${PASSWORD}[^\n.=<>{}|/\\]{0,60}[ '"]${GIVES} [^\n.=<>{}|/\\]{0,30}$`, "i");
export const isChosen: Judge = (secret, { before }) =>
  CHOSEN.test(secret) && strengthOf(secret) >= JOINED && !NAME.test(secret) && NEAR_LABEL.test(before.slice(-140));

/** Called a password, so a word is enough at the end of a clause. */
export const isNamed: Judge = (secret, { after }) => strengthOf(secret) >= (clauseEnds(after) ? WORD : MIXED);

/** Letters with digits or signs; any word in quotes. */
export const isTyped: Judge = (secret, { after, isQuoted }) => {
  const strength = strengthOf(secret);
  if (strength === JOINED && /\d/.test(secret)) return clauseEnds(after);
  return strength >= MIXED ? secret.length >= 6 : isQuoted && strength >= WORD;
};

/** "it asks for a password, so type …": other words only between these two. */
export const isEntered: Judge = (secret, cue) =>
  isTyped(secret, cue) && (/^\S+,? \w+ $| (?:prompt|field|box)\b/.test(cue.kept) || ASKING.test(cue.before));
const ASKING = /\b(?:ask|prompt|want|request)(?:s|ed)? [^\n.]{0,30}$/i;

/** A user and a password side by side. */
export const isPair: Judge = (secret, { kept, after, isQuoted }) => {
  const strength = strengthOf(secret);
  if (isQuoted && strength >= JOINED && (looksTyped(secret) || /^[a-z]{4}(?: [a-z]{4}){3}$/.test(secret))) return true;
  if (strength >= MIXED) return secret.length >= 6 && (looksTyped(secret) || /(?:\s|\badmin.|\broot.)$/.test(kept));
  const isUser = /[.@\d]\w*["'`]? ?[/|:] ?$|\b(?:cred|zugang).*(?:\/ |:)$/i.test(kept); // "Google / GitHub" are not
  return isUser && strength >= WORD && /^\p{Lu}\p{Ll}|\d/u.test(secret) && isLast(after);
};

const hasFunctionWord = (phrase: string): boolean => phrase.split(/[ -]/).some((word) => CLAUSE_START.has(word));

/** `admin:Password1`, but no role, tag, path or version. */
export const isAccount: Judge = (secret, cue) =>
  /^[^@:]{8,}$/.test(secret) && !/\d\.\d/.test(secret) && looksTyped(secret) && isPair(secret, cue);

export const PROMPT = String.raw`(?:\[sudo\]|(?:please )?${oneOf("prompt")}\b)`;
const IS_PROMPT = new RegExp(String.raw`^\s*${PROMPT}`, "i");
/** Several words up to the end of the line: a passphrase, beside a user, with a number, or as a title. */
export const isPhrase: Judge = (secret, { kept, before }) => {
  const words = secret.split(/[ -]/);
  const isTitle = words.every((word) => /^\p{Lu}\p{Ll}|^\d+$/u.test(word));
  const isPlain = words.every((word) => /^[\p{Ll}\d]+$/u.test(word)) && !hasFunctionWord(secret);
  if (strengthOf(secret) < JOINED || (!isTitle && !isPlain)) return false;
  if (/\d$/.test(secret) || /(?:phrase|app[- ]password)(?!\s$)/i.test(kept) || IS_PROMPT.test(kept))
    return !/\w{2}[^e]ed\b/.test(secret);
  const isBesideUser = OWNER.test((before + kept).slice(-120));
  return isTitle ? isBesideUser || words.length > 2 : isBesideUser && words.length > 2;
};

/** Given to a tool or a server as a password, so any word counts. */
export const isGiven: Judge = (secret, { kept, after }) => {
  if (/^[a-z]+$/.test(secret) && /^ (?:an?|the|your|its|as) /.test(after)) return false; // "unzip -P expects the …"
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

const LONG_COOKIE = /[=\t](?=[^;]{0,60}\d)(?=[^;]{0,60}[a-z])[\w%~+/=-]{16}/i;
const SESSION_COOKIE = /(?:sess[\w-]{0,12}|sid|auth\w{0,12}|token|jwt)[=\t](?=[^;]{0,40}\d)[^\s;]{6}/i;
export const holdsSession: Judge = (cookies) => LONG_COOKIE.test(cookies) || SESSION_COOKIE.test(cookies);

/** Files of a build have their checksum in their name. */
const FILE_END = /^\.(?:[cm]?js|css|map|html|json|wasm|svg|png|jpe?g|gif|webp|woff2?|pdf|zip|gz)\b/;
export const isRandomRun: Judge = (run, { before, after }) =>
  isRandom(run) && !/^(?:\/|--)/.test(run) && !FILE_END.test(after) && !isPublic(before);
/** Letters and digits without words. */
export const isOpaqueRun: Judge = (run, { kept }) =>
  !isPublic(kept) && (isHex(run) || isRandom(run) || /^(?=(?:[a-z]*\d){3})[a-z0-9]{24,}$/i.test(run));

/** Words have no digits inside them. */
export const isBase32: Judge = (secret) => /\d.*\d|\d[A-Z]|^[A-Z]{26,}$/.test(secret);
export const isReal: Judge = (secret) => !isPlaceholder(secret);
export const isSeed: Judge = (secret) => secret.split(/[^a-z]+/).filter((word) => CLAUSE_START.has(word)).length < 4;
/** Without a verb or a sign only at the end: "pin 1234 is out of range". */
export const isCode: Judge = (code, { kept, after }) =>
  /\d{6}/.test(code) || (/\w (?<!(?:\b(?:is|was|are|to|code)|'s) )$/.test(kept) ? isLast : clauseEnds)(after);
