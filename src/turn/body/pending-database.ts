/**
 * The agent's file for what waits for its next turns: messages of groups and system events. It is a
 * file of its own because it belongs to no kind of store, and because a damaged one must not keep the
 * agent from answering: it is set aside under a name that says so, reported, and a new one is begun.
 */
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileExists, fileSize, setAside, syncFolder } from "../../base/files.ts";
import { withFileLock } from "../../base/lock-file.ts";
import type { Logger } from "../../base/log.ts";
import { type DatabaseRole, sqliteError } from "../../base/sqlite-error.ts";
import { openReadOnly, quickCheck } from "../../base/sqlite-reader.ts";

export interface PendingDatabase {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it selects
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  /** The number of changed rows and the id of an inserted one. */
  run(sql: string, ...values: SQLInputValue[]): { changed: number; id: number };
  /** All of it or nothing; other writers wait, and so does this one, without holding up its process. */
  transaction<T>(durability: PendingDurability, task: () => T): Promise<T>;
  close(): void;
}

/** `disk`: survives a power cut. `process`: survives any end of this process, and does not wait for the disk. */
export type PendingDurability = "disk" | "process";

export interface OpenPendingOptions {
  path: string;
  clock: Clock;
  logger: Logger;
}

export async function openPendingDatabase(options: OpenPendingOptions): Promise<PendingDatabase> {
  const { path } = options;
  const connection = await openOrReplace(options);
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    let prepared = statements.get(sql);
    if (prepared === undefined) statements.set(sql, (prepared = connection.prepare(sql)));
    return prepared;
  };
  const attempt = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      throw pendingError(error, path);
    }
  };
  let current: PendingDurability | undefined;

  return {
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the interface
    get: <Row>(sql: string, ...values: SQLInputValue[]) =>
      attempt(() => statement(sql).get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: SQLInputValue[]) => attempt(() => statement(sql).all(...values) as Row[]),
    run: (sql, ...values) =>
      attempt(() => {
        const { changes, lastInsertRowid } = statement(sql).run(...values);
        return { changed: Number(changes), id: Number(lastInsertRowid) };
      }),
    transaction: async (durability, task) =>
      await whenFree(() =>
        attempt(() => {
          if (durability !== current) connection.exec(`PRAGMA synchronous = ${SYNCHRONOUS[durability]}`);
          current = durability;
          connection.exec("BEGIN IMMEDIATE");
          try {
            const result = task();
            connection.exec("COMMIT");
            return result;
          } catch (error) {
            if (connection.isTransaction) connection.exec("ROLLBACK");
            throw error;
          }
        }),
      ),
    close: () => {
      statements.clear();
      if (connection.isOpen) connection.close();
    },
  };
}

async function whenFree<T>(task: () => T): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return task();
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.kind !== "locked" || performance.now() > deadline) throw error;
      await delay(BUSY_PAUSE_MS);
    }
  }
}

const SYNCHRONOUS: Record<PendingDurability, string> = { disk: "FULL", process: "NORMAL" };
/** Every transaction here is short; who has to wait longer meets a process that hangs. */
const PATIENCE_MS = 5000;
/** SQLite itself waits only for a moment: it holds up everything else in the process. */
const BUSY_TIMEOUT_MS = 20;
const BUSY_PAUSE_MS = 10;
const FORMAT = 1;
/** "HFPn" in SQLite's header: tells our file from any other. */
const APPLICATION_ID = 0x4846506e;

const TABLES = `
  CREATE TABLE items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    -- The same mark twice is the same item.
    mark TEXT,
    at REAL NOT NULL,
    value TEXT NOT NULL
  ) STRICT;
  CREATE INDEX items_in_order ON items (kind, key, id);
  CREATE UNIQUE INDEX items_by_mark ON items (kind, key, mark) WHERE mark IS NOT NULL;
  -- A row per key that has items. The turn that took items has those up to up_to, and was told of
  -- told items that were let go.
  CREATE TABLE queues (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    last_id INTEGER NOT NULL,
    dropped INTEGER NOT NULL DEFAULT 0,
    turn TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    up_to INTEGER NOT NULL DEFAULT 0,
    told INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX queues_by_use ON queues (kind, last_id);
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
`;

