/**
 * Turns the answer of an engine into payloads for the outbox. The order of the steps matters: a directive may
 * remove the text, and only renderable payloads are compared with sent messages. What block streaming has shown is
 * compared when the payloads are split for a channel (`chat-blocks.ts`). In doubt, a text is repeated
 * rather than lost.
 */
import { parseReplyDirectives } from "./directives.ts";
import { HEARTBEAT_TOKEN, stripHeartbeatToken } from "./tokens.ts";

/** A reply to a person, in OpenClaw's field names. `mediaUrl` is the first of `mediaUrls`; both may be absent. */
export interface ReplyPayload {
  text?: string | undefined;
  mediaUrl?: string | undefined;
  mediaUrls?: string[] | undefined;
  replyToId?: string | undefined;
  /** The agent asked for the quote; channels must not turn it off. */
  replyToTag?: boolean | undefined;
  /** The agent quotes the message that started the turn. */
  replyToCurrent?: boolean | undefined;
  audioAsVoice?: boolean | undefined;
  isError?: boolean | undefined;
  /** Data for one channel, such as buttons. */
  channelData?: Record<string, unknown> | undefined;
}

/** Whether answers quote the message they answer, unless the agent decides that with a tag. */
export type ReplyToMode = "off" | "first" | "all";

export interface ReplyRequest {
  payloads: readonly ReplyPayload[];
  /** Keeps `HEARTBEAT_OK`, which the caller of a heartbeat turn looks for. */
  isHeartbeat?: boolean | undefined;
  /** Default: `off`. Tags of the agent apply in every mode. */
  replyToMode?: ReplyToMode | undefined;
  currentMessageId?: string | undefined;
  /** Messages that a tool sent during the turn to the chat of the answer. */
  sentByTool?: readonly ReplyPayload[] | undefined;
}

export interface ReplyResult {
  payloads: ReplyPayload[];
  dropped: { payload: ReplyPayload; reason: DropReason }[];
}

export type DropReason = "heartbeat" | "silent" | "empty" | "sent-by-tool";

export function buildReplyPayloads(request: ReplyRequest): ReplyResult {
  const { payloads, sentByTool = [] } = request;
  const result: ReplyResult = { payloads: [], dropped: [] };
  const answers: Answer[] = [];
  for (const original of payloads) {
    const answer = readAnswer(original, request);
    if (isRenderablePayload(answer.payload)) answers.push(answer);
    else result.dropped.push({ payload: original, reason: answer.emptyBecause });
  }
  for (const payload of quoteByMode(answers, request)) {
    const unsent = withoutToolSent(payload, sentByTool);
    if (isRenderablePayload(unsent)) result.payloads.push(unsent);
    else result.dropped.push({ payload, reason: "sent-by-tool" });
  }
  return result;
}

interface Answer {
  payload: ReplyPayload;
  /** Quotes the current message only because of the mode. */
  quotesByMode: boolean;
  emptyBecause: DropReason;
}

function readAnswer(original: ReplyPayload, request: ReplyRequest): Answer {
  const text = original.text ?? "";
  const bare = request.isHeartbeat === true ? text : stripHeartbeatToken(text);
  const current = request.currentMessageId?.trim() || undefined;
  const { replyToId, replyToCurrent = false } = original;
  const mayQuote = current !== undefined && (request.replyToMode ?? "off") !== "off";
  const quotesByMode = mayQuote && replyToId === undefined && !replyToCurrent;
  const quotes = quotesByMode || (replyToCurrent && replyToId === undefined);
  const threaded = quotes && current !== undefined ? { ...original, replyToId: current } : original;
  // An error text is not from the model, so it has no directives.
  if (original.isError === true) return { payload: threaded, quotesByMode, emptyBecause: "empty" };

  const directives = parseReplyDirectives(bare, { currentMessageId: current });
  const media = [...new Set([...payloadMedia(original), ...(directives.mediaUrls ?? [])])];
  return {
    payload: applyTags(withContent(threaded, directives.text, media), directives),
    quotesByMode: quotesByMode && !directives.replyToTag,
    emptyBecause: dropReason(text, bare, directives.isSilent),
  };
}

function applyTags(payload: ReplyPayload, directives: ReturnType<typeof parseReplyDirectives>): ReplyPayload {
  const { replyToId, replyToCurrent, replyToTag, audioAsVoice } = directives;
  return {
    ...payload,
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(replyToTag ? { replyToTag: true } : {}),
    ...(replyToCurrent ? { replyToCurrent: true } : {}),
    ...(audioAsVoice === true ? { audioAsVoice: true } : {}),
  };
}

function dropReason(text: string, bare: string, isSilent: boolean): DropReason {
  if (isSilent) return "silent";
  return bare.trim() === "" && text.includes(HEARTBEAT_TOKEN) ? "heartbeat" : "empty";
}

/** `first`: only one message of the turn quotes, unless the agent asks for more. */
function quoteByMode(answers: readonly Answer[], { replyToMode }: ReplyRequest): ReplyPayload[] {
  let quoted = false;
  return answers.map(({ payload, quotesByMode }) => {
    const oneTooMany = replyToMode === "first" && quotesByMode && quoted;
    quoted ||= payload.replyToId !== undefined;
    if (!oneTooMany) return payload;
    const { replyToId: _replyToId, ...rest } = payload;
    return rest;
  });
}

export function payloadMedia({ mediaUrl, mediaUrls }: ReplyPayload): string[] {
  const all = [...(mediaUrl === undefined ? [] : [mediaUrl]), ...(mediaUrls ?? [])];
  return [...new Set(all.filter((ref) => ref.trim() !== ""))];
}

function withContent(payload: ReplyPayload, text: string, media: readonly string[]): ReplyPayload {
  const { text: _text, mediaUrl: _url, mediaUrls: _urls, ...rest } = payload;
  const [first] = media;
  return {
    ...(text.trim() === "" ? {} : { text }),
    ...(first === undefined ? {} : { mediaUrl: first, mediaUrls: [...media] }),
    ...rest,
  };
}

function isRenderablePayload(payload: ReplyPayload): boolean {
  if ((payload.text ?? "").trim() !== "" || payloadMedia(payload).length > 0) return true;
  return payload.channelData !== undefined && Object.keys(payload.channelData).length > 0;
}

/** Shorter answers count as sent only if they are equal, because `ok` is part of many texts. */
const MIN_PART = 10;

/** Removes text and media that a messaging tool sent to the same chat. */
function withoutToolSent(payload: ReplyPayload, sent: readonly ReplyPayload[]): ReplyPayload {
  const text = payload.text ?? "";
  const known = new Set(sent.flatMap(payloadMedia));
  const media = payloadMedia(payload).filter((ref) => !known.has(ref));
  return withContent(payload, wasSent(text, sent) ? "" : text, media);
}

function wasSent(text: string, sent: readonly ReplyPayload[]): boolean {
  const wanted = comparable(text);
  if (wanted === "") return false;
  return sent.some(({ text: other }) => {
    const got = comparable(other ?? "");
    return got === wanted || (wanted.length >= MIN_PART && got.includes(wanted));
  });
}

/** Ignores case and white space, which agents change when they repeat themselves. */
function comparable(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();
}
