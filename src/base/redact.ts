/** Removes what looks like a secret before text is logged, exported, indexed or handed on. */

const REDACTED = "[redacted]";

/** Most secrets are longer than any word, and most texts have nothing so long in them: they cost one look. */
const LONG_RUN = /(?<![A-Za-z0-9_./+:=~-])[A-Za-z0-9_./+:=~-]{15}/;
const FORTY = /[\s"'`=:(][A-Za-z0-9/+]{40}/;

interface Secret {
  pattern: RegExp;
  /** What a text must have for the pattern to match. Left out: it is always tried. */
  needs?: RegExp;
}

/**
 * Each pattern's first group, if it has one, is kept: it says what was removed. None may begin with a
 * run of any length: tried at every word of a long line, that takes time in the square of its length.
 * And no run is without an end: on one of megabytes the engine's stack overflows, and no secret is so long.
 */
const SECRETS: readonly Secret[] = [
  {
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { pattern: /\b(sk-(?:ant-|proj-|or-)?)[A-Za-z0-9_-]{16,8192}/g, needs: LONG_RUN },
  { pattern: /\b((?:sk|rk|pk)_(?:live|test)_|whsec_)[A-Za-z0-9]{16,8192}/g, needs: LONG_RUN },
  { pattern: /\b(gh[pousr]_)[A-Za-z0-9]{20,8192}/g, needs: LONG_RUN },
  { pattern: /\b(github_pat_)[A-Za-z0-9_]{20,8192}/g, needs: LONG_RUN },
  { pattern: /\b(gl(?:pat|ptt|dt|rt|cbt|soat|agent)-)[A-Za-z0-9_.-]{16,8192}/g, needs: LONG_RUN },
  { pattern: /\b(xox[abceoprs]-|xapp-)[A-Za-z0-9-]{10,8192}/g, needs: LONG_RUN },
  { pattern: /(\bhooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9_/+-]{16,8192}/g, needs: LONG_RUN },
  { pattern: /(\bdiscord(?:app)?\.com\/api\/webhooks\/)[A-Za-z0-9_/-]{16,8192}/g, needs: LONG_RUN },
  { pattern: /\b(AIza|ya29\.|GOCSPX-|1\/\/0)[A-Za-z0-9_.-]{20,8192}/g, needs: LONG_RUN },
  { pattern: /\b((?:AKIA|ASIA|ABIA|ACCA))[A-Z0-9]{16}\b/g, needs: LONG_RUN },
  // The secret half of an AWS key has no mark of its own: forty characters of all kinds, where one speaks of such.
  {
    pattern:
      /(\b(?:[Aa][Ww][Ss]|[Aa]mazon|[Ss]ecret|SECRET|[Aa]ccess)[^\n]{0,80}?[\s"'`=:(])(?=[A-Za-z0-9/+]{40}(?![\w/+=-]))(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Z0-9/+]{0,39}[a-z])(?=[A-Za-z/+]{0,39}\d)[A-Za-z0-9/+]{40}/g,
    needs: FORTY,
  },
  {
    pattern:
      /\b(npm_|hf_|gsk_|r8_|lin_api_|shp(?:at|ca|pa|ss)_|sbp_|nfp_|dop_v1_|doo_v1_|ntn_|pat-na1-|key-)[A-Za-z0-9_-]{24,8192}/g,
    needs: LONG_RUN,
  },
  {
    pattern:
      /\b(SG\.|hv[sbr]\.|dp\.(?:pt|st|ct|sa)\.|pypi-|xai-|pplx-|glsa_|ATATT3|NRAK-|HRKU-|dapi|AGE-SECRET-KEY-1)[A-Za-z0-9_.=-]{20,8192}/g,
    needs: LONG_RUN,
  },
  // Twilio's.
  { pattern: /\b((?:SK|AC))[0-9a-f]{32}\b/g, needs: LONG_RUN },
  // Telegram's, which stands in every address as `bot<id>:<secret>`, and Discord's.
  { pattern: /(?<!\d)()\d{8,12}:[A-Za-z0-9_-]{35,64}(?![A-Za-z0-9_-])/g, needs: LONG_RUN },
  { pattern: /(?<![\w-])()[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,64}(?![\w-])/g, needs: LONG_RUN },
  { pattern: /(?<![\w-])(eyJ)[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,8192}/g, needs: LONG_RUN },
  { pattern: /(:\/\/[^\s:/@]{0,8192}:)[^\s@/]{1,8192}(?=@)/g },
  // A token in the place of the person.
  { pattern: /(:\/\/)[A-Za-z0-9_.~-]{20,8192}(?=@)/g, needs: LONG_RUN },
  { pattern: /(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{16,8192}/gi, needs: LONG_RUN },
  // Such as the gateway's, in the link that signs in.
  { pattern: /(\btoken["']?\s?[:=]\s?["']?)[A-Za-z0-9_-]{32,8192}/gi, needs: LONG_RUN },
  {
    pattern:
      /((?:api[_-]?key|secret|passw(?:or)?d|passphrase|pwd|(?:auth|access|refresh|session|id)[_-]?token|(?:access|account|private|auth|encryption|signing)[_-]?key)[a-z0-9_-]{0,30}["'`]?\s{0,10}[:=]\s{0,10}["'`]?)[^\s"'`,;]{6,8192}/gi,
  },
  { pattern: /(--?(?:password|passwd|pass|token|secret|api-?key)\s{1,10}["'`]?)[^\s"'`,;-][^\s"'`,;]{5,8192}/gi },
  // In a sentence, where it is no word: it has a digit in it.
  {
    pattern:
      /(\b(?:password|passphrase|passcode|pin|secret|token|(?:api|access|secret) key)\s{1,3}(?:is|was|to)\s{1,3}["'`“]?)(?=[^\s\d]{0,80}\d)[^\s"'`“”,;]{4,8192}/gi,
  },
];

export function redactText(text: string): string {
  const hasLongRun = LONG_RUN.test(text);
  let result = text;
  for (const { pattern, needs } of SECRETS) {
    if (needs !== undefined && (!hasLongRun || (needs !== LONG_RUN && !needs.test(text)))) continue;
    result = result.replace(pattern, redacted);
  }
  return result;
}

function redacted(_match: string, kept: unknown): string {
  return `${typeof kept === "string" ? kept : ""}${REDACTED}`;
}

const SECRET_FIELD = /^(?:authorization|cookie|.*(?:token|secret|passw(?:or)?d|api[_-]?key|credential)s?)$/i;

/** Redacts every string in a JSON value, and whole fields whose names promise a secret. */
export function redactValue(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === "string" && SECRET_FIELD.test(name) ? REDACTED : redactValue(inner),
    ]),
  );
}
