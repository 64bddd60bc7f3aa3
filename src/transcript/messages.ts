import { isAbsolute, posix } from "node:path";
import { createMinuteFormat } from "../base/clock.ts";
import { isRecord } from "../base/json-record.ts";
import {
  type AssistantMessage,
  type Attachment,
  type CompactionEntry,
  type DraftEntry,
  type MessageContent,
  type MessageEntry,
  type TranscriptEntry,
  type TranscriptMessage,
  type UserMessage,
  FLUSH_TURN_PREFIX,
  NO_USAGE,
} from "./entries.ts";

/** The plain text of a message, for previews and titles, without tool calls, images and thinking. */
export function messageText(message: TranscriptMessage): string {
  if (message.role === "bashExecution") return message.output;
  if (message.role === "branchSummary" || message.role === "compactionSummary") return message.summary;
  return contentText(message.content);
}

export function contentText(content: MessageContent): string {
  if (typeof content === "string") return content;
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The hand-off before a person's message. Undefined if there is none. */
export function handoffText(content: MessageContent): string | undefined {
  if (typeof content === "string") return undefined;
  const blocks = content.flatMap((block) => (block.type === "text" && block.handoff === true ? [block.text] : []));
  return blocks.length === 0 ? undefined : blocks.join("\n");
}

/** The message without the hand-off of an earlier conversation. */
export function withoutHandoff(message: TranscriptMessage): TranscriptMessage {
  if (message.role !== "user" || typeof message.content === "string") return message;
  if (handoffText(message.content) === undefined) return message;
  return { ...message, content: message.content.filter((block) => block.type !== "text" || block.handoff !== true) };
}

/** Undefined for messages that no turn wrote. */
export function turnIdOf(entry: TranscriptEntry): string | undefined {
  if (entry.type !== "message") return undefined;
  return typeof entry.turnId === "string" ? entry.turnId : undefined;
}

/** True for a message of a hidden turn. */
export function isFlushEntry(entry: TranscriptEntry): boolean {
  return turnIdOf(entry)?.startsWith(FLUSH_TURN_PREFIX) === true;
}

/** True for a heartbeat, which has the role of a person's message although no person wrote it. */
export function isHeartbeatEntry(entry: TranscriptEntry): boolean {
  return entry.type === "message" && entry.heartbeat === true;
}

/** The person's own words, without the text added for the engine. For titles, previews and lists. */
export function saidText(entry: MessageEntry): string {
  return typeof entry.said === "string" ? entry.said : messageText(entry.message);
}

/** Oldest first, each path once. */
export function attachmentsOf(messages: readonly TranscriptMessage[]): Attachment[] {
  const found = messages.flatMap((message) =>
    message.role === "user" || message.role === "compactionSummary" ? checked(message.attachments) : [],
  );
  return [...new Map(found.map((attachment) => [attachment.path, attachment])).values()];
}

/** The attachments that a compaction carries over, so that the files stay readable. */
export function compactionAttachments({ details }: Pick<CompactionEntry, "details">): Attachment[] {
  return isRecord(details) ? checked(details["attachments"]) : [];
}

function checked(value: unknown): Attachment[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (!isRecord(item) || typeof item["path"] !== "string" || !isAbsolute(item["path"])) return [];
    const { path, mimeType } = item;
    return [{ path, ...(typeof mimeType === "string" ? { mimeType } : {}) }];
  });
}

export interface MirroredDelivery {
  text?: string | undefined;
  mediaUrls?: readonly string[] | undefined;
}

/** The text for the transcript, with the names of delivered files in a line below. Null if there is neither. */
export function deliveredText({ text, mediaUrls }: MirroredDelivery): string | null {
  const parts = [resolveMirroredTranscriptText({ text }), resolveMirroredTranscriptText({ mediaUrls })];
  return parts.filter((part) => part !== null).join("\n") || null;
}

