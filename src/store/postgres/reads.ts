/** The reads of one agent's rows. Each is one statement, so it sees one state. */
import { parsePendingQueue, type PendingKind, type PendingQueue } from "../pending.ts";
import {
  type InboxItem,
  type Lease,
  type MessageAddress,
  type OutboxItem,
  type WaitingRoute,
  GIVEN_UP_NOTE,
} from "../queues.ts";
import type { StoreReads, StoredHandoff } from "../rows.ts";
import type { SessionEntry } from "../session-entry.ts";
import { fromRow, handoffFromJson } from "../store-rules.ts";
import type { KeptHandoff, Window } from "../store.ts";
import type { Clock } from "../../base/clock.ts";
import type { Row, Value } from "./connection.ts";
import type { PostgresNode } from "./node.ts";

/** Sorts after every character of a session id. */
const LAST_CHARACTER = "\u{10ffff}";

export function postgresReads(node: Pick<PostgresNode, "read">, agentId: string, clock: Clock): StoreReads {
  /** `$1` is the agent. */
  const all = async (sql: string, ...values: Value[]): Promise<Row[]> => await node.read(sql, [agentId, ...values]);
  const first = async <T>(read: (row: Row) => T, sql: string, ...values: Value[]): Promise<T | undefined> => {
    const [row] = await all(sql, ...values);
    return row && read(row);
  };
  return {
    entry: async (key) =>
      await first(
        ({ version, entry }) => ({ version: Number(version), entry: JSON.parse(String(entry)) as SessionEntry }),
        "SELECT version, entry FROM holdfast.entries WHERE agent = $1 AND key = $2",
        key,
      ),
    windows: async (key) => {
      const order = "ORDER BY closed_at IS NULL, opened_at, seq";
      return (await all(`SELECT * FROM holdfast.windows WHERE agent = $1 AND key = $2 ${order}`, key)).map(toWindow);
    },
    findWindows: async (prefix, limit) => {
      const sql = `SELECT * FROM holdfast.windows WHERE agent = $1 AND session_id >= $2 AND session_id < $3
        ORDER BY opened_at DESC, seq DESC LIMIT $4`;
      return (await all(sql, prefix, `${prefix}${LAST_CHARACTER}`, limit)).map(toWindow);
    },

    lease: async (key) =>
      await first(
        (row) => ({ epoch: Number(row["epoch"]), held: row["holder"] === null ? undefined : toLease(row) }),
        "SELECT * FROM holdfast.leases WHERE agent = $1 AND key = $2",
        key,
      ),
    // The database decides by its own clock.
    heldLease: async (key) =>
      await first(
        toLease,
        `SELECT * FROM holdfast.leases WHERE agent = $1 AND key = $2 AND holder IS NOT NULL
           AND NOT holdfast.lease_is_free(leases)`,
        key,
      ),
    leases: async () =>
      (await all("SELECT * FROM holdfast.leases WHERE agent = $1 AND holder IS NOT NULL ORDER BY key")).map(toLease),

    inboxItem: async (id) => await first(toInboxItem, "SELECT * FROM holdfast.inbox WHERE agent = $1 AND id = $2", id),
    pendingItems: async (key) => {
      const sql = "SELECT * FROM holdfast.inbox WHERE agent = $1 AND state IN ('queued', 'running')";
      const rows = key === undefined ? all(`${sql} ORDER BY id`) : all(`${sql} AND key = $2 ORDER BY id`, key);
      return (await rows).map(toInboxItem);
    },
    givenUp: async (limit) => {
      const sql = `SELECT * FROM holdfast.inbox WHERE agent = $1 AND note = '${GIVEN_UP_NOTE}' ORDER BY id DESC LIMIT $2`;
      return (await all(sql, limit)).map(toInboxItem);
    },

    outboxItem: async (id) =>
      await first(toOutboxItem, "SELECT * FROM holdfast.outbox WHERE agent = $1 AND id = $2", id),
    outboxItemOf: async (idempotencyKey) =>
      await first(
        toOutboxItem,
        "SELECT * FROM holdfast.outbox WHERE agent = $1 AND idempotency_key = $2",
        idempotencyKey,
      ),
    due: async (now, limit, route) =>
      (await all(DUE, now - clock.now(), limit, route?.channel, route?.accountId)).map(toOutboxItem),
    routes: async () => {
      const sql = `SELECT channel, account_id, count(*) AS waiting, min(due_at) - holdfast.now_ms() AS due_at
        FROM holdfast.outbox WHERE agent = $1 AND state IN ('pending', 'sending') GROUP BY channel, account_id`;
      const rows = (await all(sql)).map((row) => fromRow<WaitingRoute>(row, []));
      return rows.map((row) => ({ ...row, dueAt: row.dueAt + clock.now() }));
    },
    failures: async (limit) => {
      const sql = "SELECT * FROM holdfast.outbox WHERE agent = $1 AND state = 'failed' ORDER BY id DESC LIMIT $2";
      return (await all(sql, limit)).map(toOutboxItem);
    },
    hasEndedBefore: async (queue, before) => (await all(`${ENDED_BEFORE[queue]} LIMIT 1`, before)).length > 0,

    handoff: async (key) =>
      await first(
        ({ version, state }): StoredHandoff => ({ version: Number(version), state: String(state) }),
        "SELECT version, state FROM holdfast.handoffs WHERE agent = $1 AND key = $2",
        key,
      ),
    pendingQueue: async (kind, key) => (await readPending(node, agentId, kind, key)).queue,
  };
}

