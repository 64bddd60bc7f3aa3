/**
 * Secrets that the words before them announce: `DB_PASSWORD=…`, `"apiKey": "…"`, `<secret>…`, `--token …`,
 * "the password for staging is now …". One look finds the announcing words; only there is the text read on.
 */
import { REDACTED } from "./mark.ts";
import { labelledSecret } from "./labelled.ts";
import { secretBefore, secretsInSentence } from "./sentence.ts";
import type { Cue, CueKind, Span } from "./cue.ts";

/** The words of each kind. */
const WORDS: Readonly<Record<CueKind, readonly string[]>> = {
  password: [
    "passw(?:or[dt]|d)|pass[-_ ]?(?:phrase|code)|pwd|kennwort",
    "mot de passe|contrase[nñ]a|clave|senha|wachtwoord",
    "l[öo]senord(?:et)?|adgangskode|salasana|heslo|has[lł]o|parol(?:a|en)",
    "парол[ьяюе]|密[码碼]|パスワード|비밀번호|şifre|jelszó|passord(?:et)?|mật khẩu|סיסמה|κωδικός",
    "(?<![a-z])psk",
    String.raw`identified(?: with \S{1,40})? by`,
    "(?:wlan|wi-?fi|netzwerk)-?schl(?:ü|ue)ssel",
  ],
  secret: ["secret|token|credential|jwt", "(?:seed|recovery|backup|mnemonic|wallet)[- ]?(?:phrase|words)|mnemonic"],
  weak: [
    "(?:pass|pw|mdp|auth(?:orization)?)(?![a-z])",
    "cookie",
    String.raw`sid(?=["']?[:=])`,
    "signature|sig(?==)",
    "key",
    String.raw`salt(?=["'])`,
    String.raw`dsn(?=["']?\s?[:=])`,
  ],
  code: [
    "(?:codes?|c[oó]digos?|codice|kod|(?:t?otp|[2m]fa)(?: (?:seed|key|code))?|pin|puk|tan|ssn|combination)(?![a-z-])",
  ],
  login: [
    "basic auth|creds|logins?(?![a-z])",
    "(?:log(?:ged|ging)?|sign(?:ed)?) ?in (?:with|as|using)",
    "zugangsdaten|identifiants|credenciales",
  ],
};
const KINDS: readonly CueKind[] = ["password", "secret", "weak", "code", "login"];
/** One group for each of `KINDS`. */
const CUE = new RegExp(KINDS.map((kind) => `(${WORDS[kind].join("|")})`).join("|"), "gi");
/** Keys that open something. */
const SECRET_KEY =
  /(?:api|access|account|private|secret|auth|encryption|signing|master|shared|subscription|storage|service|license|client|deploy|bot|app|admin|ssh|gpg|product|activation|serial|recovery|unseal|setup|wi-?fi|wlan|wpa2?|network|pre-?shared)[-_ ]?$/i;
/** Passes that do: others go through something, or are no failures. */
const SECRET_PASS =
  /(?:db|database|become|sudo|smtp|imap|e?mail|user|root|admin|ssh|s?ftp|redis|mysql|pg|postgres|mongo|mq|rabbit\w{0,3}|proxy|ldap|bind|store|key|http|wifi|vpn|api|sql)[-_.]?$/i;
/** Codes that do: others are of countries, errors and programs. */
const SECRET_CODE =
  /(?:one[- ]time|verification|security|confirmation|2fa|mfa|otp|login|sms|backup|recovery|access|auth\w{0,12}|guard|einmal|bestätigungs|sicherheits|zugangs|zahlen|tür|freischalt|aktivierungs|pairing|activation|unlock|door|gate|alarm|entry|safe|lock|locker|vault|invit\w{1,6}|emergency|scratch|reset|device)[-_ ]?(?:pass)?$/i;
const SECRET_CODE_OF = /^ (?:d[eio] )?(?:v[eé]rif|weryf|s[eié]|acc|autor)[\p{L}]{1,12}/iu;
const YOUR_CODE = /\byour code is:? \d{3}[ -]?\d{3}(?!\w| \w)/i;

/** A beginning or an end that every cue has. Quicker to look for, and most messages have none. */
const ANY_CUE =
  /pass|pwd|kennw|contrase|clave|senha|wachtw|senord|adgangsk|salasa|heslo|as[lł]o|parol(?:a|en)|парол|密|パスワ|비밀|şifre|jelsz|mật|סיס|κωδ|ssel|salt|puk|ssn|combina|mnemon|(?:seed|wallet|very|ckup)[- ]?words|secret|token|creden|jwt|psk|phrase|pw|mdp|auth|cookie|sid|sig|key|dsn|code|codice|kod |digo|otp|[2m]fa|pin|tan|creds|login|log in |logg|zugangs|identif/i;

