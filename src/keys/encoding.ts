/**
 * Encodes arbitrary text as part of a session key. A key is a list of segments joined by `:`, and some words are
 * markers: `dm`, `thread`, … An id may contain colons (`!room:server.org`). Only text that would be read as
 * something else is escaped as `%xx` (UTF-8, lower-case hex):
 * - control characters and unpaired surrogates, which some files and terminals cannot carry;
 * - a colon without text on both sides, because readers drop empty segments;
 * - the first character of a segment that is a marker word;
 * - a `%` that would otherwise start such an escape.
 * The encoding is reversible, so different texts never become the same key.
 */

/** Words that split a key wherever they appear as a segment. */
export const THREAD_MARKERS: ReadonlySet<string> = new Set(["thread", "topic"]);

/** A channel, account or main key with such a name is escaped. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...THREAD_MARKERS,
  "dm",
  "direct",
  "group",
  "channel",
  "agent",
  "subagent",
  "acp",
  "cron",
  "hook",
]);

/** Encodes an id that may span several segments: a peer, a group, a thread. Expects trimmed, non-empty text. */
export function encodeId(id: string, options: { keepTopics?: boolean | undefined } = {}): string {
  const segments = encodeLooseColons(encodeUnsafe(id)).split(":");
  const last = segments.length - 1;
  return segments
    .map((segment, index) => {
      if (!THREAD_MARKERS.has(foldCase(segment))) return segment;
      const isTopicOfGroup = options.keepTopics === true && segment === "topic" && index > 0 && index < last;
      return isTopicOfGroup ? segment : encodeFirst(segment);
    })
    .join(":");
}

/** Encodes a name that is exactly one segment: a channel, an account, a main key. */
export function encodeName(name: string): string {
  const encoded = encodeUnsafe(name).replaceAll(":", "%3a");
  return RESERVED_NAMES.has(encoded) ? encodeFirst(encoded) : encoded;
}

/** Escapes the first character, so that the text is not taken for a marker. */
export function encodeFirst(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
  return percent(first) + text.slice(first.length);
}

// oxlint-disable-next-line no-control-regex -- control characters are exactly what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/gu;

export function encodeControls(text: string): string {
  return text.replace(CONTROL, percent);
}

/**
 * Lower-cases one character at a time. `toLowerCase` looks at neighbours (the Greek final sigma), so an id alone
 * and the same id inside a key would differ.
 */
export function foldCase(text: string): string {
  // oxlint-disable-next-line no-control-regex -- the range is "all of ASCII"
  if (/^[\u0000-\u007f]*$/.test(text)) return text.toLowerCase();
  return Array.from(text, (character) => character.toLowerCase()).join("");
}

function encodeUnsafe(text: string): string {
  return encodeControls(text.replace(/%(?=[0-9a-f]{2})/gi, "%25"));
}

function encodeLooseColons(text: string): string {
  return text.replace(/^:|(?<=:):|:$/g, "%3a");
}

function percent(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const isUnpaired = point >= 0xd800 && point <= 0xdfff;
  // An unpaired surrogate has no UTF-8 form; write the three bytes it would have.
  const bytes = isUnpaired
    ? [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)]
    : [...Buffer.from(character, "utf8")];
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}

interface KeyShape {
  kind: "dm" | "group" | "channel" | "other";
  /** Index of the segment with the marker; -1 for `other`. */
  marker: number;
}

/** Keys of the program itself, not of chats. */
const INTERNAL_HEADS: ReadonlySet<string> = new Set(["agent", "subagent", "acp", "cron", "hook"]);

export function keyShape(segments: readonly string[]): KeyShape {
  const words = segments.slice(0, 3).map(foldCase);
  const [head = "", second = "", third = ""] = words;
  if (INTERNAL_HEADS.has(head)) return OTHER;
  if (isDmWord(head) && segments.length > 1) return { kind: "dm", marker: 0 };
  if (segments.length > 2) {
    if (isDmWord(second)) return { kind: "dm", marker: 1 };
    if (second === "group" || second === "channel") return { kind: second, marker: 1 };
  }
  if (segments.length > 3 && isDmWord(third) && !THREAD_MARKERS.has(second)) return { kind: "dm", marker: 2 };
  return OTHER;
}

/** Channels whose ids may differ only in case, such as base64 ids. */
const CASE_SENSITIVE_CHANNELS: ReadonlySet<string> = new Set(["signal", "matrix", "googlechat", "msteams"]);

export function isCaseSensitiveChannel(channel: string): boolean {
  return CASE_SENSITIVE_CHANNELS.has(channel);
}

const OTHER: KeyShape = { kind: "other", marker: -1 };

/** Newer versions of OpenClaw write `direct` for `dm`. */
function isDmWord(word: string): boolean {
  return word === "dm" || word === "direct";
}
