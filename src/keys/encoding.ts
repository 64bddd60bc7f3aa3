/**
 * How text of unknown origin becomes part of a session key without changing the key's meaning.
 *
 * A key is a list of segments joined by `:`, and some words are markers: `dm`, `thread`, … An id
 * may contain colons (`!room:server.org` keeps its own), so only what would be read as something
 * else is written as `%xx` (UTF-8, lower-case hex):
 * - control characters and unpaired surrogates, which some files and terminals cannot carry;
 * - a colon without text on both sides, because readers drop empty segments;
 * - the first character of a segment that is a marker word;
 * - a `%` that would otherwise be read as the start of such an escape.
 * Undoing the escapes gives the text back, hence different texts never become the same key.
 */

/** Words that split a key wherever they stand as a segment. */
export const THREAD_MARKERS: ReadonlySet<string> = new Set(["thread", "topic"]);

/** Words that a channel, an account or a main key must not be mistaken for. */
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

/** An id that may span several segments: a peer, a group, a thread. Trimmed and not empty. */
export function encodeId(id: string, options: { keepTopics?: boolean } = {}): string {
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

/** A name that is exactly one segment: a channel, an account, a main key. */
export function encodeName(name: string): string {
  const encoded = encodeUnsafe(name).replaceAll(":", "%3a");
  return RESERVED_NAMES.has(encoded) ? encodeFirst(encoded) : encoded;
}

/** Makes a word differ from itself as a marker while still reading as the same text. */
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
 * Lower case, one character at a time: the usual function looks at neighbours (the Greek final
 * sigma), so that an id alone and the same id inside a key would come out differently.
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
  // An unpaired surrogate has no UTF-8 form; its three bytes are written as if it had.
  const bytes = isUnpaired
    ? [0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f)]
    : [...Buffer.from(character, "utf8")];
  return bytes.map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
}
