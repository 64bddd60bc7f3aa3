/** The rows of the outbox. */
import type { DeliveryRoute, DeliveryTarget, Lease, OutboxItem, WaitingRoute } from "../queues.ts";
import { alreadyDelivered, outboxItemNotFound } from "../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";
import { assertLease } from "./lease-rows.ts";

export function readOutboxItem(database: SqliteDatabase, id: number): OutboxItem | undefined {
  const row = database.get<OutboxRow>("SELECT * FROM outbox WHERE id = ?", id);
  return row === undefined ? undefined : toItem(row);
}

export function readDue(
  database: SqliteDatabase,
  now: number,
  limit: number,
  route: DeliveryRoute | undefined,
): OutboxItem[] {
  const values = route === undefined ? [] : [route.channel, route.accountId];
  const sql = route === undefined ? ALL_ROUTES : ONE_ROUTE;
  // Usually no item is late, and then the simple query is enough.
  if (database.get(sql.anyLate, ...values, now) === undefined) {
    const rows = database.all<OutboxRow>(sql.waiting, ...values, limit);
    if (rows.every((row) => row.due_at <= now)) return rows.map(toItem);
  }
  return database.all<OutboxRow>(sql.due, ...values, now, ...values, limit).map(toItem);
}

/** The index is named: a scan by id would visit every delivered row. */
const WAITING = "outbox INDEXED BY outbox_by_route";
const IS_WAITING = "state IN ('pending', 'sending')";
const OF_ROUTE = "target ->> 'channel' = ? AND target ->> 'accountId' = ? AND";
const ALL_ROUTES = dueSql("");
const ONE_ROUTE = dueSql(OF_ROUTE);

/** `late`: for each key and route, the first item that is not due. */
function dueSql(ofRoute: string): { anyLate: string; waiting: string; due: string } {
  const anyLate = `SELECT 1 FROM ${WAITING} WHERE ${ofRoute} ${IS_WAITING} AND due_at > ? LIMIT 1`;
  const waiting = `SELECT * FROM ${WAITING} WHERE ${ofRoute} ${IS_WAITING} ORDER BY id LIMIT ?`;
  const due = `
    WITH late AS MATERIALIZED (
      SELECT key, target ->> 'channel' AS channel, target ->> 'accountId' AS account, min(id) AS id
      FROM ${WAITING} WHERE ${ofRoute} ${IS_WAITING} AND due_at > ? GROUP BY 1, 2, 3
    ), waiting AS (SELECT * FROM ${WAITING} WHERE ${ofRoute} ${IS_WAITING})
    SELECT * FROM waiting AS item WHERE NOT EXISTS (
      SELECT 1 FROM late WHERE late.key = item.key AND late.id <= item.id
        AND late.channel IS item.target ->> 'channel' AND late.account IS item.target ->> 'accountId'
    ) ORDER BY id LIMIT ?`;
  return { anyLate, waiting, due };
}

export function readRoutes(database: SqliteDatabase): WaitingRoute[] {
  const sql = `
    SELECT target ->> 'channel' AS channel, target ->> 'accountId' AS accountId,
      count(*) AS waiting, min(due_at) AS dueAt
    FROM ${WAITING} WHERE ${IS_WAITING} GROUP BY 1, 2`;
  return database.all<WaitingRoute>(sql).map((row) => ({ ...row }));
}

export function readFailures(database: SqliteDatabase, limit: number): OutboxItem[] {
  const sql = "SELECT * FROM outbox WHERE state = 'failed' ORDER BY id DESC LIMIT ?";
  return database.all<OutboxRow>(sql, limit).map(toItem);
}

/** A draft with target and payload as JSON. */
export interface PackedDraft {
  idempotencyKey: string;
  target: string;
  payload: string;
}

export interface EnqueueDrafts {
  key: string;
  drafts: readonly PackedDraft[];
  lease?: Lease | undefined;
  now: number;
}

export function enqueueDrafts(database: SqliteDatabase, enqueue: EnqueueDrafts): OutboxItem[] {
  if (enqueue.lease !== undefined) assertLease(database, enqueue.lease, enqueue.key);
  return insertDrafts(database, enqueue);
}

