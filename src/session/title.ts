/** What a list shows for a session that nobody has named. */
import type { SessionEntry } from "../store/session-entry.ts";

const TITLE_LENGTH = 60;

export function deriveSessionTitle(
  entry: (Pick<SessionEntry, "displayName" | "subject"> & { sessionId?: string }) | undefined,
  firstUserMessage?: string,
): string | undefined {
  if (entry === undefined) return undefined;
  const named = entry.displayName?.trim() || entry.subject?.trim();
  if (named) return named;
  const message = firstUserMessage?.replace(/\s+/g, " ").trim();
  if (message) return shorten(message);
  return entry.sessionId?.slice(0, 8);
}

/** Cuts at a word boundary unless that would throw away more than a third. */
function shorten(text: string): string {
  if (text.length <= TITLE_LENGTH) return text;
  const cut = text.slice(0, TITLE_LENGTH - 1);
  const lastSpace = cut.lastIndexOf(" ");
  return `${lastSpace > TITLE_LENGTH * 0.6 ? cut.slice(0, lastSpace) : cut}…`;
}
