/**
 * The table of rules. The first group of an expression is kept, the rest of the match is the secret, with or without
 * quotes; a judge may say that it is none. Every repetition has a limit, so the time is linear.
 */
import * as cue from "./judge.ts";
import { PASSWORD, SECRET, TABLE, anyOf, oneOf } from "./judge.ts";
import { type Find, finder } from "./needed-texts.ts";

export const REDACTED = "[redacted]";

/** Rows say `alphabet length prefix`. */
const prefixOf = ([alphabet = "", length = "", prefix = ""]: readonly string[]): string =>
  `(?:${prefix})(?=[${TABLE.alphabets[alphabet]}]{${length}})`;
const TOKEN = anyOf(Object.values(TABLE.tokens).map((row) => prefixOf(row.split(" "))));
/** Tools and their options; `…` stands for the options between them. */
const TOOLS = Object.values(TABLE.tools).map((row) => row.replaceAll(" … ", String.raw`\s(?:[^\n|;]{0,200}?\s)??`));
/** Not inside a word. The `n` of a written `\n` does not count as one. */
const START = String.raw`(?:(?<![A-Za-z0-9_+/\\-])|(?<=\\[nrt]))`;
/** Only Fly's prefix has a blank. */
const VENDOR = String.raw`${START}(?=[\w.$:~/-]{15}|FlyV1\s)(${TOKEN})[\w-]{6,4096}`;

// Values: in quotes; up to a blank or a sign that separates it from what follows; one word of a sentence.
const DOUBLE = String.raw`\\{0,3}"(?:[^"\\\n]|\\[^"\n]){1,500}\\{0,3}"`;
const SINGLE = String.raw`\\{0,3}'(?:[^'\\\n]|\\[^'\n]){1,500}\\{0,3}'`;
const QUOTED = String.raw`(?:${DOUBLE}|${SINGLE}|\x60[^\x60\n]{1,500}\x60)`;
/** Chinese, Japanese and Korean write no blank between a value and the sentence. */
const CJK = String.raw`\u3001-\u9fff\uac00-\ud7af`;
const SEPARATOR = String.raw`[,;&|](?=[\s"'\x60|]|$|[\w .-]{1,40}[=:])`;
const BARE = String.raw`(?:(?!${SEPARATOR})[^\s"'\x60<>()[\]{}\\${CJK}]|\\(?![nrt"'])){1,4096}`;
const VALUE = `(?:${QUOTED}|${BARE})`;
const OPTION = String.raw`(?!["']?\[redacted)(?:${QUOTED}|[^\s"'\x60-][^\s"'\x60]{2,255})`;
const TOLD = String.raw`(?:${QUOTED}|(?:[^\s"'\x60<>()[\]{};,\\${CJK}]|\\(?![nrt])){4,128})`;

/** The end of a name such as `DB_PASSWORD` or `apiKey2`. A `password_length` is a length. */
const SUFFIX = String.raw`(?:[_-]?(?:prod|staging|stage|dev|test|live|base|\d{1,2}))?(?![A-Za-z0-9-]|_\w)`;
const NAME = String.raw`(?:${PASSWORD}s?|pass|pw|${SECRET})${SUFFIX}`;
/** A closing quote, bracket or emphasis after a name, and a remark. */
const CLOSE = String.raw`(?:\\{0,3}["'\x60\]]|[*_]{1,2}){0,2}(?: \([^()\n]{1,40}\))?`;
/** `: `, ` = `, `=> `, `: string = "`, `?? "` */
const SIGN = String.raw`(?::[ \t]?&?\w{1,20}[ \t]?=(?=[ \t]?["'])|:=|={1,3}>?|:(?!:)|→|->|(?:\|\||\?\?)(?= ["']))`;
const ASSIGN = String.raw`[ \t]{0,40}${SIGN}[*_]{0,2}(?:<\/\w{1,8}>)?[ \t]{0,40}`;
const SETTINGS = String.raw`(?:\w{1,20}\s{0,40}=[^\n]{0,80}\n\s{0,40}){0,3}`;
const VALUE_NAME = String.raw`["']?(?:value["']?\s{0,40}[:=]|default\s{0,40}=)`;
const ATTRIBUTE = String.raw`(?:\w{1,20} (?:name|key)=["'])?`;
const COOKIE = String.raw`[\w.-]{1,64}(?:=[^\s;"'\x60]{0,512})?`;
const JAR = String.raw`\t(?:TRUE|FALSE)\t\/[^\t\n]{0,99}\t(?:TRUE|FALSE)\t\d{1,12}\t`;
const HEADER = String.raw`\s{0,2}[:=, ]\s{0,3}["'\x60]?`;
const FIELD = String.raw`\(\s{0,2}["'][\w.#-]{0,40}${NAME}["']\s{0,40},\s{0,40}`;
const TYPED = String.raw`${NAME}(?:["'\]]{1,4}\)\.${oneOf("typing")})?\(\s{0,2}`;
const SIGN_IN_CALL = String.raw`\b(?:login|auth|connect\w{0,8}|PDO|\w{0,12}credentials?)[ =]{0,3}\(`;
const FLAG = String.raw`(?:(?:^|\s)--?|(?:\b(?:ENV|ARG|setx|setenv)|#define) )[\w-]{0,30}?`;

