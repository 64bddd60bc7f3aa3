/**
 * The table of rules. The first group of an expression is kept, the rest of the match is the secret, with or without
 * quotes; a judge may say that it is none. Every repetition has a limit, so the time is linear.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";
import * as cue from "./judge.ts";
import { PASSWORD, SECRET } from "./judge.ts";

export const REDACTED = "[redacted]";

type Lists = Record<"alphabets" | "shapes" | "tools", Record<string, string>>;
type Tokens = Record<string, [prefix: string, alphabet: string, length: number]>;
const DATA = JSON.parse(readFileSync(dataFile("secret-tokens.json"), "utf8")) as Lists & { tokens: Tokens };
const anyOf = (parts: readonly string[]): string => `(?:${parts.join("|")})`;
const TOKEN = anyOf(
  Object.values(DATA.tokens).map(([prefix, kind, length]) => `(?:${prefix})(?=[${DATA.alphabets[kind]}]{${length}})`),
);
const SHAPE = anyOf(Object.values(DATA.shapes));
/** A tool and its option; `…` stands for the options between them. */
const TOOL = anyOf(Object.values(DATA.tools)).replaceAll(" … ", String.raw`\s(?:[^\n|;]{0,200}?\s)??`);
/** Not inside a word. The `n` of a written `\n` does not count as one. */
const START = String.raw`(?:(?<![A-Za-z0-9_+/\\-])|(?<=\\[nrt]))`;
const BEGIN = String.raw`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----`;
const END = String.raw`-----END [A-Z0-9 ]{0,40}KEY(?: BLOCK)?-----`;

// Values: in quotes; up to a blank or a sign that separates it from what follows; one word of a sentence.
const DOUBLE = String.raw`\\{0,3}"(?:[^"\\\n]|\\[^"\n]){1,500}\\{0,3}"`;
const SINGLE = String.raw`\\{0,3}'(?:[^'\\\n]|\\[^'\n]){1,500}\\{0,3}'`;
const QUOTED = String.raw`(?:${DOUBLE}|${SINGLE}|\x60[^\x60\n]{1,500}\x60|[“„][^“”\n]{1,500}[“”])`;
const SEPARATOR = String.raw`[,;&|](?=[\s"'\x60|]|$|[\w .-]{1,40}[=:])`;
const BARE = String.raw`(?:(?!${SEPARATOR})[^\s"'\x60<>()[\]{}\\]|\\(?![nrt"'])){1,4096}`;
const VALUE = `(?:${QUOTED}|${BARE})`;
const TOLD = String.raw`(?:${QUOTED}|(?:[^\s"'\x60<>()[\]{};,\\]|\\(?![nrt])){4,128})`;

/** The end of a name such as `DB_PASSWORD` or `apiKey2`. A `password_length` is a length. */
const SUFFIX = String.raw`(?:[_-]?(?:prod|staging|stage|dev|test|live|base|\d{1,2}))?(?![A-Za-z0-9-]|_\w)`;
const NAME = String.raw`(?:${PASSWORD}s?|pass|pw|${SECRET})${SUFFIX}`;
/** A closing quote, bracket or emphasis after a name, and a remark. */
const CLOSE = String.raw`(?:\\{0,3}["'\x60\]]|[*_]{1,2}){0,2}(?: \([^()\n]{1,40}\))?`;
/** `: `, ` = `, `=> `, `: string = "`, `?? "` */
const TYPED = String.raw`:[ \t]?&?\w{1,20}[ \t]?=(?=[ \t]?["'])`;
const ASSIGN = String.raw`[ \t]{0,8}(?:${TYPED}|[:=]{1,3}>?|：|(?:\|\||\?\?)(?= ["']))[*_]{0,2}[ \t]{0,8}`;
const VALUE_NAME = String.raw`["']?(?:value["']?\s{0,2}[:=]|default\s?=)`;
const ATTRIBUTE = String.raw`(?:\w{1,20} (?:name|key)=["'])?`;
const ROW = String.raw`(?:^|\n)[^\n|]{0,40}\|[ *]{0,4}(?:\w{1,20} )?${NAME}[ *]{0,20}`;
const STATEMENT = String.raw`(?:user|role|login|grant)\b[^\n;]{1,80}\s(?:password|identified by)`;
const HEADER = String.raw`\s{0,2}[:=, ]\s{0,3}["'\x60]?`;
const PAIR = String.raw`[\w.-]{1,64}(?:=[^\s;"'\x60]{0,512})?`;
const ARGUMENTS = String.raw`[ =]{0,3}\([^\n()]{1,80}, ?`;
const FLAG = String.raw`(?:(?:^|\s)--?|(?:\b(?:ENV|ARG|setx|setenv)|#define) )[\w-]{0,30}?`;

