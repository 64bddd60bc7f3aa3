/**
 * Repairs the files of a `sqlite` store. The new database is built in a separate folder and moved into place when
 * complete. The damaged database is moved away before its log, because a database without its log looks sound but is an
 * older state. While the file is missing, `openDatabase` refuses to create an empty one.
 */
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { closing } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, fileExists, fileSize, setAside, syncFolder, temporaryPath } from "../../base/files.ts";
import { currentProcess } from "../../base/processes.ts";
import { openReadOnly, quickCheck, sqliteError } from "../../base/sqlite.ts";
import type { SessionEntry } from "../session-entry.ts";
import {
  type SalvagedParts,
  type SalvagedSession,
  type StoreDamage,
  type StoreRepair,
  toDamage,
} from "../store-repair.ts";
import { entryChange } from "../create-store.ts";
import { OPERATIONS } from "../operations.ts";
import type { StoreRows } from "../rows.ts";
import { handoffFromJson } from "../store-rules.ts";
import type { KeptHandoff, Window } from "../store.ts";
import {
  type Row,
  type SqliteDatabase,
  STORE_ROLE,
  connect,
  lossMessage,
  openDatabase,
  traceOfSessions,
} from "./database.ts";
import { type LargeField, unpackEntry } from "./entry-rows.ts";
import { supportedVersion } from "./migrations.ts";
import { sqliteRows } from "./rows.ts";
import { toWindow } from "./session-rows.ts";
import { createInlineExecutor } from "./executor.ts";

export interface SqliteRepairOptions {
  path: string;
  /** The folder of transcripts and `sessions.json`. */
  sessionsFolder: string;
  /** Default: no view. */
  viewPath?: string | undefined;
  clock: Clock;
}

export function createSqliteRepair({ path, sessionsFolder, viewPath, clock }: SqliteRepairOptions): StoreRepair {
  return {
    kind: "sqlite",
    path,
    diagnose: async () => {
      const size = await fileSize(path);
      if (size === undefined || size === 0) return await diagnoseNothing(path, sessionsFolder, size);
      try {
        await checkPages(path);
        return undefined;
      } catch (error) {
        return toDamage(error);
      }
    },
    // The last connection to close merges the log into the file, unless it is read-only.
    preserve: async () => (((await fileSize(`${path}-wal`)) ?? 0) === 0 ? NOTHING_TO_KEEP : await openReader(path)),
    salvage: async () => await salvageParts(path),
    rebuild: async (sessions) => {
      const scratch = temporaryPath(path);
      const fresh = join(scratch, basename(path));
      await ensurePrivateFolder(scratch);
      await buildDatabase(fresh, sessions, await readCarried(path));
      faultPoint("doctor.rebuilt");
      const aside: string[] = [];
      for (const file of [path, ...LOG_ENDINGS.map((ending) => `${path}${ending}`)]) {
        if (await fileExists(file)) aside.push(await setAside(file, "corrupt", clock.now()));
        faultPoint("doctor.set-aside");
      }
      await rename(fresh, path);
      faultPoint("doctor.replaced");
      await syncFolder(dirname(path));
      await rm(scratch, { recursive: true });
      return aside;
    },
    ...(viewPath === undefined ? {} : { rewriteView: async () => await rewriteView(path, viewPath) }),
  };
}

async function rewriteView(path: string, viewPath: string): Promise<void> {
  const database = connect(path, REBUILDER);
  await using _closing = closing(database);
  await createInlineExecutor(database, () => undefined).writeView(viewPath);
}

const NOTHING_TO_KEEP: Disposable = { [Symbol.dispose]: () => undefined };

async function openReader(path: string): Promise<Disposable> {
  const reader = await openReadOnly(path);
  // A connection uses the log only after its first read.
  reader.prepare("SELECT 1 FROM sqlite_schema").get();
  return { [Symbol.dispose]: () => reader.close() };
}

const LOG_ENDINGS = ["-wal", "-shm"];

async function diagnoseNothing(
  path: string,
  folder: string,
  size: number | undefined,
): Promise<StoreDamage | undefined> {
  const trace = await traceOfSessions(folder);
  if (trace === undefined) return undefined;
  return { message: lossMessage(path, size, trace), hint: undefined, canRebuild: true };
}

async function checkPages(path: string): Promise<void> {
  const database = await openReadOnly(path);
  await using _closing = closing(database);
  try {
    supportedVersion(database, path);
    const complaint = quickCheck(database);
    if (complaint !== undefined) {
      throw new HoldfastError("corrupt", "store-corrupt", `The store ${path} is damaged: ${complaint}`);
    }
  } catch (error) {
    throw sqliteError(error, path, STORE_ROLE);
  }
}

