/**
 * The rows of entries. Large values, such as skills snapshots, are the same in most entries, so each is stored once
 * under the hash of its content. Unused contents are deleted in the same transaction.
 */
import { nodeCrypto } from "../../base/builtin.ts";
import type { PutEntry, StoreRows } from "../rows.ts";
import type { SessionEntry } from "../session-entry.ts";
import { entryFacets, toListing, transcriptName } from "../store-rules.ts";
import type { SqliteDatabase } from "./database.ts";
import { moveWindow } from "./session-rows.ts";

type EntryRows = Pick<StoreRows, "entry" | "entryHead" | "keyWithLabel" | "putEntry" | "deleteEntry">;

export function entryRows(database: SqliteDatabase): EntryRows {
  return {
    entry: (key) => {
      // One statement reads one state, however many large fields there are.
      const rows = database.all<{ version: number; entry: string; field: string | null; json: string | null }>(
        `SELECT version, json(entry) AS entry, field, json FROM entries
           LEFT JOIN entry_contents USING (key) LEFT JOIN contents USING (hash)
         WHERE entries.key = ? ORDER BY field`,
        key,
      );
      const [first] = rows;
      if (first === undefined) return undefined;
      const large = rows.flatMap(({ field, json }): LargeField[] =>
        field === null || json === null ? [] : [{ field, json }],
      );
      return { version: first.version, entry: unpackEntry({ lean: first.entry, large }) };
    },
    entryHead: (key) => database.get("SELECT version, session_id AS sessionId FROM entries WHERE key = ?", key),
    keyWithLabel: (label, except) =>
      database.get<{ key: string }>("SELECT key FROM entries WHERE label = ? AND key <> ?", label, except)?.key,
    putEntry: (put) => putEntry(database, put),
    deleteEntry: (key) => {
      database.run("DELETE FROM entries WHERE key = ?", key);
      putContents(database, key, []);
      database.run("DELETE FROM windows WHERE key = ?", key);
    },
  };
}

function putEntry(database: SqliteDatabase, { key, entry, from, leaving, windowReason, now }: PutEntry): void {
  const { kind, channel, label, search } = entryFacets(key, entry);
  const { lean, large } = packEntry(entry);
  database.run(
    `INSERT INTO entries (key, version, session_id, updated_at, kind, channel, label, search, listing, entry)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?))
     ON CONFLICT (key) DO UPDATE SET (version, session_id, updated_at, kind, channel, label, search, listing, entry) =
       (excluded.version, excluded.session_id, excluded.updated_at, excluded.kind, excluded.channel,
        excluded.label, excluded.search, excluded.listing, excluded.entry)`,
    key,
    database.recordChange({ what: "entry", key }),
    entry.sessionId,
    entry.updatedAt,
    kind,
    channel ?? null,
    label ?? null,
    search,
    toListing(key, kind, entry),
    lean,
  );
  putContents(database, key, large);
  const transcript = transcriptName(entry);
  moveWindow(database, { key, from, to: entry.sessionId, leaving, transcript, reason: windowReason, now });
}

/** Fields whose JSON has at least this many characters are stored separately. */
const LARGE_FIELD_LENGTH = 1024;

type PackedEntry = ReturnType<typeof packEntry>;

export interface LargeField {
  field: string;
  json: string;
}

function packEntry(entry: SessionEntry) {
  const small: string[] = [];
  const large: LargeField[] = [];
  for (const [field, value] of Object.entries(entry)) {
    const json = JSON.stringify(value);
    if (json.length >= LARGE_FIELD_LENGTH) large.push({ field, json });
    else small.push(member(field, json));
  }
  return { lean: `{${small.join(",")}}`, large };
}

export function unpackEntry({ lean, large }: PackedEntry): SessionEntry {
  return JSON.parse(joinJson(lean, large)) as SessionEntry;
}

/** Works on text, so that a field named `__proto__` is an ordinary field. */
function joinJson(lean: string, large: readonly LargeField[]): string {
  if (large.length === 0) return lean;
  const members = large.map(({ field, json }) => member(field, json)).join(",");
  return lean === "{}" ? `{${members}}` : `${lean.slice(0, -1)},${members}}`;
}

function member(field: string, json: string): string {
  return `${JSON.stringify(field)}:${json}`;
}

function putContents(database: SqliteDatabase, key: string, large: readonly LargeField[]): void {
  const previous = new Map(
    database
      .all<{ field: string; hash: string }>("SELECT field, hash FROM entry_contents WHERE key = ?", key)
      .map(({ field, hash }) => [field, hash]),
  );
  const replaced = new Set(previous.values());
  for (const { field, json } of large) {
    const hash = nodeCrypto().createHash("sha256").update(json).digest("hex");
    if (previous.get(field) !== hash) {
      database.run("INSERT OR IGNORE INTO contents (hash, json) VALUES (?, ?)", hash, json);
      database.run("INSERT OR REPLACE INTO entry_contents (key, field, hash) VALUES (?, ?, ?)", key, field, hash);
    }
    previous.delete(field);
  }
  for (const field of previous.keys()) {
    database.run("DELETE FROM entry_contents WHERE key = ? AND field = ?", key, field);
  }
  for (const hash of replaced) {
    database.run(
      "DELETE FROM contents WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM entry_contents WHERE hash = ?1)",
      hash,
    );
  }
}

export function readContents(database: SqliteDatabase, key: string): LargeField[] {
  return database.all<LargeField>(
    "SELECT field, json FROM entry_contents JOIN contents USING (hash) WHERE key = ? ORDER BY field",
    key,
  );
}

/** The value of one field, if it is large in this entry. */
export function readContent(database: SqliteDatabase, key: string, field: string): unknown {
  const row = database.get<{ json: string }>(
    "SELECT json FROM entry_contents JOIN contents USING (hash) WHERE key = ? AND field = ?",
    key,
    field,
  );
  return row === undefined ? undefined : JSON.parse(row.json);
}

/** True if at least one entry has this field as a large one. */
export function isEverLarge(database: SqliteDatabase, field: string): boolean {
  return database.get("SELECT 1 FROM entry_contents WHERE field = ? LIMIT 1", field) !== undefined;
}
