/**
 * The one wrapper around SQLite: open, migrate, transact, prepare, refuse, close. All calls are synchronous. Writes run
 * inside `transaction`, which begins IMMEDIATE, so a transaction that has begun cannot lose to another writer.
 * `derived-database.ts` adds healing, for databases that can be rebuilt.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { type SQLInputValue, type StatementSync, DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { type ErrorKind, HoldfastError, errorMessage, fileError } from "./errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "./files.ts";

export type SqliteConnection = ReturnType<typeof wrapConnection>;

export interface OpenOptions {
  pragmas: string;
  /** Checks the version and creates or migrates the tables. Throws to refuse the file. */
  setUp: (database: DatabaseSync) => void;
}

const BUSY_TIMEOUT_MS = 10_000;

/** A query over several folders has a statement for each number of folders. */
const MAX_STATEMENTS = 200;

export function openSqlite(path: string, role: DatabaseRole, options: OpenOptions): SqliteConnection {
  try {
    return wrapConnection(openConnection(path, options), path, role);
  } catch (error) {
    throw sqliteError(error, path, role);
  }
}

export function wrapConnection(connection: DatabaseSync, path: string, role: DatabaseRole) {
  const guarded = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      throw sqliteError(error, path, role);
    }
  };
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let prepared = statements.get(sql);
    if (statements.size >= MAX_STATEMENTS) statements.clear();
    if (prepared === undefined) statements.set(sql, (prepared = connection.prepare(sql)));
    return prepared;
  };
  return {
    path,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the row type
    get: <Row>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => statement(sql).get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: SQLInputValue[]) => guarded(() => statement(sql).all(...values) as Row[]),
    *iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row> {
      try {
        for (const row of connection.prepare(sql).iterate(...values)) yield row as Row;
      } catch (error) {
        throw sqliteError(error, path, role);
      }
    },
    /** The number of changed rows, and the id of the last inserted row. */
    run: (sql: string, ...values: SQLInputValue[]) =>
      guarded(() => {
        const { changes, lastInsertRowid } = statement(sql).run(...values);
        return { changed: Number(changes), id: Number(lastInsertRowid) };
      }),
    /**
     * Runs a task that writes. When this returns, everything is durable; when it throws, nothing is. `waitMs`: how long
     * to wait for another writer. Default: 10 s.
     */
    transaction: <T>(task: () => T, { waitMs }: { waitMs?: number | undefined } = {}): T =>
      bracket(connection, TRANSACTION, task, guarded, waitMs),
    /** Runs several reads on one state. */
    snapshot: <T>(task: () => T): T => bracket(connection, SNAPSHOT, task, guarded),
    /** Like `snapshot`, for a task that takes several ticks. Nothing else may use the connection meanwhile. */
    longSnapshot: async <T>(task: () => Promise<T>): Promise<T> => {
      guarded(() => connection.exec("BEGIN"));
      try {
        return await task();
      } finally {
        guarded(() => connection.exec("COMMIT"));
      }
    },
    close: (): void => {
      statements.clear();
      guarded(() => connection.close());
    },
  };
}

