/**
 * The index's database file. A damaged, outdated or foreign file is not repaired but replaced. This happens under a
 * lock, so that no process removes a file that another has just created. A process that still has the removed file
 * open uses it until it checks again. If the home cannot be written, the index is built in memory.
 */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { HoldfastError, fileError } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import type { Logger } from "../base/log.ts";
import {
  type DatabaseRole,
  type SqliteConnection,
  openConnection,
  sqliteError,
  sqliteResultCode,
  wrapConnection,
} from "../base/sqlite.ts";
import {
  type DerivedOptions,
  IN_MEMORY,
  findDatabaseDamage,
  isDatabaseDamage,
  isForbidden,
  noteAsLeft,
  openAsLeft,
  openDerived,
} from "../base/derived-database.ts";

export interface IndexDatabase extends Pick<SqliteConnection, "all" | "get" | "run" | "transaction" | "close"> {
  /** How long to wait while another process writes; then an error of the kind `locked`. */
  waitForOthers(ms: number): void;
  /** Creates a new file if the current one was removed or replaced. */
  reopenIfReplaced(): Promise<void>;
  /** Creates a new file if `error` means that this one is damaged. */
  mend(error: unknown): Promise<boolean>;
}

interface OpenIndexOptions {
  path: string;
  logger: Logger;
}

export async function openIndexDatabase({ path, logger }: OpenIndexOptions): Promise<IndexDatabase> {
  let connection = await openOrRebuild(path, logger);
  let isDamaged = false;

  /** `damaged`: never reuse the current file. Another process may already have replaced it. */
  const reopen = async (damaged?: "damaged"): Promise<void> => {
    connection.database.close();
    connection = await openOrRebuild(path, logger, damaged === undefined ? undefined : connection.inode);
  };
  const attempt = <T>(task: (sqlite: SqliteConnection) => T): T => {
    try {
      return task(connection.sqlite);
    } catch (error) {
      isDamaged ||= isDamage(error) || isDatabaseDamage(error);
      throw error;
    }
  };

  return {
    all: <Row>(sql: string, ...values: SQLInputValue[]) => attempt((sqlite) => sqlite.all<Row>(sql, ...values)),
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the interface
    get: <Row>(sql: string, ...values: SQLInputValue[]) => attempt((sqlite) => sqlite.get<Row>(sql, ...values)),
    run: (sql, ...values) => attempt((sqlite) => sqlite.run(sql, ...values)),
    waitForOthers: (ms) => connection.database.exec(`PRAGMA busy_timeout = ${Math.max(1, Math.round(ms))}`),
    transaction: (task) => attempt((sqlite) => sqlite.transaction(task)),
    reopenIfReplaced: async () => {
      if (!connection.isInMemory && inodeOf(path) !== connection.inode) await reopen();
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
      connection.sqlite.close();
      if (!connection.isInMemory) noteAsLeft(path, { isDamaged });
    },
  };
}

const INDEX_ROLE: DatabaseRole = {
  prefix: "search-index",
  name: "The search index",
  hints: {
    damaged: "Delete the file; it is rebuilt from transcripts and memory files.",
    unexpected: "Free disk space if it is low, or delete the file; it is rebuilt.",
  },
  isDamage: isDatabaseDamage,
};

interface Connection {
  database: DatabaseSync;
  sqlite: SqliteConnection;
  inode: number | undefined;
  isInMemory?: true | undefined;
}

async function openOrRebuild(path: string, logger: Logger, damagedInode?: number): Promise<Connection> {
  try {
    return await openOnDisk(path, logger, damagedInode);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const database = openConnection(IN_MEMORY, { pragmas: "", setUp: (empty) => empty.exec(SCHEMA) });
    const sqlite = wrapConnection(database, path, INDEX_ROLE);
    return { database, sqlite, inode: undefined, isInMemory: true };
  }
}

async function openOnDisk(path: string, logger: Logger, damagedInode: number | undefined): Promise<Connection> {
  const inode = inodeOf(path);
  // Nothing is created or removed, so no lock is needed.
  const known = damagedInode === undefined ? openAsLeft(derivedOptions(path)) : undefined;
  if (known !== undefined) return { database: known, sqlite: wrapConnection(known, path, INDEX_ROLE), inode };
  await ensurePrivateFolder(dirname(path));
  return await withFileLock(`${path}.lock`, {}, async () => {
    const before = statSync(path, { throwIfNoEntry: false });
    const replace = before !== undefined && before.ino === damagedInode;
    const database = openFile({ ...derivedOptions(path), replace });
    const opened = inodeOf(path);
    if (before !== undefined && before.ino !== opened) {
      logger.warn("the search index cannot be used and is built again", { path });
    }
    return { database, sqlite: wrapConnection(database, path, INDEX_ROLE), inode: opened };
  });
}