// Parts of sentences: "password", "for the router (admin)", "has been changed to:".
const NOUN = String.raw`(?:${PASSWORD}s?|\bpw\b|${SECRET})`;
const LABEL = String.raw`(?:${NOUN}|\bpass\b)`;
const OF = "(?:for|of|on|to the|in|at|from|fürs?|vo[nm]|zu[mr]|[ai]m|del?|d[oau]|pour|para|van|voor|от)";
const PLACE = String.raw`(?:[ \t]${OF}(?:[ \t][^\s"\x60,;:!?()]{1,32}){1,6}?)?(?: \([^()\n]{1,40}\))?`;
const WHOLE_LABEL = String.raw`(?:${PASSWORD}|${SECRET})${CLOSE}${PLACE}`;
const AUX = "(?:has|been|was|is|will|should|would|used|to|(?:re)?set|changed|updated|still|now|just|currently)";
const BE = String.raw`(?:[ \t]${AUX}){0,4}[ \t](?:is|was|are|be|to|from|ist|lautet|est|es|é|è|är)(?=[\s:])`;
const ADVERB = String.raw`(?:[ \t](?:now|still|currently|probably|just|again|jetzt))?`;
const IS = String.raw`(?:['’]s|${BE}|[ \t]?[:：]|是|为|は)${ADVERB}:?[ \t]{0,3}`;
const USE = "(?:use|using|used|take|typed?|enter|try|put|with|on|chose)";
const SEED = "(?:seed|recovery|backup|secret|wallet|mnemonic)(?: phrase| words?)?";
const USER = String.raw`["'\x60]?[\w.@+-]{1,64}["'\x60]?`;
const SIGN_IN = String.raw`\b(?:log|sign)(?:s|ged|ging|ed|ing)?[ -]?in\b`;
const LOGIN = String.raw`\b(?:user ?\/ ?pass(?:word)?|zugang(?:sdaten)?|creds|credentials|logins?|account)\b`;
const LOCK = "(?:door|gate|garage|alarm|safe|lock|locker|keypad|building|entry|house|office|vault)";
const KIND = `(?:${LOCK}|verification|security|one-time|2fa|mfa|login|sms|backup|recovery|unlock)`;
const CODE = String.raw`\b(?:pin|puk|otp|passcode|${KIND} code)s?`;
const DIGITS = String.raw`(?:\d{4,8}|\d{3,4}[ -]\d{3,4}|(?=[a-z]{0,4}\d)[a-z0-9]{4,5}-[a-z0-9]{4,5})#?(?![\w:-])`;
const BLANK_LINES = String.raw`\r?\n(?:[ \t]{0,8}(?:\x60{3}\w{0,12})?\r?\n){0,3}[ \t>*-]{0,8}`;
const LINE_END = String.raw`(?=[ \t]{0,8}(?:\r?\n|$))`;

type Rule = readonly [name: string, find: RegExp, isSecret?: cue.Judge];
type Tag = (strings: TemplateStringsArray, ...parts: string[]) => RegExp;
const exact: Tag = (strings, ...parts) => new RegExp(String.raw(strings, ...parts), "g");
const loose: Tag = (strings, ...parts) => new RegExp(String.raw(strings, ...parts), "gi"); // any case

const BY_SHAPE: readonly Rule[] = [
  ["private key", exact`()${BEGIN}(?:[^-]|-(?!----)){0,20000}${END}`],
  ["start of a private key", exact`(${BEGIN}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=]{16,80}(?:\s|\\[nr]|$){1,4}){1,500}`],
  ["token of a vendor", exact`${START}(${TOKEN})[\w-]{6,4096}(?:[.=]{1,2}[\w-]{1,4096}){0,5}={0,2}`, cue.isReal],
  ["shape of a vendor", exact`()${SHAPE}`],
  ["random run", exact`()${START}[A-Za-z0-9_+/-]{24,4096}={0,2}`, cue.isRandomRun],
  ["key in hex", loose`(\b(?:priv(?:ate)?[ _-]?key|PK|wallet|signer|accounts)[^\n0]{1,20}?)(?:0x)?[0-9a-f]{64}\b`],
  ["password in an address", exact`(:\/\/[^\s:/@"'\x60<>]{0,128}:)[^\s"'\x60<>]{3,256}(?=@)`, cue.isGiven],
  ["token in an address", exact`(:\/\/)[A-Za-z0-9_.~-]{20,256}(?=@)`, cue.isOpaque],
  ["signed address", loose`([?&][\w-]{0,20}sig(?:nature)?=)[^\s&"'\x60<>]{16,512}`],
  ["bearer", loose`(\b(?:bearer|basic)\s)[A-Za-z0-9._~+/=-]{16,4096}`, cue.isOpaque],
  ["authorization", loose`(\bauthorization${CLOSE}${HEADER}(?:\w{2,20} )?)[^\s"'\x60,;]{8,4096}`, cue.isOpaque],
  ["cookies", loose`((?:\bcookie["'\x60]?|\s-b|\s--cookie)${HEADER})${PAIR}(?:; ?${PAIR}){0,30}`, cue.holdsSession],
  ["option of a tool", exact`(\b${TOOL})(?:${QUOTED}|[^\s"'\x60-][^\s"'\x60]{2,255})`, cue.isGiven],
  ["login", loose`((?:${LOGIN}|${SIGN_IN})[^\n/:|]{0,40}?[ :]{1,2}${USER}(?: ?[/|] ?|:))${TOLD}`, cue.isPair],
  ["sign in as", loose`(${SIGN_IN}[^\n]{0,30} as ${USER} (?:with|using|and) )${TOLD}`, cue.isPair],
  ["login in code", loose`(\b(?:login|auth|connect\w{0,8}|\w{0,12}credentials?)${ARGUMENTS})${QUOTED}`, cue.isPair],
  ["code", loose`(${CODE}${PLACE}(?:${IS}|[ \t]))${DIGITS}(?:[,\s-]{1,4}${DIGITS}){0,15}`, cue.isCode],
];

