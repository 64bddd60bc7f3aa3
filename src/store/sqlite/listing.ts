/**
 * What lists show of a session, kept as text beside the entry: a JSON object without its opening
 * brace, so that the age, which is known only when somebody asks, can be put in front of it.
 */
import type { SessionKind } from "../../keys/session-kind.ts";
import { LISTED_FIELDS } from "../entry-facets.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { ListedSession } from "../store.ts";

export function toListing(key: string, kind: SessionKind, entry: SessionEntry): string {
  const shown = LISTED_FIELDS.filter((field) => entry[field] !== undefined && entry[field] !== null);
  return JSON.stringify({ key, kind, ...Object.fromEntries(shown.map((field) => [field, entry[field]])) }).slice(1);
}

export function fromListing(listing: string, fields: readonly (keyof SessionEntry)[]): ListedSession {
  const { key, kind, ...entry } = JSON.parse(`{${listing}`) as SessionEntry & Pick<ListedSession, "key" | "kind">;
  for (const field of LISTED_FIELDS) if (!ALWAYS_LISTED.has(field) && !fields.includes(field)) delete entry[field];
  return { key, kind, entry };
}

export function isListedField(field: keyof SessionEntry): boolean {
  return (LISTED_FIELDS as readonly string[]).includes(field);
}

/** Every listed entry has these. */
export const ALWAYS_LISTED: ReadonlySet<keyof SessionEntry> = new Set(["sessionId", "updatedAt"]);
