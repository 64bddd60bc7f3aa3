/**
 * The file of the index. It is derived, so whatever cannot be used is replaced: a file of another
 * version or of another program, a damaged one, one for another folder or another time zone (days are
 * local days). A process that still has the old file open goes on with it and harms nobody.
 */
import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HoldfastError, errorMessage, fileError, systemErrorCode } from "../../base/errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../../base/files.ts";
import { sqliteResultCode } from "../../base/sqlite-error.ts";
import { SCAN_FORMAT } from "../native/session-scan.ts";

/** Raised with every change of the tables. */
const INDEX_FORMAT = 3;
const BUSY_TIMEOUT_MS = 10_000;

/** Large pages, because most rows are some kilobytes of text, and few checkpoints, because each waits for the disk. */
const PRAGMAS = `
  PRAGMA page_size = 16384;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -16000;
`;

/** Which rows lists show: sessions, as soon as everything is known of them. */
export const LISTED = "agent IS NULL AND fingerprint IS NOT NULL";

const TABLES = `
  CREATE TABLE identity (value TEXT NOT NULL);
  -- One row per transcript. What a list needs of every file is here, the rest in \`scans\`.
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT,
    inode REAL NOT NULL,
    size REAL NOT NULL,
    modified REAL NOT NULL,
    -- NULL while only what the file used is known; then it has no row in \`scans\`.
    fingerprint TEXT,
    root TEXT,
    first_message TEXT,
    opened_at REAL,
    last_at REAL,
    -- See joinCwds.
    cwds TEXT NOT NULL,
    entrypoint TEXT,
    marker TEXT,
    -- What counts for this file: without messages that an older file has too.
    usage TEXT NOT NULL,
    grouped INTEGER NOT NULL DEFAULT 0,
    forked_from TEXT,
    UNIQUE (folder, name)
  );
  CREATE INDEX files_session ON files (session);
  -- A page of a list is chosen within these, without touching a row.
  CREATE INDEX files_modified ON files (modified DESC, session, folder) WHERE ${LISTED};
  CREATE INDEX files_places ON files (folder, cwds) WHERE ${LISTED};
  -- See folder-rows.ts.
  CREATE TABLE folders (
    name TEXT PRIMARY KEY,
    names TEXT NOT NULL,
    stamps BLOB,
    sessions TEXT NOT NULL,
    quiet TEXT NOT NULL,
    files INTEGER NOT NULL,
    complete INTEGER NOT NULL
  );
  CREATE TABLE scans (file INTEGER PRIMARY KEY, shown TEXT NOT NULL, state TEXT NOT NULL);
  -- Single messages, only of files that have some in common.
  CREATE TABLE messages (
    file INTEGER NOT NULL,
    id TEXT NOT NULL,
    usage TEXT NOT NULL,
    output INTEGER NOT NULL,
    PRIMARY KEY (file, id)
  ) WITHOUT ROWID;
  -- Refreshes that are under way, or died: what they wrote may not be counted yet.
  CREATE TABLE unsettled (token TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/** `replace`: what is there is known to be unusable. */
export function openIndexDatabase(path: string, claudeHome: string, { replace = false } = {}): DatabaseSync {
  const identity = JSON.stringify({ index: INDEX_FORMAT, scan: SCAN_FORMAT, zone: timeZone(), claudeHome });
  try {
    createEmptyFile(path);
    if (!replace) return connect(path, identity);
  } catch (error) {
    if (!(error instanceof UnusableIndex) && !isDamagedIndex(error)) throw indexError(error, path);
  }
  try {
    for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${suffix}`, { force: true });
    createEmptyFile(path);
    return connect(path, identity);
  } catch (error) {
    throw indexError(error, path);
  }
}

function connect(path: string, identity: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec(PRAGMAS);
    if (readIdentity(database) === identity) return database;
    database.exec("BEGIN IMMEDIATE");
    const found = readIdentity(database);
    if (found === undefined && isEmpty(database)) {
      database.exec(TABLES);
      database.prepare("INSERT INTO identity VALUES (?)").run(identity);
    } else if (found !== identity) {
      throw new UnusableIndex();
    }
    database.exec("COMMIT");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** IMMEDIATE: a transaction that has begun cannot lose against another writer. */
export function runTransaction(database: DatabaseSync, task: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    task();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function readIdentity(database: DatabaseSync): string | undefined {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'identity'").get();
  const value = table === undefined ? undefined : database.prepare("SELECT * FROM identity").get()?.["value"];
  return typeof value === "string" ? value : undefined;
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

/** Two instants half a year apart tell most zones from each other. */
function timeZone(): string {
  return [0, 6].map((month) => new Date(2026, month, 1).getTimezoneOffset()).join("/");
}

class UnusableIndex extends Error {}

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export function isDamagedIndex(error: unknown): boolean {
  const code = sqliteResultCode(error);
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB;
}

/** SQLite would make the file readable by others; its other files take over the mode of this one. */
function createEmptyFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    closeSync(openSync(path, "a", PRIVATE_FILE));
  } catch (error) {
    throw fileError(error, "create", path);
  }
}

export function indexError(error: unknown, path: string): unknown {
  if (error instanceof HoldfastError || systemErrorCode(error) === undefined) return error;
  return new HoldfastError("unavailable", "index-failed", `The index ${path} failed: ${errorMessage(error)}`, {
    hint: "It can be deleted at any time: it is made again from Claude Code's files.",
    data: { path },
    cause: error,
  });
}