/** Under a lock, so that no process sets aside what another one has just begun. */
async function openOrReplace({ path, clock, logger }: OpenPendingOptions): Promise<DatabaseSync> {
  await ensurePrivateFolder(dirname(path));
  return await withFileLock(`${path}.lock`, {}, async () => {
    try {
      return await openFile(path);
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.kind !== "corrupt") throw error;
      const kept = await moveAside(path, clock);
      logger.error("what waited for the next turns cannot be read; it was set aside and begun anew", { kept, error });
      return await openFile(path);
    }
  });
}

async function moveAside(path: string, clock: Clock): Promise<string[]> {
  const kept: string[] = [];
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    if (await fileExists(file)) kept.push(await setAside(file, "damaged", clock.now()));
  }
  return kept;
}

/** What is wrong with the file, found without changing it; undefined when it is in order or not there. */
export async function diagnosePending(path: string): Promise<HoldfastError | undefined> {
  // One that a process died over before it had written anything is begun by the next, as is one without a table.
  if (((await fileSize(path)) ?? 0) === 0) return undefined;
  let connection: DatabaseSync | undefined;
  try {
    connection = await openReadOnly(path);
    const complaint = quickCheck(connection);
    if (complaint !== undefined) return damaged(path, complaint);
    if (!isEmpty(connection)) assertOurs(connection, path);
    return undefined;
  } catch (error) {
    const reason = pendingError(error, path);
    if (reason instanceof HoldfastError) return reason;
    throw error;
  } finally {
    connection?.close();
  }
}

/** For whoever mends: the next to open it begins a new one. No process may have it open. */
export async function setPendingAside({ path, clock }: Pick<OpenPendingOptions, "path" | "clock">): Promise<string[]> {
  return await withFileLock(`${path}.lock`, {}, async () => await moveAside(path, clock));
}

function damaged(path: string, complaint: string): HoldfastError {
  return new HoldfastError("corrupt", "pending-corrupt", `${path} is damaged: ${complaint}`, {
    hint: PENDING_ROLE.hints.damaged,
    data: { path },
  });
}

async function openFile(path: string): Promise<DatabaseSync> {
  // SQLite would make the file readable by others; its other files take over the mode of this one.
  if (!(await fileExists(path))) await createPrivate(path);
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(path, { timeout: PATIENCE_MS });
    connection.exec("PRAGMA journal_mode = WAL");
    prepareTables(connection, path);
    connection.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return connection;
  } catch (error) {
    connection?.close();
    throw pendingError(error, path);
  }
}

async function createPrivate(path: string): Promise<void> {
  try {
    await using _file = await open(path, "a", PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "create", path);
  }
  await syncFolder(dirname(path));
}

function prepareTables(connection: DatabaseSync, path: string): void {
  if (isEmpty(connection)) connection.exec(`BEGIN IMMEDIATE; ${TABLES} COMMIT;`);
  else assertOurs(connection, path);
  connection.prepare("SELECT count(*) FROM queues").get();
  connection.prepare("SELECT 1 FROM items LIMIT 1").get();
}

function isEmpty(connection: DatabaseSync): boolean {
  return connection.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
}

function assertOurs(connection: DatabaseSync, path: string): void {
  const version = Number(connection.prepare("PRAGMA user_version").get()?.["user_version"]);
  const application = connection.prepare("PRAGMA application_id").get()?.["application_id"];
  if (application === APPLICATION_ID && version === FORMAT) return;
  throw new HoldfastError("unsupported", "pending-format", `${path} was not made by this version of Holdfast`, {
    hint: "Update Holdfast, or move the file away: it holds only what waits for the next turns.",
    data: { path, version },
  });
}

function pendingError(error: unknown, path: string): unknown {
  return sqliteError(error, path, PENDING_ROLE);
}

const PENDING_ROLE: DatabaseRole = {
  prefix: "pending",
  hints: {
    damaged:
      "Start Holdfast again: the file is set aside and a new one begun. It holds only what waits for the next turns.",
    unexpected: "Nothing was changed. Try again, and start Holdfast anew if it happens again.",
  },
};
