/**
 * The table of secrets: what a text must contain before the expression is tried, what judges a match, and the
 * expression. Its first group is kept, the rest is the secret. Every run is bounded, so the time is linear.
 */
import * as judges from "./judge.ts";

export const REDACTED = "[redacted]";
const exact = (strings: TemplateStringsArray, ...parts: string[]) => new RegExp(String.raw(strings, ...parts), "g");
const anyCase = (strings: TemplateStringsArray, ...parts: string[]) => new RegExp(String.raw(strings, ...parts), "gi");

/** Prefixes of tokens by vendor. The prefix is kept. */
// oxfmt-ignore
const PREFIXES: Readonly<Record<string, string>> = {
  "language models": "sk-(?:ant-|proj-|or-|svcacct-|admin-)?|sk_(?=[0-9a-f]{32})|csk-|nvapi-|pplx-(?=[A-Za-z0-9]{30})|xai-|gsk_|tvly-|hf_(?=[A-Za-z]{30})|r8_|pcsk_|lsv2_[a-z]{2}_|jina_|fw_(?=\\w{20})",
  payments: "(?:sk|rk|pk|rzp|duffel|shippo)_(?:live|test|prod)_|(?:live|test)_(?=[A-Za-z0-9]{30})|whsec_|sq0[a-z]{3}-",
  repositories: "gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|rtr|cbt|soat|agent|ft|imt|oas|ffct)-|AT(?:ATT|CTT)3|ATBB",
  "build services": "bk[a-z]{2}_(?=\\w{16})|CCI(?:PAT|PRJ)_|(?:sgp|snyk)_(?=\\w{16})|pul-|dckr_[a-z]{3}_|AKCp",
  packages: "npm_(?=\\w{20})|pypi-|rubygems_|CLOJARS_|oy2(?=[a-z0-9]{43})|cio(?=[A-Za-z0-9]{32}\\b)",
  "chats and mail": "key-(?=[a-z]{0,32}\\d)(?=[0-9a-z]{32}(?![\\w-]))|xkeysib-|mlsn\\.|SG\\.|re_(?=\\w{8}_\\w{16})|xox[a-z](?:\\.xox[a-z])?-|xapp-|xwfp-|(?:SK|AC|md5)(?=[0-9a-f]{32}\\b)|EAA[A-Z](?=[A-Za-z0-9]{30})",
  "office and shops": "ATTA(?=[0-9a-f]{32})|pk_(?=\\d{5,12}_[A-Z0-9]{32}\\b)|shp[a-z]{2}_|pat-[a-z]{2}\\d-|pat(?=\\w{14}\\.[0-9a-f]{32})|fig[do]_|ntn_|secret_(?=[A-Za-z0-9]{40})|lin_(?:api|oauth)_|CFPAT-|(?:tfp|rdme)_(?=\\w{16})|PMAK-|phx_",
  clouds: "(?:AKIA|ASIA|ABIA|ACCA)(?=[A-Z0-9]{16}\\b)|AIza|ya29\\.|GOCSPX-|1//0|do[opr]_v1_|dp\\.[a-z]{2,5}\\.|HRKU-|fo1_|fm[12]_",
  "clouds and databases": "dapi(?=[0-9a-f]{32})|(?:nfp|napi|rnd|lip|pnu|vcp)_(?=\\w{16})|sbp_|sb_secret_|pscale_[a-z]{2,5}_",
  "monitoring and vaults": "ops_(?=\\w{16})|AGE-SECRET-KEY-1|A3-(?=[A-Z0-9]{6}-)|NR[A-Z]{2}-|sntry[a-z]_|gl(?:c|sa)_|dt0[a-z]\\d{2}\\.|hv[sbr]\\.|tskey-[a-z]{3,8}-|ory_[a-z]{2}_",
};
/** Options between a command and the flag. */
const OPTIONS = String.raw`\s(?:[^\s|;&][^\n|;]{0,300}?\s)??`;
/** Commands and lines of files, up to where their password begins. */
const BEFORE_PASSWORD: Readonly<Record<string, string>> = {
  curl: String.raw`(?:curl|wget|https?|xh)${OPTIONS}(?:-u|-U|-a|--(?:proxy-)?user|--auth)[ =]?["']?[^\s:"'/]{0,128}:`,
  "redis-cli -a, mysql -ppassword": String.raw`(?:redis|valkey)-cli${OPTIONS}-a |(?:mysql|mariadb)[\w-]{0,20}${OPTIONS}-p(?=["']?[^\s"'])`,
  "docker login -p": String.raw`(?:docker|podman|helm|oras|buildah|nerdctl|skopeo|az|cf|oc|faas-cli)\s(?:[\w-]{1,20} ){0,3}?login${OPTIONS}-p[ =]?`,
  "flags of others": String.raw`(?:sshpass|7za?|(?:un)?rar)${OPTIONS}-p ?|(?:mongo\w{0,20}|useradd|usermod|cqlsh|rdesktop|psexec)${OPTIONS}-p |(?:sqlcmd|bcp|ipmitool|mosquitto_\w{3}|(?:un)?zip)${OPTIONS}-P ?|ldap\w{1,12}${OPTIONS}-w |ssh-keygen${OPTIONS}-[NP] |snmp\w{1,12}${OPTIONS}-[AXc] |xfreerdp${OPTIONS}\/p:`,
  "user and password": String.raw`lftp${OPTIONS}-u ["']?[^\s,]{1,64},|smbclient${OPTIONS}-U ["']?[^\s%]{1,64}%|wpa_passphrase \S{1,64} |rabbitmqctl (?:add_user|change_password) \S{1,64} |ACL SETUSER \S{1,64}${OPTIONS}>`,
  "openssl, htpasswd": String.raw`openssl${OPTIONS}(?:-pass(?:in|out)? pass:|-k )|htpasswd${OPTIONS}-\w{0,6}b\w{0,6} (?:\S{1,200} )?\S{1,64} `,
  "Windows, Oracle": String.raw`(?:sqlplus|expdp|impdp|sqlldr|rman)${OPTIONS}(?:target )?["']?[\w$#.-]{1,64}\/(?=[^\s/]{2,128}@)|oracle:\w{2,6}:[\w$#.-]{1,64}\/(?=[^\s/]{2,128}@)|net user \S{1,64} (?=\S{2,128} \/\w)|net use${OPTIONS}\/user:\S{1,64} |ConvertTo-SecureString (?:-String )?(?=["'])`,
  "secret stores": String.raw`(?:secrets? set|vault (?:kv )?(?:put|write)|create secret generic)${OPTIONS}(?:--from-literal[ =]["']?)?[A-Za-z_][\w.-]{0,64}=(?!@)|(?:secrets?|secretsmanager|keyvault) (?:set|create|put|add|update|create-secret|put-secret-value|update-secret)${OPTIONS}(?:-b ?|--(?:body|value|secret-string|data)[ =])|ssm put-parameter${OPTIONS}--value[ =]|security add-(?:generic|internet)-password${OPTIONS}-w `,
  "piped into a command": String.raw`echo (?:-n )?["']?(?:[\w.-]{1,64}:)?(?=[^\s"'|:]{3,256}["']?\s?\|\s?(?:sudo )?(?:chpasswd|sudo -\w{0,4}S|passwd|cryptsetup|gh secret set|(?:vercel|wrangler)\s[^\n|]{0,40}(?:add|put)|[^\n|]{1,120}(?:--[\w-]{0,20}(?:password|token|passphrase|secret)-stdin|--with-token)))`,
  "here string": String.raw`(?:kinit|passwd|cryptsetup|ssh-add|vault login|pass insert|(?:gh|fly|wrangler|vercel) (?:auth|secrets?|env)|sudo (?:-\w{1,4} (?:\w{1,32} )?){0,3}?-\w{0,4}S|su (?:-l? )?(?:\w{1,32} )?-c|(?:docker|podman|helm|npm|az|oc) (?:[\w-]{1,20} ){0,2}?(?:login|secret create)|(?:gpg${OPTIONS}--passphrase-fd|openssl${OPTIONS}-pass(?:in|out)?) ?\S{1,20})${OPTIONS}<<<\s?`,
  "networks, .netrc": String.raw`snmp-server community (?=\S{2,64} R[OW]\b)|WIFI:(?:[A-Z]:[^;\s]{0,64};){1,4}P:(?=[^\s;]{2,64};)|(?:machine\s{1,4}\S{1,200}|default)\s{1,10}login\s{1,4}\S{1,200}\s{1,10}password\s{1,4}`,
};
/** Not inside a word. The `n` of a written `\n` does not count as one. */
const START = String.raw`(?<!\\)(?<!(?<!\\)[A-Za-z0-9])`;
/** To the closing quote if one was opened, else to the next space or to a sign that separates it from what follows. */
const VALUE = [
  String.raw`(?<=")(?:[^"\\\n]|\\[^"\n]){1,2048}(?=\\{0,4}")|(?<=')(?:[^'\\\n]|\\[^'\n]){1,2048}(?=\\{0,4}')|(?<=\x60)(?:[^\x60\\\n]|\\[^\x60\n]){1,2048}(?=\\{0,4}\x60)|(?<=[“„])[^”“\n]{1,512}(?=[”“])`,
  String.raw`(?:[^\s"'\x60,;<>&|“”«»\\]|\\(?![nrt"'\x60\\])|&(?![\w-]{1,40}=)|[,;](?![\s"'\x60]|$|[\w .-]{1,40}[=:])|\|(?!\s)){1,4096}`,
].join("|");
const QUOTE = String.raw`(?:[NEbru@](?=["']))?\\{0,4}["'\x60“„]?`;
/** One word of a sentence, without the sign that ends it; and one of letters only. */
const WORD = String.raw`[^\s"'\x60<>]{4,128}(?<![.,;:?…)\]}*])`;
const PLAIN = String.raw`[a-zÀ-ӿ]{4,40}(?:[-_.&][a-zÀ-ӿ]{3,20}){0,5}(?![a-zÀ-ӿ\d_@/:=#-]|\.\w)`;
/** Words that announce a password or another secret. */
const PASSWORD = String.raw`(?:passw(?:or[dt]|d)|pass[-_ ]?(?:phrase|code)|pwd|psk|kennwort|(?:wlan|wi-?fi|netzwerk)-?schl(?:ü|ue)ssel|mot de passe|contrase[nñ]a|senha|clave|wachtwoord|l[öo]senord|passord|adgangskode|salasana|heslo|has[lł]o|jelszó|şifre|parola|парол[ьяюе]|密[码碼]|パスワード|비밀번호|(?:db|database|become|require|auth_|sudo|smtp|imap|e?mail|user|root|admin|ssh|s?ftp|redis|mysql|pg|mongo|mq|proxy|ldap|bind|store|key|http|wifi|vpn|api|sql)[-_.]?(?:pass|pw))`;
const SECRET = String.raw`(?:secret|token|credential|jwt|(?:api|access|account|priv(?:ate)?|secret|auth|encrypt\w{0,5}|signing|master|shared|subscription|storage|service|license|client|deploy|bot|app|admin|ssh|gpg|product|activation|serial|recovery|unseal|setup|wi-?fi|wlan|wpa2?|network)[-_ ]?key)`;
const END = String.raw`s?(?![a-z])`;
/** Not followed by a letter of the same case, as in `tokenizer`. */
const WHOLE = String.raw`(?!(?-i:(?<=[a-z])(?:s[a-z]|[a-rt-z])|(?<=[A-Z])(?:S[A-Z]|[A-RT-Z])))`;
/** Names with these endings only describe a secret: `password_length`, `tokenUrl`. */
const ABOUT = String.raw`(?:[\w-]{0,30}(?:count|cost|len(?:gth)?|limit|usage|used|budget|total|size|type|kind|name|path|file|dir|ur[li]|endpoint|at|by|age|date|time|expir\w*|ttl|field|regex|pattern|policy|hint|label|manager|store|service|handler|error|state|status|reset|rules?|schema|input|source|ref|map|list|window|per\w*|id|provider|keyword)s?(?![\w-]))`;
/** From the end of a name to its value. */
const ASSIGNED = [
  String.raw`(?:\\{0,4}["'\x60\]*]){0,4}(?: \([^()\n]{1,40}\))?[ \t]{0,10}(?::[ \t]?&?(?:'?\w{1,20} )?\w{1,20}[ \t]?=(?=[ \t]?["'\x60])|!?[:=]{1,3}(?!>)|：|(?:\|\||\?\?|or)(?=[ \t]{1,4}["'\x60])|=>(?=[ \t]{0,10}["'\x60]))\*{0,2}(?:[ \t]{0,4}[|>][+-]?[ \t]{0,4}\r?\n[ \t]{1,20}|[ \t]{0,10})`, // `: `, ` = `, `=> "`, `: &str = "`, a YAML block
  String.raw`\\{0,4}["'\x60]?[,\s{]{1,40}\\{0,4}["'\x60]?(?:value|default)\\{0,4}["'\x60]?\s{0,4}[:=]\s{0,4}`, // `name: DB_PASSWORD, value: …`
  String.raw`(?:(?<=<[\w:.-]{1,64})|(?<=(?:name|key|id)=["'][\w:.-]{1,64})["'])[^<>\n]{0,80}>(?=[^<>\n]{1,400}<\/)|<\/key>\s{0,20}<string>`, // `<password>…</password>`, `<entry key="password">…</entry>`
  String.raw`\([ \t]{0,4}(?=["'\x60])|(?<=[\w$](?<!\b(?:t|_|__|gettext|trans(?:late)?))\(\s{0,20}["'][\w.: -]{1,60})["'][ \t]{0,4},[ \t]{0,20}(?=["'\x60])`, // `setPassword("…")`, `define('DB_PASSWORD', '…')`, but no translation
  String.raw`(?<=(?:^|[\s"'(])(?:--?\w[\w-]{0,64}|requirepass|auth_pass|bindpw|rootpw|(?:ENV|ARG|setx) \w{1,64}))[ \t]{1,10}(?!-)`, // `--password …`, settings without a sign, SQL
  String.raw`(?<=(?:^|\n)[ \t]{0,8}(?:set[ \t])?[\w-]{1,30})(?:[ \t]{1,4}(?=["'][^"'\n]{4,64}["'][ \t;]{0,4}(?:\r?\n|$))|\t{1,3}(?=\S{4,64}[ \t]{0,4}(?:\r?\n|$)))`, // `password "…"` and a tab, as whole lines
  String.raw`(?<=\b(?:create|alter)\s(?:user|role|login)\s[^;\n]{1,120}\s(?:password))\s(?=["'])`,
].join("|");
/** From a label to the line with its value. */
const BELOW = String.raw`[ \t]{0,8}\r?\n(?:[-=]{3,80}[ \t]{0,8}\r?\n)?(?:[ \t]{0,8}\r?\n){0,4}(?:[ \t]{0,4}\x60{3}\w{0,12}[ \t]{0,4}\r?\n)?[ \t]{0,8}`;
/** `TELLS`: the words between a label and its secret. `IS`: words after which even a plain word is a secret. */
const TELLS = String.raw`(?:['’]s(?=\s)|,[^,.;:!?\n]{1,40},[ \t](?:is|was)(?=\s)|[ \t,]{0,3}\(?(?:[^\s"'\x60,;:!?()[\]]{1,32}(?<!\.)[ \t]{1,3}){0,6}?(?:is|was|are|be|remains|stays|to|from|equals|reads|says|ist|lautet|est|es|é|è|är|[–—-]|->|→)(?=[\s:"'\x60])|[ \t]{0,3}(?:[^\s"'\x60,;:!?()[\]]{1,32}[ \t]{1,3}){0,4}?[^\s"'\x60,;:!?()[\]]{0,32}[:：→]|[ \t]?(?:是|为|は|는|은))[ \t]{0,3}(?:(?:now|still|currently|actually|just|simply|probably|always|set to|changed to|reset to|jetzt|nun)[ \t]{1,3}){0,2}[:：]?[ \t]{0,3}(?:\r?\n[ \t]{0,8})?`;
const IS = String.raw`(?:['’]s|(?:[ \t]{1,3}(?:for|on|of|to|in|at|from|that|which|you|I|we|für|von)(?:[ \t]{1,3}[^\s"'\x60,;:!?()[\]]{1,32}){1,6}?)?(?:[ \t]{1,3}(?:is|was|(?:should|will|would) be)|:|[ \t]{0,3}(?:->|→)))[ \t]{1,3}(?:(?:now|still|currently|actually|just|simply|probably|jetzt|nun)[ \t]{1,3}){0,2}`;
const SAYS_SOMETHING = String.raw`(?:(?<=["'\x60“])|(?=[^\s"'\x60]{0,64}[\d!@#$%^&*+=~?_-]))`;
const CLAUSE_END = String.raw`(?:\s{0,4}(?:$|[.,;!?)\n])|\s{1,2}(?:and|or|but|for|on|in|now|until|when)\b)`;
const USER = String.raw`(?:\b(?:user(?:name)?|log ?in|e-?mail|account|as|network|ssid|wi-?fi)(?:[ \t]{0,4}[:=]|[ \t](?:is[ \t])?)[ \t]{0,4}["'\x60]?(?!(?:and|or|the|your?|an?|name|with|is)\b)[\w.@+-]{1,64}["'\x60]?|(?<=[\w.-])@[\w.-]{2,64})(?:[ \t]{0,3}[,;/|]|[ \t]{1,3}(?:and|with)|(?=\s{1,4}\w{2,10}[ \t]{0,3}[:=])|(?=[ \t]{0,2}\n))`;
const NEAR = String.raw`(?:[Pp]assw|pwd|\b[Pp][Ww]\b|\b[Pp]ass\b|[Cc]reds|\b[Ll]og ?in|\b[Ss]ign in)`;
const LOGIN = String.raw`\b(?:basic auth|creds|credentials|logins?|connect|wi-?fi|(?:log(?:ged|ging)?|sign(?:ed|ing)?) ?(?:[io]n|into)(?: with| as| using)?|ssh(?: in)?(?: with| as| using)|zugangsdaten)`;
const CODE_NAME = String.raw`(?:(?:one[- ]time|verification|security|confirmation|2fa|mfa|otp|login|sms|backup|recovery|access|auth\w{0,12}|einmal|bestätigungs|sicherheits|zugangs|tür|aktivierungs|pairing|activation|unlock|door|gate|alarm|entry|entrance|garage|building|house|flat|apartment|office|key ?box|lock(?:er|box)?|bike|suitcase|voicemail|sim|phone|tablet|safe|vault|invit\w{1,6}|reset|device)[-_ ]?(?:pass)?(?:codes?|combo|combination)|(?:codes?|combo|combination) (?:for|to|of) (?:(?:the|my|our) )?(?:\w{1,12} )?(?:door|gate|garage|building|alarm|safe|locker|house|flat|apartment|lock|vault|office|entrance)|cod(?:e|ice) d[ei] v[eé]rif[a-zÀ-ӿ]{1,8}|passcode|\bt?otp(?: (?:seed|key|code))?|\b[2m]fa(?: code)?|\bpin|\bpuk|\btan)(?![\w-])`;
const CODE = String.raw`(?:\d{3,6}(?:[ -]\d{3,6}){1,7}|\d\d(?: \d\d){2,4}|\d{1,2}-\d{1,2}-\d{1,2}|(?=[A-Z-]*\d)[A-Z0-9]{3,8}(?:-[A-Z0-9]{3,8}){1,7}|(?=[a-z-]*\d)[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){1,7}|\d{4,10}#?|(?=[A-Z]*\d)[A-Z0-9]{5,64})(?![\w-]|[.:]\w| (?:rows?|lines?|files?|bytes?|[kmg]b|tests?|times?|items?|entries|records?|users?|calls?|chars?|tokens?|ms|seconds?|minutes?|days?)\b)`;
const WALLET_WORD = String.raw`(?:(?:\d{1,2}[.):]?|[*-])[ \t]{0,2})?(?!(?:the|and|are|for|not|but|was|has|its|our|from|your|been|were|does)\b)[a-z]{3,8}`;
const ALWAYS: judges.Judge = () => true;
const LONG = /\S{14}/;
const SECRETS = /secret|token|credent|jwt|key/i;
const PASSWORDS =
  /pass(?:wor|wd|phr|code|[-_ ](?:phr|code)|(?![a-z])|ord)|pwd|(?:bind|root|admin|user)pw|(?<![a-z])pw(?![a-z])|psk|mdp|kennwort|schl(?:ü|ue)ssel|mot de|contrase|senha|clave|wachtw|senord|adgangs|salasana|heslo|has[lł]o|jelsz|şifre|parola|парол|密|パス|비밀|creds|credentials|basic auth|log(?:ged|ging|ins?)? ?[io]n|logins?|sign(?:ed|ing)? ?[io]n|ssh |connect|wi-?fi|zugangs|identified/i;
