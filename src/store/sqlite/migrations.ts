/**
 * The tables, one function per version. A published step is never changed: add the next step instead.
 *
 * - `entries.version` is the sequence number of the change that wrote the entry. A number is never reused, even if a
 *   key is deleted and created again, so an equal version proves that nothing happened. Same for `handoffs.version`.
 * - `entries.entry` is SQLite's JSONB: reading ten fields of 10,000 entries needs no parsing.
 * - `entries.listing` repeats the listed fields as the text of a JSON object without its opening brace, and is part of
 *   an index. Listing 10,000 entries then reads only that index and joins texts.
 * - Large values are stored once, in `contents`; `entry_contents` maps fields of entries to them.
 * - Leases are never deleted, because their epochs must not start again.
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldfastError } from "../../base/errors.ts";
import { isEmptyDatabase, migrateSchema } from "../../base/sqlite.ts";

const STEPS: readonly ((database: DatabaseSync) => void)[] = [
  createTables,
  indexQueues,
  createHandoffs,
  keepEndings,
  nameTurns,
  createPending,
];

export function migrate(database: DatabaseSync, path: string): void {
  migrateSchema(database, STEPS, () => supportedVersion(database, path));
}

/** Refuses a newer store and the database of another program, before anything is written. */
export function supportedVersion(database: DatabaseSync, path: string): number {
  const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
  if (version > STEPS.length) throw newerStore(path, version);
  if (version === 0 && !isEmptyDatabase(database)) throw foreignDatabase(path);
  return version;
}

function createTables(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE entries (
      key TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      session_id TEXT NOT NULL,
      updated_at REAL NOT NULL,
      kind TEXT NOT NULL,
      channel TEXT,
      label TEXT,
      search TEXT NOT NULL,
      listing TEXT NOT NULL,
      entry BLOB NOT NULL
    ) STRICT;
    CREATE INDEX entries_by_update ON entries (updated_at DESC, key, listing);
    CREATE INDEX entries_by_label ON entries (label) WHERE label IS NOT NULL;

    CREATE TABLE contents (hash TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
    CREATE TABLE entry_contents (
      key TEXT NOT NULL,
      field TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (key, field)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_contents_by_hash ON entry_contents (hash);
    CREATE INDEX entry_contents_by_field ON entry_contents (field);

    CREATE TABLE windows (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL,
      session_id TEXT NOT NULL,
      opened_at REAL NOT NULL,
      closed_at REAL,
      reason TEXT NOT NULL,
      transcript TEXT,
      archive TEXT,
      state TEXT,
      UNIQUE (key, session_id)
    ) STRICT;
    CREATE INDEX windows_by_session ON windows (session_id);

    CREATE TABLE leases (
      key TEXT PRIMARY KEY,
      epoch INTEGER NOT NULL,
      holder TEXT NOT NULL,
      process TEXT NOT NULL,
      expires_at REAL NOT NULL,
      released INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE inbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL,
      channel TEXT NOT NULL,
      account_id TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      message_id TEXT NOT NULL,
      payload TEXT NOT NULL,
      received_at REAL NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      note TEXT,
      UNIQUE (channel, account_id, chat_id, message_id)
    ) STRICT;
    CREATE INDEX inbox_pending ON inbox (key, id) WHERE state IN ('queued', 'running');

    CREATE TABLE outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL,
      idempotency_key TEXT NOT NULL UNIQUE,
      target TEXT NOT NULL,
      payload TEXT NOT NULL,
      created_at REAL NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      due_at REAL NOT NULL,
      delivered_id TEXT,
      note TEXT
    ) STRICT;
    CREATE INDEX outbox_pending ON outbox (key, id) WHERE state IN ('pending', 'sending');

    CREATE TABLE changes (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      what TEXT NOT NULL,
      key TEXT NOT NULL,
      writer TEXT NOT NULL
    ) STRICT;
    CREATE TABLE view_state (seq INTEGER NOT NULL) STRICT;
    INSERT INTO view_state (seq) VALUES (0);
  `);
}

/** Finds waiting rows by route and ended rows by age, however many rows have ended. */
function indexQueues(database: DatabaseSync): void {
  database.exec(`
    CREATE INDEX inbox_ended ON inbox (received_at) WHERE state IN ('done', 'dropped');
    CREATE INDEX outbox_settled ON outbox (created_at) WHERE state IN ('delivered', 'failed');
    CREATE INDEX outbox_by_route ON outbox (target ->> 'channel', target ->> 'accountId', id)
      WHERE state IN ('pending', 'sending');
  `);
}

/** Not part of `entries`: a hand-off outlives its session and needs no entry. */
function createHandoffs(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE handoffs (
      key TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      updated_at REAL NOT NULL,
      state TEXT NOT NULL
    ) STRICT;
    CREATE INDEX handoffs_by_update ON handoffs (updated_at DESC, version DESC);
  `);
}

/** The result of a message, for callers that wait in another process. */
function keepEndings(database: DatabaseSync): void {
  database.exec("ALTER TABLE inbox ADD COLUMN ending TEXT");
}

/** Messages of one turn stay together when it is repeated. Given-up messages are counted. */
function nameTurns(database: DatabaseSync): void {
  database.exec(`
    ALTER TABLE inbox ADD COLUMN turn TEXT;
    CREATE INDEX inbox_given_up ON inbox (id) WHERE note = 'given up';
  `);
}

/** Group history and system events, one queue of items per key. `id` rises with each added item. */
function createPending(database: DatabaseSync): void {
  database.exec(`
    CREATE TABLE pending (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      queue TEXT NOT NULL,
      UNIQUE (kind, key)
    ) STRICT;
  `);
}

function newerStore(path: string, version: number): HoldfastError {
  return new HoldfastError(
    "unsupported",
    "store-too-new",
    `The store ${path} has version ${version}; this Holdfast knows versions up to ${STEPS.length}`,
    { hint: "Upgrade Holdfast. Nothing was changed.", data: { path, version, supported: STEPS.length } },
  );
}

function foreignDatabase(path: string): HoldfastError {
  return new HoldfastError("unsupported", "not-a-store", `${path} is an SQLite database of another program`, {
    hint: "Move it elsewhere, or choose another store. Nothing was changed.",
    data: { path },
  });
}
