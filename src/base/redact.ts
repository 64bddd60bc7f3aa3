/** Removes what looks like a secret before text is logged, exported, indexed or handed on. */

const REDACTED = "[redacted]";

/**
 * Each pattern's first group, if it has one, is kept: it says what was removed. None may begin with a
 * run of any length: tried at every word of a long line, that takes time in the square of its length.
 * And no run is without an end: on one of megabytes the engine's stack overflows, and no secret is so long.
 */
const SECRET_PATTERNS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(sk-(?:ant-|proj-|or-)?)[A-Za-z0-9_-]{16,8192}/g,
  /\b(gh[pousr]_)[A-Za-z0-9]{20,8192}/g,
  /\b(github_pat_)[A-Za-z0-9_]{20,8192}/g,
  /\b(glpat-)[A-Za-z0-9_-]{16,8192}/g,
  /\b(xox[abeprs]-)[A-Za-z0-9-]{10,8192}/g,
  /\b(AIza)[A-Za-z0-9_-]{30,8192}/g,
  /\b((?:AKIA|ASIA))[A-Z0-9]{16}\b/g,
  /\b(npm_)[A-Za-z0-9]{30,8192}/g,
  // Telegram's, which stands in every address as `bot<id>:<secret>`, and Discord's.
  /(?<!\d)()\d{8,12}:[A-Za-z0-9_-]{35,64}(?![A-Za-z0-9_-])/g,
  /(?<![\w-])()[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,64}(?![\w-])/g,
  /(?<![\w-])(eyJ)[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,8192}/g,
  /(:\/\/[^\s:/@]{1,8192}:)[^\s@/]{1,8192}(?=@)/g,
  /(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{16,8192}/gi,
  // Such as the gateway's, in the link that signs in.
  /(\btoken["']?\s?[:=]\s?["']?)[A-Za-z0-9_-]{32,8192}/gi,
  /((?:api[_-]?key|secret|passw(?:or)?d|auth[_-]?token|access[_-]?token|refresh[_-]?token)["']?\s*[:=]\s*["']?)[^\s"',;]{6,8192}/gi,
];

export function redactText(text: string): string {
  let result = text;
  for (const pattern of SECRET_PATTERNS) {
    result = result.replace(pattern, (_match, kept: unknown) => `${typeof kept === "string" ? kept : ""}${REDACTED}`);
  }
  return result;
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
