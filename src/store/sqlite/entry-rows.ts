import type { SessionKind } from "../../keys/session-kind.ts";
import { labelInUse } from "../store-errors.ts";
import type { SessionEntry, WindowState } from "../session-entry.ts";
import type { DeletedSession, Lease, WindowReason } from "../store.ts";
import { type LargeField, type PackedEntry, putContents, unpackEntry } from "./content-rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { assertLease } from "./lease-rows.ts";
import { deleteHandoff } from "./handoff-rows.ts";
import { deleteWindows, moveWindow, readWindows } from "./window-rows.ts";

export interface StoredEntry {
  entry: SessionEntry;
  version: number;
}

export function readEntry(database: SqliteDatabase, key: string): StoredEntry | undefined {
  // One statement, and so one state, however many large fields there are.
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
}

export interface PutEntry {
  key: string;
  /** The version that the new entry was made from; undefined for a key that was not there. */
  expectedVersion: number | undefined;
  packed: PackedEntry;
  sessionId: string;
  updatedAt: number;
  kind: SessionKind;
  channel: string | undefined;
  label: string | undefined;
  /** Whether another session's claim on the label has to be looked for. */
  labelChanged: boolean;
  search: string;
  /** What lists show of the session; see `listing.ts`. */
  listing: string;
  transcript: string | undefined;
  /** What the entry held of the window that it leaves. */
  leaving: WindowState | undefined;
  windowReason: WindowReason | undefined;
  lease: Lease | undefined;
  now: number;
}

/** False, with nothing changed, when the entry is no longer the expected one. */
export function putEntry(database: SqliteDatabase, put: PutEntry): boolean {
  const { key, packed, label } = put;
  if (put.lease !== undefined) assertLease(database, put.lease, key);
  const current = database.get<{ version: number; session_id: string }>(
    "SELECT version, session_id FROM entries WHERE key = ?",
    key,
  );
  if (current?.version !== put.expectedVersion) return false;
  if (put.labelChanged && label !== undefined) assertLabelFree(database, label, key);

  const version = database.recordChange({ what: "entry", key });
  database.run(
    `INSERT INTO entries (key, version, session_id, updated_at, kind, channel, label, search, listing, entry)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, jsonb(?))
     ON CONFLICT (key) DO UPDATE SET (version, session_id, updated_at, kind, channel, label, search, listing, entry) =
       (excluded.version, excluded.session_id, excluded.updated_at, excluded.kind, excluded.channel,
        excluded.label, excluded.search, excluded.listing, excluded.entry)`,
    key,
    version,
    put.sessionId,
    put.updatedAt,
    put.kind,
    put.channel ?? null,
    label ?? null,
    put.search,
    put.listing,
    packed.lean,
  );
  putContents(database, key, packed.large);
  const { transcript, leaving, windowReason: reason, now } = put;
  moveWindow(database, { key, from: current?.session_id, to: put.sessionId, leaving, transcript, reason, now });
  return true;
}

function assertLabelFree(database: SqliteDatabase, label: string, key: string): void {
  const other = database.get<{ key: string }>("SELECT key FROM entries WHERE label = ? AND key <> ?", label, key);
  if (other !== undefined) throw labelInUse(label, other.key);
}

export interface DeleteEntry {
  key: string;
  lease: Lease | undefined;
  withHandoff: boolean;
}

export function deleteEntry(
  database: SqliteDatabase,
  { key, lease, withHandoff }: DeleteEntry,
): DeletedSession | undefined {
  if (lease !== undefined) assertLease(database, lease, key);
  const stored = readEntry(database, key);
  if (stored === undefined) return undefined;
  const windows = readWindows(database, key);
  database.run("DELETE FROM entries WHERE key = ?", key);
  putContents(database, key, []);
  deleteWindows(database, key);
  if (withHandoff) deleteHandoff(database, { key });
  database.recordChange({ what: "entry", key });
  return { key, entry: stored.entry, windows };
}
