/**
 * The index's database file. A damaged, outdated or foreign file is not repaired but replaced. This happens under a
 * lock, so that no process removes a file that another has just created. A process that still has the removed file
 * open uses it until it checks again.
 */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type ErrorKind, HoldfastError, errorMessage, fileError } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import type { Logger } from "../base/log.ts";
import { sqliteResultCode } from "../base/sqlite.ts";
import { findDatabaseDamage, isDatabaseDamage, noteAsLeft, openDerived } from "../base/derived-database.ts";

export interface IndexDatabase {
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the columns
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  run(sql: string, ...values: SQLInputValue[]): number;
  /** All or nothing. Other writers wait. */
  transaction<T>(task: () => T): T;
  /** Creates a new file if the current one was removed or replaced. */
  reopenIfReplaced(): Promise<void>;
  /** Creates a new file if `error` means that this one is damaged. */
  mend(error: unknown): Promise<boolean>;
  close(): void;
}

interface OpenIndexOptions {
  path: string;
  logger: Logger;
}

/** Statements differ by the number of folders that are asked for. */
const MAX_STATEMENTS = 100;

export async function openIndexDatabase({ path, logger }: OpenIndexOptions): Promise<IndexDatabase> {
  let connection = await openOrRebuild(path, logger);
  let isDamaged = false;

  /** `damaged`: never reuse the current file. Another process may already have replaced it. */
  const reopen = async (damaged?: "damaged"): Promise<void> => {
    connection.database.close();
    connection = await openOrRebuild(path, logger, damaged === undefined ? undefined : connection.inode);
  };
  const attempt = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      isDamaged ||= isDatabaseDamage(error);
      throw indexError(error, path);
    }
  };

  return {
    all: <Row>(sql: string, ...values: SQLInputValue[]) =>
      attempt(() => statement(connection, sql).all(...values) as Row[]),
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the interface
    get: <Row>(sql: string, ...values: SQLInputValue[]) =>
      attempt(() => statement(connection, sql).get(...values) as Row | undefined),
    run: (sql, ...values) => attempt(() => Number(statement(connection, sql).run(...values).lastInsertRowid)),
    transaction: (task) =>
      attempt(() => {
        connection.database.exec("BEGIN IMMEDIATE");
        try {
          const result = task();
          connection.database.exec("COMMIT");
          return result;
        } catch (error) {
          if (connection.database.isTransaction) connection.database.exec("ROLLBACK");
          throw error;
        }
      }),
    reopenIfReplaced: async () => {
      if (inodeOf(path) !== connection.inode) await reopen();
    },
    mend: async (error) => {
      if (!isDamage(error)) return false;
      logger.warn("The search index is damaged; rebuilding it", { path, error });
      await reopen("damaged");
      isDamaged = false;
      return true;
    },
    close: () => {
      if (!connection.database.isOpen) return;
      connection.database.close();
      noteAsLeft(path, { isDamaged });
    },
  };
}

interface Connection {
  database: DatabaseSync;
  statements: Map<string, StatementSync>;
  inode: number | undefined;
}

function statement({ database, statements }: Connection, sql: string): StatementSync {
  let prepared = statements.get(sql);
  if (statements.size >= MAX_STATEMENTS) statements.clear();
  if (prepared === undefined) statements.set(sql, (prepared = database.prepare(sql)));
  return prepared;
}

async function openOrRebuild(path: string, logger: Logger, damagedInode?: number): Promise<Connection> {
  await ensurePrivateFolder(dirname(path));
  return await withFileLock(`${path}.lock`, {}, async () => {
    const before = statSync(path, { throwIfNoEntry: false });
    const replace = before !== undefined && (before.ino === damagedInode || !before.isFile());
    const database = openFile(path, replace);
    const inode = inodeOf(path);
    if (before !== undefined && before.ino !== inode) {
      logger.warn("the search index cannot be used and is built again", { path });
    }
    return { database, statements: new Map(), inode };
  });
}

