/**
 * The files that people sent in a conversation. Each session has a transcript of its own, so what one
 * person sent is not named in another's. A transcript is read as it is: only what has the right form counts.
 */
import { isAbsolute } from "node:path";
import { isRecord } from "../base/json-record.ts";
import type { Attachment, CompactionEntry, TranscriptMessage } from "./entries.ts";

/** Oldest first, each path once. */
export function attachmentsOf(messages: readonly TranscriptMessage[]): Attachment[] {
  const found = messages.flatMap((message) =>
    message.role === "user" || message.role === "compactionSummary" ? checked(message.attachments) : [],
  );
  return [...new Map(found.map((attachment) => [attachment.path, attachment])).values()];
}

/** What a compaction carries over, so that a file can be read also when its message was summed up. */
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
