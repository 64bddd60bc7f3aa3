/**
 * The table of rules. The first group of an expression is kept, the rest of the match is the secret, with or without
 * quotes; a judge may say that it is none. Every repetition has a limit, so the time is linear.
 */
import { readFileSync } from "node:fs";
import { dataFile } from "../package.ts";
import { lazily } from "../text.ts";
import * as cue from "./judge.ts";
import { PASSWORD, SECRET, oneOf } from "./judge.ts";

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
const SIGN = String.raw`(?:${TYPED}|[:=]{1,3}>?|：|→|(?:\|\||\?\?)(?= ["']))`;
const ASSIGN = String.raw`[ \t]{0,8}${SIGN}[*_]{0,2}(?:<\/\w{1,8}>)?[ \t]{0,8}`;
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
const PHRASE_END = String.raw`(?: (?:for|of|on|to)\b|[^\s\w-]|\s*$|\n)`;
const LABEL = String.raw`(?:${NOUN}|\bpass\b)`;
const PLACE = String.raw`(?:[ \t]${oneOf("place")}(?:[ \t][^\s"\x60,;:!?()]{1,32}){1,6}?)?(?: \([^()\n]{1,40}\))?`;
const ABOVE = String.raw`(?: for [^\n:]{1,80}|${PLACE})(?: is| below| lautet)?`;
const WHOLE_LABEL = String.raw`(?:${PASSWORD}|${SECRET})${CLOSE}${ABOVE}`;
const BE = String.raw`(?:[ \t]${oneOf("auxiliary")}){0,4}[ \t]${oneOf("be")}(?=[\s:])`;
const ADVERB = String.raw`(?:[ \t](?:now|still|currently|probably|just|again|jetzt))?`;
const IS = String.raw`(?:['’]s|${BE}|[ \t]?[:：]|是|为|は)${ADVERB}:?[ \t]{0,3}`;
const IS_PASSWORD = String.raw` (?:still )?is (?:the|our|my|your) (?:\w{1,12} ){0,2}${PASSWORD}${PHRASE_END}`;
/** `Passwords:` over a list of names and values. */
const HEADING = String.raw`(?:^|\n)[# *]{0,4}(?:[\w-]{1,16} )?(?:${PASSWORD}|${SECRET})s:?[*]{0,2}\n`;
const ITEM = String.raw`[ \t]{0,8}(?:[-*•] )?[\w. -]{1,24}: `;
const ITEMS = String.raw`(?:${ITEM}[^\n]{1,80}\n){0,5}`;
const WIFI = String.raw`\b(?:ssid|wi-?fi|wlan|network)\b[^\n]{1,40}\n(?:[^\n]{1,40}\n)?[ *-]{0,4}`;
const BREAK = "[,?] (?:it['’]s )?(?:now |still )?";
const NEW_ONE = "(?:it['’]s|it is|still|(?:the )?new one(?: is|:))";
const SEED = "(?:(?:seed|recovery|backup|secret|wallet|mnemonic)(?: phrase| words?)?|words)";
const SEED_WORDS = String.raw`(?:[a-z]{3,8},?\s{1,3}){11,23}[a-z]{3,8}`;
const USER = String.raw`["'\x60]?[\w.@+-]{1,64}["'\x60]?`;
const SIGN_IN = String.raw`\b(?:log|sign)(?:s|ged|ging|ed|ing)?[ -]?in\b`;
const LOGIN = String.raw`\b${oneOf("login")}\b`;