async function buildDatabase(
  path: string,
  sessions: readonly SalvagedSession[],
  { queues, handoffs }: Awaited<ReturnType<typeof readCarried>>,
): Promise<void> {
  const database = await openDatabase({ path, writer: REBUILDER });
  await using _closing = closing(database);
  const rows = sqliteRows(database);
  database.transaction(() => {
    for (const session of sessions) putSession(rows, session);
    putQueues(database, queues);
    // Assigns new versions, because the numbers of the damaged file could occur again here.
    for (const { key, updatedAt: now, state } of handoffs) {
      const given = { key, expectedVersion: undefined, ofWindow: undefined, state: JSON.stringify(state), now };
      OPERATIONS.putHandoff(rows, given);
    }
  });
}

const REBUILDER = "doctor";

function putSession(rows: StoreRows, { key, entry, windows, epoch }: SalvagedSession): void {
  const current = windows.at(-1);
  OPERATIONS.putEntry(rows, {
    ...entryChange(key, undefined, entry),
    expectedVersion: undefined,
    windowReason: current?.reason,
    lease: undefined,
    now: current?.openedAt ?? entry.updatedAt,
  });
  for (const window of windows) if (window !== current) OPERATIONS.putWindow(rows, window);
  if (epoch === 0) return;
  rows.putLease(key, { epoch, held: { key, epoch, holder: REBUILDER, process: currentProcess(), expiresAt: 0 } });
  OPERATIONS.releaseLease(rows, { key, holder: REBUILDER });
}

async function salvageParts(path: string): Promise<SalvagedParts> {
  return await withReadableRows(path, (rows) => ({
    entries: salvageEntries(rows),
    windows: rows("SELECT * FROM windows").flatMap((row) => windowOf(row)),
    epochs: new Map(rows("SELECT key, epoch FROM leases").map(({ key, epoch }) => [String(key), Number(epoch)])),
  }));
}

/** What the new database takes over: the queues as they are, and the hand-offs, oldest first. */
async function readCarried(path: string) {
  return await withReadableRows(path, (rows) => ({
    queues: {
      inbox: rows("SELECT * FROM inbox"),
      outbox: rows("SELECT * FROM outbox"),
      pending: rows("SELECT * FROM pending"),
    },
    handoffs: rows("SELECT key, version, updated_at, state FROM handoffs")
      .toSorted(
        (a, b) => Number(a["updated_at"]) - Number(b["updated_at"]) || Number(a["version"]) - Number(b["version"]),
      )
      .flatMap((row) => handoffOf(row)),
  }));
}

function putQueues(database: SqliteDatabase, queues: Record<string, Row[]>): void {
  for (const [table, rows] of Object.entries(queues)) {
    const known = database.all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table);
    for (const row of rows) {
      const columns = known.map(({ name }) => name).filter((name) => name in row);
      const places = columns.map(() => "?").join(", ");
      const sql = `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${places})`;
      database.run(sql, ...columns.map((name) => row[name] ?? null));
    }
  }
}

type ReadRows = (sql: string) => Row[];

async function withReadableRows<T>(path: string, task: (rows: ReadRows) => T): Promise<T> {
  const database = await openReadOnly(path).catch(() => undefined);
  await using _closing = closing(database);
  return task((sql) => (database === undefined ? [] : readableRows(database, sql)));
}

function readableRows(database: DatabaseSync, sql: string): Row[] {
  const rows: Row[] = [];
  try {
    for (const row of database.prepare(sql).iterate()) rows.push(row);
  } catch {
    // The rest of this table is unreadable.
  }
  return rows;
}

/** SQLite's flags for JSON text and complete JSONB. */
const JSON_OR_JSONB = 1 | 8;

function salvageEntries(rows: ReadRows): Map<string, SessionEntry> {
  const large = new Map<string, LargeField[]>();
  for (const row of rows("SELECT key, field, json FROM entry_contents JOIN contents USING (hash)")) {
    const field = { field: String(row["field"]), json: String(row["json"]) };
    large.set(String(row["key"]), [...(large.get(String(row["key"])) ?? []), field]);
  }
  const entries = new Map<string, SessionEntry>();
  for (const row of rows(`SELECT key, json(entry) AS entry FROM entries WHERE json_valid(entry, ${JSON_OR_JSONB})`)) {
    const key = String(row["key"]);
    const entry = entryOf(String(row["entry"]), large.get(key) ?? []);
    if (entry !== undefined) entries.set(key, entry);
  }
  return entries;
}

function entryOf(lean: string, large: LargeField[]): SessionEntry | undefined {
  try {
    const entry = unpackEntry({ lean, large });
    return typeof entry.sessionId === "string" && typeof entry.updatedAt === "number" ? entry : undefined;
  } catch {
    return undefined;
  }
}

function handoffOf({ key, updated_at: updatedAt, state }: Row): KeptHandoff[] {
  if (typeof key !== "string" || typeof updatedAt !== "number" || typeof state !== "string") return [];
  return [{ key, updatedAt, state: handoffFromJson(state) }];
}

function windowOf(row: Row): Window[] {
  const { key, session_id: sessionId, opened_at: openedAt } = row;
  const isWhole = typeof key === "string" && typeof sessionId === "string" && typeof openedAt === "number";
  try {
    return isWhole ? [toWindow(row)] : [];
  } catch {
    return [];
  }
}
