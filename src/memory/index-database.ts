/**
 * The index's file. Nothing in it is worth a repair: when it is damaged, of another version or not ours
 * at all, it is removed and made anew. That happens under a lock, so that a process never removes what
 * another one has just made. A process that still has the removed file open goes on with it until it
 * looks again.
 */
import { statSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { type ErrorKind, HoldfastError, errorMessage, fileError } from "../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder } from "../base/files.ts";
import { withFileLock } from "../base/lock-file.ts";
import type { Logger } from "../base/log.ts";
import { sqliteResultCode } from "../base/sqlite-error.ts";
import { APPLICATION_ID, INDEX_VERSION, SCHEMA } from "./index-schema.ts";

export interface IndexDatabase {
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it selects
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  run(sql: string, ...values: SQLInputValue[]): number;
  /** All of it or nothing; other writers wait. */
  transaction<T>(task: () => T): T;
  /** Makes a new file when the one in use has been removed or replaced. */
  reopenIfReplaced(): Promise<void>;
  /** Makes a new file when `error` says that this one is damaged. */
  mend(error: unknown): Promise<boolean>;
  close(): void;
}

export interface OpenIndexOptions {
  path: string;
  logger: Logger;
}

const BUSY_TIMEOUT_MS = 10_000;
/** Statements differ by the number of folders that are asked for. */
const MAX_STATEMENTS = 100;

export async function openIndexDatabase({ path, logger }: OpenIndexOptions): Promise<IndexDatabase> {
  let connection = await openOrRebuild(path, logger);

  /** `damaged`: the file in use is not to be used again. Another process may have replaced it already. */
  const reopen = async (damaged?: "damaged"): Promise<void> => {
    connection.database.close();
    connection = await openOrRebuild(path, logger, damaged === undefined ? undefined : connection.inode);
  };
  const attempt = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
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
      logger.warn("the search index is damaged and is built anew", { path, error });
      await reopen("damaged");
      return true;
    },
    close: () => {
      if (connection.database.isOpen) connection.database.close();
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
    const existing = damagedInode !== undefined && inodeOf(path) === damagedInode ? undefined : tryOpen(path);
    if (existing !== undefined) return existing;
    if (inodeOf(path) !== undefined) logger.warn("the search index cannot be used and is built anew", { path });
    return await build(path);
  });
}

/** Undefined when there is no file, or none that this version can use. */
function tryOpen(path: string): Connection | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) return undefined;
  let connection: Connection | undefined;
  try {
    connection = { database: connect(path), statements: new Map(), inode: stats.ino };
    const version = connection.database.prepare("PRAGMA user_version").get()?.["user_version"];
    const application = connection.database.prepare("PRAGMA application_id").get()?.["application_id"];
    const isOurs = version === INDEX_VERSION && application === APPLICATION_ID;
    if (isOurs) {
      probe(connection.database);
      return connection;
    }
  } catch (error) {
    const isUseless = isDamage(indexError(error, path)) || sqliteResultCode(error) === SQL_LOGIC;
    if (!isUseless) {
      connection?.database.close();
      throw indexError(error, path);
    }
  }
  connection?.database.close();
  return undefined;
}

/** Cheap enough for every start: whether the tables can be read at all. Damage further in shows up in use. */
function probe(database: DatabaseSync): void {
  database.prepare("SELECT count(*) FROM (SELECT 1 FROM sources LIMIT 1)").get();
  database.prepare("SELECT rowid FROM words WHERE words MATCH 'a' LIMIT 1").get();
  database.prepare("SELECT rowid FROM fragments WHERE fragments MATCH 'aaa' LIMIT 1").get();
}

async function build(path: string): Promise<Connection> {
  try {
    for (const ending of ["", "-wal", "-shm", "-journal"])
      await rm(`${path}${ending}`, { recursive: true, force: true });
    // SQLite would make the file readable by others; its other files take over the mode of this one.
    await using _file = await open(path, "wx", PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "create", path);
  }
  try {
    const database = connect(path);
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT;`);
    return { database, statements: new Map(), inode: inodeOf(path) };
  } catch (error) {
    throw indexError(error, path);
  }
}

function connect(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // A lost commit costs a second reading, so the disk is not waited for; NORMAL cannot damage the file.
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

const CORRUPT = 11;
const NOT_A_DATABASE = 26;
/** A table is missing, or has other columns: the file says that it is ours but was made by something else. */
const SQL_LOGIC = 1;

export function isDamage(error: unknown): boolean {
  return error instanceof HoldfastError && error.kind === "corrupt";
}

function indexError(error: unknown, path: string): unknown {
  const result = sqliteResultCode(error);
  if (result === undefined) return error;
  const { kind, code, hint } = adviceFor(result);
  return new HoldfastError(kind, code, `The search index ${path} failed: ${errorMessage(error)}`, {
    hint,
    data: { path, sqlite: result },
    cause: error,
  });
}

function adviceFor(code: number): { kind: ErrorKind; code: string; hint: string } {
  if (code === CORRUPT || code === NOT_A_DATABASE) {
    const hint = "Delete the file: it is built anew from transcripts and memory files.";
    return { kind: "corrupt", code: "search-index-corrupt", hint };
  }
  if (code === 5 || code === 6) {
    return { kind: "locked", code: "search-index-busy", hint: "Another process is indexing. Try again in a moment." };
  }
  if (code === 3 || code === 8 || code === 14) {
    const hint = "Check who owns the file and its folder (ls -ld), or point HOLDFAST_HOME elsewhere.";
    return { kind: "forbidden", code: "search-index-read-only", hint };
  }
  const hint = "Free some disk space if it is short, or delete the file: it is built anew.";
  return { kind: "unavailable", code: code === 13 ? "disk-full" : "search-index-failed", hint };
}
