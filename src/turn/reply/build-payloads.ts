/**
 * From what an engine answered to what is put into the outbox. The order of the steps matters: a
 * directive may take the text away, and only what could be shown is compared with what was sent.
 */
import { createStreamedFilter, withoutToolSent } from "./already-sent.ts";
import { type ReplyPayload, isRenderablePayload, payloadMedia, withContent } from "./payload.ts";
import { parseReplyDirectives } from "./reply-directives.ts";
import { HEARTBEAT_TOKEN, stripHeartbeatToken } from "./tokens.ts";

/** Whether answers quote the message that they answer, where the agent itself says nothing about it. */
export type ReplyToMode = "off" | "first" | "all";

export interface ReplyRequest {
  /** What the engine answered, in order. */
  payloads: readonly ReplyPayload[];
  /** A heartbeat turn keeps `HEARTBEAT_OK`: whoever started it looks for it. */
  isHeartbeat?: boolean;
  /** Left out: `off`. What the agent asks for by a tag holds in every mode. */
  replyToMode?: ReplyToMode;
  currentMessageId?: string;
  /** What a messaging tool sent during the turn to the conversation that gets the answer, and to no other. */
  sentByTool?: readonly ReplyPayload[];
  /** What was streamed and delivered, in order, as it was before it was split for a channel. */
  streamed?: readonly ReplyPayload[];
}

export interface ReplyResult {
  payloads: ReplyPayload[];
  /** What is not sent, and why: for logs and for whoever wonders where an answer is. */
  dropped: { payload: ReplyPayload; reason: DropReason }[];
}

export type DropReason = "heartbeat" | "silent" | "empty" | "sent-by-tool" | "streamed";

export function buildReplyPayloads(request: ReplyRequest): ReplyResult {
  const { payloads, sentByTool = [], streamed = [] } = request;
  const withoutStreamed = createStreamedFilter(streamed);
  const result: ReplyResult = { payloads: [], dropped: [] };
  const answers: Answer[] = [];
  for (const original of payloads) {
    const answer = readAnswer(original, request);
    if (isRenderablePayload(answer.payload)) answers.push(answer);
    else result.dropped.push({ payload: original, reason: answer.emptyBecause });
  }
  for (const payload of quoteByMode(answers, request)) {
    const unsent = withoutToolSent(payload, sentByTool);
    const rest = withoutStreamed(unsent);
    if (isRenderablePayload(rest)) result.payloads.push(rest);
    else result.dropped.push({ payload, reason: isRenderablePayload(unsent) ? "streamed" : "sent-by-tool" });
  }
  return result;
}

interface Answer {
  payload: ReplyPayload;
  /** It quotes the current message only because of the mode. */
  quotesByMode: boolean;
  emptyBecause: DropReason;
}

function readAnswer(original: ReplyPayload, request: ReplyRequest): Answer {
  const text = original.text ?? "";
  const bare = request.isHeartbeat === true ? text : stripHeartbeatToken(text);
  const current = request.currentMessageId?.trim() || undefined;
  const quotesByMode = asksForNothing(original) && current !== undefined && (request.replyToMode ?? "off") !== "off";
  const quotes = quotesByMode || (original.replyToCurrent === true && original.replyToId === undefined);
  const threaded = quotes && current !== undefined ? { ...original, replyToId: current } : original;
  // The text of a failure is no model's: what looks like a directive in it is somebody else's.
  if (original.isError === true) return { payload: threaded, quotesByMode, emptyBecause: "empty" };

  const directives = parseReplyDirectives(bare, current === undefined ? {} : { currentMessageId: current });
  const media = [...new Set([...payloadMedia(original), ...(directives.mediaUrls ?? [])])];
  return {
    payload: applyTags(withContent(threaded, directives.text, media), directives),
    quotesByMode: quotesByMode && !directives.replyToTag,
    emptyBecause: dropReason(text, bare, directives.isSilent),
  };
}

function asksForNothing({ replyToId, replyToCurrent }: ReplyPayload): boolean {
  return replyToId === undefined && replyToCurrent !== true;
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

/** `first`: one message of the turn quotes, counting those that were streamed; more only where the agent asks. */
function quoteByMode(answers: readonly Answer[], { replyToMode, streamed = [] }: ReplyRequest): ReplyPayload[] {
  let quoted = streamed.some(({ replyToId }) => replyToId !== undefined);
  return answers.map(({ payload, quotesByMode }) => {
    const oneTooMany = replyToMode === "first" && quotesByMode && quoted;
    quoted ||= payload.replyToId !== undefined;
    if (!oneTooMany) return payload;
    const { replyToId: _replyToId, ...rest } = payload;
    return rest;
  });
}
