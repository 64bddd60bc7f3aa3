/** The rows of windows, hand-offs and pending items. */
import { nodeUtil } from "../../base/builtin.ts";
import {
  type PendingChange,
  type PendingKind,
  type PendingQueue,
  type PendingResult,
  applyPendingChange,
  parsePendingQueue,
} from "../pending.ts";
import type { WindowState } from "../session-entry.ts";
import { windowIsCurrent } from "../store-errors.ts";
import { type WindowMove, handoffFromJson, openedWindow } from "../store-rules.ts";
import type { KeptHandoff, Window, WindowReason } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";

/** Oldest first, and the open window last, even after the clock was set back. */
export function readWindows(database: SqliteDatabase, key: string): Window[] {
  const sql = "SELECT * FROM windows WHERE key = ? ORDER BY closed_at IS NULL, opened_at, seq";
  return database.all<WindowRow>(sql, key).map(toWindow);
}

export function findWindows(database: SqliteDatabase, prefix: string, limit: number): Window[] {
  const sql = `SELECT * FROM windows WHERE session_id >= ? AND session_id < ? ORDER BY opened_at DESC, seq DESC LIMIT ?`;
  return database.all<WindowRow>(sql, prefix, `${prefix}${LAST_CHARACTER}`, limit).map(toWindow);
}

/** Sorts after every character of a session id. */
const LAST_CHARACTER = "\u{10ffff}";

export function hasWindow(database: SqliteDatabase, key: string, sessionId: string): boolean {
  return database.get("SELECT 1 FROM windows WHERE key = ? AND session_id = ?", key, sessionId) !== undefined;
}

/** Closes and opens windows when the session id of a key changes. */
export function moveWindow(database: SqliteDatabase, move: WindowMove): void {
  const { key, from, to, leaving, now } = move;
  const known = readWindow(database, key, to);
  if (from !== undefined && from !== to) {
    const state = leaving === undefined ? null : JSON.stringify(leaving);
    const sql = "UPDATE windows SET closed_at = ?, state = ? WHERE key = ? AND session_id = ?";
    database.run(sql, now, state, key, from);
  }
  const opened = openedWindow(move, known);
  if (!nodeUtil().isDeepStrictEqual(opened, known)) writeWindow(database, opened);
}

export function putWindow(database: SqliteDatabase, window: Window): void {
  assertNotCurrent(database, window);
  writeWindow(database, window);
  database.recordChange({ what: "entry", key: window.key });
}

export function removeWindow(database: SqliteDatabase, window: { key: string; sessionId: string }): boolean {
  assertNotCurrent(database, window);
  const sql = "DELETE FROM windows WHERE key = ? AND session_id = ?";
  const { changed } = database.run(sql, window.key, window.sessionId);
  if (changed > 0) database.recordChange({ what: "entry", key: window.key });
  return changed > 0;
}

export function deleteWindows(database: SqliteDatabase, key: string): void {
  database.run("DELETE FROM windows WHERE key = ?", key);
}

function assertNotCurrent(database: SqliteDatabase, { key, sessionId }: { key: string; sessionId: string }): void {
  const sql = "SELECT 1 FROM entries WHERE key = ? AND session_id = ?";
  if (database.get(sql, key, sessionId) !== undefined) throw windowIsCurrent({ key, sessionId });
}

function readWindow(database: SqliteDatabase, key: string, sessionId: string): Window | undefined {
  const row = database.get<WindowRow>("SELECT * FROM windows WHERE key = ? AND session_id = ?", key, sessionId);
  return row === undefined ? undefined : toWindow(row);
}

function writeWindow(database: SqliteDatabase, window: Window): void {
  database.run(
    `INSERT OR REPLACE INTO windows (key, session_id, opened_at, closed_at, reason, transcript, archive, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    window.key,
    window.sessionId,
    window.openedAt,
    window.closedAt ?? null,
    window.reason,
    window.transcript ?? null,
    window.archive ?? null,
    window.state === undefined ? null : JSON.stringify(window.state),
  );
}

export interface WindowRow {
  key: string;
  session_id: string;
  opened_at: number;
  closed_at: number | null;
  reason: WindowReason;
  transcript: string | null;
  archive: string | null;
  state: string | null;
}

export function toWindow(row: WindowRow): Window {
  return {
    key: row.key,
    sessionId: row.session_id,
    openedAt: row.opened_at,
    reason: row.reason,
    ...(row.closed_at === null ? {} : { closedAt: row.closed_at }),
    ...(row.transcript === null ? {} : { transcript: row.transcript }),
    ...(row.archive === null ? {} : { archive: row.archive }),
    ...(row.state === null ? {} : { state: JSON.parse(row.state) as WindowState }),
  };
}

export interface StoredHandoff {
  /** JSON, unless damaged. */
  state: string;
  version: number;
}

export function readHandoff(database: SqliteDatabase, key: string): StoredHandoff | undefined {
  return database.get<StoredHandoff>("SELECT version, state FROM handoffs WHERE key = ?", key);
}

/** Newest first. */
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
  /** The version that the new state is based on. Undefined if there was none. */
  expectedVersion: number | undefined;
  /** JSON. */
  state: string;
  /** Only if the key still has this window. Undefined: always. */
  ofWindow: string | undefined;
  now: number;
}

/** Returns false and changes nothing if the state has another version, or the window is gone. */
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

/** False if there was none. */
export function deleteHandoff(database: SqliteDatabase, { key }: { key: string }): boolean {
  const { changed } = database.run("DELETE FROM handoffs WHERE key = ?", key);
  if (changed > 0) database.recordChange({ what: "handoff", key });
  return changed > 0;
}

export function readPendingQueue(database: SqliteDatabase, kind: PendingKind, key: string): PendingQueue | undefined {
  const row = database.get<{ queue: string }>("SELECT queue FROM pending WHERE kind = ? AND key = ?", kind, key);
  return row === undefined ? undefined : parsePendingQueue(row.queue);
}

export interface ChangePending {
  kind: PendingKind;
  key: string;
  change: PendingChange;
}

export function changePending(database: SqliteDatabase, { kind, key, change }: ChangePending): PendingResult {
  const before = readPendingQueue(database, kind, key);
  const { queue, result } = applyPendingChange(key, before, change);
  if (queue === undefined) {
    database.run("DELETE FROM pending WHERE kind = ? AND key = ?", kind, key);
  } else if (queue !== before && change.do === "add") {
    const json = JSON.stringify(queue);
    database.run("INSERT OR REPLACE INTO pending (kind, key, queue) VALUES (?, ?, ?)", kind, key, json);
    if (before === undefined && change.maxKeys !== undefined) evictKeys(database, kind, change.maxKeys);
  } else if (queue !== before) {
    const sql =
      "INSERT INTO pending (kind, key, queue) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET queue = excluded.queue";
    database.run(sql, kind, key, JSON.stringify(queue));
  }
  return result;
}

/** Removes the keys that got no item for the longest time. */
function evictKeys(database: SqliteDatabase, kind: PendingKind, maxKeys: number): void {
  const sql = `DELETE FROM pending WHERE kind = ?1 AND id IN
    (SELECT id FROM pending WHERE kind = ?1 ORDER BY id DESC LIMIT -1 OFFSET ?2)`;
  database.run(sql, kind, maxKeys);
}