// Codes of locks, of messages, of apps that show one-time codes.
const LOCK = oneOf("lock");
const CODE_NOUN = "(?:code|combination|combo)s?";
const CODE_KIND = String.raw`(?:${LOCK}|${oneOf("code")})(?:['’]s)?(?: panel| keypad)?(?: lock)?`;
const CODE_OF = String.raw`(?: lock)? (?:for|of|to|on|de|für)(?: (?!is\b)[\w'’]{1,16}){0,4}? `;
const CODE_PLACE = String.raw`${CODE_NOUN}${CODE_OF}${LOCK}(?: \d{1,3})?`;
const CODE_NAME = String.raw`(?:pin(?:-?code)?s?|puk|otp|tan|passcode|${oneOf("compound")}-?code)`;
const CODE = String.raw`\b(?:${CODE_NAME}|${CODE_KIND} ${CODE_NOUN}|${CODE_PLACE})`;
const GROUPS = String.raw`\d{3,4}[ -]\d{3,4}|\d{1,2}(?:[ -]\d{1,2}){2,4}|(?=[a-z]{0,4}\d)[a-z0-9]{4,5}-[a-z0-9]{4,5}`;
const DIGITS = String.raw`(?:[a-z*]?\d{4,8}[a-z]?|${GROUPS})#?(?![\w:-])`;
const YOUR_CODE = String.raw`\b(?:[Yy]our|[Ii]hr|[Dd]ein|[Vv]otre)(?: [A-Z][\w-]{1,16}){0,2} [Cc]ode`;
const SPARE = String.raw`\b${oneOf("spare")}[ -]codes?${PLACE}`;
const SPARE_CODE = String.raw`(?=[a-z-]{0,11}\d)(?:\d{4} \d{4}|[a-z0-9]{4,32}(?:-[a-z0-9]{4,6}){0,4})(?![\w:-])`;
const SPARE_CODES = String.raw`${SPARE_CODE}(?:(?:[,\s*•-]{1,6}| and )${SPARE_CODE}){0,15}`;
const BASE32 = "(?:[a-z2-7]{16,64}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})";
const MY = String.raw`(?:my|our|new) (?!${oneOf("other_key")})\w{2,16} `;
const HEX_KEY = String.raw`(?<![a-z])(?:${oneOf("key")}[ _-]|api|${MY})key${PLACE}`;
const BLANK_LINES = String.raw`\r?\n(?:[ \t]{0,8}(?:\x60{3}\w{0,12})?\r?\n){0,3}[ \t>*-]{0,8}`;
const LINE_START = String.raw`(?:^|\n)[ \t]{0,8}(?:[-*•>] |\d\. )?[*]{0,2}(?:[\w.]{0,24}[_ -])?`;
const PHRASE_WORD = String.raw`[^\s"\x60<>()[\]{}:;,.=|/\\*#-]{1,20}`;
const PHRASE = `${PHRASE_WORD}(?: ${PHRASE_WORD}){1,6}`;
const LINE_END = String.raw`(?=[ \t]{0,8}(?:\r?\n|$))`;

/** `find` makes its expression on the first call. */
type Rule = readonly [name: string, find: () => RegExp, isSecret?: cue.Judge];
type Tag = (strings: TemplateStringsArray, ...parts: string[]) => () => RegExp;
const exact: Tag = (strings, ...parts) => lazily(() => new RegExp(String.raw(strings, ...parts), "g"));
const loose: Tag = (strings, ...parts) => lazily(() => new RegExp(String.raw(strings, ...parts), "gi")); // any case

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
];

const BY_LOGIN: readonly Rule[] = [
  ["authorization", loose`(\bauthorization${CLOSE}${HEADER}(?:\w{2,20} )?)[^\s"'\x60,;<>]{8,4096}`, cue.isOpaque],
  ["cookies", loose`((?:\bcookie["'\x60]?|\s-b|\s--cookie)${HEADER})${PAIR}(?:; ?${PAIR}){0,30}`, cue.holdsSession],
  ["option of a tool", exact`(\b${TOOL})(?!["']?\[redacted)(?:${QUOTED}|[^\s"'\x60-][^\s"'\x60]{2,255})`, cue.isGiven],
  ["login", loose`((?:${LOGIN}|${SIGN_IN})[^\n/:|]{0,40}?[ :]{1,2}${USER}(?: ?[/|] ?|:))${TOLD}`, cue.isPair],
  ["sign in as", loose`(${SIGN_IN}[^\n]{0,30}? (?:as|with|using) ${USER} (?:with|using|and) )${TOLD}`, cue.isPair],
  ["login in code", loose`(\b(?:login|auth|connect\w{0,8}|\w{0,12}credentials?)${ARGUMENTS})${QUOTED}`, cue.isPair],
  ["arguments", loose`()(?<=(?:connect\w{0,8}|PDO)\([^\n()]{1,80}, ?)${QUOTED}`, cue.isPair],
  ["basic", loose`(\bbasic\s)[A-Za-z0-9+/]{4,512}={0,2}`, cue.isBasicAuth],
  ["pair", loose`((?:^|[\s:(])(?:${USER} \/{1,2} |\S{1,64}@[\w.-]{1,64}, ))${TOLD}`, cue.isPlainPair],
  ["user and pass", loose`(\buser(?:name)?[ :]{1,2}${USER},? (?:and )?(?:pass|pw)[ :]{1,2})${TOLD}`, cue.isTyped],
  ["known account", loose`((?<![\w/@.-])${oneOf("account")}(?: ?[/|] ?|:))${TOLD}`, cue.isAccount],
];

