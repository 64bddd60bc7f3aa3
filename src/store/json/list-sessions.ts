/** Filters, sorts and pages the sessions in memory; only what is given out is copied. */
import { LISTED_FIELDS, checkListQuery, entryFacets, searchWords } from "../entry-facets.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { ListPage, ListQuery, ListedSession, JsonPage } from "../store.ts";
import { type EntryMap, changedAt } from "./entry-map.ts";
import { copyJson } from "./json-value.ts";

export function listSessions(entries: EntryMap, query: ListQuery): ListPage {
  checkListQuery(query);
  const { offset = 0, limit = Number.POSITIVE_INFINITY, sort = "updatedAt" } = query;
  const matches = createFilter(query);
  const found: ListedSession[] = [];
  for (const key of entries.keys()) {
    const entry = entries.current(key);
    const listed = entry === undefined ? undefined : matches(key, entry);
    if (listed !== undefined) found.push(listed);
  }
  found.sort(sort === "key" ? byKey : newestFirst);
  const page = found.slice(offset, offset + limit);
  return { sessions: page.map((session) => copySession(session, query.fields)), total: found.length };
}

export function listAsJson(entries: EntryMap, query: Omit<ListQuery, "fields">, now: number): JsonPage {
  const { sessions, total } = listSessions(entries, { ...query, fields: LISTED_FIELDS });
  const listed = sessions.map(({ key, kind, entry }) => {
    return { key, kind, ageMs: Math.max(0, now - changedAt(entry)), ...entry };
  });
  return { json: Buffer.from(JSON.stringify(listed)), count: listed.length, total };
}

function createFilter(query: ListQuery): (key: string, entry: SessionEntry) => ListedSession | undefined {
  const words = searchWords(query.text);
  return (key, entry) => {
    if (query.activeSince !== undefined && !(entry.updatedAt >= query.activeSince)) return undefined;
    const { kind, channel, label, search } = entryFacets(key, entry);
    const isWanted =
      (query.kind === undefined || query.kind === kind) &&
      (query.channel === undefined || query.channel === channel) &&
      (query.label === undefined || query.label === label) &&
      words.every((word) => search.includes(word));
    return isWanted ? { key, kind, entry } : undefined;
  };
}

function byKey(a: ListedSession, b: ListedSession): number {
  return a.key < b.key ? -1 : 1;
}

function newestFirst(a: ListedSession, b: ListedSession): number {
  return changedAt(b.entry) - changedAt(a.entry) || byKey(a, b);
}

function copySession({ key, kind, entry }: ListedSession, fields: ListQuery["fields"]): ListedSession {
  if (fields === undefined) return { key, kind, entry: copyJson(entry) };
  const wanted = [...new Set<keyof SessionEntry>(["sessionId", "updatedAt", ...fields])];
  const picked = Object.fromEntries(
    wanted.filter((field) => Object.hasOwn(entry, field)).map((field) => [field, entry[field]]),
  );
  return { key, kind, entry: copyJson(picked) as unknown as SessionEntry };
}
