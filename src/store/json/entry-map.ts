/**
 * The sessions of one agent in a `sessions.json`. Several keys of the file may be one session (`main` and
 * `agent:main:main`): the entry with the latest change is current, the others are older windows. Entries of other
 * agents and invalid values stay in the file and are ignored.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { printableLine } from "../../base/text.ts";
import type { SessionEntry } from "../session-entry.ts";
import { type KeyOwner, LISTED_FIELDS, entryFacets, ownKeyOrUndefined, searchWords } from "../store-rules.ts";
import type { JsonQuery } from "../create-store.ts";
import type { JsonPage, ListPage, ListQuery, ListedSession } from "../store.ts";
import { copyJson, isRecord, shallowCopy } from "./json-document.ts";

export interface EntryMap {
  /** The whole content of the file, with ignored values. */
  readonly sessions: Readonly<JsonRecord>;
  readonly damaged: readonly string[];
  keys(): Iterable<string>;
  /** The current entry of a canonical key. Shared; do not change it. */
  current(key: string): SessionEntry | undefined;
  /** Older entries of the same session, under other keys of the file. */
  older(key: string): SessionEntry[];
  /** Keeps the entry. Its `updatedAt` is raised if an older entry under another key would be newer. */
  put(key: string, entry: SessionEntry): void;
  remove(key: string): void;
  /** Removes older entries with this session id from the file. */
  removeOlder(key: string, sessionId: string): void;
  fork(): EntryMap;
}

type Index = Map<string, readonly string[]>;

export function createEntryMap(sessions: Readonly<JsonRecord>, owner: KeyOwner): EntryMap {
  const index: Index = new Map();
  const damaged: string[] = [];
  for (const fileKey of Object.keys(sessions)) {
    const key = ownKeyOrUndefined(fileKey, owner);
    if (key === undefined) continue;
    if (isEntry(sessions[fileKey])) index.set(key, [...(index.get(key) ?? []), fileKey]);
    else damaged.push(fileKey);
  }
  return entryMap(shallowCopy(sessions), index, damaged);
}

function entryMap(sessions: JsonRecord, index: Index, damaged: readonly string[]): EntryMap {
  const ranked = (key: string): SessionEntry[] => {
    const fileKeys = index.get(key) ?? [];
    if (fileKeys.length < 2) return fileKeys.map((fileKey) => sessions[fileKey] as SessionEntry);
    return fileKeys.toSorted(newestFirst(sessions, key)).map((fileKey) => sessions[fileKey] as SessionEntry);
  };
  const drop = (key: string, fileKeys: readonly string[]): void => {
    for (const fileKey of fileKeys) delete sessions[fileKey];
    const left = (index.get(key) ?? []).filter((fileKey) => !fileKeys.includes(fileKey));
    if (left.length === 0) index.delete(key);
    else index.set(key, left);
  };
  return {
    sessions,
    damaged,
    keys: () => index.keys(),
    current: (key) => ranked(key)[0],
    older: (key) => ranked(key).slice(1),
    put(key, entry) {
      if (damaged.includes(key)) throw notAnEntry(key);
      const fileKeys = index.get(key) ?? [];
      // Use the existing key, so that the tool that created it sees the change.
      const target = fileKeys.includes(key) ? key : (fileKeys.toSorted(newestFirst(sessions, key))[0] ?? key);
      // An older entry under another key must not become current again.
      const updatedAt = Math.max(changedAt(entry), ...fileKeys.map((fileKey) => changedAt(sessions[fileKey])));
      if (fileKeys.some((fileKey) => fileKey !== target)) entry.updatedAt = updatedAt;
      sessions[target] = entry;
      if (!fileKeys.includes(target)) index.set(key, [...fileKeys, target]);
    },
    remove(key) {
      drop(key, index.get(key) ?? []);
    },
    removeOlder(key, sessionId) {
      const current = ranked(key)[0];
      const matches = (fileKey: string): boolean => {
        const entry = sessions[fileKey] as SessionEntry;
        return entry !== current && entry.sessionId === sessionId;
      };
      drop(key, (index.get(key) ?? []).filter(matches));
    },
    fork: () => entryMap(shallowCopy(sessions), new Map(index), damaged),
  };
}

function isEntry(value: unknown): value is SessionEntry {
  return isRecord(value) && typeof value["sessionId"] === "string" && value["sessionId"] !== "";
}

/** If both changed at the same time, the canonical key wins. */
function newestFirst(sessions: Readonly<JsonRecord>, key: string): (a: string, b: string) => number {
  return (a, b) => changedAt(sessions[b]) - changedAt(sessions[a]) || Number(b === key) - Number(a === key);
}

/** Time of the last change. Other tools may have stored something other than a number. */
export function changedAt(entry: unknown): number {
  const updatedAt = isRecord(entry) ? entry["updatedAt"] : undefined;
  return typeof updatedAt === "number" ? updatedAt : 0;
}

function notAnEntry(key: string): HoldfastError {
  const message = `The value of ${printableLine(key, 80)} is not a session entry`;
  const hint = "Nothing was changed. `holdfast doctor` shows it. Remove it from sessions.json to use the key.";
  return new HoldfastError("corrupt", "entry-corrupt", message, { hint, data: { key } });
}

export function listSessions(entries: EntryMap, query: ListQuery): ListPage {
  const { offset = 0, limit = Number.POSITIVE_INFINITY, sort = "updatedAt" } = query;
  const matches = createFilter(query);
  const found: ListedSession[] = [];
  for (const key of entries.keys()) {
    const entry = entries.current(key);
    const listed = entry === undefined ? undefined : matches(key, entry);
    if (listed !== undefined) found.push(listed);
  }
  found.sort(sort === "key" ? byKey : lastChangedFirst);
  const page = found.slice(offset, offset + limit);
  return { sessions: page.map((session) => copySession(session, query.fields)), total: found.length };
}

export function listAsJson(entries: EntryMap, { now, ...query }: JsonQuery): JsonPage {
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
      query.exceptKinds?.includes(kind) !== true &&
      (query.spawnedBy === undefined || query.spawnedBy === entry.spawnedBy) &&
      (query.channel === undefined || query.channel === channel) &&
      (query.label === undefined || query.label === label) &&
      words.every((word) => search.includes(word));
    return isWanted ? { key, kind, entry } : undefined;
  };
}

function byKey(a: ListedSession, b: ListedSession): number {
  return a.key < b.key ? -1 : 1;
}

function lastChangedFirst(a: ListedSession, b: ListedSession): number {
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