const BY_CODE: readonly Rule[] = [
  ["set-up key", loose`(\b${oneOf("setup")}\b[^\n]{0,40}?[: ]["'\x60]?)${BASE32}\b`, cue.isBase32],
  ["key in hex after its label", loose`(${HEX_KEY}(?:${IS}|[ \t=])["'\x60]?)(?:0x)?[0-9a-f]{32,128}\b`],
  ["key in a variable", exact`(\b(?!CACHE|PUBLIC|SESSION)[A-Z0-9_]{2,30}_KEY["']?\s?[:=]\s?["']?)[0-9a-f]{32,128}\b`],
  ["app password", loose`(\bapp(?:lication)?[- ]password${PLACE}${IS}["']?)(?:[a-z]{4} ){3}[a-z]{4}\b`, cue.isNamed],
  ["recovery codes", loose`(${SPARE}(?:${IS}|[ \t]?→)?\s{1,4}(?:[-*•] )?)${SPARE_CODES}`, cue.isCode],
  ["keypad", loose`(\b${LOCK}(?: keypad| panel)?:? )(?:\d{4,8}#|\*\d{4,8})`],
  ["code in a message", loose`()${DIGITS}(?= is your (?:[\w-]{1,16} ){0,3}code)`],
  ["your code", exact`(${YOUR_CODE}${IS})${DIGITS}`, cue.isCode],
  ["use the code", loose`(\b(?:use|enter) (?:code )?)\d{3}[ -]?\d{3}(?= to verify|(?<=code .{6,7}) to (?:sign|log))`],
  ["code", loose`(${CODE}${PLACE}(?:${IS}|[ \t](?:= |\()?|: code ))${DIGITS}(?:, ${DIGITS}){0,15}`, cue.isCode],
];

