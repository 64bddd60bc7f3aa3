/** Everything that an answer says about its own delivery, taken out of its text. */
import { parseInlineDirectives } from "./inline-directives.ts";
import { splitMediaLines } from "./media-lines.ts";
import { SILENT_REPLY_TOKEN, isSilentReplyText } from "./tokens.ts";

export interface ReplyDirectives {
  /** What a person reads; empty for a silent answer. */
  text: string;
  mediaUrl?: string;
  mediaUrls?: string[];
  replyToId?: string;
  replyToCurrent: boolean;
  replyToTag: boolean;
  audioAsVoice?: true;
  isSilent: boolean;
}

export function parseReplyDirectives(
  raw: string,
  options: { currentMessageId?: string; silentToken?: string } = {},
): ReplyDirectives {
  const { text: written, media } = splitMediaLines(raw);
  const { currentMessageId, silentToken = SILENT_REPLY_TOKEN } = options;
  const inline = parseInlineDirectives(written, currentMessageId === undefined ? {} : { currentMessageId });
  const isSilent = isSilentReplyText(inline.text, silentToken);
  const [first] = media;
  return {
    text: isSilent ? "" : inline.text,
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: media }),
    ...(inline.replyToId === undefined ? {} : { replyToId: inline.replyToId }),
    replyToCurrent: inline.replyToCurrent,
    replyToTag: inline.hasReplyTag,
    ...(inline.audioAsVoice ? { audioAsVoice: true } : {}),
    isSilent,
  };
}