// Parts of sentences: "password", "for the router (admin)", "has been changed to:".
const PASSWORD_NAME = `(?:${PASSWORD}|pass|pw)`;
const NOUN = String.raw`(?:${PASSWORD}s?|\bpw\b|${SECRET})`;
const STILL = "(?:(?:it's|now|still) ){0,2}";
const NEW_ONE = "(?:it's|it is|still|(?:the )?new one(?: is|:)?)";
const ENTER = String.raw`(?: prompt| field| box)?[,;.?]?(?: [\w']{1,8}){0,3}? (?:type|enter|use|try|put)(?: in)? `;
const PHRASE_END = String.raw`(?: (?:for|of|on|to|and|in|at|until|when|now|then)\b|[^\s\w-]|\s*$|\n)`;
const LABEL = String.raw`(?:${NOUN}|\bpass\b)`;
const PLACE = String.raw`(?:[ \t]${oneOf("place")}(?:[ \t](?:(?!')[^\s"\x60,;:!?()]{1,32}|'[^'\n]{1,80}')){1,6}?)??(?: \([^()\n]{1,40}\))?`;
const ABOVE = String.raw`(?:${PASSWORD}|${SECRET})${CLOSE}(?: for [^\n:]{1,80}|${PLACE})(?: is| below| lautet)?`;
const BE = String.raw`(?:[ \t]{1,4}${oneOf("auxiliary")}){0,4}[ \t]{1,4}${oneOf("be")}(?=[\s:])(?!\sthe\s)`;
const IS = String.raw`(?:'s|${BE}|[ \t]{0,40}:(?!:)|[ \t](?:->|→)|[是为為は는])(?:[ \t]${oneOf("after_is")})?[ \t]{0,3}:?[ \t]{0,40}`;
const IS_THE = ",? (?:(?:still|that|which|it) )?(?:is|was) (?:the|our|my|your)";
const THE_PASSWORD = String.raw`(?:[\w']{1,12} ){0,3}${PASSWORD}${PHRASE_END}`;
// Words in a row, in a list, with numbers or in quotes.
const COUNTED = String.raw`(?:(?:word |#)?\d{1,2}[.):]{0,2}[ \t]{1,3}|[-*•] )?["']?`;
const SEED_WORDS = String.raw`${COUNTED}(?:[a-z]{3,8}["']?,?\s{1,20}${COUNTED}){11,23}[a-z]{3,8}`;
const SEED_START = String.raw`${IS}|[ \t]{0,40}=|(?<=phrase|words|mnemonic|wallet|\))(?=\s)`;
const USER = String.raw`["'\x60]?[\w.@+-]{1,64}["'\x60]?`;
const MAIL = String.raw`\S{1,64}@[\w.-]{1,64}(?:, | \/{1,2} |:(?!\S*\/))(?=\S*\d)`;
const NETWORK = String.raw`[^\n/|]{0,40}?[ :]${USER}(?: ?/ ?| \| )(?=[^\s\d]{4}\S{4})(?-i:(?=\S*[a-z]))`;
const WIFI = String.raw`\b(?:ssid|wi-?fi|wlan)\b(?:[^\n]{1,40}\n[ *-]{0,4}(?:key|schlüssel): |${NETWORK})`;
const SIGN_IN = String.raw`\b(?:log|sign|get)(?:s|ged|ging|ed|ing)?[ -]?in(?:to)?\b`;