export function redactNamed(text: string): string {
  if (!ANY_CUE.test(text)) return text;
  let result = "";
  let done = 0;
  CUE.lastIndex = 0;
  for (let match = CUE.exec(text); match !== null; match = CUE.exec(text)) {
    const cue = cueOf(text, match);
    const { lastIndex } = CUE;
    for (const { start, end } of cue === undefined ? [] : secretsNear(text, cue, done)) {
      result += text.slice(done, start) + REDACTED;
      done = end;
    }
    CUE.lastIndex = Math.max(lastIndex, done);
  }
  return done === 0 ? text : result + text.slice(done);
}

function secretsNear(text: string, cue: Cue, done: number): readonly Span[] {
  const before = secretBefore(text, cue, done);
  const labelled = labelledSecret(text, cue);
  const inSentence = labelled === undefined || cue.kind === "code" ? secretsInSentence(text, cue) : [];
  const behind = labelled === undefined || inSentence.length > 0 ? inSentence : [labelled];
  return before === undefined ? behind : [before, ...behind];
}

const NAME_LENGTH = 64;

/** None if the letters are part of another word, as in `secretary` or `compass`. */
function cueOf(text: string, match: RegExpExecArray): Cue | undefined {
  const start = match.index;
  const end = start + match[0].length;
  const kind = kindOf(text, match, start, end);
  if (kind === undefined || goesOn(text, end)) return undefined;
  if (kind !== "password" && kind !== "secret" && beginsInside(text, start) && !isJoined(text, start)) return undefined;
  let nameStart = start;
  while (nameStart > 0 && start - nameStart < NAME_LENGTH && isNameSign(text.charCodeAt(nameStart - 1))) nameStart--;
  let nameEnd = end;
  while (nameEnd < text.length && nameEnd - end < NAME_LENGTH && isNameSign(text.charCodeAt(nameEnd))) nameEnd++;
  return { kind, start, end, nameStart, nameEnd };
}

function kindOf(text: string, match: RegExpExecArray, start: number, end: number): CueKind | undefined {
  const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)];
  const word = match[0].toLowerCase();
  if (word === "key" && SECRET_KEY.test(text.slice(Math.max(0, start - 16), start))) return "secret";
  if (/^(?:pass|pw)$/.test(word) && SECRET_PASS.test(text.slice(Math.max(0, start - 10), start))) return "password";
  // One of digits only is rather a code.
  if (/^pass.?code$/.test(word) && /^(?: is|:)? ?(?:\d{4,10}(?!\w)|\[redacted)/.test(text.slice(end, end + 16)))
    return "code";
  if (!/^(?:c[oó]d|kod|comb)/.test(word)) return kind;
  const isSecret =
    SECRET_CODE.test(text.slice(Math.max(0, start - 24), start)) ||
    SECRET_CODE_OF.test(text.slice(end, end + 24)) ||
    YOUR_CODE.test(text.slice(Math.max(0, start - 5), end + 16));
  return isSecret ? kind : undefined;
}

/** A letter of the same case follows; an `s` may. */
function goesOn(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  const isPlural = next === 115 || next === 83;
  const following = isPlural ? text.charCodeAt(end + 1) : next;
  return isLower(following) || (isUpper(following) && isUpper(text.charCodeAt(end - 1)));
}

function beginsInside(text: string, start: number): boolean {
  const before = text.charCodeAt(start - 1);
  const first = text.charCodeAt(start);
  // A written `\n` is no letter of the word.
  if (text.charAt(start - 2) === "\\") return false;
  return (isLower(before) && isLower(first)) || isUpper(before);
}

/** `dbpass`, `storepass`, but no `bypass`; `rootpw`, `Einmalcode`, `PHPSESSID`. */
function isJoined(text: string, start: number): boolean {
  // Which code it is was asked before.
  if (text.startsWith("code", start)) return true;
  if (/^sid$/i.test(text.slice(start, start + 3))) return /sess?$/i.test(text.slice(Math.max(0, start - 4), start));
  if (text.startsWith("pw", start)) return /(?:bind|root|admin|user)$/i.test(text.slice(Math.max(0, start - 5), start));
  return (
    text.startsWith("pass", start) &&
    !/(?:by|com|sur|tres|over|under)$/i.test(text.slice(Math.max(0, start - 5), start))
  );
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isNameSign(code: number): boolean {
  return isLower(code) || isUpper(code) || (code >= 48 && code <= 57) || code === 95 || code === 45;
}
