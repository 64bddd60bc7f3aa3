/** Pure changes of a session entry. */
import { randomIds } from "../base/ids.ts";
import { type SessionEntry, WINDOW_STATE_FIELDS } from "../store/session-entry.ts";

/** The snapshots are made anew in the first turn of a window. */
const CLEARED_FIELDS = [...WINDOW_STATE_FIELDS, "skillsSnapshot", "systemPromptReport"] as const;

/** The entry that a session gets when its next window opens. */
export function entryForNewWindow(
  previous: SessionEntry | undefined,
  window: { sessionId: string; sessionFile: string; now: number },
): SessionEntry {
  // Labels, levels, model and send policy belong to the person and stay, and so do fields that
  // other tools put there.
  const kept: Partial<SessionEntry> = { ...previous };
  for (const field of CLEARED_FIELDS) delete kept[field];
  return {
    ...kept,
    sessionId: window.sessionId,
    sessionFile: window.sessionFile,
    updatedAt: window.now,
    // Whoever opens a window, or goes back to an old one, means to speak in it: it starts out fresh.
    lastInteractionAt: window.now,
    compactionCount: 0,
    systemSent: false,
    abortedLastRun: false,
  };
}

/** Lays a patch over an entry, or makes a new one. `updatedAt` never goes back. */
export function mergeSessionEntry(
  existing: SessionEntry | undefined,
  patch: Partial<SessionEntry>,
  now: number = Date.now(),
): SessionEntry {
  return {
    ...existing,
    ...patch,
    sessionId: patch.sessionId ?? existing?.sessionId ?? randomIds.uuid(),
    updatedAt: Math.max(existing?.updatedAt ?? 0, patch.updatedAt ?? 0, now),
  };
}