// Codes of locks, of messages, of apps that show one-time codes.
const CODE_NOUN = "(?:code|c[oó]digo|combination|combo)s?(?: lock)?";
const CODE_KIND = String.raw`(?:${oneOf("lock")}|${oneOf("code")})(?:'s)?(?: panel| keypad| lock){0,2}`;
const CODE_PLACE = String.raw`(?<!\b(?:exit|error|status|return|source) )${CODE_NOUN} (?:for|of|to|on|de|für)(?: (?!is\b)[\w']{1,16}){0,4}? ${oneOf("lock")}(?: \d{1,3})?`;
const YOUR_CODE = "(?-i:(?:[Yy]our|Ihr|Dein|Votre)(?: [A-Z][\\w-]{1,16}){0,2} [Cc]ode)";
const CODE = String.raw`\b(?:${YOUR_CODE}|${oneOf("code_name")}|${oneOf("compound")}-?code|${CODE_KIND}(?:: new|:)? ${CODE_NOUN}|${CODE_PLACE})`;
const GROUPS = String.raw`\d{3,4}[ -]\d{3,4}|\d{1,2}(?:[ -]\d{1,2}){2,4}|(?=[a-z]{0,4}\d)[a-z0-9]{4,5}-[a-z0-9]{4,5}`;
const DIGITS = String.raw`(?:[a-z*#]?\d{4,8}[a-z]?|${GROUPS})[#*]?(?![\w:-])`;
const WAS_CHANGED = String.raw`(?<=\b(?:changed|updated|reset|different|new)\b[\w ]{0,20})(?::| [–-]) `;
const CHANGED = String.raw`(?: [^\n\d.;:]{0,60}?)?(?:[,;.:] (?:now )?${NEW_ONE} |${WAS_CHANGED})`;
const CODE_IS = String.raw`${CODE}${PLACE}(?:${IS}|[ \t](?:= |\()?|: code |${CHANGED})`;
const SPARE_CODE = String.raw`(?=[a-z-]{0,11}\d)(?:\d{4} \d{4}|[a-z0-9]{4,32}(?:-[a-z0-9]{4,6}){0,4})(?![\w:-])`;
const SPARE_CODES = String.raw`${SPARE_CODE}(?:(?:[,\s*•-]{1,6}| and )${SPARE_CODE}){0,15}`;
const BASE32 = "(?:[a-z2-7]{16,64}|(?:[a-z2-7]{4}[ -]){3,15}[a-z2-7]{4})";
const TOKEN_BEFORE = String.raw`\b(?:(?-i:PAT)|${SECRET})s?\b[^\n]{0,100}?[\w)](?::| ->| →)\s{1,2}["'\x60]?`;
const MY = String.raw`(?:my|our|new) (?!${oneOf("other_key")})\w{2,16} `;
const HEX_KEY = String.raw`(?<![a-z])(?:${oneOf("key")}[ _-]|api|${MY})key${PLACE}`;
const KEY_VARIABLE = String.raw`(?-i:\b(?!CACHE|PUBLIC|SESSION)[A-Z0-9_]{2,30}_KEY)["']?\s{0,40}[:=]\s{0,40}`;
const CLIENT = String.raw`(?:client|api|sdk|gateway)(?: ?= ?(?:new |await )?[\w.]{1,40}|\.(?:create|new|init\w{0,8}))?`;
const ARGUMENT = String.raw`${CLIENT}\((?:["'][^"'\n]{0,64}["'], ?){0,2}`;
const KEY_LABEL = new RegExp(`(?:${HEX_KEY}(?:${IS}|[ \\t=]{1,40})|${KEY_VARIABLE}|${ARGUMENT})["'\`]?$`, "i");
const REMARK_START = String.raw`^["'\x60)\]};,\s]{1,16}(?:\/\/|#|\/\*|--)[ \t]{0,4}(?:(?!not?\b|${oneOf("of_key")})[\w']{1,16} ){0,3}?`;
const KEY_NOUN = String.raw`(?:${oneOf("key")} key|${PASSWORD}|${SECRET})s?(?=\s*(?:[,.;:!(*-]|$)| (?:for|of|to|do)\b)`;
const REMARK = new RegExp(REMARK_START + KEY_NOUN, "i");
const BLANK_LINES = String.raw`\r?\n(?:[ \t]{0,8}(?:\x60{3}\w{0,12})?\r?\n){0,3}[ \t>*-]{0,40}`;
const LINE_START = String.raw`(?:^|\n)[ \t]{0,40}(?:[-*•>] |\d\. )?[*]{0,2}(?:[\w.]{0,24}[_ -])?`;
const PROMPT = String.raw`(?:${LINE_START}|(?:^|\n)${cue.PROMPT}[^\n:]{0,40}? )${PASSWORD_NAME}${CLOSE}${PLACE}`;
const PHRASE_WORD = String.raw`[^\s"\x60<>()[\]{}:;,.=|/\\*#-]{1,20}`;
const PHRASE = `${PHRASE_WORD}(?: ${PHRASE_WORD}){1,6}`;
const PLAIN_WORDS = "[a-z]{2,12}(?:[ -][a-z]{2,12}){2,7}";
const LINE_END = String.raw`(?=[ \t]{0,8}(?:\r?\n|$))`;

