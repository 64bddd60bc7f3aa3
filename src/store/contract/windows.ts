import type { WindowState } from "../session-entry.ts";

export type WindowReason = "initial" | "command" | "daily" | "idle" | "fork" | "switch" | "restore";

/** One stretch of a session between resets. */
export interface Window {
  key: string;
  sessionId: string;
  openedAt: number;
  /** Why this window was opened. */
  reason: WindowReason;
  /** Missing while the window is the current one. */
  closedAt?: number;
  /** File name of the transcript inside the agent's sessions folder. */
  transcript?: string;
  /** What the entry held of this window alone when it was closed, for going back to it. */
  state?: WindowState;
  /** Set when the transcript was moved to the archive; its file name there. */
  archive?: string;
}