const BY_LABEL: readonly Rule[] = [
  ["login in Base64", loose`(\b_?auth["']?\s{0,2}[:=]\s{0,2}["']?)[A-Za-z0-9+/]{8,512}={0,2}`, cue.isBasicAuth],
  ["assignment", loose`(${NAME}${CLOSE}${ASSIGN})${VALUE}`, cue.isAssigned],
  ["flag", loose`(${FLAG}${NAME}[ =])(?!-)${VALUE}`, cue.isAssigned],
  ["argument", loose`(\(\s{0,2}["'][\w.#-]{0,40}${NAME}["']\s{0,2},\s{0,2}|${NAME}\(\s{0,2})${QUOTED}`, cue.isAssigned],
  ["name and value", loose`(${NAME}["'\x60]?[\s,:{]{1,40}${VALUE_NAME}\s{0,2})${VALUE}`, cue.isAssigned],
  ["element", loose`(<${ATTRIBUTE}[\w:.-]{0,40}?${NAME}["']?(?:\s[^<>\n]{0,60})?>)[^<>\n]{4,200}(?=<)`, cue.isAssigned],
  ["phrase", loose`(${LINE_START}${NAME}${CLOSE}[ \t]?[:=][* \t]{0,4})${PHRASE}${LINE_END}`, cue.isPhrase],
  ["field", loose`(${NAME}["'\]]{1,2}\)\.(?:type|fill|send_?keys|setValue)\(\s{0,2})${QUOTED}`, cue.isTyped],
  ["cell", loose`(${NAME}:?<\/(?!th)\w{1,10}>\s{0,40}(?:<\w{1,20}[^<>\n]{0,60}>)?)[^<>\n]{4,200}(?=<)`, cue.isAssigned],
  ["row of a table", loose`(${ROW}\|[ \x60]{0,4})[^\s|\x60]{4,128}(?=[ \x60]{0,20}\|${LINE_END})`, cue.isAssigned],
  ["SQL", loose`(\b${STATEMENT} )(?:${DOUBLE}|${SINGLE})`, cue.isGiven],
  ["below", loose`(\b${WHOLE_LABEL}[ :?*|>]{0,4}${BLANK_LINES})${TOLD}${LINE_END}`, cue.isBelow],
  ["password is", loose`(${LABEL}["'\x60]?${PLACE}${IS})${TOLD}`, cue.isTold],
  ["password beside", loose`((?<![\w/-])${NOUN}(?:${BREAK}| \(|[ \t]|${PLACE} [–-] ))${TOLD}`, cue.isBeside],
  ["is the password", loose`()(?<![\w-])${TOLD}(?=${IS_PASSWORD})`, cue.isTyped],
  ["another password", loose`(\[redacted\](?: to | or | and | \/ ))${TOLD}`, cue.isTyped],
  ["when asked", loose`(\b(?:type|enter|use|try) )${TOLD}(?= (?:when|if|where) [^\n.]{0,40}${PASSWORD})`, cue.isTyped],
  ["asked", loose`(${PASSWORD},? (?:type|enter|use|try) )${TOLD}`, cue.isTyped],
  ["it is", loose`((?:${PASSWORD}|\bpass)(?: [\w ]{0,24})?[,;.] ${NEW_ONE} )${TOLD}`, cue.isTyped],
  ["in a list", loose`()(?<=${HEADING}${ITEMS}${ITEM})${VALUE}`, cue.isListed],
  ["Wi-Fi", loose`(${WIFI}(?:key|schlüssel): )${TOLD}${LINE_END}`, cue.isTyped],
  ["as the password", loose`(\b${oneOf("use")} )${TOLD}(?= as (?:[\w']{1,12} ){0,2}${PASSWORD})`, cue.isNamed],
  ["passphrase", loose`(\bpass-?phrase${PLACE}${IS})[a-z]{2,12}(?:[ -][a-z]{2,12}){2,7}(?=[.\n]|$)`, cue.isNamed],
  ["seed phrase", loose`(\b${SEED}${PLACE}(?:${IS}|[ \t]?=)\s{0,2}["']?)${SEED_WORDS}`, cue.isSeed],
];
const HAS_SHAPE = /-----BEGIN|:\/\/|[?&]|(?<![\w.~+/=,$-])[\w.~+/=,$-]{14}/;
const HAS_LOGIN = /[/|:(@=<]|\s-|auth|basic|cookie|log|pass|psk|secur|sign|user/i;
const BY_BLANKS = "(?<![A-Z2-7])(?:[A-Z2-7]{4} ){3}[A-Z2-7]{4}";
const BY_DASH = String.raw`(?<=[a-z0-9]{4})-(?=[a-z0-9]{4})(?:(?<=\d.{1,4})|(?=.{0,3}\d))`;
const SPACED = `${BY_BLANKS}|${BY_DASH}|app(?:lication)?[- ]password|recover|backup`;
const HAS_CODE = new RegExp(String.raw`\d[\d-]|(?<![a-z0-9])[a-z0-9]{16}|${SPACED}`, "i");
const HAS_LABEL = new RegExp(`${PASSWORD}|${SECRET}|${oneOf("other")}`, "i");

/** A field that holds nothing but a secret. */
const FIELD = "(?:proxy-?)?authorization|(?:set-?)?cookie|pin|otp|mnemonic|pass|.*[_-]pass";
export const SECRET_FIELD = new RegExp(`^(?:${FIELD}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

/** Each group with what every text has in which one of its rules can match. */
const GROUPS_OF_RULES: readonly (readonly [RegExp, readonly Rule[]])[] = [
  [HAS_SHAPE, BY_SHAPE],
  [HAS_LOGIN, BY_LOGIN],
  [HAS_CODE, BY_CODE],
  [HAS_LABEL, BY_LABEL],
];

/** Most texts need only some of the rules. Compiling all of them takes as long as a short command. */
export function applyRules(text: string): string {
  const rules = GROUPS_OF_RULES.flatMap(([has, group]) => (has.test(text) ? group : []));
  return rules.reduce((result, [, find, isSecret]) => applyRule(result, find(), isSecret), text);
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
