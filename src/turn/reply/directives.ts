/**
 * Directives about delivery in an answer, which are removed from its text: `[[reply_to_current]]`,
 * `[[reply_to:<id>]]`, `[[audio_as_voice]]`, and lines that begin with `MEDIA: <url or path>`. Inside fenced
 * code, and tags between backticks, they are text: that is how an agent explains them.
 */
import { fenceAround, findFences } from "./split-text.ts";
import { SILENT_REPLY_TOKEN, isSilentReplyText } from "./tokens.ts";

export interface ReplyDirectives {
  text: string;
  mediaUrl?: string | undefined;
  mediaUrls?: string[] | undefined;
  replyToId?: string | undefined;
  replyToCurrent: boolean;
  replyToTag: boolean;
  audioAsVoice?: true | undefined;
  isSilent: boolean;
}

export function parseReplyDirectives(
  raw: string,
  options: { currentMessageId?: string | undefined; silentToken?: string | undefined } = {},
): ReplyDirectives {
  const { currentMessageId, silentToken = SILENT_REPLY_TOKEN } = options;
  // Tags first, because one may be on the same line as `MEDIA:`.
  const inline = parseInlineDirectives(raw, { currentMessageId });
  const { text, media } = splitMediaLines(inline.text);
  const isSilent = isSilentReplyText(text, silentToken);
  const [first] = media;
  return {
    text: isSilent ? "" : text,
    // Absent members are omitted, as in OpenClaw's answers.
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: media }),
    ...(inline.replyToId === undefined ? {} : { replyToId: inline.replyToId }),
    replyToCurrent: inline.replyToCurrent,
    replyToTag: inline.hasReplyTag,
    ...(inline.audioAsVoice ? { audioAsVoice: true } : {}),
    isSilent,
  };
}

export interface InlineDirectiveOptions {
  currentMessageId?: string | undefined;
  /** False keeps `[[audio_as_voice]]` in the text. */
  stripAudioTag?: boolean | undefined;
  /** False keeps the reply tags in the text. */
  stripReplyTags?: boolean | undefined;
}

export interface InlineDirectives {
  text: string;
  audioAsVoice: boolean;
  /** An id that the agent named takes precedence over the current message. */
  replyToId?: string | undefined;
  replyToExplicitId?: string | undefined;
  replyToCurrent: boolean;
  hasAudioTag: boolean;
  hasReplyTag: boolean;
}

// The repetitions are bounded, so that a hostile answer cannot make the search quadratic.
const TAG =
  /(?<!`)\[\[\s{0,8}(?:(?<audio>audio_as_voice)|(?<current>reply_to_current)|reply_to\s{0,8}:(?<id>[^\]\n]{1,256}))\s{0,8}\]\](?!`)/gi;

export function parseInlineDirectives(text: string, options: InlineDirectiveOptions = {}): InlineDirectives {
  const { stripAudioTag = true, stripReplyTags = true } = options;
  const tags = findTags(text);
  const audio = tags.some(({ kind }) => kind === "audio");
  const current = tags.some(({ kind }) => kind === "current");
  const explicitId = tags.findLast(({ kind }) => kind === "id")?.id;
  const replyToId = explicitId ?? (current ? options.currentMessageId?.trim() || undefined : undefined);

  const stripped = tags.filter(({ kind }) => (kind === "audio" ? stripAudioTag : stripReplyTags));
  return {
    text: withoutTags(text, stripped),
    audioAsVoice: audio,
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(explicitId === undefined ? {} : { replyToExplicitId: explicitId }),
    replyToCurrent: current,
    hasAudioTag: audio,
    hasReplyTag: current || explicitId !== undefined,
  };
}

interface Tag {
  kind: "audio" | "current" | "id";
  id?: string | undefined;
  start: number;
  end: number;
}

function findTags(text: string): Tag[] {
  if (!text.includes("[[")) return [];
  const fences = findFences(text);
  const tags: Tag[] = [];
  for (const match of text.matchAll(TAG)) {
    const { index: start } = match;
    if (fenceAround(fences, start) !== undefined) continue;
    const place = { start, end: start + match[0].length };
    const id = match.groups?.["id"]?.trim();
    if (match.groups?.["audio"] !== undefined) tags.push({ kind: "audio", ...place });
    else if (match.groups?.["current"] !== undefined) tags.push({ kind: "current", ...place });
    else if (id !== undefined && id !== "") tags.push({ kind: "id", id, ...place });
  }
  return tags;
}

