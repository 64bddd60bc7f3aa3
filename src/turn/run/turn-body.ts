/**
 * The text of a turn: what the engine reads, and what the person wrote of it. Several messages that
 * waited together become one text in their order, each with its own sender.
 */
import { resolveGroupSessionKey } from "../../keys/group.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { type ResetWord, detectResetTrigger, resetWordOf } from "../../session/reset-trigger.ts";
import type { Attachment } from "../../transcript/entries.ts";
import { attachmentsOfMessage } from "../body/attachments.ts";
import { buildInboundBody } from "../body/build-body.ts";
import { compileMentionPatterns } from "../body/mentions.ts";
import type { TurnRequest } from "../turn.ts";

export interface TurnBody {
  text: string;
  /** Without senders, history and events. */
  said: string;
  /** Files that came with the messages. Left out: none, or they are in the transcript already. */
  attachments?: Attachment[];
}

/** The message that decides how the session goes on: the last reset among them, else the last one. */
export function findOpener(messages: readonly MessageContext[], resetTriggers: readonly string[]): number {
  const reset = messages.findLastIndex((ctx) => {
    const isGroup = resolveGroupSessionKey(ctx) !== null;
    return detectResetTrigger({ ctx, resetTriggers, isGroup, authorized: ctx.CommandAuthorized === true }).triggered;
  });
  return reset === -1 ? messages.length - 1 : reset;
}

export function resetWord(ctx: MessageContext, resetTriggers: readonly string[]): ResetWord {
  const isGroup = resolveGroupSessionKey(ctx) !== null;
  return resetWordOf(detectResetTrigger({ ctx, resetTriggers, isGroup, authorized: true }));
}

export interface BodyRequest {
  request: TurnRequest;
  sessionKey: string;
  isGroup: boolean;
  messages: readonly MessageContext[];
}

/** Takes the group's history and the session's events for this turn; undefined when nobody said anything. */
export async function buildTurnBody({
  request,
  sessionKey,
  isGroup,
  messages,
}: BodyRequest): Promise<TurnBody | undefined> {
  if (messages.every(saysNothing)) return undefined;
  const { history, systemEvents, config } = request.parts;
  const claim = { id: request.turnId, epoch: request.held.lease.epoch };
  const { events, dropped } = await systemEvents.drainSystemEvents(sessionKey, claim);
  const before = isGroup ? await history.take(sessionKey, claim) : [];
  const mentionPatterns = isGroup ? compileMentionPatterns(config.groups.mentionPatterns) : [];
  const bodies = messages.map((ctx, at) =>
    buildInboundBody({
      ctx,
      mentionPatterns,
      ...(at === 0 ? { history: before, events, droppedEvents: dropped } : {}),
    }),
  );
  const attachments = messages.flatMap(attachmentsOfMessage);
  return {
    text: bodies.join("\n\n"),
    said: messages.map(saidBy).join("\n").trim(),
    ...(attachments.length === 0 ? {} : { attachments }),
  };
}

function saysNothing(ctx: MessageContext): boolean {
  const written = ctx.BodyStripped ?? ctx.BodyForAgent ?? ctx.Body ?? "";
  return written.trim() === "" && (ctx.MediaPaths ?? ctx.MediaUrls ?? []).length === 0;
}

/** A reset leaves only what follows it; anything else is as the person typed it. */
export function saidBy(ctx: MessageContext): string {
  const isWhole = ctx.BodyStripped === undefined || ctx.BodyStripped === (ctx.BodyForAgent ?? ctx.Body ?? "");
  return isWhole ? (ctx.RawBody ?? ctx.CommandBody ?? ctx.Body ?? "") : (ctx.BodyStripped ?? "");
}
