/**
 * The text of a turn as the engine reads it: system events, earlier messages of the group, the message with
 * its sender, and untrusted context, in OpenClaw's order. Text from people is disarmed before the parts are
 * joined, so that no one can forge a part. Messages that share a turn are joined in order, each with its
 * sender.
 */
import { isGroupMessage, resolveGroupSessionKey } from "../../keys/group.ts";
import { type MessageContext, normalizeChatType } from "../../keys/message-context.ts";
import { type ResetWord, detectResetTrigger, resetWordOf } from "../../session/reset-trigger.ts";
import type { Attachment } from "../../transcript/entries.ts";
import type { TurnRequest, TurnResult } from "../pipeline.ts";
import {
  type HistoryEntry,
  type SystemEvent,
  appendUntrustedContext,
  attachmentLines,
  attachmentsOfMessage,
  buildHistoryContextFromEntries,
  formatHistoryEntry,
  prependSystemEvents,
} from "./context-blocks.ts";
import { compileMentionPatterns, literalPattern, stripMentions } from "./inbound.ts";
import { disarmStructure, printableLine } from "../../base/text.ts";

export interface TurnBody {
  text: string;
  /** The person's words, without senders, history and events. */
  said: string;
  /** Files that came with the messages. */
  attachments: Attachment[] | undefined;
}

/** Takes the group's history and the session's events for this turn. Undefined when all messages are empty. */
export async function buildTurnBody(turn: TurnRequest & Pick<TurnResult, "session">): Promise<TurnBody | undefined> {
  const { messages, parts, held, turnId } = turn;
  const { sessionKey, isGroup } = turn.session;
  if (messages.every(isEmpty)) return undefined;
  const claim = { id: turnId, epoch: held.lease.epoch };
  const { events, dropped } = await parts.systemEvents.drainSystemEvents(sessionKey, claim);
  const history = isGroup ? await parts.history.take(sessionKey, claim) : [];
  const mentionPatterns = isGroup ? compileMentionPatterns(parts.config.groups.mentionPatterns) : [];
  const bodies = messages.map((ctx, at) =>
    buildInboundBody({
      ctx,
      mentionPatterns,
      ...(at === 0 ? { history, events, droppedEvents: dropped } : {}),
    }),
  );
  const attachments = messages.flatMap(attachmentsOfMessage);
  return {
    text: bodies.join("\n\n"),
    said: messages.map(saidBy).join("\n").trim(),
    attachments: attachments.length === 0 ? undefined : attachments,
  };
}

function isEmpty(ctx: MessageContext): boolean {
  const written = ctx.BodyStripped ?? ctx.BodyForAgent ?? ctx.Body ?? "";
  return written.trim() === "" && (ctx.MediaPaths ?? ctx.MediaUrls ?? []).length === 0;
}

/** The text as the person typed it; after a reset word, only the rest. */
export function saidBy(ctx: MessageContext): string {
  const isWhole = ctx.BodyStripped === undefined || ctx.BodyStripped === (ctx.BodyForAgent ?? ctx.Body ?? "");
  return isWhole ? (ctx.RawBody ?? ctx.CommandBody ?? ctx.Body ?? "") : (ctx.BodyStripped ?? "");
}

export interface BodyParts {
  /** From `finalizeInboundContext`; with `BodyStripped` once the session is known. */
  ctx: MessageContext;
  mentionPatterns?: readonly RegExp[] | undefined;
  /** Messages of the group since the last reply, without this one. */
  history?: readonly HistoryEntry[] | undefined;
  events?: readonly SystemEvent[] | undefined;
  droppedEvents?: number | undefined;
}

/** The text of one message as the engine reads it. */
export function buildInboundBody(parts: BodyParts): string {
  const { ctx, mentionPatterns = [], history = [], events = [], droppedEvents = 0 } = parts;
  const written = ctx.BodyStripped ?? ctx.BodyForAgent ?? ctx.Body ?? "";
  const text = disarmStructure(isGroupMessage(ctx) ? stripMentions(written, { ctx, mentionPatterns }) : written);
  const meta = senderMeta(ctx);
  const attached = attachmentLines(ctx);
  const message = [
    ...(text === "" && attached.length > 0 ? [] : [text]),
    ...attached,
    ...(meta === undefined ? [] : [meta]),
  ].join("\n");
  const withHistory = buildHistoryContextFromEntries({
    entries: history,
    currentMessage: message,
    formatEntry: formatHistoryEntry,
    excludeLast: false,
  });
  const body = appendUntrustedContext(withHistory, ctx.UntrustedContext);
  return prependSystemEvents({ body, events, dropped: droppedEvents });
}

/** Index of the message that decides about the window: the last reset, else the last message. */
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

export interface Sender {
  name?: string | undefined;
  username?: string | undefined;
  tag?: string | undefined;
  e164?: string | undefined;
  id?: string | undefined;
}

/** In groups and channels, appends `\n[from: <label>]` unless the text is blank or names the sender already. */
export function formatInboundBodyWithSenderMeta({ body, ctx }: { body: string; ctx: MessageContext }): string {
  if (body.trim() === "") return body;
  const meta = senderMeta(ctx);
  return meta === undefined || namesSender(body, ctx) ? body : `${body}\n${meta}`;
}

/** `[from: Alice (+1555)]`; undefined in direct chats and for a sender without a name. */
function senderMeta(ctx: MessageContext): string | undefined {
  const chatType = normalizeChatType(ctx.ChatType);
  if (chatType !== "group" && chatType !== "channel") return undefined;
  const label = senderLabel(ctx);
  return label === null ? undefined : `[from: ${label}]`;
}

export function senderLabel(ctx: MessageContext): string | null {
  return resolveSenderLabel(senderOf(ctx));
}

/** Name, else username, else tag, followed by the number or id; null without any of them. */
export function resolveSenderLabel(sender: Sender): string | null {
  const shown = firstLabel(sender.name, sender.username, sender.tag);
  const address = firstLabel(sender.e164, sender.id);
  if (shown === undefined) return address ?? null;
  return address === undefined || address === shown ? shown : `${shown} (${address})`;
}

function senderOf(ctx: MessageContext): Sender {
  return {
    name: ctx.SenderName,
    username: ctx.SenderUsername,
    tag: ctx.SenderTag,
    e164: ctx.SenderE164,
    id: ctx.SenderId,
  };
}

function firstLabel(...candidates: readonly (string | undefined)[]): string | undefined {
  return candidates.map(cleanLabel).find((candidate) => candidate !== "");
}

const MAX_LABEL = 100;

/** One line that cannot close the bracket around it. People choose their names, so a name may try to. */
function cleanLabel(text: string | undefined): string {
  return printableLine(text ?? "", MAX_LABEL)
    .replaceAll("[", "(")
    .replaceAll("]", ")");
}

/** Finds a line `[from: …]`, or the sender in front: `Alice: hi`, `[Signal group 17:35] Alice: hi`. */
function namesSender(body: string, ctx: MessageContext): boolean {
  if (/^\[from:/im.test(body)) return true;
  const sender = senderOf(ctx);
  const names = [resolveSenderLabel(sender) ?? undefined, ...Object.values(sender)].map(cleanLabel);
  return names.some(
    (name) => name !== "" && new RegExp(`(?:^|\\n|\\]\\s{0,16})${literalPattern(name)}:\\s`, "i").test(body),
  );
}
