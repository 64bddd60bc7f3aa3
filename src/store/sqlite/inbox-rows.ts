/** The rows of the inbox. */
import {
  type InboxItem,
  type Lease,
  type MessageAddress,
  type OutboxItem,
  GIVEN_UP_NOTE,
  apartTurn,
} from "../queues.ts";
import { inboxItemNotRunning } from "../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";
import { type PutEntry, putEntry } from "./entry-rows.ts";
import { type TakeLease, assertLease, releaseLease, takeLease } from "./lease-rows.ts";
import { type PackedDraft, insertDrafts } from "./outbox-rows.ts";

export function readInboxItem(database: SqliteDatabase, id: number): InboxItem | undefined {
  const row = database.get<InboxRow>("SELECT * FROM inbox WHERE id = ?", id);
  return row === undefined ? undefined : toItem(row);
}

export function readPending(database: SqliteDatabase, key: string | undefined): InboxItem[] {
  // The index is named: a scan by id would visit every ended row.
  const pending = "SELECT * FROM inbox INDEXED BY inbox_pending WHERE state IN ('queued', 'running')";
  const rows =
    key === undefined
      ? database.all<InboxRow>(`${pending} ORDER BY id`)
      : database.all<InboxRow>(`${pending} AND key = ? ORDER BY id`, key);
  return rows.map(toItem);
}

export function readGivenUp(database: SqliteDatabase, limit: number): InboxItem[] {
  const sql = `SELECT * FROM inbox WHERE note = '${GIVEN_UP_NOTE}' ORDER BY id DESC LIMIT ?`;
  return database.all<InboxRow>(sql, limit).map(toItem);
}

export interface AdmitMessage {
  key: string;
  address: MessageAddress;
  /** JSON. */
  payload: string;
  receivedAt: number;
}

export function admitMessage(database: SqliteDatabase, message: AdmitMessage): { admitted: boolean; item: InboxItem } {
  const { channel, accountId, chatId, messageId } = message.address;
  const address = [channel, accountId, chatId, messageId] as const;
  const sql = "SELECT * FROM inbox WHERE channel = ? AND account_id = ? AND chat_id = ? AND message_id = ?";
  const known = database.get<InboxRow>(sql, ...address);
  if (known !== undefined) return { admitted: false, item: toItem(known) };
  const { id } = database.run(
    `INSERT INTO inbox (channel, account_id, chat_id, message_id, key, payload, received_at, state, attempts)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', 0)`,
    ...address,
    message.key,
    message.payload,
    message.receivedAt,
  );
  database.recordChange({ what: "inbox", key: message.key });
  return { admitted: true, item: toItem(existingRow(database, id)) };
}

export interface ClaimItems {
  lease: Lease;
  limit: number | undefined;
  /** Default: all of the key. */
  ids: readonly number[] | undefined;
  /** Default: each keeps its turn. */
  turn: string | undefined;
}

export function claimItems(database: SqliteDatabase, { lease, limit, ids, turn }: ClaimItems): InboxItem[] {
  assertLease(database, lease, lease.key);
  const rows = selectItems(database, lease.key, "queued", ids).slice(0, limit);
  const claimed = (row: InboxRow) => ({ attempts: row.attempts + 1, turn: turn ?? row.turn });
  return moveItems(database, lease.key, rows, (row) => ({ ...row, ...claimed(row), state: "running" }));
}

export interface LeaseWithItem {
  taken: boolean;
  claimed: InboxItem | undefined;
}

/** Takes the lease and claims the pending item, if it is the only one and was never started. */
export function takeLeaseAndItem(database: SqliteDatabase, take: TakeLease): LeaseWithItem {
  if (!takeLease(database, take)) return { taken: false, claimed: undefined };
  const { key } = take.lease;
  const sql = `SELECT * FROM inbox INDEXED BY inbox_pending
    WHERE key = ? AND state IN ('queued', 'running') ORDER BY id LIMIT 2`;
  const [row, another] = database.all<InboxRow>(sql, key);
  const isFresh = row?.state === "queued" && row.attempts === 0 && row.note === null;
  if (another !== undefined || !isFresh) return { taken: true, claimed: undefined };
  const [claimed] = moveItems(database, key, [row], ({ ...one }) => ({ ...one, state: "running", attempts: 1 }));
  return { taken: true, claimed };
}

export interface RequeueItems {
  lease: Lease;
  ids: readonly number[] | undefined;
  excuse: string | undefined;
  apart: boolean | undefined;
}

export function requeueItems(database: SqliteDatabase, { lease, ids, excuse, apart }: RequeueItems): InboxItem[] {
  assertLease(database, lease, lease.key);
  const rows = selectItems(database, lease.key, "running", ids);
  const excused = (row: InboxRow) => (excuse === undefined ? {} : { attempts: row.attempts - 1, note: excuse });
  const turnOf = (row: InboxRow) => (apart === true ? apartTurn(row.id) : row.turn);
  return moveItems(database, lease.key, rows, (row) => ({
    ...row,
    ...excused(row),
    turn: turnOf(row),
    state: "queued",
  }));
}

