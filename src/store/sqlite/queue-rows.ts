/** The rows of inbox and outbox. */
import { type InboxItem, type MessageAddress, type OutboxItem, type WaitingRoute, GIVEN_UP_NOTE } from "../queues.ts";
import type { StoreRows } from "../rows.ts";
import { fromRow } from "../store-rules.ts";
import type { Row, SqliteDatabase } from "./database.ts";

type InboxRows = Pick<
  StoreRows,
  "inboxItem" | "inboxItemAt" | "pendingItems" | "givenUp" | "addInboxItem" | "putInboxItem"
>;

export function inboxRows(database: SqliteDatabase): InboxRows {
  return {
    inboxItem: (id) => {
      const row = database.get<Row>("SELECT * FROM inbox WHERE id = ?", id);
      return row && toInboxItem(row);
    },
    inboxItemAt: ({ channel, accountId, chatId, messageId }) => {
      const sql = "SELECT * FROM inbox WHERE channel = ? AND account_id = ? AND chat_id = ? AND message_id = ?";
      const row = database.get<Row>(sql, channel, accountId, chatId, messageId);
      return row && toInboxItem(row);
    },
    pendingItems: (key) => {
      // The index is named: a scan by id would visit every ended row.
      const pending = "SELECT * FROM inbox INDEXED BY inbox_pending WHERE state IN ('queued', 'running')";
      const rows =
        key === undefined
          ? database.all<Row>(`${pending} ORDER BY id`)
          : database.all<Row>(`${pending} AND key = ? ORDER BY id`, key);
      return rows.map(toInboxItem);
    },
    givenUp: (limit) => {
      const sql = `SELECT * FROM inbox WHERE note = '${GIVEN_UP_NOTE}' ORDER BY id DESC LIMIT ?`;
      return database.all<Row>(sql, limit).map(toInboxItem);
    },
    addInboxItem: ({ key, address, payload, receivedAt }) => {
      const { channel, accountId, chatId, messageId } = address;
      const sql = `INSERT INTO inbox (channel, account_id, chat_id, message_id, key, payload, received_at, state, attempts)
        VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', 0)`;
      const { id } = database.run(sql, channel, accountId, chatId, messageId, key, payload, receivedAt);
      return { id, key, address, payload: JSON.parse(payload), receivedAt, state: "queued", attempts: 0 };
    },
    putInboxItem: ({ id, state, attempts, turn, note, ending }) => {
      const sql = "UPDATE inbox SET state = ?, attempts = ?, turn = ?, note = ?, ending = ? WHERE id = ?";
      database.run(sql, state, attempts, turn ?? null, note ?? null, JSON.stringify(ending) ?? null, id);
    },
  };
}

function toInboxItem(row: Row): InboxItem {
  const { channel, accountId, chatId, messageId, ...item } = fromRow<Omit<InboxItem, "address"> & MessageAddress>(row, [
    "payload",
    "ending",
  ]);
  return { ...item, address: { channel, accountId, chatId, messageId } };
}

type OutboxRows = Pick<
  StoreRows,
  "outboxItem" | "outboxItemOf" | "hasWaitingBefore" | "due" | "routes" | "failures" | "addOutboxItem" | "putOutboxItem"
>;

export function outboxRows(database: SqliteDatabase): OutboxRows {
  return {
    outboxItem: (id) => {
      const row = database.get<Row>("SELECT * FROM outbox WHERE id = ?", id);
      return row && toOutboxItem(row);
    },
    outboxItemOf: (idempotencyKey) => {
      const row = database.get<Row>("SELECT * FROM outbox WHERE idempotency_key = ?", idempotencyKey);
      return row && toOutboxItem(row);
    },
    hasWaitingBefore: (key, id) => {
      const sql = `SELECT 1 FROM outbox INDEXED BY outbox_pending WHERE ${IS_WAITING} AND key = ? AND id < ? LIMIT 1`;
      return database.get(sql, key, id) !== undefined;
    },
    due: (now, limit, route) => {
      const values = route === undefined ? [] : [route.channel, route.accountId];
      const sql = route === undefined ? ALL_ROUTES : ONE_ROUTE;
      return database.all<Row>(sql, ...values, now, now, limit).map(toOutboxItem);
    },
    routes: () => {
      const sql = `SELECT target ->> 'channel' AS channel, target ->> 'accountId' AS accountId,
          count(*) AS waiting, min(due_at) AS dueAt
        FROM ${WAITING} WHERE ${IS_WAITING} GROUP BY 1, 2`;
      return database.all<WaitingRoute>(sql).map((row) => ({ ...row }));
    },
    failures: (limit) => {
      const sql = "SELECT * FROM outbox WHERE state = 'failed' ORDER BY id DESC LIMIT ?";
      return database.all<Row>(sql, limit).map(toOutboxItem);
    },
    addOutboxItem: (key, { idempotencyKey, target, payload }, now) => {
      const sql = `INSERT INTO outbox (key, idempotency_key, target, payload, created_at, due_at, state, attempts)
        VALUES (?1, ?2, ?3, ?4, ?5, ?5, 'pending', 0)`;
      const { id } = database.run(sql, key, idempotencyKey, JSON.stringify(target), payload, now);
      const draft = { idempotencyKey, target, payload: JSON.parse(payload) as unknown };
      return { id, key, ...draft, createdAt: now, state: "pending", attempts: 0, dueAt: now };
    },
    putOutboxItem: ({ id, state, attempts, dueAt, deliveredId, note }) => {
      const sql = "UPDATE outbox SET state = ?, attempts = ?, due_at = ?, delivered_id = ?, note = ? WHERE id = ?";
      database.run(sql, state, attempts, dueAt, deliveredId ?? null, note ?? null, id);
    },
  };
}

/** The index is named: a scan by id would visit every delivered row. */
const WAITING = "outbox INDEXED BY outbox_by_route";
const IS_WAITING = "state IN ('pending', 'sending')";
const ALL_ROUTES = dueSql("");
const ONE_ROUTE = dueSql("target ->> 'channel' = ? AND target ->> 'accountId' = ? AND");

/** Due items, except those after an item of the same key and route that is not due. */
function dueSql(ofRoute: string): string {
  return `
    SELECT * FROM ${WAITING} WHERE ${ofRoute} ${IS_WAITING} AND due_at <= ? AND NOT EXISTS (
      SELECT 1 FROM outbox AS late INDEXED BY outbox_pending
      WHERE late.key = outbox.key AND late.id < outbox.id AND late.state IN ('pending', 'sending')
        AND late.due_at > ? AND late.target ->> 'channel' IS outbox.target ->> 'channel'
        AND late.target ->> 'accountId' IS outbox.target ->> 'accountId'
    ) ORDER BY id LIMIT ?`;
}

export function endedRows(database: SqliteDatabase): Pick<StoreRows, "hasEndedBefore" | "prune"> {
  return {
    hasEndedBefore: (queue, before) => database.get(`${ENDED_BEFORE[queue]} LIMIT 1`, before) !== undefined,
    prune: (queue, before, limit) =>
      database.run(`DELETE FROM ${queue} WHERE id IN (${ENDED_BEFORE[queue]} LIMIT ?)`, before, limit).changed,
  };
}

const ENDED_BEFORE = {
  inbox: "SELECT id FROM inbox WHERE state IN ('done', 'dropped') AND received_at < ? ORDER BY received_at",
  outbox: "SELECT id FROM outbox WHERE state IN ('delivered', 'failed') AND created_at < ? ORDER BY created_at",
};

function toOutboxItem(row: Row): OutboxItem {
  return fromRow(row, ["target", "payload"]);
}
