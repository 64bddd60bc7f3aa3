/**
 * The table of secrets: what a text must contain before the expression is tried, what judges a match, and the
 * expression. Its first group is kept, the rest is the secret. Every run is bounded, so the time is linear.
 */
import * as judges from "./judge.ts";

export const REDACTED = "[redacted]";
const exact = (strings: TemplateStringsArray, ...parts: string[]) => new RegExp(String.raw(strings, ...parts), "g");
const anyCase = (strings: TemplateStringsArray, ...parts: string[]) => new RegExp(String.raw(strings, ...parts), "gi");

/** Options between a command and the flag. */
const OPTIONS = String.raw`\s(?:[^\s|;&](?:[^\n|;]|(?<=\\)\n){0,300}?\s)??`;
/** Commands and lines of files, up to where their password begins. */
const BEFORE_PASSWORD = Object.values(judges.DATA.tools).join("|").replaceAll("<options>", OPTIONS);
/** Not inside a word. The `n` of a written `\n` does not count as one. */
const START = String.raw`(?<!\\)(?<!(?<!\\)[A-Za-z0-9])`;
/** To the closing quote if one was opened, else to the next space or to a sign that separates it from what follows. */
const VALUE = [
  String.raw`(?<=")(?![,;)\]}\s])(?:[^"\\\n]|\\[^"\n]){1,2048}(?=\\{0,4}")|(?<=')(?![,;)\]}\s])(?:[^'\\\n]|\\[^'\n]){1,2048}(?=\\{0,4}')|(?<=\x60)(?:[^\x60\\\n]|\\[^\x60\n]){1,2048}(?=\\{0,4}\x60)|(?<=[“„])[^”“\n]{1,512}(?=[”“])`,
  String.raw`(?:[^\s"'\x60,;<>&|“”«»\\]|\\(?![nrt"'\x60\\])|&(?![\w-]{1,40}=)|[,;](?![\s"'\x60]|$|[\w .-]{1,40}[=:])|\|(?!\s)){1,4096}`,
].join("|");
const QUOTE = String.raw`(?:[NEbru@](?=["']))?\\{0,4}(?:["'\x60“„]|«\s?|\*{1,2}(?=\w))?`;
/** One word of a sentence, without the sign that ends it; and one of letters only. */
const WORD = String.raw`[^\s"'\x60<>]{4,128}(?<![.,;:?…)\]}*])`;
const PLAIN = String.raw`[a-zÀ-ӿ]{4,40}(?:[-_.&+/][a-zÀ-ӿ]{3,20}){0,5}(?![a-zÀ-ӿ\d_@/:=#-]|\.\w)`;
/** The start of a line, or of its text after a prefix such as `[10:42] Lena: `; and several words up to its end. */
const LINE = String.raw`(?<=(?:^|\n)(?:[^\n]{0,80}[\]:>).!][ \t])?)`;
const WORDS = String.raw`[a-zÀ-ӿ\d][a-zÀ-ӿ\d'’!&+-]{0,24}(?: [a-zÀ-ӿ\d][a-zÀ-ӿ\d'’!&+-]{0,24}){1,7}`;
const LINE_END = String.raw`(?=["'\x60]?[ \t]{0,8}(?:\r?\n|$))`;
/** Words that announce a password or another secret. */
const PASSWORD = String.raw`(?:passw(?:or[dt]|d)|pass[-_ ]?(?:phrase|code)|pwd|psk|kennwort|(?:wlan|wi-?fi|netzwerk)-?schl(?:ü|ue)ssel|(?:wlan|wi-?fi|wpa[23]?|network)[-_ ]?key|pre-?shared[- ]key|community string|mot de passe|contrase[nñ]a|senha|clave|wachtwoord|l[öo]senord(?:et)?|passord(?:et)?|adgangskode|salasana|heslo|has[lł]o|jelszó|şifre|parol[aă]|парол[ьяюе]|密[码碼]|パスワード|비밀번호|(?:db|database|become|require|auth_|sudo|smtp|imap|e?mail|user|root|admin|ssh|s?ftp|redis|mysql|pg|mongo|mq|proxy|ldap|bind|store|key|http|wifi|vpn|api|sql)[-_.]?(?:pass|pw))`;
const SECRET = String.raw`(?:secret|token|credential|jwt|(?:api|access|account|priv(?:ate)?|secret|auth|encrypt\w{0,5}|signing|master|shared|subscription|storage|service|licen[cs]e|client|deploy|bot|app|admin|product|steam|activation|serial|recovery|unseal|setup)[-_ ]?key)`;
const END = String.raw`s?(?![a-z])`;
/** Not followed by a letter of the same case, as in `tokenizer`. */
const WHOLE = String.raw`(?!(?-i:(?<=[a-z])(?:s[a-z]|[a-rt-z])|(?<=[A-Z])(?:S[A-Z]|[A-RT-Z])))`;
/** Names with these endings only describe a secret: `password_length`, `tokenUrl`. */
const ABOUT = String.raw`(?:[\w-]{0,30}(?:count|cost|len(?:gth)?|limit|usage|used|budget|total|size|type|kind|name|path|file|dir|ur[li]|endpoint|at|by|age|date|time|expir\w*|ttl|field|history|strength|rotation|hash\w*|algo\w*|encoder|format|prefix|method|regex|pattern|policy|hint|label|manager|store|service|handler|error|state|status|reset|rules?|schema|input|source|ref|map|list|window|per\w*|id|provider|keyword)s?(?![\w-]))`;
/** From the end of a name to its value. */
const ASSIGNED = [
  String.raw`\\{0,4}["'\x60]?[:,\s{]{1,40}\\{0,4}["'\x60]?(?:value|default)\\{0,4}["'\x60]?\s{0,4}[:=]\s{0,4}`, // `name: DB_PASSWORD, value: …`
  String.raw`(?:\\{0,4}["'\x60\]*]){0,4}(?: \([^()\n]{1,40}\))?[ \t]{0,10}(?::[ \t]?&?(?:'?\w{1,20} )?\w{1,20}[ \t]?=(?=[ \t]?["'\x60])|!?[:=]{1,3}(?!>)|：|(?:\|\||\?\?|or(?![ \t]*\x60))(?=[ \t]{1,4}["'\x60])|=>(?=[ \t]{0,10}["'\x60]))[*_]{0,2}(?:[ \t]{0,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,20}|[ \t]{0,10})`, // `: `, ` = `, `=> "`, `: &str = "`, a YAML block
  String.raw`(?:(?<=<[\w:.-]{1,64})|(?<=(?:name|key|id)=["'][\w:.-]{1,64})["'])[^<>\n]{0,80}>(?=[^<>\n]{1,400}<\/)|:?<\/(?:td|dt|b|strong)>:?\s{0,20}(?:<(?:td|dd)>)?(?=[^\s<])|(?:<\/key>|(?<=name=["'][\w:.-]{1,64})["']>)\s{0,20}<(?:string|value)>`, // `<password>…</password>`, `<entry key="password">…</entry>`
  String.raw`\([ \t]{0,4}(?=["'\x60])|(?<=[\w$](?<!\b(?:t|_|__|gettext|trans(?:late)?))\(\s{0,20}["'][\w.:#[=\] -]{1,60})["'][ \t]{0,4},[ \t]{0,20}(?=["'\x60])`, // `setPassword("…")`, `define('DB_PASSWORD', '…')`, but no translation
  String.raw`(?<=(?:^|[\s"'(])(?:--?\w[\w-]{0,64}|requirepass|auth_pass|bindpw|rootpw|(?:ENV|ARG|setx|#define) \w{1,64}))[ \t]{1,10}(?!-)|(?<=(?-i:[a-z]P)assword)[ \t]{1,2}(?=["'])|(?<=\b(?:create|alter)\s(?:user|role|login)\s[^;\n]{1,120}\s(?:password))\s(?=["'])`, // `--password …`, settings without a sign, SQL
  String.raw`(?<=(?:^|\n)[ \t]{0,8}(?:set[ \t])?[\w-]{1,30})(?:[ \t]{1,4}(?=["'][^"'\n]{4,64}["'][ \t;]{0,4}(?:\r?\n|$))|\t{1,3}(?=\S{4,64}[ \t]{0,4}(?:\r?\n|$)))`, // `password "…"` and a tab, as whole lines
].join("|");
/** From a label to the line with its value. */
const BELOW = String.raw`(?: (?:is|are|ist|lautet))?(?: (?:below[^\n]{0,60}?|as follows|the following|here))?[ \t]{0,4}[.:：?]?[ *_]{0,4}\r?\n(?:[-=]{3,80}[ \t]{0,8}\r?\n)?(?:[ \t]{0,8}\r?\n){0,4}(?:[ \t]{0,4}\x60{3}\w{0,12}[ \t]{0,4}\r?\n)?[ \t]{0,8}(?:[>*-] )?`;
/** Words between a label and the verb: "for the router", "(admin)". */
const WHERE = String.raw`(?:[ \t]{1,3}(?:(?:is|was)[ \t](?:generated|created)[ \t])?(?:for|of|on|to|in|into|at|behind|under|from|that|which|you|I|we|fürs?|von|vom|zu[mr]|[ai]m|del?|d[oau]|des|pour|para|van|voor|от|для)(?:[ \t]{1,3}[^\s"\x60,;:!?()[\]]{1,32}){1,6}?)?(?:[ \t]?\([^()\n]{1,40}\))?`;
const ADVERBS = String.raw`(?:(?:now|still|currently|actually|just|simply|probably|always|again|set to|changed to|reset to|jetzt|nun)[ \t]{1,3}){0,2}`;
/** `IS`: verbs after which even a plain word is a secret. `TELLS`: any words between a label and its secret. */
const IS = String.raw`(?:['’]s|${WHERE}(?:[ \t]{1,3}(?:(?:is|was)|(?:now|still|currently) is|(?:should|will|would|used to) be|(?:ist|lautet|est|es|é|è|är)(?=(?-i::?[ \t]["'\x60]?[A-ZÀ-Þ]))):?|[ \t]?[:：]|[ \t]{0,3}(?:->|→)))[ \t]{1,3}${ADVERBS}(?:<\w{1,8}>)?`;
const TELLS = String.raw`(?:['’]s(?=\s)|,[^,.;:!?\n]{1,40},[ \t](?:is|was)(?=\s)|[ \t]?\(?${WHERE}[ \t,]{0,3}(?:(?:now|still|currently|should|will|would|used to|(?:(?:was|is|has been)[ \t])?(?:changed|reset|set|updated))[ \t])?(?:is|was|are|be|remains|stays|to|from|equals|reads|says|ist|lautet|est|es|é|è|är|[–—-]|->|=>|→)(?=[\s:"'\x60])|(?:[ \t](?!${ABOUT})[a-zÀ-ӿ]{2,20}|${WHERE})[ \t]{0,3}(?:[:：→=]|\?(?=\s))|[ \t]?(?:是|为|は|는|은))[ \t]{0,3}${ADVERBS}[:：]?[ \t]{0,3}(?:\r?\n[ \t]{0,8})?`;
const SAYS_SOMETHING = String.raw`(?:(?<=["'\x60“])|(?=[^\s"'\x60]{0,64}[\d!@#$%^&*+=~?_-]))`;
const USER = String.raw`(?:\b(?:user(?:name)?|log ?in|e-?mail|account|as|network|ssid|wi-?fi)(?:[ \t]{0,4}[:=]|[ \t](?:is[ \t])?)[ \t]{0,4}["'\x60]?(?!(?:and|or|the|your?|an?|name|with|is)\b)[\w.@+-]{1,64}["'\x60]?|(?<=[\w.-])@[\w.-]{2,64})(?:[ \t]{0,3}[,;/|]|[ \t]{1,3}(?:and|with)|(?=\s{1,4}\w{2,10}[ \t]{0,3}[:="])|(?=[ \t]{0,2}\n))`;
/** Lines above a password that say whose it is, up to its label. */
const BULLET = String.raw`(?:[*•-]|\d{1,2}[.)]) [*_]{0,2}`;
const NETWORK = String.raw`\b(?:ssid|wi-?fi|wlan|network)[\w* -]{0,12}(?:[ \t]{0,4}[:=][ \t]{0,4}|\n[ \t]{1,16}${BULLET})[^\s\d][^\n]{0,60}\n(?:[^\n]{1,40}\n)?[ \t]{0,16}(?:${BULLET})?`;
const OWNER = String.raw`(?:${NETWORK}|\b(?:user(?:[ _]?name)?|log-?in|account|e-?mail|benutzer(?:name)?)[*_]{0,2}(?:[ \t]{0,4}[:=][ \t]{0,4}|\n[ \t]{1,16}${BULLET})\S{1,60}[ \t]{0,4}\n[ \t]{0,16}(?:${BULLET})?)`;
const ARGUMENTS = String.raw`\s{0,4}(?:[\w$.]{1,40}, {0,4}|["'][^"'\n]{0,100}["'], {0,4}){1,3}?["']`;
const NEAR = String.raw`(?:[Pp]assw|pwd|\b[Pp][Ww]\b|\b[Pp]ass\b|[Cc]reds|\b[Ll]og ?in|\b[Ss]ign in)`;
const LOGIN = String.raw`\b(?:basic auth|creds|credentials|logins?|connect|wi-?fi|(?:log(?:s|ged|ging)?|sign(?:s|ed|ing)?) ?(?:[io]n|into)(?: with| as| using)?|ssh(?: in)?(?: with| as| using)|zugangsdaten|anmeld\w{1,4} mit)`;
const LOCK = String.raw`(?:door|gate|garage|building|alarm|safe|lock(?:er|box)?|key ?(?:box|pad)|padlock|house|flat|apartment|vault|office|entrance|entry|shed|bike|barrier|cellar|suitcase|gym|lift|elevator|(?:haus|keller)?tür|porte|portail|puerta)`;
const CODE_NAME = String.raw`(?:one[- ]time[- ]password|einmalpasswort|(?:one[- ]time|verification|security|confirmation|2fa|mfa|otp|login|sms|backup|recovery|access|auth\w{0,12}|einmal|bestätigungs|sicherheits|zugangs|aktivierungs|pairing|pick-?up|scratch|emergency|guard|activation|unlock|voicemail|sim|phone|tablet|invit\w{1,6}|reset|device|${LOCK}(?:['’]s| panel| system)?)[-_ ]?(?:pass)?(?:codes?|combo|combination)|combination lock|(?:codes?|combo|combination) (?:for|to|of|at|on|de|für|zum|zur) (?:(?!is |are )[\w'’]{1,12} ){0,3}${LOCK}(?: \d{1,3}\b)?|${LOCK} (?:in|on|at|by|behind) [^.;\n\d]{1,30}\b(?:combination|combo)|\bpin-?code|cod(?:e|ice) d[ei] v[eé]rif[a-zÀ-ӿ]{1,8}|passcode|\bt?otp(?: (?:seed|key|code))?|\b[2m]fa(?: (?:code|seed|key|secret))?|\bpin|\bpuk|\btan)(?![\w-])`;
const CODE = String.raw`(?:\d{3,6}(?:[ -]\d{3,6}){1,7}|\d\d(?: \d\d){2,4}|\d{1,2}(?:-\d{1,2}){2,4}|(?=[A-Z-]*\d)[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){1,7}|(?=[a-z-]*\d)[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){1,7}|[*#]?\d{4,10}#?|(?=[A-Z]*\d)[A-Z0-9]{5,64}|[A-Z2-7]{32})(?![\w-]|[.:]\w| (?:rows?|lines?|files?|bytes?|[kmg]b|tests?|times?|items?|entries|records?|users?|calls?|chars?|tokens?|ms|seconds?|minutes?|days?)\b)`;
const WALLET_WORD = String.raw`(?:(?:\d{1,2}[.):]?|[*-])[ \t]{0,2})?(?!(?:the|and|are|for|not|but|was|has|its|our|from|your|been|were|does)\b)[a-z]{3,8}`;
const ALWAYS: judges.Judge = () => true;
const LONG = /\S{14}/;
const SECRETS = /secret|token|credent|jwt|key/i;
const PASSWORDS =
  /pass(?:wor|wd|phr|code|[-_ ](?:phr|code)|(?![a-z])|ord)|pwd|(?:bind|root|admin|user)pw|(?<![a-z])pw(?![a-z])|psk|mdp|kennwort|schl(?:ü|ue)ssel|mot de|contrase|senha|clave|wachtw|senord|adgangs|salasana|heslo|has[lł]o|jelsz|şifre|parol|wpa|ssid|network|shared|community|парол|密|パス|비밀|creds|credentials|basic auth|log(?:s|ged|ging|ins?)? ?[io]n|logins?|sign(?:ed|ing)? ?[io]n|ssh |connect|wi-?fi|zugangs|anmeld|identified/i;
