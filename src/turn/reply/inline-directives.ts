/**
 * `[[reply_to_current]]`, `[[reply_to:<id>]]` and `[[audio_as_voice]]` inside an answer. Inside fenced
 * code or between backticks they are text: that is how an agent explains them. Of the text around a
 * tag only the blanks beside it change.
 */
import { fenceAround, findFences } from "./fences.ts";

export interface InlineDirectiveOptions {
  /** Whom `[[reply_to_current]]` answers. Left out or blank: nobody, but the wish is reported. */
  currentMessageId?: string;
  /** False leaves `[[audio_as_voice]]` in the text. */
  stripAudioTag?: boolean;
  /** False leaves the reply tags in the text. */
  stripReplyTags?: boolean;
}

export interface InlineDirectives {
  text: string;
  audioAsVoice: boolean;
  /** An id that the agent named goes before the current message. */
  replyToId?: string;
  replyToExplicitId?: string;
  replyToCurrent: boolean;
  hasAudioTag: boolean;
  hasReplyTag: boolean;
}

// Bounded repetition: a hostile answer must not make the search quadratic.
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
  id?: string;
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
    const to = start - blanksBefore(text, from, start);
    kept.push(text.slice(from, to));
    from = end;
    while (isBlank(text[from])) from += 1;
    // What stood on both sides of the tag stays two words.
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

function blanksBefore(text: string, from: number, start: number): number {
  let at = start;
  while (at > from && isBlank(text[at - 1])) at -= 1;
  return start - at;
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}
