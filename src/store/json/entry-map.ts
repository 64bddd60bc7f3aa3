/**
 * The sessions of one agent in a `sessions.json`. Several keys of the file may be one session
 * (`main` and `agent:main:main`): the entry changed last is the current one, the others are older
 * windows of it. What belongs to another agent or is no entry stays in the file and is not seen.
 */
import { HoldfastError } from "../../base/errors.ts";
import type { JsonRecord } from "../../base/json-record.ts";
import { printableLine } from "../../base/printable.ts";
import type { SessionEntry } from "../session-entry.ts";
import { type KeyOwner, ownSessionKey } from "../store-key.ts";
import { isRecord, shallowCopy } from "./json-value.ts";

export interface EntryMap {
  /** What the file holds, with everything that is not seen here. */
  readonly sessions: Readonly<JsonRecord>;
  /** Keys of the file whose values are no entries. */
  readonly damaged: readonly string[];
  keys(): Iterable<string>;
  /** The entry that a canonical key points at; shared, not to be changed. */
  current(key: string): SessionEntry | undefined;
  /** Entries of the same session under other keys of the file, which were changed earlier. */
  older(key: string): SessionEntry[];
  put(key: string, entry: SessionEntry): void;
  remove(key: string): void;
  /** Takes older entries with this session id out of the file. */
  removeOlder(key: string, sessionId: string): void;
  /** A map that can be changed without changing this one. */
  fork(): EntryMap;
}

type Index = Map<string, readonly string[]>;

export function createEntryMap(sessions: Readonly<JsonRecord>, owner: KeyOwner): EntryMap {
  const index: Index = new Map();
  const damaged: string[] = [];
  for (const fileKey of Object.keys(sessions)) {
    const key = ownKeyOf(fileKey, owner);
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
      // Under the key that the file already uses, so that the tool that made it sees the change.
      const target = fileKeys.includes(key) ? key : (fileKeys.toSorted(newestFirst(sessions, key))[0] ?? key);
      // Nothing may make an older entry under another key the current one again.
      const updatedAt = Math.max(changedAt(entry), ...fileKeys.map((fileKey) => changedAt(sessions[fileKey])));
      sessions[target] = fileKeys.some((fileKey) => fileKey !== target) ? { ...entry, updatedAt } : entry;
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

function ownKeyOf(fileKey: string, owner: KeyOwner): string | undefined {
  try {
    return ownSessionKey(fileKey, owner);
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function isEntry(value: unknown): value is SessionEntry {
  return isRecord(value) && typeof value["sessionId"] === "string" && value["sessionId"] !== "";
}

/** Of two that changed at the same time, the canonical key is the current one. */
function newestFirst(sessions: Readonly<JsonRecord>, key: string): (a: string, b: string) => number {
  return (a, b) => changedAt(sessions[b]) - changedAt(sessions[a]) || Number(b === key) - Number(a === key);
}

/** When an entry was changed last; other tools may have left something else than a number there. */
export function changedAt(entry: unknown): number {
  const updatedAt = isRecord(entry) ? entry["updatedAt"] : undefined;
  return typeof updatedAt === "number" ? updatedAt : 0;
}

function notAnEntry(key: string): HoldfastError {
  return new HoldfastError("corrupt", "entry-corrupt", `What is stored under ${printableLine(key, 80)} is no entry`, {
    hint: "Nothing was changed. `holdfast doctor` shows it; remove it from sessions.json to use the key.",
    data: { key },
  });
}
