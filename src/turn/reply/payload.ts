/**
 * What leaves a turn towards a person, in OpenClaw's field names. `mediaUrl` is always the first of
 * `mediaUrls`; both are absent when nothing is attached.
 */

export interface ReplyPayload {
  text?: string;
  mediaUrl?: string;
  mediaUrls?: string[];
  /** The platform's id of the message that this one answers. */
  replyToId?: string;
  /** The agent asked for the reply itself; channels must not turn it off. */
  replyToTag?: boolean;
  /** The agent means the message that started the turn. */
  replyToCurrent?: boolean;
  audioAsVoice?: boolean;
  isError?: boolean;
  /** Something that only one channel understands, such as buttons. */
  channelData?: Record<string, unknown>;
}

export function payloadMedia({ mediaUrl, mediaUrls }: ReplyPayload): string[] {
  const all = [...(mediaUrl === undefined ? [] : [mediaUrl]), ...(mediaUrls ?? [])];
  return [...new Set(all.filter((ref) => ref.trim() !== ""))];
}

/** Replaces text and media; what is empty is left out. */
export function withContent(payload: ReplyPayload, text: string, media: readonly string[]): ReplyPayload {
  const { text: _text, mediaUrl: _url, mediaUrls: _urls, ...rest } = payload;
  const [first] = media;
  return {
    ...(text.trim() === "" ? {} : { text }),
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: [...media] }),
    ...rest,
  };
}

/** Whether any channel has something to show. */
export function isRenderablePayload(payload: ReplyPayload): boolean {
  if ((payload.text ?? "").trim() !== "" || payloadMedia(payload).length > 0) return true;
  return payload.channelData !== undefined && Object.keys(payload.channelData).length > 0;
}
