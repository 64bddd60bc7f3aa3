/** A glance into a transcript: first and last words, with bounded reading. */
import { HoldfastError } from "../../base/errors.ts";
import type { TranscriptEntry } from "../../transcript/entries.ts";
import { readTail, readTranscript } from "../../transcript/reader.ts";
import { isFlushEntry, saidText } from "../../transcript/turn-mark.ts";

const FIRST_ENTRIES = 50;
const PREVIEW_LENGTH = 120;

/** What the person wrote first; undefined when the transcript is missing or has nothing of the kind. */
export async function firstUserText(path: string): Promise<string | undefined> {
  return await unlessMissing(undefined, async () => {
    let read = 0;
    for await (const item of readTranscript(path)) {
      if (item.kind !== "entry") continue;
      const said = spoken(item.entry);
      if (said?.role === "user") return said.text;
      if (++read >= FIRST_ENTRIES) break;
    }
    return undefined;
  });
}

/** The last thing that the person or the agent said, on one line. */
export async function lastMessagePreview(path: string): Promise<string | undefined> {
  const [last] = await lastMessages(path, { limit: 1, maxChars: PREVIEW_LENGTH });
  return last?.text;
}

export interface PreviewItem {
  role: string;
  text: string;
}

/** Oldest first. */
export async function lastMessages(
  path: string,
  { limit, maxChars }: { limit: number; maxChars: number },
): Promise<PreviewItem[]> {
  return await unlessMissing([], async () => {
    // Tools and bookkeeping lie between the messages.
    const { entries } = await readTail(path, limit * 8 + 20);
    return entries
      .flatMap(({ entry }) => spoken(entry) ?? [])
      .slice(-limit)
      .map(({ role, text }) => ({ role, text: shorten(text, maxChars) }));
  });
}

function spoken(entry: TranscriptEntry): PreviewItem | undefined {
  if (entry.type !== "message" || isFlushEntry(entry)) return undefined;
  const { role } = entry.message;
  if (role !== "user" && role !== "assistant") return undefined;
  const text = saidText(entry).trim();
  return text === "" ? undefined : { role, text };
}

function shorten(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}

async function unlessMissing<T>(fallback: T, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HoldfastError && error.kind === "not-found") return fallback;
    throw error;
  }
}