/**
 * Large pages, because a search reads many that are next to each other. A lost commit costs a second reading, so the
 * disk is not waited for; NORMAL cannot damage the file.
 */
const PRAGMAS = `
  PRAGMA page_size = 16384;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA temp_store = MEMORY;
`;

function openFile(options: DerivedOptions): DatabaseSync {
  const { path } = options;
  try {
    return openDerived(options);
  } catch (error) {
    throw sqliteResultCode(error) === undefined
      ? fileError(error, "create", path)
      : sqliteError(error, path, INDEX_ROLE);
  }
}

function derivedOptions(path: string): DerivedOptions {
  return {
    path,
    pragmas: PRAGMAS,
    create: (database) => database.exec(SCHEMA),
    isOurs: (database) =>
      database.prepare("PRAGMA user_version").get()?.["user_version"] === INDEX_VERSION &&
      database.prepare("PRAGMA application_id").get()?.["application_id"] === APPLICATION_ID,
    check: (database) => {
      // Fails if a table is missing.
      database.prepare("SELECT 1 FROM sources, folders, words, vocabulary, edits, vectors LIMIT 0").get();
      return findDatabaseDamage(database);
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

export function isDamage(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "corrupt";
}

/** Increased when the same files would be indexed differently. */
const INDEX_VERSION = 6;

/** "HFSx" in SQLite's header identifies our file. */
const APPLICATION_ID = 0x48465378;

/** The lower bits of a passage id count within its source; the upper bits are the source id. */
export const PASSAGE_BITS = 24;

export function passageId(sourceId: number, place: number): number {
  return sourceId * 2 ** PASSAGE_BITS + place;
}

export function sourceOf(id: number): number {
  return Math.floor(id / 2 ** PASSAGE_BITS);
}

/**
 * The place of the text about a session, after all passages: FTS5 writes what it has collected in memory whenever an id
 * is lower than the one before.
 */
export const ABOUT_PLACE = 2 ** PASSAGE_BITS - 1;

/**
 * - `words`: stemmed, without accents, one column per kind of text because they count differently. `parts` holds
 *   extra words for the tokenizer (`query.ts`). The last place of a source is about the session: title, branch, files.
 * - `vocabulary`: each distinct word once, for parts of words and typos.
 * - `folders`: what is known of a folder of native transcripts (`native-folders.ts`).
 * - `edits`: which prompt (a passage id) led to a change of a file.
 * - `vectors`: the meaning of a session (`meaning.ts`), one per encoder; empty for a session without words.
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
    branch TEXT,
    title TEXT,
    title_rank INTEGER NOT NULL DEFAULT 0,
    last_prompt INTEGER,
    last_at INTEGER,
    damaged_lines INTEGER NOT NULL,
    skipped_lines INTEGER NOT NULL,
    UNIQUE (path, holder)
  ) STRICT;
  CREATE INDEX sources_by_session ON sources (session_id);
  CREATE INDEX sources_by_time ON sources (last_at);
  CREATE INDEX own_sources ON sources (kind) WHERE kind <> 'native';
  CREATE TABLE folders (path TEXT PRIMARY KEY, memory TEXT, stamps BLOB) STRICT, WITHOUT ROWID;
  CREATE TABLE source_folders (
    source_id INTEGER NOT NULL REFERENCES sources (id),
    folder TEXT NOT NULL,
    PRIMARY KEY (source_id, folder)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE edits (
    source_id INTEGER NOT NULL REFERENCES sources (id),
    path TEXT NOT NULL,
    prompt_id INTEGER NOT NULL,
    at INTEGER,
    PRIMARY KEY (source_id, path, prompt_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX edits_by_path ON edits (path);
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
    said, parts, tools, about, content = '', contentless_delete = 1, tokenize = "porter unicode61 remove_diacritics 2"
  );
  CREATE TABLE vocabulary (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE vectors (
    encoder TEXT NOT NULL,
    source_id INTEGER NOT NULL REFERENCES sources (id),
    passages INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (encoder, source_id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE encoders (name TEXT PRIMARY KEY, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${INDEX_VERSION};
`;
