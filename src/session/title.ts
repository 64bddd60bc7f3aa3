/** The title of a session without a label. */
import type { SessionEntry } from "../store/session-entry.ts";

const TITLE_LENGTH = 60;

export function deriveSessionTitle(
  entry: Partial<Pick<SessionEntry, "displayName" | "subject" | "sessionId" | "updatedAt">> | undefined,
  firstUserMessage?: string,
): string | undefined {
  if (entry === undefined) return undefined;
  const named = entry.displayName?.trim() || entry.subject?.trim();
  if (named) return named;
  const message = firstUserMessage?.replace(/\s+/g, " ").trim();
  if (message) return shorten(message);
  return entry.sessionId ? datedId(entry.sessionId, entry.updatedAt) : undefined;
}

/** `0f8c2a31 (2026-11-16)`: the date helps people recognize it. */
function datedId(sessionId: string, updatedAt: number | undefined): string {
  const prefix = sessionId.slice(0, 8);
  const date = new Date(updatedAt ?? Number.NaN);
  return updatedAt !== undefined && updatedAt > 0 && !Number.isNaN(date.getTime())
    ? `${prefix} (${date.toISOString().slice(0, 10)})`
    : prefix;
}

/** Cuts at a word boundary unless that loses more than a third. */
function shorten(text: string): string {
  if (text.length <= TITLE_LENGTH) return text;
  const cut = text.slice(0, TITLE_LENGTH - 1);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > TITLE_LENGTH * 0.6 ? cut.slice(0, lastSpace) : cut}…`;
}
