/**
 * One connection to a store's file. Everything here is synchronous; who may wait for a disk decides
 * `executor.ts`. Writes happen inside `transaction` only, which begins IMMEDIATE: a transaction that
 * has begun cannot lose against another writer.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { HoldfastError } from "../../base/errors.ts";
import type { StoreChange } from "../store.ts";
import { assertSupported, migrate } from "./migrations.ts";
import { sqliteError } from "../../base/sqlite-error.ts";
import { STORE_ROLE } from "./store-role.ts";

/** How long a writer waits for another process before it gives up with kind `locked`. */
const BUSY_TIMEOUT_MS = 10_000;

export interface SqliteDatabase {
  readonly path: string;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it selects
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  iterate<Row>(sql: string, ...values: SQLInputValue[]): Iterable<Row>;
  /** Resolves to the number of changed rows and the id of an inserted one. */
  run(sql: string, ...values: SQLInputValue[]): { changed: number; id: number };
  /** Runs a task that writes; all of it is durable when this returns, or nothing when it throws. */
  transaction<T>(task: () => T): T;
  /** Runs a part of a transaction; undone alone when it throws. */
  part<T>(task: () => T): T;
  /** False once a failure has undone the transaction that was begun. */
  inTransaction(): boolean;
  /** Runs several reads on one unchanging state. */
  snapshot<T>(task: () => T): T;
  /** The same over several ticks; needs a connection that nothing else uses meanwhile. */
  longSnapshot<T>(task: () => Promise<T>): Promise<T>;
  /** Notes a change for listeners of every process; the number is unique for ever. */
  recordChange(change: StoreChange): number;
  /** The changes of the last transaction, if it succeeded. */
  takeChanges(): StoreChange[];
  close(): void;
}

/** Opens a file that was checked by `openDatabase`. `writer` names the store handle in the change feed. */
export function connect(path: string, writer: string): SqliteDatabase {
  const connection = openConnection(path);
  const statements = new Map<string, StatementSync>();
  let changes: StoreChange[] = [];

  const guarded = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      throw sqliteError(error, path, STORE_ROLE);
    }
  };
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const prepared = connection.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };
  const bracket = <T>(begin: string, commit: string, rollback: string, task: () => T): T => {
    guarded(() => connection.exec(begin));
    try {
      const result = task();
      guarded(() => connection.exec(commit));
      return result;
    } catch (error) {
      // Some failures, such as a full disk, have already undone the whole transaction.
      if (connection.isTransaction) guarded(() => connection.exec(rollback));
      throw error;
    }
  };

  const database: SqliteDatabase = {
    path,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the interface
    get: <Row>(sql: string, ...values: SQLInputValue[]) =>
      guarded(() => statement(sql).get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: SQLInputValue[]) => guarded(() => statement(sql).all(...values) as Row[]),
    *iterate<Row>(sql: string, ...values: SQLInputValue[]) {
      try {
        for (const row of connection.prepare(sql).iterate(...values)) yield row as Row;
      } catch (error) {
        throw sqliteError(error, path, STORE_ROLE);
      }
    },
    run: (sql, ...values) =>
      guarded(() => {
        const { changes: changed, lastInsertRowid } = statement(sql).run(...values);
        return { changed: Number(changed), id: Number(lastInsertRowid) };
      }),
    transaction: (task) => {
      changes = [];
      return bracket("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK", task);
    },
    part: (task) => {
      const before = changes.length;
      try {
        return bracket("SAVEPOINT part", "RELEASE part", "ROLLBACK TO part; RELEASE part", task);
      } catch (error) {
        changes.length = before;
        throw error;
      }
    },
    inTransaction: () => connection.isTransaction,
    snapshot: (task) => bracket("BEGIN", "COMMIT", "ROLLBACK", task),
    longSnapshot: async (task) => {
      guarded(() => connection.exec("BEGIN"));
      try {
        return await task();
      } finally {
        guarded(() => connection.exec("COMMIT"));
      }
    },
    recordChange: (change) => {
      changes.push(change);
      const sql = "INSERT INTO changes (what, key, writer) VALUES (?, ?, ?)";
      return database.run(sql, change.what, change.key, writer).id;
    },
    takeChanges: () => {
      const taken = changes;
      changes = [];
      return taken;
    },
    close: () => {
      statements.clear();
      guarded(() => connection.close());
    },
  };
  return database;
}

function openConnection(path: string): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    assertSupported(connection, path);
    useWriteAheadLog(connection, path);
    // A resolved promise means that the data is on disk, not only handed to the system.
    connection.exec("PRAGMA synchronous = FULL");
    migrate(connection, path);
    return connection;
  } catch (error) {
    connection?.close();
    throw sqliteError(error, path, STORE_ROLE);
  }
}

/** The mode stays with the file. Changing it while others open the file fails at once instead of waiting. */
function useWriteAheadLog(connection: DatabaseSync, path: string): void {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      if (connection.prepare("PRAGMA journal_mode").get()?.["journal_mode"] === "wal") return;
      if (connection.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"] === "wal") return;
      throw noWriteAheadLog(path);
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      Atomics.wait(NEVER_NOTIFIED, 0, 0, WAL_RETRY_MS);
    }
  }
}

const WAL_RETRY_MS = 5;
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

const SQLITE_BUSY = 5;

function noWriteAheadLog(path: string): HoldfastError {
  return new HoldfastError("unsupported", "no-write-ahead-log", `SQLite cannot keep a write-ahead log for ${path}`, {
    hint: "Network file systems often cannot: point HOLDFAST_HOME to a local disk, or use the store `json`.",
    data: { path },
  });
}
