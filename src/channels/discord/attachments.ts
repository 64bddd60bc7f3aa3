/** The files of a message, fetched from Discord's servers within limits. One that fails never holds up its message. */
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { printableLine } from "../../base/printable.ts";
import { type ReceivedFiles, tooLarge } from "../received-files.ts";
import type { DiscordMessage, ReceivedMedia } from "./inbound-context.ts";

export interface FetchedAttachments {
  media: ReceivedMedia[];
  /** One line for each that could not be had. */
  missing: string[];
}

const MOST_FILES = 10;
const TIMEOUT_MS = 60_000;

type Attachment = DiscordMessage["attachments"][number];

export async function fetchAttachments(
  message: DiscordMessage,
  files: ReceivedFiles,
  signal: AbortSignal,
): Promise<FetchedAttachments> {
  const result: FetchedAttachments = { media: [], missing: [] };
  for (const attachment of message.attachments.slice(0, MOST_FILES)) {
    try {
      const path = await fetchOne(attachment, files, signal);
      const type = attachment.content_type ?? "application/octet-stream";
      result.media.push({ path, url: attachment.url, type });
    } catch (error) {
      signal.throwIfAborted();
      const name = printableLine(attachment.filename, 100);
      result.missing.push(`Attachment ${name} could not be fetched: ${errorMessage(error)}`);
    }
  }
  return result;
}

async function fetchOne(attachment: Attachment, files: ReceivedFiles, signal: AbortSignal): Promise<string> {
  if (attachment.size > files.maxBytes) throw tooLarge(files.maxBytes);
  const response = await fetch(attachment.url, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    redirect: "error",
  });
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new HoldfastError("unavailable", "media-download-failed", `Discord answered ${response.status}.`, {
      hint: "Send the file again.",
    });
  }
  return await files.save(response.body, {
    id: attachment.id,
    name: attachment.filename,
    type: attachment.content_type,
  });
}