// One speaker asks for a secret, the next one answers: `[10:03] tom: it's …`, `<tom> …`, `**User:** …`
const ASKED = String.raw`(?=[?.,:!\n"]|\s${oneOf("after_asked")}\b)[^\n]{0,120}`;
const CLOCK = String.raw`[[(]?(?:\d[\d./-]{5,9}[, T]{1,2})?\d{1,2}:\d\d(?::\d\d)?(?: ?[AP]M)?[\])]?`;
const SIGNS = String.raw`:<>*(){}="'\x60`;
const SPEAKER = String.raw`(?:${CLOCK}[ ,-]{1,3})?[*<@]{0,3}[^\s\d${SIGNS}][^\n${SIGNS}]{0,24}(?: ?\(${CLOCK}\))?`;
const CONTENT = String.raw`["'] ?\},?\s{0,8}\{[^{}\n]{0,60}["']content["']: ?`;
const NEXT = String.raw`(?:\n[<>] |\n{1,2}${SPEAKER}(?:[*]{0,2}[:>][*]{0,2}[ \t]{1,2}|[ \t]{1,4}${CLOCK}\n)|${CONTENT})`;
const ANSWER = String.raw`${ASKED}${NEXT}(?:[\w' ,]{0,30}?\b${oneOf("lead")}[,:!]? )?`;

type Rule = readonly [name: string, find: Find, isSecret?: cue.Judge];
type Tag = (strings: TemplateStringsArray, ...parts: string[]) => Find;
const exact: Tag = (strings, ...parts) => finder(String.raw(strings, ...parts), "g");
const loose: Tag = (strings, ...parts) => finder(String.raw(strings, ...parts), "gi"); // any case

