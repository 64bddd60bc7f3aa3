/**
 * The database file of a store. An unreadable store must never look empty, and to SQLite a missing file and one of
 * 0 bytes are empty databases. So before a file is created or filled, `openDatabase` looks for traces of a lost store:
 * a write-ahead log, transcripts, or a `sessions.json` with entries. If it finds one, it refuses with kind `corrupt`.
 */
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { ensurePrivateFolder, fileSize, readFolderIfPresent, syncFolder } from "../../base/files.ts";
import {
  type DatabaseRole,
  type SqliteConnection,
  createPrivateFile,
  openSqlite,
  useWriteAheadLog,
} from "../../base/sqlite.ts";
import type { StoreChange } from "../store.ts";
import { supportedVersion, migrate } from "./migrations.ts";

export interface SqliteDatabase extends SqliteConnection {
  /** Records a change for listeners in every process. Returns its sequence number, which is never reused. */
  recordChange(change: StoreChange): number;
  /** The changes of the last transaction, if it succeeded. */
  takeChanges(): StoreChange[];
}

export interface OpenDatabaseOptions {
  path: string;
  /** Names the store handle in the change feed. */
  writer: string;
  /** The folder of transcripts and `sessions.json`. Default: only the write-ahead log is looked for. */
  sessionsFolder?: string | undefined;
}

export async function openDatabase({ path, writer, sessionsFolder }: OpenDatabaseOptions): Promise<SqliteDatabase> {
  const size = sizeOf(path);
  if (size === undefined || size === 0) {
    await refuseIfLost(path, sessionsFolder, size);
    await ensurePrivateFolder(dirname(path));
    createPrivateFile(path);
    await syncFolder(dirname(path));
  }
  return connect(path, writer);
}

/** In bytes. Undefined if there is no such file. Not asynchronous: SQLite reads the file in this thread next. */
function sizeOf(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size;
  } catch (error) {
    throw fileError(error, "look at", path);
  }
}

async function refuseIfLost(path: string, sessionsFolder: string | undefined, size: number | undefined): Promise<void> {
  const trace = await traceOfStore(path, sessionsFolder);
  // Another process may have created and used the store since its size was read.
  if (trace === undefined || sizeOf(path) !== size) return;
  throw new HoldfastError("corrupt", "store-lost", lossMessage(path, size, trace), {
    hint: "Run `holdfast doctor --fix` to rebuild the store from transcripts and sessions.json. Nothing was changed.",
    data: { path, trace },
  });
}

export function lossMessage(path: string, size: number | undefined, trace: string): string {
  return `${path} is ${size === undefined ? "missing" : "empty"}, but ${trace} shows that there were sessions`;
}

async function traceOfStore(path: string, sessionsFolder: string | undefined): Promise<string | undefined> {
  const log = `${path}-wal`;
  if (((await fileSize(log)) ?? 0) > 0) return log;
  return sessionsFolder === undefined ? undefined : await traceOfSessions(sessionsFolder);
}

export async function traceOfSessions(folder: string): Promise<string | undefined> {
  const names = (await readFolderIfPresent(folder)).map(({ name }) => name);
  if (names.includes("sessions.json") && !(await isEmptyMap(join(folder, "sessions.json")))) {
    return join(folder, "sessions.json");
  }
  const transcript = names.find((name) => name.endsWith(".jsonl"));
  return transcript === undefined ? undefined : join(folder, transcript);
}

/** Whether it is the empty map that a store without sessions writes. */
async function isEmptyMap(path: string): Promise<boolean> {
  try {
    const content = await readFile(path, "utf8");
    return /^\s*\{\s*\}\s*$/.test(content);
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** Opens a file that `openDatabase` has checked. */
export function connect(path: string, writer: string): SqliteDatabase {
  const setUp = (database: DatabaseSync): void => {
    supportedVersion(database, path);
    useWriteAheadLog(database, path);
    migrate(database, path);
  };
  // FULL: a resolved promise means that the data is on disk, not only with the operating system.
  const connection = openSqlite(path, STORE_ROLE, { pragmas: "PRAGMA synchronous = FULL", setUp });
  let changes: StoreChange[] = [];

  return {
    ...connection,
    transaction: (task, options) => {
      changes = [];
      return connection.transaction(task, options);
    },
    recordChange: (change) => {
      changes.push(change);
      const sql = "INSERT INTO changes (what, key, writer) VALUES (?, ?, ?)";
      const { id } = connection.run(sql, change.what, change.key, writer);
      if (id % PRUNE_EVERY === 0) connection.run("DELETE FROM changes WHERE seq <= ?", id - KEPT_CHANGES);
      return id;
    },
    takeChanges: () => {
      const taken = changes;
      changes = [];
      return taken;
    },
  };
}

/** About this many changes stay in the table. */
const KEPT_CHANGES = 10_000;
const PRUNE_EVERY = 1000;

export const STORE_ROLE: DatabaseRole = {
  prefix: "store",
  name: "The store",
  hints: {
    damaged: "Nothing was changed. Run `holdfast doctor` to see what can be recovered.",
    unexpected: "Nothing was changed. Run `holdfast doctor` if it happens again.",
  },
};

export type Row = Record<string, SQLOutputValue>;
