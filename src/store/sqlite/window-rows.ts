import { nodeUtil } from "../../base/builtin.ts";
import { windowIsCurrent } from "../store-errors.ts";
import type { WindowState } from "../session-entry.ts";
import type { Window, WindowReason } from "../store.ts";
import { type WindowMove, openedWindow } from "../window-moves.ts";
import type { SqliteDatabase } from "./database.ts";

/** Oldest first, the open window last even when the clock was turned back. */
export function readWindows(database: SqliteDatabase, key: string): Window[] {
  const sql = "SELECT * FROM windows WHERE key = ? ORDER BY closed_at IS NULL, opened_at, seq";
  return database.all<WindowRow>(sql, key).map(toWindow);
}

export function findWindows(database: SqliteDatabase, prefix: string, limit: number): Window[] {
  const sql = `SELECT * FROM windows WHERE session_id >= ? AND session_id < ? ORDER BY opened_at DESC, seq DESC LIMIT ?`;
  return database.all<WindowRow>(sql, prefix, `${prefix}${LAST_CHARACTER}`, limit).map(toWindow);
}

/** Sorts after everything that a session id can go on with. */
const LAST_CHARACTER = "\u{10ffff}";

export function hasWindow(database: SqliteDatabase, key: string, sessionId: string): boolean {
  return database.get("SELECT 1 FROM windows WHERE key = ? AND session_id = ?", key, sessionId) !== undefined;
}

/** Lets the windows of a key follow its session id. */
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

/** Adds or replaces a window that is not the current one. */
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