const BY_SHAPE: readonly Rule[] = [
  ["cookies", loose`((?:\bcookie["'\x60]?|\s-b|\s--cookie)${HEADER})${COOKIE}(?:; ?${COOKIE}){0,30}`, cue.holdsSession],
  ["cookie jar", exact`(${JAR})[\w.-]{1,64}\t\S{6,4096}`, cue.holdsSession],
  ["vendor", exact`${VENDOR}(?:[.=]{1,2}[\w-]{1,4096}){0,5}={0,2}`, cue.isReal],
  ...Object.values(TABLE.shapes).map((row): Rule => ["shape", exact`()(?:${row})`]),
  ["random run", exact`()${START}[A-Za-z0-9_+/-]{24,4096}={0,2}`, cue.isRandomRun],
  ["password in an address", exact`(:\/\/[^\s:/@"'\x60<>]{0,128}:)[^\s"'\x60<>]{3,256}(?=@)`, cue.isGiven],
  ["token in an address", exact`(:\/\/)[A-Za-z0-9_.~-]{20,256}(?=@)`, cue.isOpaque],
  ["bearer", loose`(\b(?:bearer|basic)\s)[A-Za-z0-9._~+/=-]{16,4096}`, cue.isOpaque],
  ["header", loose`(\bauthorization${CLOSE}${HEADER}(?:\w{2,20} )?)(?!AWS4-)[^\s"'\x60,;<>]{8,4096}`, cue.isOpaque],
  ...TOOLS.map((row): Rule => ["option of a tool", exact`(\b(?:${row}))${OPTION}`, cue.isGiven]),
  [
    "login",
    loose`((?:\b${oneOf("login")}\b|${SIGN_IN})[^\n/:|]{0,40}?[ :]{1,2}${USER}(?: ?[/|] ?|:))${TOLD}`,
    cue.isPair,
  ],
  ["sign in as", loose`(${SIGN_IN}[^\n]{0,30}? (?:as|with|using) ${USER} (?:with|using|and) )${TOLD}`, cue.isPair],
  ["argument of a login", loose`()(?=["'])(?<=${SIGN_IN_CALL}[^\n()]{1,80}, ?)${QUOTED}`, cue.isPair],
  ["basic", loose`(\b(?:basic\s|_?auth["']?\s{0,2}[:=]\s{0,2}["']?))[A-Za-z0-9+/]{4,512}={0,2}`, cue.isBasicAuth],
  ["pair", loose`((?:^|[\s:(])${USER} \/\/? (?=\S*\w[!$%&*?]\w))${TOLD}`, cue.isPair],
  ["address and password", loose`((?:^|[\s:(])${MAIL})${TOLD}`, cue.isPair],
  ["account", loose`((?<![\w/@.-])${oneOf("account")}(?: ?[/|] ?|:)(?=\S*[\d!#$%]))${TOLD}`, cue.isAccount],
  ["user and pass", loose`(\buser(?:name)?[ :]{1,2}${USER},? (?:and )?(?:pass|pw)[ :]{1,2})${TOLD}`, cue.isNamed],
  ["near its name", loose`(${TOKEN_BEFORE})[\w-]{20,256}(?![\w-])`, cue.isOpaqueRun],
  ["code as an answer", loose`((?:${CODE}|\d[ -]digit code)${ANSWER})${DIGITS}`, cue.isRequested],
  ["set-up key", loose`(\b${oneOf("setup")}\b[^\n]{0,40}?[: ]["'\x60]?)${BASE32}\b`, cue.isBase32],
  ["key in hex", loose`()\b(?!0x[0-9a-f]{40}\b)(?:0x)?[0-9a-f]{32,128}\b`, isKey],
  ["spare codes", loose`(\b${oneOf("spare")}[ -]codes?${PLACE}(?:${IS})?\s{1,4}(?:[-*•] )?)${SPARE_CODES}`, cue.isCode],
  ["code", loose`(${CODE_IS})${DIGITS}(?:, ${DIGITS}){0,15}`, cue.isCode],
];