/** As in OpenClaw: the names of delivered files if there are any, else the text. Null if there is neither. */
export function resolveMirroredTranscriptText(delivery: MirroredDelivery): string | null {
  const urls = (delivery.mediaUrls ?? []).map((url) => url.trim()).filter((url) => url !== "");
  if (urls.length > 0) {
    const names = urls.map(mediaFileName).filter((name) => name !== "");
    return names.length > 0 ? names.join(", ") : "media";
  }
  return delivery.text?.trim() || null;
}

const MIRROR_MARKS = { provider: "openclaw", model: "delivery-mirror" } as const;

/** A delivery outside the model's own answer, with OpenClaw's marks for it. */
export function createDeliveryMirrorMessage(text: string, timestamp: number): AssistantMessage {
  return {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "openai-responses",
    ...MIRROR_MARKS,
    usage: NO_USAGE,
    stopReason: "stop",
    timestamp,
  };
}

/** No model wrote it, so it does not tell the model in use. */
export function isDeliveryMirror({ provider, model }: AssistantMessage): boolean {
  return provider === MIRROR_MARKS.provider && model === MIRROR_MARKS.model;
}

function mediaFileName(url: string): string {
  const bare = url.replace(/[?#].*$/s, "");
  const name = posix.basename(URL.canParse(bare) ? new URL(bare).pathname : bare);
  if (name === "." || name === "..") return "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** For English prose. Code and most other languages have more tokens, at worst one per character. */
export const CHARACTERS_PER_TOKEN = 4;
/** What providers count for an image of common size. */
export const IMAGE_TOKENS = 1500;

export function estimateTokens(messages: readonly TranscriptMessage[]): number {
  return messages.reduce((total, message) => total + messageTokens(message), 0);
}

export function messageTokens(message: TranscriptMessage): number {
  switch (message.role) {
    case "bashExecution":
      return textTokens(message.command) + textTokens(message.output);
    case "branchSummary":
    case "compactionSummary":
      return textTokens(message.summary);
    case "user":
      return contentTokens(message.content) + attachedImages(message) * IMAGE_TOKENS;
    default:
      return contentTokens(message.content);
  }
}

function attachedImages(message: UserMessage): number {
  if (message.attachments === undefined) return 0;
  return attachmentsOf([message]).filter(({ mimeType = "" }) => mimeType.startsWith("image/")).length;
}

function contentTokens(content: MessageContent): number {
  if (typeof content === "string") return textTokens(content);
  return content.reduce((total, block) => {
    if (block.type === "text") return total + textTokens(block.text);
    if (block.type === "thinking") return total + textTokens(block.thinking);
    if (block.type === "image") return total + IMAGE_TOKENS;
    return total + textTokens(JSON.stringify(block));
  }, 0);
}

export function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/**
 * The local time of each message, in front of it. It comes from the transcript, so a message reads the same in every
 * later turn and the provider's cache holds; and only models see it.
 */
export function createTimeLines(): (message: TranscriptMessage) => string | undefined {
  const format = createMinuteFormat();
  return (message) => {
    const at = (message.role === "user" ? message.sentAt : undefined) ?? message.timestamp;
    return Number.isFinite(at) && Math.abs(at) < MAX_DATE ? `[${format(at)}]` : undefined;
  };
}

/** Later instants are not dates. */
const MAX_DATE = 8.64e15;

/** `customType` of a message that was accepted and then dropped. It is shown to people; engines do not see it. */
const DROPPED_TYPE = "holdfast.dropped";

export function droppedDraft(data: { text: string; reason: string; receivedAt: number }): DraftEntry {
  return { type: "custom", customType: DROPPED_TYPE, data };
}

/** The words of a dropped message, with the reason. Undefined: another kind of entry. */
export function droppedText(entry: TranscriptEntry): string | undefined {
  if (entry.type !== "custom" || entry.customType !== DROPPED_TYPE || !isRecord(entry.data)) return undefined;
  const { text, reason } = entry.data;
  return typeof text === "string" ? `(dropped: ${String(reason)}) ${text}` : undefined;
}