function withoutTags(text: string, tags: readonly Tag[]): string {
  if (tags.length === 0) return text;
  const kept: string[] = [];
  let from = 0;
  for (const { start, end } of tags) {
    let to = start;
    while (to > from && isBlank(text[to - 1])) to -= 1;
    kept.push(text.slice(from, to));
    from = end;
    while (isBlank(text[from])) from += 1;
    // Words on both sides of the tag stay separate.
    const glued = to > 0 && text[to - 1] !== "\n" && /[^\s.,;:!?]/.test(text.charAt(from));
    if (glued) kept.push(" ");
  }
  kept.push(text.slice(from));
  return kept
    .join("")
    .replace(/^(?:[ \t]*\n)+/, "")
    .replace(/^ (?=\S)/, "")
    .trimEnd();
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

/** `NO_REPLY` may come first, or after the targets. */
const MEDIA_LINE = new RegExp(String.raw`^[ \t]*(?:(${SILENT_REPLY_TOKEN})[ \t]+)?MEDIA:(.*)$`);

/** Words after the target stay in the text. A line with a forbidden target stays as it is, so that nothing vanishes. */
function splitMediaLines(text: string): { text: string; media: string[] } {
  if (!text.includes("MEDIA:")) return { text: text.trimEnd(), media: [] };

  const fences = findFences(text);
  const media: string[] = [];
  const kept: string[] = [];
  let removedBefore = false;
  let start = 0;
  for (const line of text.split("\n")) {
    const found = fenceAround(fences, start) === undefined ? readMediaLine(line) : undefined;
    start += line.length + 1;
    if (found !== undefined) {
      media.push(...found.refs);
      if (found.rest !== "") kept.push(found.rest);
      removedBefore = found.rest === "";
      continue;
    }
    // Blank lines around a removed line become one.
    const doubled: boolean = removedBefore && line.trim() === "" && (kept.at(-1) ?? "").trim() === "";
    if (!doubled) kept.push(line);
    removedBefore = doubled;
  }
  if (media.length === 0) return { text: text.trimEnd(), media };
  return { text: kept.join("\n").trimEnd(), media: [...new Set(media)] };
}

interface MediaLine {
  refs: string[];
  rest: string;
}

function readMediaLine(line: string): MediaLine | undefined {
  const [, token, target = ""] = MEDIA_LINE.exec(line.trimEnd()) ?? [];
  const found = readTarget(target.trim());
  return found === undefined || token === undefined ? found : { ...found, rest: `${token} ${found.rest}`.trimEnd() };
}

function readTarget(target: string): MediaLine | undefined {
  if (target === "") return undefined;
  const quoted = /^(["'`])(.+?)\1(?:\s+(.*))?$/.exec(target);
  if (quoted?.[2] !== undefined) return attached([quoted[2].trim()], quoted[3]);

  const parts = target.split(/\s+/);
  const end = parts.findIndex((part) => !isMediaRef(part) || !looksLikeFile(part));
  if (end === -1) return { refs: parts, rest: "" };
  // A path may contain blanks.
  if (target.startsWith("./") && (end === 0 || looksLikeFile(target))) return attached([target]);
  const rest = parts.slice(end).join(" ");
  const refs = parts.slice(0, end);
  const isMeant = refs.every((ref) => isWebUrl(ref) || ref.startsWith("./")) || isSilentReplyText(rest);
  return refs.length > 0 && isMeant ? { refs, rest } : undefined;
}

function attached(refs: string[], rest = ""): MediaLine | undefined {
  return refs.every((ref) => isMediaRef(ref)) ? { refs, rest } : undefined;
}

/** A word without an extension is text: `MEDIA: see below` attaches nothing. */
function looksLikeFile(part: string): boolean {
  return isWebUrl(part) || /[^/.]\.[a-z0-9]{1,8}$/i.test(part);
}

/** Checks the form only. `resolveMedia` checks whether the file exists and is inside the workspace. */
function isMediaRef(ref: string): boolean {
  return isWebUrl(ref) || isWorkspacePath(ref);
}

export function isWebUrl(ref: string): boolean {
  return /^https?:\/\/[^\s/]\S*$/i.test(ref) && URL.canParse(ref);
}

// oxlint-disable-next-line no-control-regex -- control characters in a path are a mistake or an attack
const UNUSUAL = /[\u0000-\u001f\u007f\\]/;

export function isWorkspacePath(ref: string): boolean {
  if (ref === "" || ref.length > 1024 || UNUSUAL.test(ref)) return false;
  // Absolute paths, the home folder, and schemes such as `file:`, `data:` and `C:`.
  if (/^[/~]/.test(ref) || /^[a-z][a-z0-9+.-]*:/i.test(ref)) return false;
  const parts = ref.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length > 0 && !parts.includes("..");
}