const COMMAND =
  /\s-|\/p:|<<<|echo [^|]{0,400}\||net use|ConvertTo|passphrase |rabbitmqctl|SETUSER|\/[^\s/]{2,128}@|secret|vault|snmp-|machine\s|login\s|WIFI:/;

type Rule = readonly [name: string, cue: RegExp, isSecret: judges.Judge, find: RegExp];

// oxfmt-ignore
const RULES: readonly Rule[] = [
  // By the shape of the secret.
  ["private key", /-----BEGIN/, ALWAYS, exact`-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----[\s\S]*?(?:-----END [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V\d)-----|$)`],
  ["PuTTY key", /Private-Lines/, ALWAYS, exact`(\bPrivate-Lines: ?\d{1,4}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=]{4,80}(?:\s|\\[nr]|$){1,4}){1,500}`],
  ["stored hash", /\$/, ALWAYS, exact`(\$(?:(?:1|2[abxy]?|5|6|7|y|gy|P|H|apr1|md5|sha1|argon2(?:id|[id])|b?scrypt(?:-sha256)?|pbkdf2[\w-]{0,12})\$|(?<=\b(?:pbkdf2|bcrypt|scrypt|argon2|SCRAM-SHA)[\w:-]{0,40}\$)))(?=[^\s"'\x60]{0,128}\d)[\w./+=,:$-]{20,512}`],
  ["LDAP hash", /\{\w/, ALWAYS, anyCase`(\{(?:S{0,2}(?:SHA|MD5)\d{0,3}|CRYPT|PBKDF2[\w-]{0,12}|ARGON2)\})[\w./+=,:$-]{13,512}`],
  ["vendor token", LONG, ALWAYS, exact`${START}(${Object.values(PREFIXES).join("|")})(?=[A-Za-z0-9_.=-]{16})[A-Za-z0-9_-]{10,8192}(?:[.=]{1,3}[A-Za-z0-9_-]{0,8192}){0,5}(?<![.])`],
  ["Mailchimp, Azure, Asana", LONG, ALWAYS, exact`${START}[0-9a-f]{32}-us\d{1,2}\b|${START}[\w~.-]{3}[78]Q~[\w~.-]{30,40}|(?<![\w/])[0-2]\/\d{12,20}:[0-9a-f]{32}\b`],
  ["Telegram, Discord", LONG, ALWAYS, exact`(?<!\d)\d{8,12}:[A-Za-z0-9_-]{35,64}(?![A-Za-z0-9_-])|(?<![\w-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,64}(?![\w-])`],
  ["Terraform", LONG, ALWAYS, exact`(\.atlasv1\.)[\w-]{30,128}`],
  ["license or disk key", LONG, ALWAYS, exact`(?<![\w-])(?:(?=[A-Z-]{0,28}\d)(?=[\d-]{0,28}[A-Z])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}|\d{6}(?:-\d{6}){7})(?![\w-])`],
  ["JSON Web Token", /eyJ/, ALWAYS, exact`(?<!\\)(?<!(?<!\\)[\w-])(eyJ)[\w-]{8,8192}(?:\.[\w-]{8,8192}){1,4}\.?`],
  ["authorization header", /bearer|basic|ssws|flyv1|negotiate/i, judges.isReal, anyCase`(\b(?:bearer|basic|ssws|flyv1|negotiate)\s{1,3})(?=[^\s\d]{0,8192}\d|\S{24})[A-Za-z0-9._~+/=-]{16,8192}`],
  ["random run", LONG, judges.isRandomRun, exact`(?<!\\)(?<!(?<!\\)[A-Za-z0-9_+/-])[A-Za-z0-9_+/-]{24,8192}={0,2}`],
  // By the address, command, line or header around it.
  ["password in an address", /:\/\//, judges.isReal, anyCase`(:\/\/(?!([^\s:/@]{1,64}):\2@)(?![^\s:/@]{0,64}:(?:pass(?:word|wd)?|pwd|secret)@)[^\s:/@"'\x60<>]{0,256}:)(?!\d{1,5}[/?#])[^\s"'\x60<>]{1,256}(?=@)`],
  ["token in an address", /:\/\//, judges.isReal, exact`(:\/\/)[A-Za-z0-9_.~-]{20,8192}(?=@)`],
  ["webhook", /hook/i, ALWAYS, anyCase`(\/\/[\w.-]{0,100}hooks?[\w.-]{0,100}\/|\/(?:web)?hooks?\w{0,10}\/)(?=[\w@/=+-]{0,200}?(?:catch\/\d{4,12}\/\w{5}|(?=[A-Za-z_-]{0,80}\d)[\w-]{20}|\w{6,64}\/\w{6,64}\/\w{16}))[\w@/=+-]{16,8192}(?!\.\w)`],
  ["command", COMMAND, judges.isReal, exact`(\b(?:${Object.values(BEFORE_PASSWORD).join("|")})["']?)(?:(?<=["'][^"'\s]{0,130})[^"'\n]{2,255}(?=["'])|[^\s"'-][^\s"']{1,255})`],
  [".pgpass", /:(?:\d{4,5}|\*):/, judges.isReal, exact`((?<=(?:^|[\s"'\x60(])[\w.*-]{1,128}):(?:\d{4,5}|\*):(?!error|warning|note|info)(?=[\w.-]{0,63}[A-Za-z*])[\w.*-]{1,64}:(?=[\w.@-]{0,63}[A-Za-z])[\w.@-]{1,64}:)(?=[^\s:/*])(?:(?<=:(?:543\d|6432|\*):[^\s:]{1,64}:[^\s:]{1,64}:)|(?=[^\s"'\x60]{1,256}(?:["'\x60]|\s{0,4}$|[ \t]{0,4}\r?\n)))[^\s"'\x60]{2,255}`],
  ["list of accounts", /@[\w.-]{1,80}:/, ALWAYS, exact`((?<=(?:^|\n)[ \t]{0,8}(?!git@)[\w.+-]{1,64})@[\w-]{1,64}\.[a-z]{2,12}:)(?=[^\s\d]{0,64}\d)(?=[^\s/.:]{5,64}(?:\s|$))(?!\d{1,5}\s)\S{5,64}`],
  ["mail relay", /\]:\d/, ALWAYS, exact`((?<=\.[A-Za-z]{2,24})\]:\d{2,5}[ \t]{1,20}[^\s:]{1,128}:)[^\s"']{2,255}`],
  ["cookies", /cookie/i, judges.isReal, anyCase`(cookie["'\x60]?[ \t]{0,2}[:=][ \t]{0,4}["'\x60]?(?:[\w.-]{1,64}=[^\s;,"'\x60]{0,15};[ \t]?){0,30}[\w.-]{1,64}=)(?=[^\n"'\x60]{0,400}\d)[^\s;,"'\x60]{16,4096}(?:;[ \t]?[\w.-]{1,64}(?:=[^\s;,"'\x60]{0,4096})?){0,30}`],
  ["authorization", /authorization/i, judges.told({ bare: 3 }), anyCase`(\b(?:(?:proxy-)?authorization)(?:${ASSIGNED})["'\x60]?(?:[A-Za-z][\w-]{1,20}[ \t]{1,3})?)[^\s"'\x60,;]{4,4096}`],
  ["base64 of a login", /auth/i, judges.isBasicAuth, anyCase`((?<![A-Za-z0-9])auth(?:${ASSIGNED})${QUOTE})[A-Za-z0-9+/]{8,1024}={0,2}`],
  ["default of a variable", /\$\{/, judges.told({ bare: 1 }), exact`(\$\{\w{0,40}(?:PASS|SECRET|TOKEN|KEY|pass|secret|token|key)\w{0,20}:[-=]?)[^\s"'{}$]{4,128}(?=\})`],
  // By a name.
  ["signatures and other keys", /key|sid|sig|salt/i, judges.isGenerated, anyCase`((?:\b|_|-|(?<=sess))(?:sid|sig(?:nature)?|(?<=\w[_-])(?<!(?:pub(?:lic)?|cache|idempotency|partition|primary|foreign|sort|routing|object|dedup|group|event)[_-])(?:key|salt))(?:${ASSIGNED})${QUOTE})(?:${VALUE})`],
  ["secret after its name", SECRETS, judges.isAssignedSecret, anyCase`(${SECRET}${WHOLE}(?<!token(?=s\b))(?!${ABOUT})[\w-]{0,40}(?:${ASSIGNED})${QUOTE})(?:${VALUE})`],
  ["password after its name", PASSWORDS, judges.isAssignedPassword, anyCase`((?:(?:${PASSWORD}${WHOLE}(?!${ABOUT})[\w-]{0,40}|\b(?:pw|mdp|(?<=["'])pass(?=["'])))(?:${ASSIGNED})|\b(?:identified(?: with \S{1,40})? by)\s{1,4}(?=["']|(?<=\b(?:create|alter) (?:user) .{1,140})))${QUOTE})(?:${VALUE})`],
  ["secret below its label", /\n/, judges.isLoneSecret, anyCase`((?<=^|\n)[ \t>*_#-]{0,8}(?:[a-zÀ-ӿ\d'’]{1,20} ){0,4}?(?:${PASSWORD}|${SECRET})${END}[*_]{0,2}[ \t]{0,4}[:：?]?[*_]{0,2}${BELOW}["'\x60]?)[^\s"'\x60]{4,256}(?<!:)(?=["'\x60]?[ \t]{0,8}(?:\r?\n|$))`],
  ["password below its label", /\n/, judges.told({ bare: 1 }), anyCase`((?<=^|\n)[ \t>*_#-]{0,8}(?:[a-zÀ-ӿ\d'’]{1,20} ){0,4}?${PASSWORD}${END}[*_]{0,2}[ \t]{0,4}[:：][*_]{0,2}${BELOW}["'\x60]?)[^\s"'\x60]{4,256}(?<!:)(?=["'\x60]?[ \t]{0,8}(?:\r?\n|$))`],
  ["row of a table", /\|/, judges.told({ bare: 1 }), anyCase`((?<=^|\n)[ \t]{0,8}\|[ \t*_]{0,8}(?:[a-zÀ-ӿ\d]{1,20} ){0,2}${PASSWORD}[ \t*_:]{0,8}\|[ \t\x60]{0,8})${WORD}(?=\x60?[ \t]{0,20}\|?[ \t]{0,8}(?:\r?\n|$))`],
  ["key as bytes", /\[\s{0,8}\d/, ALWAYS, anyCase`((?:key|secret|seed)[^\n[]{0,40}\[\s{0,8})(?:\d{1,3},\s{0,8}){31,127}\d{1,3}`],
  ["setup key", /key|seed/i, ALWAYS, anyCase`((?:setup|totp|otp|secret|authenticator)[ _-](?:key|seed)${TELLS})(?=[a-z ]{0,40}\d[a-z ]{0,40}\d)[A-Za-z2-7]{4}(?: [A-Za-z2-7]{4}){3,15}(?!\w)`],
  ["wallet words", /seed|recovery|backup|mnemonic|wallet|word/i, ALWAYS, anyCase`(\b(?:(?:seed|recovery|backup|mnemonic|wallet)[- ]?(?:phrase|words?)|mnemonic|seed|(?:12|24)[- ]words?)[^\n]{0,80}?\s{0,4}["'\x60]?)(?:${WALLET_WORD}(?:[ \t,]{1,3}|[ \t,]{0,2}\r?\n[ \t]{0,8})){11,23}${WALLET_WORD}(?![\w:=])`],
  ["codes", /cod[ei]|comb|otp|[2m]fa|pin|puk|tan/i, judges.isCode, anyCase`((?:${CODE_NAME}["']?(?:${TELLS}|[ \t]{0,4}[:=]?\s{0,4})|\b(?:your code is:? )(?=\d{3}[ -]?\d{3}(?!\w| \w))|\b(?:code is:? )(?=\d{3,8}#))(?:\[\s{0,40})?(?:(?:[*•-]|\d{1,2}[.)])[ \t]{1,4})?["'\x60]?)${CODE}(?:["']?(?:,?\s{1,40}|,)(?:(?:[*•-]|\d{1,2}[.)])[ \t]{1,4})?["']?${CODE}){0,24}`],
  ["code before the word", /code|otp|pin/i, ALWAYS, anyCase`((?<=^|[\s:]))(?:[A-Z]-)?\d{3,4}[ -]?\d{3,4}(?=\s(?:is|as)\s(?:your|the)\s[^.\n]{0,40}(?:code|otp|pin|passcode)\b)`],
  ["social security number, card check", /ssn|social|cv[vc]/i, ALWAYS, anyCase`(\b(?:ssn|social security)[^\d\n]{0,20}(?=\d{3}-)|\b(?:cvv|cvc)2?\b\W{0,3}(?:is )?)(?:\d{3}-\d\d-\d{4}|\d{3,4})\b`],
  ["card number", /\d{4}[ -]?\d{4}/, judges.isCardNumber, anyCase`(\b(?:card|visa|mastercard|amex|kreditkarte)\b[^\n\d]{0,30}|(?<![\w-]|\d )(?=[3-6]\d{3}[ -](?:\d{4}[ -]){2}\d{4}(?![ -]?\d)))\d(?:[ -]?\d){12,18}(?![ -]?\d)`],
  ["login call", /["'][,)]/, judges.told({ bare: 3 }), anyCase`(\b\w{0,20}(?:log_?in|auth|credential|userpassword|connect(?:ion)?|pdo)\w{0,10}\W{0,2}\(\s{0,4}(?:[\w$.]{1,40}, {0,4}|["'][^"'\n]{0,100}["'], {0,4}){1,3}?["'])(?=[^"'\s]{0,64}\d)[^"'\s]{4,128}(?=["'])`],
  ["entry below a secret name", /s["']?:\s*\n/i, judges.isGenerated, anyCase`((?:secret|token|credential|api[-_]?key)s["']?:[ \t]{0,4}\r?\n(?:[ \t]{1,16}[^\n]{1,200}\n){0,10}?[ \t]{1,16}[\w."'-]{1,64}:[ \t]{1,4}["']?)[^\s"']{16,512}`],
  ["address and password", /@/, judges.told({ bare: 4 }), anyCase`((?<=[\w.+-])@[\w-]{1,64}\.[\w.]{2,24}(?: ?\/ ?| \| ))(?![^\s/]{0,128}\/)${WORD}`],
  // By a sentence.
  ["secret in a sentence", SECRETS, judges.isLoneSecret, anyCase`(${SECRET}${END}(?:${TELLS}|[ \t]{0,3},?[ \t]{1,3}\(?)${QUOTE})(?!(?-i:[a-z]{1,64}(?:[-_.][a-z\d]{1,64}){1,20})(?:[\s"'\x60.,;:!?)]|$))(?=[^\s"'\x60]{0,64}\d)${WORD}`],
  ["password in a sentence", PASSWORDS, judges.told({ bare: 3, quoted: 1 }), anyCase`((?:${PASSWORD}|\b(?:pw|mdp|pass(?= (?:is|was)\b)))${END}\d?${TELLS}${QUOTE})${SAYS_SOMETHING}${WORD}`],
  ["word that is the password", PASSWORDS, judges.told({ atEnd: 1 }), anyCase`((?<![>→]\s{0,3}(?:\w{1,20} ){0,2})(?:${PASSWORD}|\b(?:pw|mdp|pass))${END}${IS}|\((?:${PASSWORD}|pw|pass)[ \t](?=[^\s()]{4,64}\)))${PLAIN}`],
  ["joined words for a password", PASSWORDS, judges.told({ atEnd: 2 }), anyCase`((?:${PASSWORD}${END}[ \t]{1,3}[–—-]|\b(?:make|made|set)[ \t](?:the|my|our|his|her|their|your)[ \t](?:\w{1,20}[ \t]){0,2}${PASSWORD})[ \t]{1,3})${PLAIN}`],
  ["it is the password", PASSWORDS, judges.told({ bare: 4, quoted: 2 }), anyCase`(${PASSWORD}${END}[^\n]{0,80}?\b(?:(?:it|that)(?:['’]s| is)|one is)[ \t](?:now[ \t])?["'\x60]?)${SAYS_SOMETHING}${WORD}`],
  ["password that was set", PASSWORDS, judges.told({ atEnd: 1 }), anyCase`((?:\b(?:set|setting|chang(?:ed?|ing)|made?|switch(?:ed)?|reset)\s[^.,;:!?\n]{0,60}${PASSWORD}${END}\s|${PASSWORD}${END}\s(?:(?:is|was|has been|had been|got)\s)?(?:now\s)?(?:set|changed|reset)\s(?:back\s)?)to\s{1,4}["'\x60]?)${PLAIN}`],
  ["password right after the word", PASSWORDS, judges.told({ bare: 4, quoted: 2 }), anyCase`((?:${PASSWORD}${END}|\bpw)[ \t]{0,3},?[ \t]{1,3}\(?["'\x60]?)${SAYS_SOMETHING}${WORD}`],
  ["password after a user", PASSWORDS, judges.told({ bare: 3, atEnd: 1, quoted: 1 }), anyCase`(${USER}\s{1,4}(?:(?:the|its|with)\s)?(?:${PASSWORD}|pass|pw)${END}[ \t]{0,3}[:=]?[ \t]{0,3}${QUOTE})${WORD}`],
  ["short name for a password", PASSWORDS, judges.told({ bare: 3 }), anyCase`(\bpass["']?[ \t]{0,4}[:=][ \t]{0,4}${QUOTE})(?:${VALUE})`],
  ["login and password", PASSWORDS, judges.told({ bare: 4, atEnd: 2 }), anyCase`(${LOGIN}(?:[ \t:]{1,3}[A-Za-z→]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?: \/ | \| |(?<=@[\w.-]{1,64}) and )["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["login with a password", PASSWORDS, judges.told({ bare: 4 }), anyCase`(${LOGIN}(?:(?:[ \t:]{1,3}[A-Za-z→]{1,12}){0,6}?[ \t:]{1,3}[\w.@+-]{2,64}(?:[/:]| and )|[ \t]{1,3}(?:user[ \t])?["'\x60]?[\w.@+-]{1,64}["'\x60]?,?[ \t](?:with|using)[ \t]{1,3})["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["password of a well-known account", /admin|root|guest|postgres|ubuntu|\bpi\b/i, judges.told({ bare: 4 }), anyCase`(\b(?:admin(?:istrator)?|root|guest|postgres|ubuntu|pi)(?: \/ |[:/])["'\x60]?)(?![^\s"'\x60]{0,128}[/:])${WORD}`],
  ["credentials", /cred/i, judges.told({ atEnd: 1 }), anyCase`(\bcred(?:ential)?s(?:[ \t]for(?:[ \t][\w-]{1,20}){1,3})?(?:[ \t](?:are|is))?[ \t:]{1,3}[\w.@+-]{2,64}(?: \/ | \| |:)["'\x60]?)(?=[^\s"'\x60/]{4,128})${WORD}`],
  ["password before the word", PASSWORDS, judges.told({ bare: 4 }), anyCase`((?<=^|[\s"'\x60]))${WORD}(?=["'\x60]?,?\s{1,2}(?:[–—-]\s)?(?:(?:that|this|which|it)(?:['’]s| is)|as|is|was|for|als|ist|für)\s{1,2}(?:(?:the|a|an|my|our|your|its|new|old|right|correct|current|root|admin|user|db|database|das|neue[sr]?)\s{1,2}){0,4}[\w.-]{0,20}\s?${PASSWORD}${END}(?=["'\x60”]?(?:\s{0,4}(?:$|[.,;!?)\n])|\s(?:and|or|but|for|on|in|now|until|to|of|there)\b)))`],
  ["word used as a password", PASSWORDS, judges.told({ bare: 1 }), anyCase`(\b(?:us(?:e|ing|ed)|try|take|enter|type|choose|pick|put|give|go with|have|keep|want|suggest)\s{1,2}["'\x60]?)${WORD}(?=["'\x60]?\s{1,2}as\s[^.\n]{0,30}?${PASSWORD}["'\x60”]?${CLAUSE_END})`],
  ["answer to a prompt", PASSWORDS, judges.told({ bare: 2 }), anyCase`(\b(?:us(?:e|ing)|try|enter|type|put|give)\s{1,2}(?:in\s)?["'\x60]?)${WORD}(?=["'\x60]?,?\s{1,2}(?:when|if|once|where)\s[^.\n]{0,50}?(?:ask|prompt)[^.\n]{0,30}?${PASSWORD}${END})`],
  ["password that was typed", PASSWORDS, judges.told({ bare: 4 }), anyCase`(\b(?:tried|typed|entered|pasted)[ \t](?:in[ \t])?["'\x60]?)${WORD}(?=[^.\n]{0,60}${PASSWORD})`],
  ["phrase in quotes", PASSWORDS, judges.isPassphrase, anyCase`(${PASSWORD}${END}(?:${TELLS}|,?[ \t])["“])[a-zÀ-ӿ][a-zÀ-ӿ\d'’-]{0,40}(?: [a-zÀ-ӿ\d'’-]{1,40}){1,11}(?=["”])`],
  ["passphrase", PASSWORDS, judges.isPassphrase, anyCase`(${PASSWORD}${END}(?:${TELLS}|[ \t](?=["“]))["'\x60“„]?)[a-zÀ-ӿ]{2,14}(?: (?!(?:and|or|but|nor|for|in|on|at|to|of|by|with|from|as|is|was|has|does|did|will|it|the|so|not|if|since|because|when|which|that|then|now|still|again|please)\b)[a-zÀ-ӿ]{2,14}(?![a-zÀ-ӿ\d_@/:=-])){1,11}`],
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
    const end = at + secret.length;
    const before = text.slice(Math.max(0, at - 300), at);
    return isSecret(secret, before, text.slice(end, end + 40)) ? kept + REDACTED : match;
  });
}
