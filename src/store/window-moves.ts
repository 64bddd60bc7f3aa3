/**
 * Windows follow the session id of their key. When an update leaves another id on the key, the
 * window that was open is closed and the one of the new id is opened, so that no session id is
 * ever forgotten.
 */
import { basename } from "node:path";
import type { SessionEntry, WindowState } from "./session-entry.ts";
import type { Window, WindowReason } from "./store.ts";

export interface WindowMove {
  key: string;
  /** The session id that the key had; undefined for a new key. */
  from: string | undefined;
  to: string;
  /** What the entry held of the window that it leaves, for going back to it. */
  leaving: WindowState | undefined;
  /** The transcript that the entry names, if it names one. */
  transcript: string | undefined;
  reason: WindowReason | undefined;
  now: number;
}

/**
 * The window that is open after an update, also when the session id stayed. `known` is the window
 * that the key already has of this session id, open or closed.
 */
export function openedWindow({ key, from, to, reason, now, ...entry }: WindowMove, known: Window | undefined): Window {
  const transcript = entry.transcript ?? known?.transcript;
  const named = transcript === undefined ? {} : { transcript };
  if (known !== undefined && from === to) return { ...known, ...named };
  return {
    key,
    sessionId: to,
    openedAt: now,
    reason: reason ?? (from === undefined ? "initial" : "switch"),
    ...named,
  };
}

/** The file name of the transcript that an entry names. */
export function transcriptName({ sessionFile }: SessionEntry): string | undefined {
  // Other tools may have left something else there.
  return typeof sessionFile === "string" ? basename(sessionFile) : undefined;
}