const COMMAND =
  /\s-|\/(?:p(?:ass)?:|rp )|<<<|(?:echo|printf) [^|]{0,400}\||net use|ConvertTo|passphrase |rabbitmqctl|SETUSER|\/[^\s/]{2,128}@|secret|vault|snmp-|machine\s|login\s|WIFI|WiFi|username |nmcli|\]:\d/;

type Rule = readonly [name: string, cue: RegExp, isSecret: judges.Judge, find: RegExp];

// oxfmt-ignore
const RULES: readonly Rule[] = [
  // By the shape of the secret.
  ["private key", /-----BEGIN|Private-Lines/, ALWAYS, exact`(\bPrivate-Lines: ?\d{1,4}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=]{4,80}(?:\s|\\[nr]|$){1,4}){1,500}|-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----[\s\S]*?(?:-----END [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V\d)-----|$)`],
  ["stored hash", /\$|\{\w/, ALWAYS, exact`(\{(?i:S{0,2}(?:SHA|MD5)\d{0,3}|CRYPT|PBKDF2[\w-]{0,12}|ARGON2)\}(?=[\w./+=,:$-]{13})|\$(?:(?:1|2[abxy]?|5|6|7|y|gy|P|H|apr1|md5|sha1|argon2(?:id|[id])|b?scrypt(?:-sha256)?|pbkdf2[\w-]{0,12})\$|(?<=\b(?:pbkdf2|bcrypt|scrypt|argon2|SCRAM-SHA)[\w:-]{0,40}\$)))(?:(?<=\})|(?=[^\s"'\x60]{0,128}\d)(?=[\w./+=,:$-]{20}))[\w./+=,:$-]{13,512}`],
  ["vendor token", LONG, ALWAYS, exact`${START}(${Object.values(judges.DATA.prefixes).join("|")})(?=[A-Za-z0-9_.=-]{16})(?![xX_-]{8,}(?!\w))[A-Za-z0-9_-]{10,8192}(?:[.=]{1,3}[A-Za-z0-9_-]{0,8192}){0,5}(?<![.])`],
  ["token without a prefix", LONG, ALWAYS, exact`${Object.values(judges.DATA.shapes).join("|")}`],
  ["authorization header", /bearer|basic|ssws|flyv1|negotiate/i, judges.isReal, anyCase`(\b(?:bearer|basic|ssws|flyv1|negotiate)\s{1,3})(?=[^\s\d]{0,8192}\d|\S{24})[A-Za-z0-9._~+/=-]{16,8192}`],
  ["random run", LONG, judges.isRandomRun, exact`(?<!\\)(?<!(?<!\\)[A-Za-z0-9_+/-])[A-Za-z0-9_+/-]{24,8192}={0,2}`],
  // By the address, command, line or header around it.
  ["password in an address", /:\/\/|@(?:tcp|unix)\(/, judges.isReal, anyCase`(:\/\/(?!([^\s:/@]{1,64}):\2@)(?![^\s:/@]{0,64}:(?:pass(?:word|wd)?|pwd|secret)@)[^\s:/@"'\x60<>]{0,256}:|:\/\/(?=[A-Za-z0-9_.~-]{20,256}@)|(?<![\w.:/-])[\w.-]{1,64}:(?=[^\s@]{1,128}@(?:tcp|unix)\())(?!\d{1,5}[/?#])[^\s"'\x60<>]{1,256}(?=@)`],
  ["webhook", /hook/i, ALWAYS, anyCase`(\/\/[\w.-]{0,100}hooks?[\w.-]{0,100}\/|\/(?:web)?hooks?\w{0,10}\/)(?=[\w@/=+-]{0,200}?(?:catch\/\d{4,12}\/\w{5}|(?=[A-Za-z_-]{0,80}\d)[\w-]{20}|\w{6,64}\/\w{6,64}\/\w{16}))[\w@/=+-]{16,8192}(?!\.\w)`],
  ["command", COMMAND, judges.isReal, exact`(\b(?:${BEFORE_PASSWORD})["']?(?!\[redacted\]))(?:(?<=["'][^"'\s]{0,130})[^"'\n]{2,255}(?=["'])|[^\s"'-][^\s"']{1,255})`],
  [".pgpass", /:(?:\d{4,5}|\*):/, judges.isReal, exact`((?<=(?:^|[\s"'\x60(])[\w.*-]{1,128}):(?:\d{4,5}|\*):(?!error|warning|note|info)(?=[\w.-]{0,63}[A-Za-z*])[\w.*-]{1,64}:(?=[\w.@-]{0,63}[A-Za-z])[\w.@-]{1,64}:)(?=[^\s:/*])(?:(?<=:(?:543\d|6432|\*):[^\s:]{1,64}:[^\s:]{1,64}:)|(?=[^\s"'\x60]{1,256}(?:["'\x60]|\s{0,4}$|[ \t]{0,4}\r?\n)))[^\s"'\x60]{2,255}`],
  ["cookies", /cookie|\s-b/i, judges.isReal, anyCase`((?:cookie["'\x60]?[ \t]{0,2}[:=][ \t]{0,4}|\bcurl${OPTIONS}(?:-b|--cookie)[ =]?)["'\x60]?(?:[\w.-]{1,64}=[^\s;,"'\x60]{0,15};[ \t]?){0,30}[\w.-]{1,64}=)(?=[^\n"'\x60]{0,400}\d)(?:[^\s;,"'\x60]{16,4096}|(?<=(?:sess\w{0,12}|sid|auth\w{0,12}|token|jwt)=)(?=[a-z]{0,16}\d)[^\s;,"'\x60]{6,15})(?:;[ \t]?[\w.-]{1,64}(?:=[^\s;,"'\x60]{0,4096})?){0,30}`],
  ["authorization", /authorization/i, judges.told({ bare: 3 }), anyCase`(\b(?:(?:proxy-)?authorization)(?:${ASSIGNED})["'\x60]?(?:[A-Za-z][\w-]{1,20}[ \t]{1,3})?)[^\s"'\x60,;]{4,4096}`],
  ["base64 of a login", /auth/i, judges.isBasicAuth, anyCase`((?<![A-Za-z0-9])auth(?:${ASSIGNED})${QUOTE})[A-Za-z0-9+/]{8,1024}={0,2}`],
  // By a name.
  ["signatures and other keys", /key|sid|sig|salt/i, judges.isGenerated, anyCase`((?:\b|_|-|(?<=sess))(?:sid|sig(?:nature)?|(?<=\w[_-])(?<!(?:pub(?:lic)?|cache|idempotency|partition|primary|foreign|sort|routing|object|dedup|group|event|websocket)[_-])(?:key|salt))(?:${ASSIGNED})${QUOTE})(?:${VALUE})`],
  ["key in hex", /[0-9a-f]{32}/i, ALWAYS, anyCase`((?:\b(?:wallet(?:\.\w{1,12})?|private_?key\w{0,12}|accounts|signer)\W{1,4}["'](?=(?:0x)?[0-9a-f]{64}\b)|(?<!(?:pub(?:lic)?|cache|idempotency|partition|primary|foreign|sort|routing|object|dedup|group|event|map|unique|host|gpg|pgp|session)[ _-])\bkey${WHERE}(?:[ \t]?[:=]|[ \t](?:is|was))[ \t]{1,3}["'\x60]?)(?:0x)?|\b(?:PK|key${WHERE})[ =](?=(?:0x)?[0-9a-f]{64}\b))(?:0x)?[0-9a-f]{32,128}(?!\w)`],
  ["words after their name", /[:=]/, judges.isPhrase, anyCase`((?:${LINE}[ \t]{0,16}(?:[-*•] |export |set )?[*_]{0,2}(?:[a-zÀ-ӿ\d'’]{1,20}[ ._-]){0,3}(?:${PASSWORD}|(?:(?<=[_-])|(?=[a-z]{1,12}[_-]))${SECRET})(?:[_-]key)?|(?<=${OWNER})(?:pass|pw|(?<=${NETWORK})(?:key|schlüssel)))[*_]{0,2}[ \t]{0,4}[:=][*_]{0,2}[ \t]{0,4})${WORDS}${LINE_END}`],
  ["secret after its name", SECRETS, judges.isAssignedSecret, anyCase`(${SECRET}${WHOLE}(?<!token(?=s\b))(?!${ABOUT})[\w-]{0,40}(?:${ASSIGNED})${QUOTE})(?:${VALUE})`],
  ["password after its name", PASSWORDS, judges.isAssignedPassword, anyCase`((?:(?:${PASSWORD}${WHOLE}(?!${ABOUT})[\w-]{0,40}|\b(?:pw|mdp|(?<=["'])pass(?=["'])|pass(?==)))(?:${ASSIGNED})|\b(?:identified(?: with \S{1,40})? by)\s{1,4}(?=["']|(?<=\b(?:create|alter) (?:user) .{1,140})))${QUOTE})(?:${VALUE})`],
  ["secret below its label", /\n/, judges.isLoneSecret, anyCase`(${LINE}[ \t>*_#-]{0,8}(?:[a-zÀ-ӿ\d'’]{1,20} ){0,4}?(?:${PASSWORD}|${SECRET})${END}[*_]{0,2}${BELOW}["'\x60]?)[^\s"'\x60]{4,256}(?<!:)${LINE_END}`],
  ["password below its label", /\n/, judges.told({ bare: 1, words: true }), anyCase`(${LINE}[ \t>*_#-]{0,8}(?:[a-zÀ-ӿ\d'’]{1,20} ){0,4}?${PASSWORD}${END}[*_]{0,2}[ \t]{0,4}[:：][*_]{0,2}${BELOW}["'\x60]?)(?:${WORDS}|[^\s"'\x60]{4,256}(?<!:))${LINE_END}`],
  ["password below a sentence", /:\s*\n/, judges.told({ bare: 2, words: true }), anyCase`(${PASSWORD}${END} (?:for|of|on|to|in|at|from|that|I|we|you|für|vom?n?|zu[mr]|de|pour|para)\b[^\n:.;?!]{1,80}:${BELOW}["'\x60]?)(?:${WORDS}|[^\s"'\x60]{4,256}(?<!:))${LINE_END}`],
  ["password in a nested list", /\n[ \t]+[*•\d-]/, judges.told({ bare: 2, words: true }), anyCase`((?<=${OWNER})(?<=${BULLET})${PASSWORD}[*_]{0,2}\r?\n([ \t]{1,16}${BULLET}))(?:${WORDS}|[^\s"'\x60]{4,256}(?<!:))${LINE_END}(?!\s{1,2}\2)`],
  ["row of a table", /\|/, judges.told({ bare: 1 }), anyCase`(${LINE}[ \t]{0,8}\|[ \t*_]{0,8}(?:[a-zÀ-ӿ\d]{1,20} ){0,2}${PASSWORD}[ \t*_:]{0,8}\|[ \t\x60]{0,8})${WORD}(?=\x60?[ \t]{0,20}\|?[ \t]{0,8}(?:\r?\n|$))`],
  ["key as bytes", /\[\s{0,8}\d/, ALWAYS, anyCase`((?:key|secret|seed)[^\n[]{0,40}\[\s{0,8})(?:\d{1,3},\s{0,8}){31,127}\d{1,3}`],
  ["authenticator key", /[A-Z2-7]{16}|(?:[A-Za-z2-7]{4} ){3}/, judges.isSetupKey, exact`(?<![\w/+=-])(?!ABCDEF)(?:[A-Z2-7]{16,64}|[A-Za-z2-7]{4}(?: [A-Za-z2-7]{4}){3,15})(?![\w/+=-])`],
  ["wallet words", /seed|phrase|mnemonic|word/i, ALWAYS, anyCase`(\b(?:(?:seed|recovery|backup|mnemonic|wallet|ledger|trezor|metamask)[- ]?(?:phrase|words?)|mnemonic|seed|(?:12|24)[- ]words?)[^\n]{0,80}?\s{0,4}["'\x60]?)(?:${WALLET_WORD}(?:[ \t,]{1,3}|[ \t,]{0,2}\r?\n[ \t]{0,8})){11,23}${WALLET_WORD}(?![\w:=])`],
  ["codes", /cod[ei]|comb|otp|[2m]fa|pin|puk|tan/i, judges.isCode, anyCase`((?:${CODE_NAME}["']?(?:${TELLS}|[ \t]{0,4}[:=]?\s{0,4}\(?|(?<=codes)[^\n]{0,80}\n[ \t]{0,8})|\b(?:your|votre|tu|dein|ihr) (?:(?!exit|country|area|response|product|order|booking|voucher|promo|discount|postal|zip|error|status|customer)\w{1,12} ){0,2}c(?:od(?:e|ice)|ódigo)(?: d[ei] \w{1,15})?(?:[:：]| (?:is|est|es|ist|lautet):?) (?=\d{3}[ -]?\d{1,5}(?!\w| \w))|(?<!(?:error|status|exit|product|postal|zip|order|booking|article|area|country|voucher|promo|response|return|ticket|item|part|model|source|discount|customer|tax) )\bcode (?:from|for) [^\n.:]{1,40}: (?=\d{3}[ -]?\d{3}(?!\w))|\bcode:? (?=\d{4,8}\.? (?:never|don['’]t|do not) share)|\b(?:code is:? )(?=\d{3,8}#))(?:\[\s{0,40})?(?:(?:[*•-]|\d{1,2}[.)])[ \t]{1,4})?["'\x60]?)${CODE}(?:["']?(?:,?\s{1,40}(?:and )?|,)(?:(?:[*•-]|\d{1,2}[.)])[ \t]{1,4})?["']?${CODE}){0,24}`],
  ["code of a lock", /\d{3}/, judges.isCode, anyCase`(\b(?:${LOCK}|code)\b[^.,;\n\d]{0,30}?[ :](?=[*#]?\d{3,8}#(?!\w))|\b${LOCK}\b[^.,;\n\d]{0,20}(?<!error |status |exit )\bcode (?=\d{4,8}${judges.CLAUSE_END})|\bcode (?=\d{3,8} (?:on|at|for|opens|unlocks) (?:\w{1,10} ){0,2}${LOCK})|\b(?:(?:dis)?arm with|keypad:|padlock:?) (?=\d{4,8}(?!\w))|\b(?:unlock|open|disarm) (?:the|my|your)\b[^.\n\d]{0,30}? (?:with|using) (?:code |pin )?(?=\d{4,8}${judges.CLAUSE_END})|\b(?:${LOCK}|i?pad|i?phone|tablet|laptop) (?:opens|unlocks) with (?:code |pin )?(?=\d{4,8}${judges.CLAUSE_END}))[*#]?\d{3,8}#?`],
  ["code before the word", /\d{3}/, ALWAYS, anyCase`((?<=^|[\s:"'“]))(?:[A-Z]-)?\d{3,4}[ -]?\d{3,4}(?=\s(?:(?:is|as)\s(?:your|the)\s[^.\n]{0,40}(?:code|otp|pin|passcode)\b|to (?:sign|log) in\b(?! as)|to (?:verify|confirm|complete) (?:your|the) (?:log-?in|sign-?in|account|identity|e-?mail|phone)))`],
  ["social security number, card check", /ssn|social|cv[vc]/i, ALWAYS, anyCase`(\b(?:ssn|social security)[^\d\n]{0,20}(?=\d{3}-)|\b(?:cvv|cvc)2?\b\W{0,3}(?:is )?)(?:\d{3}-\d\d-\d{4}|\d{3,4})\b`],
  ["card number", /\d{4}[ -]?\d{4}/, judges.isCardNumber, anyCase`(\b(?:card|visa|mastercard|amex|kreditkarte)\b[^\n\d]{0,30}|(?<![\w-]|\d )(?=[3-6]\d{3}[ -](?:\d{4}[ -]){2}\d{4}(?![ -]?\d(?!\d?\/\d\d))))\d(?:[ -]?\d){12,18}(?![ -]?\d(?!\d?\/\d\d))`],
  ["login call", /["'][,)]/, judges.isArgument, anyCase`(\b\w{0,20}(?:(?:log_?in|auth|credentials?|userpassword|jwt\.(?:sign|verify|encode|decode)|createHmac)\W{0,2}\(${ARGUMENTS}|secret(?:str(?:ing)?|::new|::from)\(["']|(?:connect(?:ion)?|pdo)\(${ARGUMENTS}(?=[^"'\s]{0,64}\d)(?=[^"'\s]{8})))[^"'\s]{4,128}(?=["'])`],
  ["typed into a field", PASSWORDS, judges.isArgument, anyCase`(${PASSWORD}["'\])]{1,6}\.(?:type|fill|send_?keys|set_?value)\(["'])[^"'\n]{4,128}(?=["'])`],
  ["entry below a secret name", /s["']?:?\s*\n/i, judges.told({ bare: 3 }), anyCase`((?<=^|\n)[ \t]{0,16}(?:[-*] )?(?!${ABOUT})[\w."'-]{1,64}:[ \t]{1,4}["']?(?<=(?:passw(?:or[dt]|d)|secret|api[-_ ]?key)s["']?:?[ \t]{0,4}\r?\n(?:[ \t]{0,16}(?:[-*] )?[\w."'-]{1,64}:[ \t][^\n]{1,200}\n){0,10}[^\n]{1,80}))[^\s"']{6,512}(?=["']?[ \t]{0,4}(?:\r?\n|$))`],
  ["address and password", /@| \/ /, judges.told({ bare: 4 }), anyCase`((?<=[\w.+-])@[\w-]{1,64}\.[\w.]{2,24}(?: ?\/ ?| \/\/ | \| )|(?<=^|\n|: )[\w.-]{2,40} \/ (?=[^\s/]{0,64}[!#$%^&*]))(?![^\s/]{0,128}\/)${WORD}`],
  // By a sentence.
  ["secret in a sentence", SECRETS, judges.isLoneSecret, anyCase`(${SECRET}${END}["'\x60]?(?:${TELLS}|[ \t]{0,3},?[ \t]{1,3}\(?)${QUOTE})(?!(?-i:[a-z]{1,64}(?:[-_.][a-z\d]{1,64}){1,20})(?:[\s"'\x60.,;:!?)]|$))(?=[^\s"'\x60]{0,64}\d)${WORD}`],
  ["password in a sentence", PASSWORDS, judges.told({ bare: 3, quoted: 1 }), anyCase`((?:${PASSWORD}|\b(?:pw|mdp|pass(?=["'\x60]? (?:is|was)\b)))${END}\d?["'\x60]?${TELLS}${QUOTE})${SAYS_SOMETHING}${WORD}`],
  ["word that is the password", PASSWORDS, judges.told({ atEnd: 1 }), anyCase`((?<![>→]\s{0,3}(?:\w{1,20} ){0,2})(?:${PASSWORD}|\b(?:pw|mdp|pass(?=["'\x60]? (?:is|was)\b)))(?![a-z])["'\x60]?${IS}|\((?:${PASSWORD}|pw)[ \t](?=[^\s()]{4,64}\)))${PLAIN}`],
  ["joined words for a password", PASSWORDS, judges.told({ atEnd: 2 }), anyCase`((?:${PASSWORD}${END}${WHERE}[ \t]{1,3}[–—-]|\b(?:make|made|set)[ \t](?:the|my|our|his|her|their|your)[ \t](?:\w{1,20}[ \t]){0,2}${PASSWORD})[ \t]{1,3})${PLAIN}`],
  ["password that was set", PASSWORDS, judges.told({ atEnd: 1 }), anyCase`((?:\b(?:set|setting|chang(?:ed?|ing)|made?|switch(?:ed)?|reset)\s[^.,;:!?\n]{0,60}${PASSWORD}${END}\s|${PASSWORD}${END}\s(?:(?:is|was|has been|had been|got)\s)?(?:now\s)?(?:set|changed|reset)\s(?:back\s)?)to\s{1,4}["'\x60]?)${PLAIN}`],
  ["password soon after the word", PASSWORDS, judges.told({ bare: 4, quoted: 2 }), anyCase`((?:(?:${PASSWORD}${END}|\bpw)[ \t]{0,3},?[ \t]{1,3}\(?|${PASSWORD}${END}[^\n]{0,80}?\b(?:(?:it|that)(?:['’]s| is)|one is)[ \t](?:now[ \t])?|\b(?:for|want|need)s? (?:the|a|your|its) ${PASSWORD},? (?:just |then )?(?:type|enter|use|try|put|give it) |\b(?:tried|typed|entered|pasted)[ \t](?:in[ \t])?(?=\S{4,128}[^.\n]{0,60}${PASSWORD}))["'\x60]?)${SAYS_SOMETHING}${WORD}`],
  ["password after a verb", PASSWORDS, judges.told({ atEnd: 1, quoted: 1 }), anyCase`(\b(?:us(?:e|ing)|with|has|have|enter|type|try)[ \t](?:(?:the|this|a|as)[ \t])?(?:\w{1,12}[ \t])?${PASSWORD}[ \t]{1,2}["'\x60]?)(?:(?<=["'\x60])|(?-i:(?=[A-ZÀ-Þ])))${PLAIN}`],
  ["password after a user", PASSWORDS, judges.told({ bare: 3, atEnd: 1, quoted: 1 }), anyCase`(${USER}\s{1,4}(?:(?:the|its|with)\s)?(?:${PASSWORD}|pass|pw|(?<=\b(?:ssid|wi-?fi|wlan)\b\W{1,4}[\w.-]{1,40}\W{1,4})key)${END}[ \t]{0,3}[:=]?[ \t]{0,3}${QUOTE})${WORD}`],
  ["short name for a password", PASSWORDS, judges.told({ bare: 3 }), anyCase`(\bpass["']?[ \t]{0,4}[:=][*_]{0,2}[ \t]{0,4}${QUOTE})(?:${VALUE})`],
  ["login and password", PASSWORDS, judges.told({ bare: 4, atEnd: 2 }), anyCase`(${LOGIN}(?:[ \t:]{1,3}[A-Za-z→]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?: \/ | \| |(?<=@[\w.-]{1,64}) and )["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["login with a password", PASSWORDS, judges.told({ bare: 4 }), anyCase`(${LOGIN}(?:(?:[ \t:]{1,3}[A-Za-z→]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?:[/:]| and )|[ \t]{1,3}(?:user[ \t])?["'\x60]?[\w.@+-]{1,64}["'\x60]?,?[ \t](?:with|using)[ \t]{1,3})["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["password of a well-known account", /admin|root|guest|postgres|ubuntu|\bpi\b/i, judges.told({ bare: 4 }), anyCase`(\b(?:admin(?:istrator)?|root|guest|postgres|ubuntu|pi)(?: \/ |[:/])["'\x60]?)(?![^\s"'\x60]{0,128}[/:])${WORD}`],
  ["credentials", /cred|zugang|identif|log|sign/i, judges.told({ atEnd: 1 }), anyCase`(\b(?:cred(?:ential)?s|zugangsdaten|identifiants|(?:log|sign)[ -]?in(?: with)?(?=[ \t:]{1,3}[\w.+-]{1,64}@))(?:[ \t]for(?:[ \t][\w-]{1,20}){1,3})?(?:[ \t](?:are|is))?[ \t:]{1,3}(?-i:[a-z])[\w.@+-]{1,64}(?: \/ |:)["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["password before the word", PASSWORDS, judges.told({ bare: 4, quoted: 1 }), anyCase`((?<=^|[\s"'\x60]))${WORD}(?=["'\x60]?,?\s{1,2}(?:[–—-]\s)?(?:(?:that|this|which|it)(?:['’]s| is)|as|(?:still )?is|was|for|als|ist|für)\s{1,2}(?:(?:the|a|an|my|our|your|its|new|old|right|correct|current|root|admin|user|db|database|das|neue[sr]?)\s{1,2}){0,4}[\w.-]{0,20}\s?${PASSWORD}${END}(?=["'\x60”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s(?:and|or|but|for|on|in|now|until|to|of|there)\b)))`],
  ["word used as a password", PASSWORDS, judges.told({ bare: 1 }), anyCase`(\b(?:us(?:e|ing|ed)|try|take|enter|type|choose|pick|put|give|go with|have|keep|want|suggest|(?:agree|decide|settle)d? on)\s{1,2}["'\x60]?)${WORD}(?=["'\x60]?\s{1,2}as\s(?:(?!and\b|or\b)[\w-]{1,12}\s){0,4}${PASSWORD}${judges.CLAUSE_END})`],
  ["answer to a prompt", PASSWORDS, judges.told({ bare: 2 }), anyCase`(\b(?:us(?:e|ing)|try|enter|type|put|give)\s{1,2}(?:in\s)?["'\x60]?)${WORD}(?=["'\x60]?,?\s{1,2}(?:when|if|once|where)\s[^.\n]{0,50}?(?:ask|prompt)[^.\n]{0,30}?${PASSWORD}${END})`],
  ["passphrase", PASSWORDS, judges.isPassphrase, anyCase`(${PASSWORD}${END}(?:${TELLS}|,?[ \t](?=["“]))["'\x60“„]?)(?:(?<=["“])[a-zÀ-ӿ][a-zÀ-ӿ\d'’-]{0,40}(?: [a-zÀ-ӿ\d'’-]{1,40}){1,11}(?=["”])|[a-zÀ-ӿ]{2,14}(?: (?!(?:and|or|but|nor|for|at|to|by|with|from|as|is|was|has|does|did|will|it|so|not|if|since|because|when|which|that|then|now|still|again|please)\b)[a-zÀ-ӿ]{2,14}(?![a-zÀ-ӿ\d_@/:=-])){1,11})`],
  ["app password", PASSWORDS, judges.isPassphrase, exact`((?:["'\x60]|app password:? ))[a-z]{4}(?: [a-z]{4}){3}(?![ -]?\w)`],
  ["strong password near the word", PASSWORDS, judges.told({ bare: 4 }), exact`(?<![^\s"'\x60(,=])(?![$#@^*~?])(?=\S{0,60}[A-Z])(?=\S{0,60}[a-z])(?=\S{0,60}\d)(?=\S{0,60}(?:[!#$^*?~@][\w!#$^*?~@]|[#$^*~](?!\S)))(?:(?<=${NEAR}[^\n]{0,120})|(?=[^\n]{0,100}${NEAR}))[\w!@#$%^*?~.-]{8,64}(?=[\s"'\x60),;.]|$)`],
  ["another secret after one", /\[redacted\]/, judges.told({ bare: 4 }), anyCase`((?<=\[redacted\])["'\x60”]?(?:,?[ \t]{1,3}(?:to|into|and|or|then|auf|zu|und|oder|->|→)[ \t]{1,3}|,[ \t]?|[ \t]?\/[ \t]?)["'\x60]?)(?=[^\s"'\x60]{0,64}\d)${WORD}`],
];

export function applyRules(text: string): string {
  const cues = new Map<RegExp, boolean>();
  return RULES.reduce((result, [, cue, isSecret, find]) => {
    if (!cues.has(cue)) cues.set(cue, cue.test(result));
    return cues.get(cue) === true ? applyRule(result, find, isSecret) : result;
  }, text);
}

function applyRule(text: string, find: RegExp, isSecret: judges.Judge): string {
  return text.replace(find, (match: string, ...groups: unknown[]) => {
    const kept = typeof groups[0] === "string" ? groups[0] : "";
    const secret = match.slice(kept.length);
    const at = Number(groups.find((group) => typeof group === "number")) + kept.length;
    const after = text.slice(at + secret.length).slice(0, 40);
    return isSecret(secret, text.slice(Math.max(0, at - 300), at), after) ? kept + REDACTED : match;
  });
}