/** Opens the bare connection; closes it again if anything fails. */
export function openConnection(path: string, { pragmas, setUp }: OpenOptions): DatabaseSync {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    connection.exec(pragmas);
    setUp(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

type Bracket = readonly [begin: string, commit: string, rollback: string];
const TRANSACTION: Bracket = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"];
const SNAPSHOT: Bracket = ["BEGIN", "COMMIT", "ROLLBACK"];

export function runTransaction<T>(database: DatabaseSync, task: () => T): T {
  return bracket(database, TRANSACTION, task);
}

/** `guarded` runs the statements around the task. */
function bracket<T>(
  connection: DatabaseSync,
  [begin, commit, rollback]: Bracket,
  task: () => T,
  guarded: (run: () => void) => void = (run) => run(),
  waitMs = BUSY_TIMEOUT_MS,
): T {
  guarded(() => (waitMs === BUSY_TIMEOUT_MS ? connection.exec(begin) : execWithin(connection, begin, waitMs)));
  try {
    const result = task();
    guarded(() => connection.exec(commit));
    return result;
  } catch (error) {
    // Some failures, such as a full disk, have already undone the whole transaction.
    if (connection.isTransaction) guarded(() => connection.exec(rollback));
    throw error;
  }
}

function execWithin(connection: DatabaseSync, sql: string, waitMs: number): void {
  try {
    connection.exec(`PRAGMA busy_timeout = ${waitMs}; ${sql}`);
  } finally {
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

/** Runs the steps that the file lacks, one per version, in one transaction, so that each runs once. */
export function migrateSchema(
  database: DatabaseSync,
  steps: readonly ((database: DatabaseSync) => void)[],
  readVersion: () => number,
): void {
  if (readVersion() === steps.length) return;
  runTransaction(database, () => {
    for (let version = readVersion(); version < steps.length; version++) {
      steps[version]?.(database);
      database.exec(`PRAGMA user_version = ${version + 1}`);
    }
  });
}

/**
 * Turns on the write-ahead log, which stays on for the file. Throws if the file system cannot do it. While another
 * process opens the file, SQLite fails at once here instead of waiting, so this retries.
 */
export function useWriteAheadLog(connection: DatabaseSync, path: string): void {
  for (let waitedMs = 0; ; waitedMs += WAL_RETRY_MS) {
    try {
      if (connection.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal") return;
      if (connection.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"] === "wal") return;
      throw noWriteAheadLog(path);
    } catch (error) {
      if (sqliteErrorCode(error) !== BUSY_CODE || waitedMs >= BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(NEVER_NOTIFIED, 0, 0, WAL_RETRY_MS);
    }
  }
}

const BUSY_CODE = 5;
const WAL_RETRY_MS = 5;
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

function noWriteAheadLog(path: string): HoldfastError {
  return new HoldfastError("unsupported", "no-write-ahead-log", `SQLite cannot keep a write-ahead log for ${path}`, {
    hint: "Network file systems often cannot: point HOLDFAST_HOME to a local disk, or use the store `json`.",
    data: { path },
  });
}

/** Creates the file for its owner only; SQLite would let others read it. Its log files inherit the mode. */
export function createPrivateFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
    closeSync(openSync(path, "a", PRIVATE_FILE));
  } catch (error) {
    throw fileError(error, "create", path);
  }
}

export function isEmptyDatabase(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

/** Opens for reading only, also a damaged file. Without a log, SQLite then creates no files of its own. */
export async function openReadOnly(path: string): Promise<DatabaseSync> {
  const url = pathToFileURL(path);
  const logSize = await stat(`${path}-wal`).then(
    ({ size }) => size,
    () => 0,
  );
  if (logSize === 0) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}

/** SQLite's first complaint, or undefined if every page is in order. */
export function quickCheck(database: DatabaseSync): string | undefined {
  const [first] = database.prepare("PRAGMA quick_check(1)").all();
  const answer = String(first?.["quick_check"]);
  return answer === "ok" ? undefined : answer;
}

export interface DatabaseRole {
  /** First part of error codes, such as `store` in `store-busy`. */
  prefix: string;
  /** Comes before the path in messages. Default: the path alone. */
  name?: string | undefined;
  hints: { damaged: string; unexpected: string };
  /** Recognizes more damage than SQLite reports as such. Optional. */
  isDamage?: ((error: unknown) => boolean) | undefined;
}

export function sqliteError(error: unknown, path: string, { prefix, name, hints, isDamage }: DatabaseRole): unknown {
  const sqlite = sqliteResultCode(error);
  if (sqlite === undefined) return error;
  const { kind, code, hint = hints.unexpected } = isDamage?.(error) === true ? DAMAGED : (ADVICE[sqlite] ?? UNEXPECTED);
  const subject = name === undefined ? path : `${name} ${path}`;
  return new HoldfastError(kind, code.replace("*", prefix), `${subject} failed: ${errorMessage(error)}`, {
    hint: kind === "corrupt" ? hints.damaged : hint,
    data: { path, sqlite },
    cause: error,
  });
}

/** SQLite's result code without the extension in its upper bits. Undefined for other errors. */
export function sqliteResultCode(error: unknown): number | undefined {
  const code = sqliteErrorCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** With the extension. */
export function sqliteErrorCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode;
}

interface Advice {
  kind: ErrorKind;
  /** `*` stands for the database's prefix. */
  code: string;
  hint?: string | undefined;
}

const DAMAGED: Advice = { kind: "corrupt", code: "*-corrupt" };
const UNEXPECTED: Advice = { kind: "unavailable", code: "*-failed" };

const BUSY: Advice = {
  kind: "locked",
  code: "*-busy",
  hint: "Another process has been writing for a long time. Try again, or look for a process that hangs.",
};

const READ_ONLY: Advice = {
  kind: "forbidden",
  code: "*-read-only",
  hint: "Check who owns the file and its folder (ls -ld), and whether the file system is mounted read-only.",
};

const ADVICE: Record<number, Advice> = {
  3: READ_ONLY,
  5: BUSY,
  6: BUSY,
  8: READ_ONLY,
  10: { kind: "unavailable", code: "disk-failed", hint: "The disk reports an error. See the system log." },
  11: DAMAGED,
  13: { kind: "unavailable", code: "disk-full", hint: "Free some disk space and try again; nothing was half written." },
  14: READ_ONLY,
  26: DAMAGED,
};