/** In order of admission. */
function selectItems(
  database: SqliteDatabase,
  key: string,
  state: InboxItem["state"],
  ids: readonly number[] | undefined,
): InboxRow[] {
  if (ids === undefined) {
    const sql = `SELECT * FROM inbox INDEXED BY inbox_pending
      WHERE key = ? AND state IN ('queued', 'running') AND state = ? ORDER BY id`;
    return database.all<InboxRow>(sql, key, state);
  }
  const sql = "SELECT * FROM inbox WHERE id = ? AND key = ? AND state = ?";
  const wanted = [...new Set(ids)].toSorted((a, b) => a - b);
  return wanted.flatMap((id) => database.get<InboxRow>(sql, id, key, state) ?? []);
}

export interface FinishItems {
  lease: Lease;
  ids: readonly number[];
  drafts: readonly PackedDraft[];
  note: string | undefined;
  /** JSON. */
  ending: string | undefined;
  release: boolean;
  /** Default: the entry is not changed. */
  put?: PutEntry | undefined;
  now: number;
}

/** Returns undefined and changes nothing if the entry has another version. */
export function finishItems(database: SqliteDatabase, finish: FinishItems): OutboxItem[] | undefined {
  const { lease, ids, drafts, note, ending, put, now } = finish;
  const { key } = lease;
  assertLease(database, lease, key);
  if (put !== undefined && !putEntry(database, put)) return undefined;
  const rows = ids.map((id) => {
    const row = database.get<InboxRow>("SELECT * FROM inbox WHERE id = ? AND key = ? AND state = 'running'", id, key);
    if (row === undefined) throw inboxItemNotRunning(id, key);
    return row;
  });
  moveItems(database, key, rows, (row) => ({ ...row, state: "done", note: note ?? row.note, ending: ending ?? null }));
  if (finish.release) releaseLease(database, lease);
  return insertDrafts(database, { key, drafts, now });
}

export interface DropItems {
  key: string;
  ids: readonly number[];
  note: string;
  replies: readonly { itemId: number; draft: PackedDraft }[];
  now: number;
}

export function dropItems(database: SqliteDatabase, { key, ids, note, replies, now }: DropItems): InboxItem[] {
  const rows = selectItems(database, key, "queued", ids);
  const dropped = moveItems(database, key, rows, (row) => ({ ...row, state: "dropped", note }));
  const isDropped = new Set(dropped.map(({ id }) => id));
  const drafts = replies.filter(({ itemId }) => isDropped.has(itemId)).map(({ draft }) => draft);
  insertDrafts(database, { key, drafts, now });
  return dropped;
}

/** Listeners do not care about ended items, so this records no change. */
export function pruneInbox(database: SqliteDatabase, { before, limit }: { before: number; limit: number }): number {
  const sql = `DELETE FROM inbox WHERE id IN
    (SELECT id FROM inbox WHERE state IN ('done', 'dropped') AND received_at < ? ORDER BY received_at LIMIT ?)`;
  return database.run(sql, before, limit).changed;
}

function moveItems(
  database: SqliteDatabase,
  key: string,
  rows: readonly InboxRow[],
  move: (row: InboxRow) => InboxRow,
): InboxItem[] {
  if (rows.length > 0) database.recordChange({ what: "inbox", key });
  return rows.map((row) => {
    const { id, state, attempts, turn, note, ending } = move(row);
    const sql = "UPDATE inbox SET state = ?, attempts = ?, turn = ?, note = ?, ending = ? WHERE id = ?";
    database.run(sql, state, attempts, turn, note, ending, id);
    return toItem({ ...row, state, attempts, turn, note, ending });
  });
}

function existingRow(database: SqliteDatabase, id: number): InboxRow {
  const row = database.get<InboxRow>("SELECT * FROM inbox WHERE id = ?", id);
  if (row === undefined) throw new Error(`Inbox item ${id} vanished inside its own transaction`);
  return row;
}

interface InboxRow {
  id: number;
  key: string;
  channel: string;
  account_id: string;
  chat_id: string;
  message_id: string;
  payload: string;
  received_at: number;
  state: InboxItem["state"];
  attempts: number;
  turn: string | null;
  note: string | null;
  ending: string | null;
}

function toItem(row: InboxRow): InboxItem {
  return {
    id: row.id,
    key: row.key,
    address: {
      channel: row.channel,
      accountId: row.account_id,
      chatId: row.chat_id,
      messageId: row.message_id,
    },
    payload: JSON.parse(row.payload) as unknown,
    receivedAt: row.received_at,
    state: row.state,
    attempts: row.attempts,
    ...(row.turn === null ? {} : { turn: row.turn }),
    ...(row.note === null ? {} : { note: row.note }),
    ...(row.ending === null ? {} : { ending: JSON.parse(row.ending) as unknown }),
  };
}