/** Whether an item may be sent `$2` ms from now. The database's clock decides. Only a repetition waits for its time. */
const isDue = (item: string): string => `(${item}.due_at <= holdfast.now_ms() + $2 OR ${item}.state = 'sending'
    OR (${item}.attempts = 0 AND ${item}.note IS NULL))`;

/** Due items, except those after an item of the same key and route that is not due. */
const DUE = `
  SELECT * FROM holdfast.outbox AS item
  WHERE agent = $1 AND state IN ('pending', 'sending') AND ${isDue("item")}
    AND channel = coalesce($4, channel) AND account_id = coalesce($5, account_id) AND NOT EXISTS (
      SELECT FROM holdfast.outbox AS late
      WHERE late.agent = $1 AND late.key = item.key AND late.id < item.id AND late.state IN ('pending', 'sending')
        AND NOT ${isDue("late")} AND late.channel = item.channel AND late.account_id = item.account_id
    )
  ORDER BY id LIMIT $3`;

const ENDED_BEFORE = {
  inbox: "SELECT 1 FROM holdfast.inbox WHERE agent = $1 AND state IN ('done', 'dropped') AND received_at < $2",
  outbox: "SELECT 1 FROM holdfast.outbox WHERE agent = $1 AND state IN ('delivered', 'failed') AND created_at < $2",
};

/** Sessions with pending messages whose lease is free, the longest waiting first. */
export async function unattendedKeys(
  { read }: Pick<PostgresNode, "read">,
  agentId: string,
  limit: number,
): Promise<string[]> {
  const sql = `SELECT waiting.key FROM (
      SELECT key, min(id) AS oldest FROM holdfast.inbox WHERE agent = $1 AND state IN ('queued', 'running') GROUP BY key
    ) AS waiting LEFT JOIN holdfast.leases AS lease ON lease.agent = $1 AND lease.key = waiting.key
    WHERE lease.key IS NULL OR holdfast.lease_is_free(lease) ORDER BY oldest LIMIT $2`;
  return (await read(sql, [agentId, limit])).map(({ key }) => String(key));
}

interface StoredQueue {
  /** Undefined if there is none, or if it is damaged. */
  queue: PendingQueue | undefined;
  version: number | undefined;
}

export async function readPending(
  { read }: Pick<PostgresNode, "read">,
  agentId: string,
  kind: PendingKind,
  key: string,
): Promise<StoredQueue> {
  const sql = "SELECT version, queue FROM holdfast.pending WHERE agent = $1 AND kind = $2 AND key = $3";
  const [row] = await read(sql, [agentId, kind, key]);
  if (row === undefined) return { queue: undefined, version: undefined };
  return { queue: parsePendingQueue(String(row["queue"])), version: Number(row["version"]) };
}

/** Newest first. */
export async function listHandoffs(
  { read }: Pick<PostgresNode, "read">,
  agentId: string,
  { limit, prefix = "" }: { limit?: number | undefined; prefix?: string | undefined },
): Promise<KeptHandoff[]> {
  const rows = await read(
    `SELECT key, updated_at, state FROM holdfast.handoffs WHERE agent = $1 AND key >= $2 AND key < $3
     ORDER BY updated_at DESC, version DESC LIMIT $4`,
    [agentId, prefix, `${prefix}${LAST_CHARACTER}`, limit],
  );
  return rows.map(({ key, updated_at: updatedAt, state }) => {
    return { key: String(key), updatedAt: Number(updatedAt), state: handoffFromJson(String(state)) };
  });
}

export function toWindow(row: Row): Window {
  const { agent: _, seq: __, ...window } = fromRow<Window & { agent: string; seq: number }>(row, ["state"]);
  return window;
}

export function toLease(row: Row): Lease {
  const { agent: _, node: __, ...lease } = fromRow<Lease & { agent: string; node: number }>(row, ["process"]);
  return lease;
}

export function toInboxItem(row: Row): InboxItem {
  type Stored = Omit<InboxItem, "address"> & MessageAddress & { agent: string };
  const { agent: _, channel, accountId, chatId, messageId, ...item } = fromRow<Stored>(row, ["payload", "ending"]);
  return { ...item, address: { channel, accountId, chatId, messageId } };
}

export function toOutboxItem(row: Row): OutboxItem {
  type Stored = OutboxItem & { agent: string; channel: string; accountId: string };
  const { agent: _, channel: __, accountId: ___, ...item } = fromRow<Stored>(row, ["target", "payload"]);
  return item;
}
