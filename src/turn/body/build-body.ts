/**
 * What the engine reads of one message: system events, what the group said before, the message with its
 * sender, and what is only to be known. The order is OpenClaw's. Whatever people wrote is disarmed
 * before it is put together, so each part can only be written by whom it belongs to.
 */
import { isGroupMessage } from "../../keys/group.ts";
import type { MessageContext } from "../../keys/message-context.ts";
import { attachmentLines } from "./attachments.ts";
import { disarmStructure } from "../../base/disarm.ts";
import { type HistoryEntry, buildHistoryContextFromEntries, formatHistoryEntry } from "./history.ts";
import { stripMentions } from "./mentions.ts";
import { senderMeta } from "./sender-meta.ts";
import { type SystemEvent, prependSystemEvents } from "./system-lines.ts";
import { appendUntrustedContext } from "./untrusted-context.ts";

export interface BodyParts {
  /** As `finalizeInboundContext` left it; with `BodyStripped` once the session is known. */
  ctx: MessageContext;
  mentionPatterns?: readonly RegExp[];
  /** Messages of the group since the last reply, without this one. */
  history?: readonly HistoryEntry[];
  events?: readonly SystemEvent[];
  droppedEvents?: number;
}

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
