/** Secrets that are known by their shape: private keys, the tokens of vendors, long random runs, addresses. */
import type { Span } from "./cue.ts";
import { REDACTED, keepingFirstGroup } from "./mark.ts";
import { isRandomRun } from "./random-run.ts";

const KEY_BLOCK =
  /-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V\d)-----[\s\S]*?(?:-----END [A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V\d)-----|$)/g;
/** PuTTY's. */
const KEY_LINES = /(\bPrivate-Lines: ?\d{1,4}(?:\s|\\[nr]){1,4})(?:[A-Za-z0-9+/=]{4,80}(?:\s|\\[nr]|$){1,4}){1,500}/g;

export function redactKeyBlocks(text: string): string {
  let result = text;
  if (result.includes("-----")) result = withoutCutBlock(result.replace(KEY_BLOCK, keepingFirstGroup));
  return result.includes("Private-Lines") ? result.replace(KEY_LINES, `$1${REDACTED}\n`) : result;
}

const KEY_BLOCK_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY/;
const KEY_LINE = /(?:^|\s|\\[nr])[A-Za-z0-9+/=]{4,76}(?:\s|\\[nr]){0,4}$/;

/** The beginning of a block may have been cut off: what is left of it stands before the first end without one. */
function withoutCutBlock(text: string): string {
  const end = text.search(KEY_BLOCK_END);
  if (end < 0) return text;
  let start = end;
  for (let line = lastKeyLine(text, start); line !== undefined; line = lastKeyLine(text, start)) start = line;
  return start === end ? text : `${text.slice(0, start)}${REDACTED}\n${text.slice(end)}`;
}

function lastKeyLine(text: string, end: number): number | undefined {
  const from = Math.max(0, end - 90);
  const match = KEY_LINE.exec(text.slice(from, end));
  return match === null || end === 0 ? undefined : from + match.index;
}

/** Tokens with a prefix that nothing else has; it is kept. */
const VENDOR_TOKEN = new RegExp(
  `(?<![A-Za-z0-9])(${[
    "sk-(?:ant-|proj-|or-|svcacct-|admin-)?|csk-|nvapi-|tvly-|pplx-|xai-|gsk_|hf_(?=[A-Za-z]{30})|r8_|pcsk_|lsv2_[a-z]{2}_|jina_",
    "(?:sk|rk|pk|rzp|duffel|shippo)_(?:live|test|prod)_|(?:live|test)_(?=[A-Za-z0-9]{30})|whsec_|sk_(?=[0-9a-f]{32})|re_(?=\\w{8}_\\w{16})",
    "gh[pousr]_|github_pat_|gl(?:pat|ptt|dt|rt|rtr|cbt|soat|agent|ft|imt|oas|ffct)-|bk[a-z]{2}_(?=[A-Za-z0-9]{16})|CCI(?:PAT|PRJ)_|(?:sgp|snyk)_(?=[A-Za-z0-9]{16})|pul-|dckr_[a-z]{3}_",
    "npm_(?=[A-Za-z0-9]{20})|pypi-|rubygems_|CLOJARS_|oy2(?=[a-z0-9]{43})|cio(?=[A-Za-z0-9]{32}\\b)|AKCp",
    "xox[a-z](?:\\.xox[a-z])?-|xapp-|xwfp-|figd_|figo_|ntn_|secret_(?=[A-Za-z0-9]{40})|lin_(?:api|oauth)_|CFPAT-|(?:tfp|rdme)_(?=[A-Za-z0-9]{16})|PMAK-|phx_|ATATT3|ATBB|ATCTT3|ATTA(?=[0-9a-f]{32})",
    "shp[a-z]{2}_|sq0[a-z]{3}-|EAA[A-Z](?=[A-Za-z0-9]{30})|key-(?=[0-9a-f]{32})|xkeysib-|mlsn\\.|SG\\.|pat-[a-z]{2}\\d-|pat(?=[A-Za-z0-9]{14}\\.[0-9a-f]{32})",
    "AIza|ya29\\.|GOCSPX-|1//0|do[opr]_v1_|hv[sbr]\\.|dp\\.[a-z]{2,5}\\.|dapi(?=[0-9a-f]{32})|NR[A-Z]{2}-|HRKU-|sntry[a-z]_|gl(?:c|sa)_|dt0[a-z]\\d{2}\\.",
    "sbp_|sb_secret_|(?:nfp|napi|rnd|ops|lip|pnu)_(?=[A-Za-z0-9]{16})|pscale_[a-z]{2,5}_|fo1_|fm[12]_|tskey-[a-z]{3,8}-|ory_[a-z]{2}_|AGE-SECRET-KEY-1|A3-(?=[A-Z0-9]{6}-)",
  ].join("|")})[A-Za-z0-9_-]{10,8192}(?:[.=]{1,3}[A-Za-z0-9_-]{0,8192}){0,5}(?<![.])`,
  "g",
);
/** The shortest of them after its prefix, where that is shorter than a word may be. */
const SHORT_BODY = 16;
const SLACK = /^x(?:ox|app|wfp)/;

