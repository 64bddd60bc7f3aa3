/**
 * Judges whether a match is a secret. The weaker a value looks, the stronger its cue must be: random text needs none,
 * letters with digits or signs need a label such as "password", a plain word needs "password is" and the end of a clause.
 */
import * as value from "./strength.ts";
import { JOINED, MIXED, PASSWORD, SECRET, WORD, oneOf, strengthOf } from "./strength.ts";

/** What the rule keeps, the 1,000 characters before it and the 60 after the value. */
type Cue = Readonly<{ kept: string; before: string; after: string; isQuoted: boolean }>;
export type Judge = (secret: string, cue: Cue) => boolean;

const expression = (strings: TemplateStringsArray, ...parts: string[]): RegExp =>
  new RegExp(String.raw(strings, ...parts), "i");
const lastLine = (text: string): string => text.slice(text.lastIndexOf("\n") + 1);

/** The end of a line or a sentence. */
const isLast = (after: string): boolean =>
  /^["'`*]{0,2}[.,;!?)]{0,3}(?:\s*\n|\s*$|(?<=[.,;!?)])\s|[ \t]?…|[ \t]+[(–—/*#-]|[ \t]\w{2,12}:[ \t])/.test(after);

/** The end of a clause: also before a function word or an adverb. */
function clauseEnds(after: string): boolean {
  const [, word = ""] = /^["'`*]{0,2}[ \t]([\p{L}']+)/u.exec(after) ?? [];
  return value.CLAUSE_START.has(word.toLowerCase()) || isLast(after);
}

const NAME = expression`[\w-]{0,40}?(?:${PASSWORD}|pass|pw|${SECRET})[\w-]{0,12}`;
const PASSWORD_LABEL = expression`^(?:${PASSWORD}|pass|pw)`;
const SECRET_LABEL = expression`^${SECRET}`;
const NEAR_NETWORK = /\b(?:ssid|wi-?fi|wlan|network|hotspot)\b[^\n]{0,60}\n?[^\n]{0,40}$/i;
const OWNER = expression`\b${oneOf("owner")}\b|@`;

/** A "key" or "auth" can be anything, so only an opaque value counts. Beside the name of a network it is a password. */
function kindOf({ kept, before }: Cue): "password" | "secret" | "key" {
  if (PASSWORD_LABEL.test(kept)) return "password";
  if (SECRET_LABEL.test(kept)) return "secret";
  return NEAR_NETWORK.test(before.slice(-120) + kept.slice(0, 40)) ? "password" : "key";
}

const OTHER_KEY = expression`${oneOf("other_key")}[ _-]?$`;
const OWN_KEY = expression`(?:[?&]|\b(?:${oneOf("key")}|(?:my|our|new|this)(?: [\w-]{2,16}){0,2})[ -])$`;
/** Several signs and a digit, but no template and no expression. */
const GENERATED = /^(?!\^|.*\$\{)(?=.*\d)(?:.*[^\w\s.,:;/-]){4}/;

/** `weatherKey: 5f0e93b1c7d24a68…`, "my weather key is …" */
function isKey(secret: string, { kept, before, isQuoted }: Cue): boolean {
  const isName = /[\w./-]$/.test(before) && /[:=,(\n]/.test(kept);
  if (OTHER_KEY.test(before) || !(isName || OWN_KEY.test(before) || /^appid|^key $/i.test(kept))) return false;
  return (!/^salt/i.test(kept) && value.isOpaqueKey(secret)) || (isQuoted && GENERATED.test(secret));
}

/** Tokens are never plain words. */
function isToken(secret: string, { after, isQuoted }: Cue): boolean {
  if (value.isOpaqueKey(secret) || (value.isHex(secret) && secret.length >= 12)) return true;
  if (isQuoted && GENERATED.test(secret)) return true;
  const strength = strengthOf(secret);
  if (secret.length < 8 || strength < JOINED) return false;
  if (strength >= MIXED) return value.looksTyped(secret) || /(?:\d.*){3}/.test(secret);
  return (isQuoted || clauseEnds(after)) && /\d/.test(secret) && !NAME.test(secret);
}

/** Names of variables and fields that hold nothing but a secret. */
const CLEAR_NAME = expression`(?:${PASSWORD}|[_-]pass|_secret(?:_key)?)$`;
const CONSTANT = /^[A-Z][A-Z0-9_]{2,}$/;
/** Only the describing words of English are known. In other languages they begin with a small letter. */
const ENGLISH = /(?:pass(?:word|wd|code|[-_ ]?phrase|\b)|pwd?|psk|key)(?!.*\s(?:ist|lautet|est|es|é|è|är)\s)/i;
const mayBeWord = (kept: string, secret: string): boolean => ENGLISH.test(kept) || /^\p{Lu}\p{Ll}/u.test(secret);
/** `password: PasswordInput;`, `password = Input.Text;`: a type or a member, at the end of a statement. */
const isType = (word: string, around: string): boolean =>
  /[:=] (?:;|,\n|\s?\})/.test(around) && /^(?:[A-Z][a-z]*\.?){2,}$/.test(word);
const joined = (text: string): string => text.replaceAll(/[_.-]/g, "").toLowerCase();

/** `name = value` */
export const isAssigned: Judge = (secret, cue) => {
  const { kept, before, after, isQuoted } = cue;
  const kind = kindOf(cue);
  if (kind === "key") return isKey(secret, cue);
  if (kept.startsWith("pass(")) return false; // `t.pass("…`
  if (/[:=]\s*(?:new )?[\w.]+\(\s*$/.test(kept)) return value.isOpaqueKey(secret); // `Buffer.from("…`
  const name = NAME.exec(/[\w -]*$/.exec(before.slice(-20))?.[0] + kept)?.[0] ?? "";
  const isNameItself = joined(name).includes(joined(secret)); // `POSTGRES_PASSWORD=postgres`
  if (isNameItself || isType(secret, kept + after) || /[a-z]pass$|[A-Z]PASS$/.test(name)) return false; // `bypass`
  const isConstant = CONSTANT.test(name);
  const isClear = isQuoted ? isConstant || /[:=>(]\s*$/.test(kept) || /[\w.#[-]$/.test(before) : isSetting(cue);
  const isWordOfSentence = !isQuoted && /^\p{Ll}+$/u.test(secret) && !mayBeWord(kept, secret);
  if (isClear && CLEAR_NAME.test(name) && isAnyValue(secret, name) && !isWordOfSentence) return true;
  const strength = strengthOf(secret, isQuoted || isInSettings(cue));
  if (kind === "secret") return isToken(secret, cue) || (isConstant && strength >= WORD && secret.length >= 8);
  if (strength >= MIXED || (isQuoted && isPassphrase(secret, name))) return true;
  if (isInSettings(cue) && OWNED.test(name) && value.isUnlisted(secret)) return true;
  if (/^[\w-]+ $/.test(kept) && secret !== secret.toUpperCase() && value.isUnlisted(secret)) return true; // `--password tulip`
  if (!isQuoted && !isConstant && !/[^\s=]=$|[>|]\s*$|^[\w-]+ $/.test(kept) && !isLast(after)) return false;
  const isCompound = isConstant && /^\p{L}+(?:-\p{L}+)+$/u.test(secret) && !value.isPlaceholder(secret);
  if (strength === JOINED || value.isHex(secret) || isCompound || /^(?!12345)\d{6,16}$/.test(secret)) return true;
  if (strength !== WORD || /,\s*$/.test(kept) || (!isQuoted && kept.endsWith(":"))) return false; // `hash("password", "salt")`
  return isQuoted || isConstant || OWNER.test(before) || (!/^pass$/i.test(name) && mayBeWord(kept, secret));
};

/** A path, a version, an address, a rule, a member, a type. */
const OTHER_VALUE = /\s|^.{0,3}$|^[#.~]?\/|^(?:v|sha)?\d|:\/\/|[|]|^\w+(?:\.\w+){2}|string/i;

/** The password of something, so not a label of a form. */
const OWNED = /(?:db|database|root|admin|smtp|mail|store|key|sql|redis)[_.-]?p/i;
/** After a clear name any value is a secret, also a word or a file name, unless it refers to or describes one. */
function isAnyValue(text: string, name: string): boolean {
  if (value.isPlaceholder(text) || OTHER_VALUE.test(text) || NAME.test(text) || CONSTANT.test(text)) return false;
  if (/^[A-Z0-9]+_[A-Z0-9_]+$/.test(name) || OWNED.test(name)) return !value.DESCRIBING.has(text.toLowerCase());
  return !value.areDescribing(value.wordsOf(text));
}

/** `password=tulipTango dbname=…`. An argument in code is followed by a comma or a bracket. */
const isInSettings = ({ kept, before, after }: Cue): boolean =>
  /[^\s=]=$/.test(kept) &&
  (/^(?:[\s&"'`]|$)/.test(after) || (after.startsWith(";") && /=[^;\n]+;[\w ]*$/.test(before)));

/** A line with nothing but a name and a value. The line above does not end as code does. */
const isSetting = ({ kept, before, after }: Cue): boolean =>
  /[:=]\s*$/.test(kept) &&
  /(?:^|[^{(,;\s][ \t]*\n|\n\n)[ \t]*(?:[-+>] ?|export |set )?[\w.-]*$/.test(before) &&
  /^[ \t]*(?:#|\r?\n|$)/.test(after);

/** In a sentence: a value that is at least this strong. Words only where the clause ends. */
const inSentence =
  (least: number): Judge =>
  (secret, cue) => {
    const { kept, after, isQuoted } = cue;
    const kind = kindOf(cue);
    if (kind === "key") return isKey(secret, cue);
    if (kind === "secret") return !/,\s*$/.test(kept) && isToken(secret, cue);
    const strength = isType(secret, kept + after)
      ? 0
      : strengthOf(secret, (isQuoted || isLast(after)) && !NAME.test(secret));
    if (strength >= MIXED) return secret.length >= 6;
    if (value.isHex(secret) || /^\d{6}$/.test(secret)) return secret.length !== 7 && clauseEnds(after);
    if (isQuoted && isPassphrase(secret, kept)) return true;
    if (strength === JOINED && isQuoted && !/\s/.test(secret)) return true;
    const isOdd = strength === JOINED && (/\d/.test(secret) || value.PUT_TOGETHER.test(secret));
    return (isOdd || strength >= Math.max(WORD, isQuoted ? least - 1 : least)) && clauseEnds(after);
  };
const isMixed = inSentence(MIXED);
const isJoined = inSentence(JOINED);
const isWord = inSentence(WORD);

/** "the password is …", but not "to expire" */
export const isTold: Judge = (secret, cue) => {
  const { kept, before, after, isQuoted } = cue;
  const strength = strengthOf(secret);
  if (/^pass\b/i.test(kept) && strength < MIXED && !OWNER.test(before.slice(-120)) && !NEAR_NETWORK.test(before))
    return false; // "first pass: …"
  if (strength === JOINED && value.PUT_TOGETHER.test(secret) && kindOf(cue) === "password")
    return /[^\w\s-]|\s\w/.test(kept) || clauseEnds(after);
  if (strength !== WORD) return isWord(secret, cue);
  if ((!isQuoted && !mayBeWord(kept, secret)) || (/^ (?:to|than)\b/.test(after) && !kept.endsWith("from ")))
    return false;
  const isChanged = /\b(?:set|chang|reset|updat)\w*\b[^.\n]{0,60}$/i.test(before + kept);
  return (
    (!/[:=]\s*$/.test(kept) || isLast(after)) && (isChanged || !/\s(?:to|from)\s+$/.test(kept)) && isWord(secret, cue)
  );
};

/** `user ada, `, "as ada with the " */
const AFTER_USER =
  /(?:\b(?:user(?:name)?|login|account|as|for|using|ssh|id|e-?mail|ssid|network)(?:["']?[:=] ?| )["']?(?!(?:and|or|with|name|the|a|id)\b)[\w.@-]+|\S@\S+)["']?[,;]?[ \t]{1,2}(?:(?:and|with|has|mit|und) )?\(?(?:the |a )?$/i;
const WITH = /(?:^|\s)(?:(?:with|using)(?: the)?|(?:use|try) the) $/i;
/** "the password …": without a verb. Most often "pass" is a verb itself, and `/etc/passwd` is a file. */
export const isBeside: Judge = (secret, cue) => {
  const { before, kept, after, isQuoted } = cue;
  const line = lastLine(before);
  const isVerb = /^[Pp]ass\W/.test(kept) && !(OWNER.test(line) && /\W$/.test(before));
  if (isVerb || before.endsWith("/")) return false;
  if (kindOf(cue) !== "password") return isMixed(secret, cue);
  if (strengthOf(secret) < MIXED && /,\s/.test(kept)) return isTyped(secret, cue);
  if (AFTER_USER.test(line) && value.isUnlisted(secret) && isLast(after)) return true;
  if (
    AFTER_USER.test(line) ||
    ((isQuoted || /protected/.test(kept)) && isLast(after)) ||
    (WITH.test(line) && (isLast(after) || (/^ (?:and|but|for|on|to)\b/.test(after) && / (?:with|using)/.test(line))))
  )
    return isWord(secret, cue);
  return (
    (isLast(after) || WITH.test(line)) && (/\b(?:and|has|the|und|mit) $/i.test(line) || /[–(-] ?$/.test(kept))
      ? isJoined
      : isMixed
  )(secret, cue);
};

/** On the line below its label. `NAME=…` there is another setting. */
export const isBelow: Judge = (secret, cue) =>
  !/^\w+=/.test(secret) && (/^[\w-]+\W*[:|>?]/.test(cue.kept) ? isWord : isJoined)(secret, cue);

const REQUEST = expression`\?|\b${oneOf("request")}\b`;
const PLAIN_REQUEST = /\b(?!.*\b(?:where|who|when|how|why)\b)(?:what|which|enter|type|send|give|tell|wie|welche)/i;
const questionOf = ({ kept, before }: Cue): string => lastLine(before) + (/^[^\n]*/.exec(kept)?.[0] ?? "");
export const isRequested: Judge = (_, cue) => REQUEST.test(questionOf(cue));
/** The next speaker answers a request for a secret. */
export const isAnswer: Judge = (secret, cue) =>
  isRequested(secret, cue) &&
  !hasFunctionWord(secret) &&
  (PLAIN_REQUEST.test(questionOf(cue)) || /^(?:\S+:)?(?: ?\S+){1,3}\?$/.test(questionOf(cue)) ? isWord : isJoined)(
    secret,
    cue,
  );

/** Letters with digits or signs; any word in quotes. */
export const isTyped: Judge = (secret, { after, isQuoted }) => {
  const strength = strengthOf(secret);
  if (strength === JOINED && (/\d/.test(secret) || value.PUT_TOGETHER.test(secret))) return clauseEnds(after);
  return strength >= MIXED ? secret.length >= 6 : isQuoted && strength >= WORD;
};
const ASKED = /\b(?:ask|want|prompt|need|require)(?:s|ed|ing)? (?:\w+ ){0,4}$/i;
/** "when it asks for the password, enter …" */
export const isTypedLater: Judge = (secret, cue) => {
  if (!PASSWORD_LABEL.test(cue.kept) || /^pass?\b/i.test(cue.kept) || NAME.test(secret)) return false;
  const isIt = /\b(?:it's|it is|type|enter|use|try|put)(?: \w+){0,2} $/i.test(cue.kept);
  const isAsked = ASKED.test(cue.before) && /\b(?:it's|it is|type|enter) $/i.test(cue.kept) && isLast(cue.after);
  return isTyped(secret, cue) || (isIt && isJoined(secret, cue)) || (isAsked && isWord(secret, cue));
};

/** Words in a row after "passphrase", but no sentence about it. */
function isPassphrase(secret: string, kept: string): boolean {
  const words = secret.toLowerCase().split(" ");
  const content = words.filter((word) => !value.CLAUSE_START.has(word));
  if (!/phrase/i.test(kept) || words.length < 3 || NAME.test(secret)) return false;
  return content.length > (words.length < 4 ? 1 : 0) && !content.some(value.describes);
}
/** "the passphrase is once in a blue moon" */
export const isWholePassphrase: Judge = (secret, { kept, before }) => {
  const [first = ""] = secret.split(" ");
  if (!isPassphrase(secret, kept) || PROMPT.test(lastLine(before))) return false;
  return /:\s*$/.test(kept) || /^(?:the|an?|my|our)$/.test(first) || !value.CLAUSE_START.has(first);
};

const NAMED_END = String.raw`(?: (?:for|of|on|to|and|in|at|until|when|now|then)\b|[^\s\w-]|\s*$|\n)`;
const NAMED_PASSWORD = expression`(?:is|was|that's|${oneOf("as")}) (?:[\w']{1,12} ){0,5}${PASSWORD}${NAMED_END}`;
const NAMED_SECRET = expression`(?:is|was|${oneOf("as")}) (?:[\w']{1,12} ){0,4}${SECRET}${NAMED_END}`;
/** "tulip7 is the password" */
export const isNamed: Judge = (secret, cue) =>
  (NAMED_PASSWORD.test(cue.after) && (isTyped(secret, cue) || strengthOf(secret) >= JOINED)) ||
  (NAMED_SECRET.test(cue.after) && value.isOpaqueKey(secret));
/** "use tulip as the password" */
export const isUsed: Judge = (secret, { after }) =>
  (NAMED_PASSWORD.test(after) && (strengthOf(secret) >= WORD || value.isUnlisted(secret.replace(/^\p{L}+-/u, "")))) ||
  (NAMED_SECRET.test(after) && value.isOpaqueKey(secret));
/** "type tulip-field at the password prompt" */
export const isEntered: Judge = (secret) =>
  strengthOf(secret) >= (secret.endsWith("!") ? WORD : JOINED) && !NAME.test(secret);

/** A user and a password side by side. */
export const isPair: Judge = (secret, { kept, after, isQuoted }) => {
  const strength = strengthOf(secret, true);
  if (isQuoted && /^[a-z]{4}(?: [a-z]{4}){3}$/.test(secret)) return true;
  if (strength >= MIXED)
    return secret.length >= 6 && (value.looksTyped(secret) || /(?:\s|\badmin.|\broot.)$|^c/.test(kept));
  const isUser = /[.@\d]\w*["'`]? ?[/|:] ?$/.test(kept) || (CLEAR_LOGIN.test(kept) && !kept.endsWith("| ")); // "Google / GitHub" are not
  const isCamel = /[/|:] ?$/.test(kept) && /(?<![.\w@-])[a-z]\S* ?[/|:] ?$/.test(kept) && /^[a-z]+[A-Z]/.test(secret);
  const isChosen = value.looksTyped(secret) || isCamel || (isUser && /^\p{Lu}\p{Ll}|\P{L}/u.test(secret));
  return strength >= WORD && isChosen && (isQuoted || clauseEnds(after));
};
const CLEAR_LOGIN = /\b(?:creds|credentials|basic auth|user ?\/ ?pass\w*|zugang\w*)\b/i;
/** `admin:Password1`, but no role, tag, path or version. */
export const isAccount: Judge = (secret, cue) =>
  /^[^@:]{8,}$/.test(secret) && !/\d\.\d/.test(secret) && value.looksTyped(secret) && isPair(secret, cue);

const hasFunctionWord = (phrase: string): boolean => phrase.split(/[ -]/).some((word) => value.CLAUSE_START.has(word));
const PROMPT = expression`^\s*(?:\[sudo\]|(?:please )?${oneOf("prompt")}\b)`;
const LABEL_AT_START = /^[ \t]{0,40}(?:[-*•>] |\d\. )?[*]{0,2}(?:[\w.]{0,24}[_ -])?$/;

/** Several words: a passphrase, beside a user, with a number, or as a title. */
export const isPhrase: Judge = (secret, cue) => {
  const { kept, before, after } = cue;
  const words = secret.split(" ");
  const isTitle = words.every((word) => /^\p{Lu}\p{Ll}|^\d+$/u.test(word));
  const isPlain = words.every((word) => /^[\p{Ll}\d]+$/u.test(word)) && !/\w{2}[^e]ed\b/.test(secret);
  if (kindOf(cue) !== "password" || strengthOf(secret) < JOINED || !(isTitle || isPlain)) return false;
  const isPassphrase = /^pass[-_ ]?phrase/i.test(kept) || /\b(?:app(?:lication)?|master)[- ]$/i.test(before);
  const isBesideUser = OWNER.test((before + kept).slice(-120));
  const isMany = words.length > 2;
  const isBound = isBesideUser || !/^[\w-]+\s$/.test(kept);
  if (isMany && isPassphrase && isBound && clauseEnds(after)) return true;
  const isPrompt = PROMPT.test(lastLine(before));
  const isOwnLine =
    (isPrompt || LABEL_AT_START.test(lastLine(before)) || /[,;] $/.test(before)) && /^[ \t]*(?:\r?\n|$)/.test(after);
  return isOwnLine && (isPassphrase || isPrompt || /\d$/.test(secret) || (isBesideUser && (isTitle || isMany)));
};
/** Given to a tool or a server as a password, so any word counts. */
export const isGiven: Judge = (secret, { kept, after }) => {
  if (/^[a-z]+$/.test(secret) && /^ (?:an?|the|your|its|as) /.test(after)) return false; // "unzip -P expects the …"
  if (kept.endsWith("PASSWORD=")) return !/^[$<{*]/.test(secret);
  const isOther = /^\d{1,5}[/?#]|^[@-]|^(?:pass|secret)$/i.test(secret); // a port, a file, an option
  return !isOther && !value.isPlaceholder(secret) && !kept.endsWith(`/${secret}:`);
};

export const isReal: Judge = (secret) => !value.isPlaceholder(secret);
/** Not a word and not a name. */
export const isOpaque: Judge = (secret) =>
  !value.isPlaceholder(secret) &&
  (strengthOf(secret) >= MIXED || value.isHex(secret) || /^[A-Za-z0-9+/]{20,}=*$/.test(secret));
/** Some words after the name of a token. */
export const isNearName: Judge = (run, cue) =>
  kindOf(cue) === "secret" && !PUBLIC.test(cue.kept) && value.isOpaqueKey(run);

const PUBLIC = new RegExp(value.valuesOf("public"), "i");
/** Files of a build have their checksum in their name. */
const FILE_END = /^\.(?:[cm]?js|css|map|html|json|wasm|svg|png|jpe?g|gif|webp|woff2?|pdf|zip|gz)\b/;
export const isRandomRun: Judge = (run, { before, after }) =>
  value.isRandom(run) && !/^(?:\/|--)/.test(run) && !FILE_END.test(after) && !PUBLIC.test(before);

const REMARK_START = String.raw`^["'\x60)\]};,\s]{1,16}(?:\/\/|#|\/\*|--)[ \t]{0,4}(?:(?!not?\b|${oneOf("of_key")})[\w']{1,16} ){0,3}?`;
const REMARK_END = String.raw`s?(?=\s*(?:[,.;:!(*-]|$)| (?:for|of|to|do)\b)`;
const REMARK = expression`${REMARK_START}(?:${oneOf("key")} key|${PASSWORD}|${SECRET})${REMARK_END}`;
/** `"5f0e93b1c7d24a68…" // admin key` */
export const isRemarkedKey: Judge = (_, { before, after }) =>
  REMARK.test(after) && !PUBLIC.test(before) && !/\bgit /.test(lastLine(before));

/** The Base64 of `user:password`. */
export const isBasicAuth: Judge = (secret) =>
  /^[\x21-\x7e]+:[\x20-\x7e]+$/.test(Buffer.from(secret, "base64").toString());

const LONG_COOKIE = /[=\t](?=[^;]{0,60}\d)(?=[^;]{0,60}[a-z])[\w%~+/=-]{16}/i;
const SESSION_COOKIE = /(?:sess[\w-]{0,12}|sid|auth\w{0,12}|token|jwt)[=\t](?=[^;]{0,40}\d)[^\s;]{6}/i;
export const holdsSession: Judge = (cookies) => LONG_COOKIE.test(cookies) || SESSION_COOKIE.test(cookies);

/** Words have no digits inside them. */
export const isBase32: Judge = (secret) => /\d.*\d|\d[A-Z]|^[A-Z]{26,}$/.test(secret);
export const isSeed: Judge = (secret) =>
  secret.split(/[^a-z]+/).filter((word) => value.CLAUSE_START.has(word)).length < 4;
/** Without a verb or a sign only at the end: "pin 1234 is out of range". */
export const isCode: Judge = (code, { kept, after }) =>
  !/\b(?:error|exit|status|http|zip|postal)\b/i.test(kept) &&
  (/\d{6}/.test(code) || (/\w (?<!(?:\b(?:is|was|are|to|code)|'s) )$/.test(kept) ? endsOrFor : clauseEnds)(after));
const endsOrFor = (after: string): boolean => isLast(after) || /^ (?:for|to|please)\b/.test(after);
/** A list below its heading has several. */
export const areCodes: Judge = (codes, cue) => (cue.kept.includes("\n") ? /[\s,]/.test(codes) : isCode(codes, cue));
