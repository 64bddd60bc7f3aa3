/**
 * The database file of the index. It is derived, so an unusable file is replaced: one of another version or program, a
 * damaged one, one for another folder or another time zone (days are local). A process that still has the old file open
 * keeps using it without harm.
 */
import type { DatabaseSync } from "node:sqlite";
import { HoldfastError, errorMessage, systemErrorCode } from "../../base/errors.ts";
import { SCAN_FORMAT } from "../native/session-scan.ts";
import { findDatabaseDamage, openDerived } from "../../base/derived-database.ts";

/** Increase it with every change of the tables. */
const INDEX_FORMAT = 3;

/** Large pages, because most rows are kilobytes of text; few checkpoints, because each waits for the disk. */
const PRAGMAS = `
  PRAGMA page_size = 16384;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -16000;
`;

/** The rows that lists show: completely read sessions. */
export const LISTED = "agent IS NULL AND fingerprint IS NOT NULL";

const TABLES = `
  CREATE TABLE identity (value TEXT NOT NULL);
  -- One row per transcript. Facts that every list needs are here, the others in \`scans\`.
  CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    folder TEXT NOT NULL,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    agent TEXT,
    inode REAL NOT NULL,
    size REAL NOT NULL,
    modified REAL NOT NULL,
    -- NULL while only the usage is known; then there is no row in \`scans\`.
    fingerprint TEXT,
    root TEXT,
    first_message TEXT,
    opened_at REAL,
    last_at REAL,
    -- See joinCwds.
    cwds TEXT NOT NULL,
    entrypoint TEXT,
    marker TEXT,
    -- Without messages that an older file has too.
    usage TEXT NOT NULL,
    grouped INTEGER NOT NULL DEFAULT 0,
    forked_from TEXT,
    UNIQUE (folder, name)
  );
  CREATE INDEX files_session ON files (session);
  -- A page of a list is chosen from these alone.
  CREATE INDEX files_modified ON files (modified DESC, session, folder) WHERE ${LISTED};
  CREATE INDEX files_places ON files (folder, cwds) WHERE ${LISTED};
  -- See FolderMemory.
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
  -- Messages of files that share some with another file.
  CREATE TABLE messages (
    file INTEGER NOT NULL,
    id TEXT NOT NULL,
    usage TEXT NOT NULL,
    output INTEGER NOT NULL,
    PRIMARY KEY (file, id)
  ) WITHOUT ROWID;
  -- Refreshes that are running or died: their forks may not be settled.
  CREATE TABLE unsettled (token TEXT PRIMARY KEY) WITHOUT ROWID;
`;

/** Columns that hold JSON. */
const JSON_COLUMNS = { scans: ["shown", "state"], messages: ["usage"] };

/** `replace`: the existing file is known to be unusable. */
export function openIndexDatabase(path: string, claudeHome: string, { replace = false } = {}): DatabaseSync {
  const identity = JSON.stringify({ index: INDEX_FORMAT, scan: SCAN_FORMAT, zone: timeZone(), claudeHome });
  try {
    return openDerived({
      path,
      pragmas: PRAGMAS,
      create: (database) => {
        database.exec(TABLES);
        database.prepare("INSERT INTO identity VALUES (?)").run(identity);
      },
      isOurs: (database) => readIdentity(database) === identity,
      check: (database) => findDatabaseDamage(database, JSON_COLUMNS),
      replace,
    });
  } catch (error) {
    throw indexError(error, path);
  }
}

function readIdentity(database: DatabaseSync): string | undefined {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'identity'").get();
  const value = table === undefined ? undefined : database.prepare("SELECT * FROM identity").get()?.["value"];
  return typeof value === "string" ? value : undefined;
}

/** Two instants half a year apart tell most zones from each other. */
function timeZone(): string {
  return [0, 6].map((month) => new Date(2026, month, 1).getTimezoneOffset()).join("/");
}

export function indexError(error: unknown, path: string): unknown {
  if (error instanceof HoldfastError || systemErrorCode(error) === undefined) return error;
  return new HoldfastError("unavailable", "index-failed", `The index ${path} failed: ${errorMessage(error)}`, {
    hint: "You can delete it at any time; it is rebuilt from Claude Code's files.",
    data: { path },
    cause: error,
  });
}