const BY_LABEL: readonly Rule[] = [
  ["assignment", loose`(${NAME}${CLOSE}${ASSIGN})${VALUE}`, cue.isAssigned],
  ["generated", exact`(\b[A-Z_]{2,30}_(?:KEY|SALT)["']?\s{0,40}[:=,]\s{0,40})${QUOTED}`, cue.isGenerated],
  ["flag", loose`(${FLAG}${NAME}[ =])(?!-)${VALUE}`, cue.isAssigned],
  ["argument", loose`(${FIELD}|${TYPED})${QUOTED}`, cue.isAssigned],
  ["name and value", loose`(${NAME}["'\x60]?[\s,:{]{1,40}${SETTINGS}${VALUE_NAME}\s{0,40})${VALUE}`, cue.isAssigned],
  ["element", loose`(<${ATTRIBUTE}[\w:.-]{0,40}?${NAME}["']?(?:\s[^<>\n]{0,60})?>)[^<>\n]{4,200}(?=<)`, cue.isAssigned],
  ["phrase", loose`(${PROMPT}[ \t]{0,40}(?:[:=→]|->)[* \t]{0,40})${PHRASE}${LINE_END}`, cue.isPhrase],
  ["cell", loose`(${NAME}:?<\/(?!th)\w{1,10}>\s{0,40}(?:<\w{1,20}[^<>\n]{0,60}>)?)[^<>\n]{4,200}(?=<)`, cue.isAssigned],
  ["below", loose`(\b${ABOVE}[ :?*|>]{0,4}${BLANK_LINES})${TOLD}${LINE_END}`, cue.isBelow],
  ["password is", loose`(${LABEL}["'\x60]?${PLACE}${IS})${TOLD}`, cue.isTold],
  ["beside", loose`((?<![\w/-])${NOUN}(?:[,?] ${STILL}| \(|[ \t]{1,40}|${PLACE} [–-] ))${TOLD}`, cue.isBeside],
  ["is the password", loose`()(?<=^|\s)(?=\S{4,128}${IS_THE} )${TOLD}(?=${IS_THE} ${THE_PASSWORD})`, cue.isTyped],
  ["another password", loose`(\[redacted\](?: to | or | and | \/ ))${TOLD}`, cue.isTyped],
  ["asked", loose`(${PASSWORD}${ENTER})${TOLD}`, cue.isEntered],
  [
    "it is",
    loose`((?:${PASSWORD}|\bpass|\bpw)(?: [\w' ]{0,60})?(?:(?:[,;.]| [–—-]) ${NEW_ONE}| (?:->|→)) )${TOLD}`,
    cue.isTyped,
  ],
  ["in the sentence", loose`()(?<=[ ("'])(?=[a-z][a-z._-]{3,24}\d)[\w.!-]{6,40}(?![\w/@-])`, cue.isChosen],
  ["Wi-Fi", loose`(${WIFI})${TOLD}`, cue.isTyped],
  ["as the password", loose`(\b${oneOf("use")} )${TOLD}(?= as ${THE_PASSWORD})`, cue.isNamed],
  ["passphrase", loose`(\b${oneOf("phrase")}(?:${PLACE}${IS}|[ \t]))${PLAIN_WORDS}(?=[.\n]|$)`, cue.isPhrase],
  ["answer", loose`(${LABEL}${ANSWER})(?:${PHRASE_WORD} ${PHRASE}${LINE_END}|${TOLD})`, cue.isAnswer],
  ["seed phrase", loose`(\b${oneOf("seed")}${PLACE}(?:${SEED_START})\s{0,20}[[("']{0,3})${SEED_WORDS}`, cue.isSeed],
];
/** `// admin key` also names the key before it. */
function isKey(_: string, { before, after }: cue.Cue): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1).slice(-200);
  return KEY_LABEL.test(line) || (REMARK.test(after) && !cue.isPublic(before) && !/\bgit /.test(line));
}

const findLabel = loose`${PASSWORD}|${SECRET}|${oneOf("other")}`;

/** A field that holds nothing but a secret. */
export const SECRET_FIELD = new RegExp(`^(?:${oneOf("field")}|.*(?:${PASSWORD}|${SECRET})s?)$`, "i");

/** Most texts need only some of the rules. Compiling all of them takes as long as a short command. */
export function applyRules(text: string): string {
  const label = findLabel(text);
  const rules = label === undefined || text.search(label) === -1 ? BY_SHAPE : [...BY_SHAPE, ...BY_LABEL];
  return rules.reduce((result, [, find, isSecret]) => applyRule(result, find(result), isSecret), text);
}

const IN_QUOTES = /^(\\{0,3}["'`])(.*?)(\\{0,3}["'`])$/s;
const STOPS = ".,;:?)]}*";

function applyRule(text: string, find: RegExp | undefined, isSecret: cue.Judge | undefined): string {
  if (find === undefined) return text;
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
