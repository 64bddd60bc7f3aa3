/**
 * Reading the marks that turns leave on messages. Lines come from files: another tool may use the same
 * names for something else.
 */
import type { MessageEntry, TranscriptEntry } from "./entries.ts";
import { messageText } from "./text.ts";

/** Turns in which the agent saved its memory: nobody asked, and nobody is shown them. */
export const FLUSH_TURN_PREFIX = "flush:";

/** Undefined for messages that no turn wrote. */
export function turnIdOf(entry: TranscriptEntry): string | undefined {
  if (entry.type !== "message") return undefined;
  return typeof entry.turnId === "string" ? entry.turnId : undefined;
}

/** Whether a message belongs to a turn that a view leaves out. */
export function isFlushEntry(entry: TranscriptEntry): boolean {
  return turnIdOf(entry)?.startsWith(FLUSH_TURN_PREFIX) === true;
}

/** Whether a message stands where a person's would, and nobody said it. */
export function isHeartbeatEntry(entry: TranscriptEntry): boolean {
  return entry.type === "message" && entry.heartbeat === true;
}

/** What a person wrote, without what was put around it for the engine: for titles, previews and lists. */
export function saidText(entry: MessageEntry): string {
  return typeof entry.said === "string" ? entry.said : messageText(entry.message);
}
