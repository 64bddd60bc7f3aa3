/** The rows of windows, leases, hand-offs and pending items. */
import { nodeUtil } from "../../base/builtin.ts";
import { leaseInForce } from "../operations.ts";
import { parsePendingQueue } from "../pending.ts";
import type { Lease } from "../queues.ts";
import type { StoreRows, StoredHandoff, StoredLease } from "../rows.ts";
import { type WindowMove, fromRow, handoffFromJson, openedWindow } from "../store-rules.ts";
import type { KeptHandoff, Window } from "../store.ts";
import type { Row, SqliteDatabase } from "./database.ts";

type WindowRows = Pick<StoreRows, "windows" | "findWindows" | "putWindow" | "removeWindow">;

export function windowRows(database: SqliteDatabase): WindowRows {
  return {
    windows: (key) => {
      const sql = "SELECT * FROM windows WHERE key = ? ORDER BY closed_at IS NULL, opened_at, seq";
      return database.all<Row>(sql, key).map(toWindow);
    },
    findWindows: (prefix, limit) => {
      const sql = `SELECT * FROM windows WHERE session_id >= ? AND session_id < ? ORDER BY opened_at DESC, seq DESC LIMIT ?`;
      return database.all<Row>(sql, prefix, `${prefix}${LAST_CHARACTER}`, limit).map(toWindow);
    },
    putWindow: (window) => putWindow(database, window),
    removeWindow: (key, sessionId) =>
      database.run("DELETE FROM windows WHERE key = ? AND session_id = ?", key, sessionId).changed > 0,
  };
}

/** Sorts after every character of a session id. */
const LAST_CHARACTER = "\u{10ffff}";

/** Closes and opens windows when the session id of a key changes. */
export function moveWindow(database: SqliteDatabase, move: WindowMove): void {
  const { key, from, to, leaving, now } = move;
  const row = database.get<Row>("SELECT * FROM windows WHERE key = ? AND session_id = ?", key, to);
  const known = row && toWindow(row);
  if (from !== undefined && from !== to) {
    const state = leaving === undefined ? null : JSON.stringify(leaving);
    const sql = "UPDATE windows SET closed_at = ?, state = ? WHERE key = ? AND session_id = ?";
    database.run(sql, now, state, key, from);
  }
  const opened = openedWindow(move, known);
  if (!nodeUtil().isDeepStrictEqual(opened, known)) putWindow(database, opened);
}

function putWindow(database: SqliteDatabase, window: Window): void {
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

export function toWindow(row: Row): Window {
  const { seq: _, ...window } = fromRow<Window & { seq: number }>(row, ["state"]);
  return window;
}

export function leaseRows(database: SqliteDatabase): Pick<StoreRows, "lease" | "heldLease" | "leases" | "putLease"> {
  const lease = (key: string): StoredLease | undefined => {
    const row = database.get<Row>("SELECT * FROM leases WHERE key = ?", key);
    return row && { epoch: Number(row["epoch"]), held: row["released"] === 0 ? toLease(row) : undefined };
  };
  return {
    lease,
    heldLease: (key, now) => leaseInForce(lease(key), now),
    leases: () => database.all<Row>("SELECT * FROM leases WHERE released = 0 ORDER BY key").map(toLease),
    putLease: (key, { epoch, held }) => {
      if (held === undefined) {
        database.run("UPDATE leases SET released = 1 WHERE key = ?", key);
        return;
      }
      const sql =
        "INSERT OR REPLACE INTO leases (key, epoch, holder, process, expires_at, released) VALUES (?, ?, ?, ?, ?, 0)";
      database.run(sql, key, epoch, held.holder, JSON.stringify(held.process), held.expiresAt);
    },
  };
}

function toLease(row: Row): Lease {
  const { released: _, ...lease } = fromRow<Lease & { released: number }>(row, ["process"]);
  return lease;
}

export function handoffRows(database: SqliteDatabase): Pick<StoreRows, "handoff" | "putHandoff" | "deleteHandoff"> {
  return {
    handoff: (key) => database.get<StoredHandoff>("SELECT version, state FROM handoffs WHERE key = ?", key),
    putHandoff: ({ key, state, now }) => {
      const version = database.recordChange({ what: "handoff", key });
      const sql = "INSERT OR REPLACE INTO handoffs (key, version, updated_at, state) VALUES (?, ?, ?, ?)";
      database.run(sql, key, version, now, state);
    },
    deleteHandoff: (key) => database.run("DELETE FROM handoffs WHERE key = ?", key).changed > 0,
  };
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

export function pendingRows(database: SqliteDatabase): Pick<StoreRows, "pendingQueue" | "putPendingQueue"> {
  return {
    pendingQueue: (kind, key) => {
      const row = database.get<{ queue: string }>("SELECT queue FROM pending WHERE kind = ? AND key = ?", kind, key);
      return row && parsePendingQueue(row.queue);
    },
    putPendingQueue: (kind, key, queue, change) => {
      if (queue === undefined) {
        database.run("DELETE FROM pending WHERE kind = ? AND key = ?", kind, key);
        return;
      }
      // A replaced row gets a new id, which makes its key the newest.
      const insert = change.do === "add" ? "INSERT OR REPLACE" : "INSERT";
      const update = change.do === "add" ? "" : "ON CONFLICT DO UPDATE SET queue = excluded.queue";
      const sql = `${insert} INTO pending (kind, key, queue) VALUES (?, ?, ?) ${update}`;
      database.run(sql, kind, key, JSON.stringify(queue));
      if (change.do !== "add" || change.maxKeys === undefined || queue.items.length > 1) return;
      const oldest = `DELETE FROM pending WHERE kind = ?1 AND id IN
        (SELECT id FROM pending WHERE kind = ?1 ORDER BY id DESC LIMIT -1 OFFSET ?2)`;
      database.run(oldest, kind, change.maxKeys);
    },
  };
}
