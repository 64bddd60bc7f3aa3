import { handoffFromJson } from "../handoff-state.ts";
import type { KeptHandoff } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import { hasWindow } from "./window-rows.ts";

export interface StoredHandoff {
  /** JSON, unless it is damaged. */
  state: string;
  version: number;
}

export function readHandoff(database: SqliteDatabase, key: string): StoredHandoff | undefined {
  return database.get<StoredHandoff>("SELECT version, state FROM handoffs WHERE key = ?", key);
}

/** Newest first. No limit: all of them. */
export function listHandoffs(database: SqliteDatabase, limit: number | undefined): KeptHandoff[] {
  const rows = database.all<{ key: string; updated_at: number; state: string }>(
    "SELECT key, updated_at, state FROM handoffs ORDER BY updated_at DESC, version DESC LIMIT ?",
    limit ?? NO_LIMIT,
  );
  return rows.map(({ key, updated_at: updatedAt, state }) => ({ key, updatedAt, state: handoffFromJson(state) }));
}

const NO_LIMIT = -1;

export interface PutHandoff {
  key: string;
  /** The version that the new state was made from; undefined for a key that had none. */
  expectedVersion: number | undefined;
  /** JSON. */
  state: string;
  /** Only while the key has this window; undefined: always. */
  ofWindow: string | undefined;
  now: number;
}

/** False, with nothing changed, when the state is no longer the expected one, or the window is gone. */
export function putHandoff(database: SqliteDatabase, put: PutHandoff): boolean {
  const { key, expectedVersion, state, ofWindow, now } = put;
  if (ofWindow !== undefined && !hasWindow(database, key, ofWindow)) return false;
  const current = database.get<{ version: number }>("SELECT version FROM handoffs WHERE key = ?", key);
  if (current?.version !== expectedVersion) return false;
  const version = database.recordChange({ what: "handoff", key });
  database.run(
    `INSERT INTO handoffs (key, version, updated_at, state) VALUES (?, ?, ?, ?)
     ON CONFLICT (key) DO UPDATE SET (version, updated_at, state) = (excluded.version, excluded.updated_at, excluded.state)`,
    key,
    version,
    now,
    state,
  );
  return true;
}

/** Whether there was one. */
export function deleteHandoff(database: SqliteDatabase, { key }: { key: string }): boolean {
  const { changed } = database.run("DELETE FROM handoffs WHERE key = ?", key);
  if (changed > 0) database.recordChange({ what: "handoff", key });
  return changed > 0;
}
