/**
 * An outbox item as its channel gets it. Whoever enqueued it may be of another version, or not a turn at
 * all (announcements of tasks): what is not understood is left out.
 */
import { isRecord } from "../../base/json-record.ts";
import type { OutboundMedia, OutboundMessage } from "../../channels/channel.ts";
import type { OutboxItem } from "../../store/store.ts";

/** Undefined when there is nothing that a channel could show. */
export function toOutboundMessage({ target, idempotencyKey, payload }: OutboxItem): OutboundMessage | undefined {
  const { text, media, replyToId, asVoice } = isRecord(payload) ? payload : {};
  const files = Array.isArray(media) ? media.filter(isMedia) : [];
  const hasText = typeof text === "string" && text.trim() !== "";
  if (!hasText && files.length === 0) return undefined;
  return {
    target,
    idempotencyKey,
    ...(hasText ? { text } : {}),
    ...(files.length === 0 ? {} : { media: files }),
    ...(typeof replyToId === "string" ? { replyToId } : {}),
    ...(asVoice === true ? { asVoice } : {}),
  };
}

function isMedia(value: unknown): value is OutboundMedia {
  if (!isRecord(value)) return false;
  if (value["kind"] === "url") return typeof value["url"] === "string";
  return value["kind"] === "file" && typeof value["path"] === "string";
}