export function insertDrafts(database: SqliteDatabase, { key, drafts, now }: EnqueueDrafts): OutboxItem[] {
  return drafts.map(({ idempotencyKey, target, payload }) => {
    const { changed } = database.run(
      `INSERT INTO outbox (key, idempotency_key, target, payload, created_at, due_at, state, attempts)
       VALUES (?1, ?2, ?3, ?4, ?5, ?5, 'pending', 0) ON CONFLICT (idempotency_key) DO NOTHING`,
      key,
      idempotencyKey,
      target,
      payload,
      now,
    );
    const row = database.get<OutboxRow>("SELECT * FROM outbox WHERE idempotency_key = ?", idempotencyKey);
    if (row === undefined) throw new Error(`Delivery ${idempotencyKey} vanished inside its own transaction`);
    if (changed > 0) recordChange(database, row);
    return toItem(row);
  });
}

/** True for the one caller that knows the right number of attempts. */
export function startSending(database: SqliteDatabase, { id, attempts }: { id: number; attempts: number }): boolean {
  const row = database.get<ChangedRow>(
    `UPDATE outbox SET state = 'sending', attempts = attempts + 1
     WHERE id = ? AND attempts = ? AND state IN ('pending', 'sending') RETURNING key, target`,
    id,
    attempts,
  );
  if (row !== undefined) recordChange(database, row);
  return row !== undefined;
}

export type Settlement = { id: number } & (
  | { state: "delivered"; deliveredId: string | undefined }
  | { state: "pending"; dueAt: number; note: string }
  | { state: "failed"; note: string }
);

/** Records the result of an attempt. `delivered` is final, whatever is reported later. */
export function settleDelivery(database: SqliteDatabase, settlement: Settlement): void {
  const { id, state } = settlement;
  const row = database.get<OutboxRow>("SELECT * FROM outbox WHERE id = ?", id);
  if (row === undefined) throw outboxItemNotFound(id);
  if (row.state === "delivered") {
    if (state === "delivered") return;
    throw alreadyDelivered(id);
  }
  database.run(
    "UPDATE outbox SET state = ?, due_at = ?, delivered_id = ?, note = ? WHERE id = ?",
    state,
    state === "pending" ? settlement.dueAt : row.due_at,
    state === "delivered" ? (settlement.deliveredId ?? null) : null,
    state === "delivered" ? row.note : settlement.note,
    id,
  );
  recordChange(database, row);
}

type ChangedRow = Pick<OutboxRow, "key" | "target">;

function recordChange(database: SqliteDatabase, { key, target }: ChangedRow): void {
  const { channel, accountId } = JSON.parse(target) as DeliveryTarget;
  database.recordChange({ what: "outbox", key, route: { channel, accountId } });
}

/** Listeners do not care about settled items, so this records no change. */
export function pruneOutbox(database: SqliteDatabase, { before, limit }: { before: number; limit: number }): number {
  const sql = `DELETE FROM outbox WHERE id IN
    (SELECT id FROM outbox WHERE state IN ('delivered', 'failed') AND created_at < ? ORDER BY created_at LIMIT ?)`;
  return database.run(sql, before, limit).changed;
}

interface OutboxRow {
  id: number;
  key: string;
  idempotency_key: string;
  target: string;
  payload: string;
  created_at: number;
  state: OutboxItem["state"];
  attempts: number;
  due_at: number;
  delivered_id: string | null;
  note: string | null;
}

function toItem(row: OutboxRow): OutboxItem {
  return {
    id: row.id,
    key: row.key,
    idempotencyKey: row.idempotency_key,
    target: JSON.parse(row.target) as DeliveryTarget,
    payload: JSON.parse(row.payload) as unknown,
    createdAt: row.created_at,
    state: row.state,
    attempts: row.attempts,
    dueAt: row.due_at,
    ...(row.delivered_id === null ? {} : { deliveredId: row.delivered_id }),
    ...(row.note === null ? {} : { note: row.note }),
  };
}