function openFile(path: string, replace: boolean): DatabaseSync {
  try {
    return openDerived({
      path,
      // A lost commit costs a second reading, so the disk is not waited for; NORMAL cannot damage the file.
      pragmas: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;",
      create: (database) => database.exec(SCHEMA),
      isOurs: (database) =>
        database.prepare("PRAGMA user_version").get()?.["user_version"] === INDEX_VERSION &&
        database.prepare("PRAGMA application_id").get()?.["application_id"] === APPLICATION_ID,
      check: (database) => {
        // Fails if a table is missing.
        database.prepare("SELECT 1 FROM sources, words, fragments LIMIT 1").get();
        return findDatabaseDamage(database);
      },
      replace,
    });
  } catch (error) {
    throw sqliteResultCode(error) === undefined ? fileError(error, "create", path) : indexError(error, path);
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

export function isDamage(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "corrupt";
}

function indexError(error: unknown, path: string): unknown {
  const result = sqliteResultCode(error);
  if (result === undefined) return error;
  const { kind, code, hint } = isDatabaseDamage(error) ? DAMAGED : adviceFor(result);
  return new HoldfastError(kind, code, `The search index ${path} failed: ${errorMessage(error)}`, {
    hint,
    data: { path, sqlite: result },
    cause: error,
  });
}

interface Advice {
  kind: ErrorKind;
  code: string;
  hint: string;
}

const DAMAGED: Advice = {
  kind: "corrupt",
  code: "search-index-corrupt",
  hint: "Delete the file; it is rebuilt from transcripts and memory files.",
};

function adviceFor(code: number): Advice {
  if (code === 5 || code === 6) {
    return { kind: "locked", code: "search-index-busy", hint: "Another process is indexing. Try again later." };
  }
  if (code === 3 || code === 8 || code === 14) {
    const hint = "Check who owns the file and its folder (ls -ld), or point HOLDFAST_HOME elsewhere.";
    return { kind: "forbidden", code: "search-index-read-only", hint };
  }
  const hint = "Free disk space if it is low, or delete the file; it is rebuilt.";
  return { kind: "unavailable", code: code === 13 ? "disk-full" : "search-index-failed", hint };
}

/** Increased when the same files would be indexed differently. */
const INDEX_VERSION = 1;

/** "HFSx" in SQLite's header identifies our file. */
const APPLICATION_ID = 0x48465378;

/** The lower bits of a passage id count within its source; the upper bits are the source id. */
export const PASSAGE_BITS = 24;

export function passageId(sourceId: number, place: number): number {
  return sourceId * 2 ** PASSAGE_BITS + place;
}

export const MAX_PASSAGES = 2 ** PASSAGE_BITS - 1;

/**
 * - `words`: whole words, stemmed, without accents. `parts` holds extra words for the tokenizer (`query.ts`).
 * - `fragments`: trigrams without positions. A match is checked against the text.
 */
const SCHEMA = `
  CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    holder TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner TEXT,
    session_id TEXT,
    subagent_id TEXT,
    settled INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    modified_at REAL NOT NULL,
    offset INTEGER NOT NULL,
    tail TEXT NOT NULL,
    lines INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    folder TEXT,
    damaged_lines INTEGER NOT NULL,
    skipped_lines INTEGER NOT NULL,
    UNIQUE (path, holder)
  ) STRICT;
  CREATE INDEX sources_by_session ON sources (session_id);
  CREATE TABLE source_folders (
    source_id INTEGER NOT NULL REFERENCES sources (id),
    folder TEXT NOT NULL,
    PRIMARY KEY (source_id, folder)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    role TEXT,
    at INTEGER,
    entry_id TEXT,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    folder TEXT,
    text TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE words USING fts5 (
    text, parts, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
  );
  CREATE VIRTUAL TABLE fragments USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = "trigram"
  );
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${INDEX_VERSION};
`;