/** Tokens that only their make gives away. What a first group holds is kept. */
const SHAPED_TOKEN = new RegExp(
  [
    String.raw`\b(AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,
    // PostgreSQL's stored passwords; Twilio's and Mailchimp's.
    String.raw`\b(SK|AC|md5)[0-9a-f]{32}\b|\b[0-9a-f]{32}-us\d{1,2}\b`,
    // Telegram's, which stands in every address as "bot<id>:<secret>"; Discord's; Terraform's; Azure's.
    String.raw`(?<!\d)\d{8,12}:[A-Za-z0-9_-]{35,64}(?![A-Za-z0-9_-])|(?<![\w-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,64}(?![\w-])`,
    String.raw`(?<!\w)\w{14}\.atlasv1\.[\w-]{30,128}|(?<![\w~.-])[\w~.-]{3}[78]Q~[\w~.-]{30,40}`,
    // Asana's and ClickUp's.
    String.raw`(?<![\w/])[0-2]\/\d{12,20}:[0-9a-f]{32}\b|\b(pk_)\d{5,12}_[A-Z0-9]{32}\b`,
    // Keys of licenses and of encrypted disks, in groups.
    String.raw`(?<![\w-])(?=[A-Z-]{0,28}\d)(?=[\d-]{0,28}[A-Z])[A-Z0-9]{5}(?:-[A-Z0-9]{5}){4}(?![\w-])|(?<![\w-])\d{6}(?:-\d{6}){7}(?![\w-])`,
    // JSON Web Tokens, also without their last part.
    String.raw`(?<![\w-])(eyJ)[\w-]{8,8192}(?:\.[\w-]{8,8192}){1,4}\.?`,
  ].join("|"),
  "g",
);

const AUTHORIZATION =
  /(\b(?:bearer|basic|ssws|flyv1|negotiate)\s{1,3})(?=[^\s\d]{0,8192}\d|\S{24})[A-Za-z0-9._~+/=-]{16,8192}/gi;

/** Tokens are longer than most words. Only what is so long is looked at more closely. */
const LONG = 15;

export function redactTokens(text: string): string {
  let result = "";
  let done = 0;
  for (let run = nextLongRun(text, 0); run !== undefined; run = nextLongRun(text, run.end)) {
    // The letter of a written line break is no part of it.
    const start = run.start + (text.charAt(run.start - 1) === "\\" ? 1 : 0);
    const written = text.slice(start, run.end);
    const safe = redactRun(written, text, start);
    if (safe === written) continue;
    result += text.slice(done, start) + safe;
    done = run.end;
  }
  return (done === 0 ? text : result + text.slice(done))
    .replace(AUTHORIZATION, keepingFirstGroup)
    .replace(CALLED_SECRET, keepingFirstGroup)
    .replace(CALLED_PASSWORD, keepingFirstGroup);
}

/** "pw BlueWhale!42": nothing but a password has signs, digits and both kinds of letters. */
const CALLED_PASSWORD = (() => {
  const sign = String.raw`[^\s"'\x60/:;,()<>{}[\]]`;
  const kinds = [String.raw`\d`, "[A-Z]", "[a-z]", "[!@#$%^&*?+=]"].map((kind) => `(?=${sign}{0,64}${kind})`);
  return new RegExp(String.raw`(\b(?:pw|pwd|pass|passwd|passwor[dt]|passphrase)\s)${kinds.join("")}${sign}{6,64}`, "g");
})();

/** A commit or an id looks just like it; right behind such a word it is neither. */
const CALLED_SECRET =
  /(\b(?:secret|token|(?:api|access|private|secret|signing|encryption|master)[- ]key)\s)(?:[0-9a-f]{32,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b/gi;

/** Looks only at every fifteenth sign, because a long run cannot stand between two of them: an expression reads all. */
function nextLongRun(text: string, from: number): Span | undefined {
  for (let at = from + LONG - 1; at < text.length; at += LONG) {
    if (!isRunSign(text.charCodeAt(at))) continue;
    let start = at;
    while (start > from && isRunSign(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < text.length && isRunSign(text.charCodeAt(end))) end++;
    if (end - start >= LONG) return { start, end };
    at = end;
  }
  return undefined;
}

const RUN_SIGNS = Array.from({ length: 128 }, (_, code) => /[A-Za-z0-9_./+:=~-]/.test(String.fromCharCode(code)));

function isRunSign(code: number): boolean {
  return RUN_SIGNS[code] === true;
}

/** Without a sign that divides words. */
const UNDIVIDED = /(?<![A-Za-z0-9_+/-])[A-Za-z0-9_+/-]{24,8192}={0,2}/g;

function redactRun(run: string, text: string, start: number): string {
  // The checksums of a lock file.
  if (run.startsWith("sha512-")) return run;
  return run
    .replace(VENDOR_TOKEN, (match: string, prefix: string) =>
      match.length - prefix.length < SHORT_BODY && !SLACK.test(prefix) ? match : prefix + REDACTED,
    )
    .replace(
      SHAPED_TOKEN,
      (_match: string, ...kept: (string | undefined)[]) => `${kept.slice(0, 4).join("")}${REDACTED}`,
    )
    .replace(UNDIVIDED, redactRandomParts(text, start));
}

/** For `replace`: parts that were drawn by lot, unless they belong to a reference. */
function redactRandomParts(text: string, start: number): (part: string, at: number, run: string) => string {
  // The same for all parts of the run.
  let reference: number | undefined;
  return (part, at, run) => {
    if (!isRandomRun(part) || (at === 0 && text.charAt(start - 1) === "@")) return part;
    reference ??= referenceBefore(text, start, run);
    return at < reference ? REDACTED : part;
  };
}

/** How far back one looks for the beginning of an address. */
const ADDRESS_LENGTH = 300;
/** The beginning of an address or a path, a checksum, or a picture: what follows says where something is. */
const REFERENCE = /:\/\/|^[~.]{0,2}\/|\bsha\d{1,3}[-:]|base64,/i;

/** From where in the run on it is part of a reference, which may have begun earlier in the same word. */
function referenceBefore(text: string, start: number, run: string): number {
  const earliest = Math.max(0, start - ADDRESS_LENGTH);
  let wordStart = start;
  while (wordStart > earliest && !isBlank(text.charCodeAt(wordStart - 1))) wordStart--;
  const found = REFERENCE.exec(text.slice(wordStart, start) + run);
  return found === null ? Number.POSITIVE_INFINITY : wordStart + found.index + found[0].length - start;
}

function isBlank(code: number): boolean {
  return code <= 32 || code === 160;
}

/** A password, which may have any sign in it but is not a port with what follows. */
const PASSWORD_IN_ADDRESS = /(:\/\/[^\s:/@"'`<>]{0,256}:)(?!\d{1,5}[/?#])[^\s"'`<>]{1,256}(?=@)/g;
const TOKEN_IN_ADDRESS = /(:\/\/)[A-Za-z0-9_.~-]{20,8192}(?=@)/g;
/** Whoever knows the address of a hook may call it. */
const HOOK = /(\/\/[\w.-]{0,100}hooks?[\w.-]{0,100}\/|\/(?:web)?hooks?\w{0,10}\/)([\w@/=+-]{16,8192})(?!\.\w)/gi;
const HOOK_SECRET = /catch\/\d{4,12}\/\w{5}|(?=[A-Za-z_-]{0,80}\d)[\w-]{20}|[A-Za-z0-9]{6,}\/[A-Za-z0-9]{6,}\/\w{16}/;

export function redactAddresses(text: string): string {
  let result = text;
  if (result.includes("://") && result.includes("@")) {
    result = result.replace(PASSWORD_IN_ADDRESS, keepingFirstGroup).replace(TOKEN_IN_ADDRESS, keepingFirstGroup);
  }
  if (!result.includes("hook")) return result;
  return result.replace(HOOK, (match: string, kept: string, path: string) =>
    HOOK_SECRET.test(path) ? kept + REDACTED : match,
  );
}
