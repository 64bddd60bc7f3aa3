/**
 * What a transcript says about itself: the session that it is a window of. Written when the window
 * opens, right behind the header, so that transcripts alone are enough to rebuild a lost store.
 */
import { isRecord } from "../base/json-record.ts";
import type { WindowReason } from "../store/store.ts";
import { type DraftEntry, SESSION_MARK_TYPE, type TranscriptEntry } from "../transcript/entries.ts";
import { readTranscript } from "../transcript/reader.ts";
import type { ResetWord } from "./reset-trigger.ts";

export interface SessionMark {
  /** Canonical. */
  key: string;
  /** Why the window was opened. */
  reason: WindowReason;
  /** By which command. Left out: by none, or it is not known. */
  command?: ResetWord;
}

export function sessionMark(mark: SessionMark): DraftEntry {
  return { type: "custom", customType: SESSION_MARK_TYPE, data: mark };
}

/** Undefined when the entry is none. The content comes from a file: the key may be anything. */
export function sessionMarkOf(entry: TranscriptEntry): SessionMark | undefined {
  if (entry.type !== "custom" || entry.customType !== SESSION_MARK_TYPE || !isRecord(entry.data)) return undefined;
  const { key, reason, command } = entry.data;
  if (typeof key !== "string") return undefined;
  return {
    key,
    reason: REASONS.find((known) => known === reason) ?? "restore",
    ...(command === "new" || command === "reset" ? { command } : {}),
  };
}

/** Undefined for a transcript that does not begin with one, or cannot be read. */
export async function readSessionMark(path: string): Promise<SessionMark | undefined> {
  try {
    for await (const item of readTranscript(path)) if (item.kind === "entry") return sessionMarkOf(item.entry);
  } catch {
    // Whoever needs the transcript itself is told what is wrong with it.
  }
  return undefined;
}

const REASONS: readonly WindowReason[] = ["initial", "command", "daily", "idle", "fork", "switch", "restore"];
