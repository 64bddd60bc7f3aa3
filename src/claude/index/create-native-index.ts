/**
 * Opens the index over Claude Code's transcripts. Its database is derived, so an unusable file is replaced: one of
 * another version or program, a damaged one, one for another folder or another time zone (days are local). A process
 * that still has the old file open keeps using it without harm.
 */
import type { DatabaseSync } from "node:sqlite";
import { statSync } from "node:fs";
import { HoldfastError, errorMessage, systemErrorCode } from "../../base/errors.ts";
import { SCAN_FORMAT } from "../native/session-scan.ts";
import { findDatabaseDamage, openDerived, isDatabaseDamage, noteAsLeft } from "../../base/derived-database.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import type { IndexQuery, IndexedSession, NativeIndex } from "./native-index.ts";
import { refreshIndex } from "./refresh.ts";
import { LISTED } from "./index-rows.ts";
import { countSessions, listPlaces, listSessions, readDetails, reportUsage } from "./session-rows.ts";

export interface NativeIndexOptions {
  /** The index file. It is created when missing and replaced when unusable. */
  path: string;
  claudeHome: string;
  logger?: Logger | undefined;
  /** Worker threads for large refreshes. Default: one per core, at most four. */
  threads?: number | undefined;
  clock?: Pick<Clock, "now"> | undefined;
}

export function createNativeIndex(options: NativeIndexOptions): NativeIndex {
  const { path, claudeHome, logger = silentLogger, threads, clock = systemClock } = options;
  let database: DatabaseSync = openIndexDatabase(path, claudeHome);
  let inode = inodeOf(path);
  let isDamaged = false;
  const explain = (error: unknown): unknown => {
    isDamaged ||= isDatabaseDamage(error);
    if (!isDamaged) return indexError(error, path);
    const message = `The index ${path} is damaged: ${errorMessage(error)}`;
    const hint = "Try again; it is rebuilt from Claude Code's files.";
    return new HoldfastError("unavailable", "index-damaged", message, { hint, data: { path }, cause: error });
  };
  const guarded = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      throw explain(error);
    }
  };
  const list = function* (query: IndexQuery = {}): Generator<IndexedSession> {
    try {
      yield* listSessions(database, claudeHome, query);
    } catch (error) {
      throw explain(error);
    }
  };
  /** Keeps the file if another process has already replaced it. */
  const replaceDamaged = (): void => {
    logger.warn("rebuilding the damaged index of Claude Code's sessions", { path });
    database.close();
    database = openIndexDatabase(path, claudeHome, { replace: inodeOf(path) === inode });
    inode = inodeOf(path);
    isDamaged = false;
  };

  return {
    async refresh(refreshOptions = {}) {
      if (isDamaged) replaceDamaged();
      try {
        return await refreshIndex({ database, claudeHome, threads, clock }, refreshOptions);
      } catch (error) {
        if (!isDatabaseDamage(error)) throw indexError(error, path);
      }
      replaceDamaged();
      return await refreshIndex({ database, claudeHome, threads, clock }, refreshOptions);
    },
    list,
    get: (sessionId) => [...list({ sessionIds: [sessionId], limit: 1 })][0],
    details: (sessionId) => guarded(() => readDetails(database, sessionId)),
    count: () => guarded(() => countSessions(database)),
    places: () => guarded(() => listPlaces(database)),
    findByPrefix: (prefix, limit) =>
      guarded(() =>
        database
          .prepare(
            `SELECT DISTINCT session FROM files WHERE ${LISTED} AND substr(session, 1, length(?1)) = ?1
             ORDER BY session LIMIT ?2`,
          )
          .all(prefix, limit)
          .map(({ session }) => String(session)),
      ),
    usage: (query) => guarded(() => reportUsage(database, query)),
    close: () => {
      database.close();
      noteAsLeft(path, { isDamaged });
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/** Increase it with every change of the tables. */
const INDEX_FORMAT = 5;

/** Large pages, because most rows are kilobytes of text; few checkpoints, because each waits for the disk. */
const PRAGMAS = `
  PRAGMA page_size = 16384;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA wal_autocheckpoint = 4000;
  PRAGMA cache_size = -16000;
`;

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
  CREATE INDEX files_subagents ON files (session, folder) WHERE agent IS NOT NULL;
  -- A page of a list is chosen from these alone.
  CREATE INDEX files_modified ON files (modified DESC, session, folder) WHERE ${LISTED};
  CREATE INDEX files_places ON files (folder, cwds) WHERE ${LISTED};
  -- See FolderMemory.
  CREATE TABLE folders (
    name TEXT PRIMARY KEY,
    memory TEXT,
    -- Apart from the rest, because parsing many numbers takes long.
    stamps BLOB
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
