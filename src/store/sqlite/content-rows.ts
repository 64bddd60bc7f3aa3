/**
 * Large values of entries, each kept once under the hash of its content: the same skills snapshot
 * and the same prompt report are in most entries of a store. A content that no entry refers to any
 * more goes in the same transaction.
 */
import { nodeCrypto } from "../../base/builtin.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { SqliteDatabase } from "./database.ts";

/** Fields whose JSON has at least this many characters are kept apart. */
const LARGE_FIELD_LENGTH = 1024;

/** An entry in the form in which it is stored. */
export interface PackedEntry {
  /** JSON of the entry without its large fields. */
  lean: string;
  large: LargeField[];
}

export interface LargeField {
  field: string;
  json: string;
}

export function packEntry(entry: SessionEntry): PackedEntry {
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

/** Works on the text, so that a field named `__proto__` is a field like any other. */
function joinJson(lean: string, large: readonly LargeField[]): string {
  if (large.length === 0) return lean;
  const members = large.map(({ field, json }) => member(field, json)).join(",");
  return lean === "{}" ? `{${members}}` : `${lean.slice(0, -1)},${members}}`;
}

function member(field: string, json: string): string {
  return `${JSON.stringify(field)}:${json}`;
}

/** Makes these the large fields of a key. */
export function putContents(database: SqliteDatabase, key: string, large: readonly LargeField[]): void {
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

/** The large fields of one key. */
export function readContents(database: SqliteDatabase, key: string): LargeField[] {
  return database.all<LargeField>(
    "SELECT field, json FROM entry_contents JOIN contents USING (hash) WHERE key = ? ORDER BY field",
    key,
  );
}

/** The value of one field that was large in at least one entry. */
export function readContent(database: SqliteDatabase, key: string, field: string): unknown {
  const row = database.get<{ json: string }>(
    "SELECT json FROM entry_contents JOIN contents USING (hash) WHERE key = ? AND field = ?",
    key,
    field,
  );
  return row === undefined ? undefined : JSON.parse(row.json);
}

/** Most fields are small in every entry; then there is no need to look for their large values. */
export function isEverLarge(database: SqliteDatabase, field: string): boolean {
  return database.get("SELECT 1 FROM entry_contents WHERE field = ? LIMIT 1", field) !== undefined;
}