const BY_LABEL: readonly Rule[] = [
  ["login in Base64", loose`(\b_?auth["']?\s{0,2}[:=]\s{0,2}["']?)[A-Za-z0-9+/]{8,512}={0,2}`, cue.isBasicAuth],
  ["assignment", loose`(${NAME}${CLOSE}${ASSIGN})${VALUE}`, cue.isAssigned],
  ["flag", loose`(${FLAG}${NAME}[ =])(?!-)${VALUE}`, cue.isAssigned],
  ["argument", loose`(\(\s{0,2}["'][\w.#-]{0,40}${NAME}["']\s{0,2},\s{0,2}|${NAME}\(\s{0,2})${QUOTED}`, cue.isAssigned],
  ["name and value", loose`(${NAME}["'\x60]?[\s,{]{1,40}${VALUE_NAME}\s{0,2})${VALUE}`, cue.isAssigned],
  ["element", loose`(<${ATTRIBUTE}[\w:.-]{0,40}?${NAME}["']?(?:\s[^<>\n]{0,60})?>)[^<>\n]{4,200}(?=<)`, cue.isAssigned],
  ["row of a table", loose`(${ROW}\|[ \x60]{0,4})[^\s|\x60]{4,128}(?=[ \x60]{0,20}\|${LINE_END})`, cue.isAssigned],
  ["SQL", loose`(\b${STATEMENT} )(?:${DOUBLE}|${SINGLE})`, cue.isGiven],
  ["below", loose`(\b${WHOLE_LABEL}(?: is| below| lautet)?[ :?*|>]{0,4}${BLANK_LINES})${TOLD}${LINE_END}`, cue.isBelow],
  ["password is", loose`(${LABEL}["'\x60]?${PLACE}${IS})${TOLD}`, cue.isTold],
  ["password beside", loose`((?<![\w-])${NOUN}(?:[,?] (?:it['’]s )?(?:now )?| \(|[ \t]))${TOLD}`, cue.isBeside],
  ["as the password", loose`(\b${USE} )${TOLD}(?= as (?:[\w']{1,12} ){0,2}${PASSWORD})`, cue.isNamed],
  ["passphrase", loose`(\bpass-?phrase${PLACE}${IS})[a-z]{2,12}(?:[ -][a-z]{2,12}){2,7}(?=[.\n]|$)`, cue.isNamed],
  ["seed phrase", loose`(\b${SEED}${PLACE}${IS}["']?\s{0,2})(?:[a-z]{3,8}\s{1,3}){11,23}[a-z]{3,8}`, cue.isSeed],
];
const HAS_LABEL = new RegExp(`${PASSWORD}|${SECRET}|pass|pw|auth|phrase|words|seed|mnemonic|identified`, "i");

/** A field that holds nothing but a secret. */
const FIELD = "(?:proxy-?)?authorization|(?:set-?)?cookie|pin|otp|mnemonic|pass|.*[_-]pass";
export const SECRET_FIELD = new RegExp(`^(?:${FIELD}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

export function applyRules(text: string): string {
  const rules = HAS_LABEL.test(text) ? [...BY_SHAPE, ...BY_LABEL] : BY_SHAPE;
  return rules.reduce((result, [, find, isSecret]) => applyRule(result, find, isSecret), text);
}

const IN_QUOTES = /^(\\{0,3}["'`“„])(.*?)(\\{0,3}["'`”“])$/s;
const STOPS = ".,;:?)]}*";

function applyRule(text: string, find: RegExp, isSecret: cue.Judge | undefined): string {
  let result = "";
  let done = 0;
  find.lastIndex = 0;
  for (let match = find.exec(text); match !== null; match = find.exec(text)) {
    const kept = match[1] ?? "";
    const start = match.index + kept.length;
    const found = text.slice(start, find.lastIndex);
    const [, open = "", inner = found, close = ""] = IN_QUOTES.exec(found) ?? [];
    let length = inner.length;
    while (STOPS.includes(inner.charAt(length - 1) || " ")) length--;
    const secret = inner.slice(0, length);
    const before = text.slice(Math.max(0, match.index - 1000), match.index);
    const after = (close || inner.slice(length)) + text.slice(find.lastIndex, find.lastIndex + 60);
    const isNone = secret === "" || found.includes(REDACTED) || (open === "" && /^[([{]/.test(after));
    if (isNone || isSecret?.(secret, { kept, before, after, isQuoted: open !== "" }) === false) {
      find.lastIndex = Math.max(start, match.index + 1);
      continue;
    }
    result += text.slice(done, start + open.length) + REDACTED;
    done = start + open.length + secret.length;
  }
  return result + text.slice(done);
}
