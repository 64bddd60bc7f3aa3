/**
 * What a damaged database still yields. Every table is read on its own and as far as it goes; what
 * cannot be read is left out, because the file itself is kept.
 */
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { openReadOnly } from "../../base/sqlite-reader.ts";
import { handoffFromJson } from "../handoff-state.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { KeptHandoff, Window } from "../store.ts";
import type { SalvagedParts } from "../store-repair.ts";
import { type LargeField, unpackEntry } from "./content-rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { putHandoff } from "./handoff-rows.ts";
import { type WindowRow, toWindow } from "./window-rows.ts";

export async function salvageParts(path: string): Promise<SalvagedParts> {
  return await withReadableRows(path, (rows) => ({
    entries: salvageEntries(rows),
    windows: rows("SELECT * FROM windows").flatMap((row) => windowOf(row)),
    epochs: new Map(rows("SELECT key, epoch FROM leases").map(({ key, epoch }) => [String(key), Number(epoch)])),
  }));
}

/** Rows of the inbox and the outbox as they are. */
export interface Queues {
  inbox: Row[];
  outbox: Row[];
}

export async function readQueues(path: string): Promise<Queues> {
  return await withReadableRows(path, (rows) => ({
    inbox: rows("SELECT * FROM inbox"),
    outbox: rows("SELECT * FROM outbox"),
  }));
}

export function putQueues(database: SqliteDatabase, queues: Queues): void {
  for (const table of ["inbox", "outbox"] as const) {
    const known = database.all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table);
    for (const row of queues[table]) {
      const columns = known.map(({ name }) => name).filter((name) => name in row);
      const places = columns.map(() => "?").join(", ");
      const sql = `INSERT OR IGNORE INTO ${table} (${columns.join(", ")}) VALUES (${places})`;
      database.run(sql, ...columns.map((name) => row[name] ?? null));
    }
  }
}

/** Oldest first. */
export async function readHandoffs(path: string): Promise<KeptHandoff[]> {
  return await withReadableRows(path, (rows) =>
    rows("SELECT key, version, updated_at, state FROM handoffs")
      .toSorted(
        (a, b) => Number(a["updated_at"]) - Number(b["updated_at"]) || Number(a["version"]) - Number(b["version"]),
      )
      .flatMap((row) => handoffOf(row)),
  );
}

/** Under new versions: numbers of the damaged file might come up again in this one. */
export function putHandoffs(database: SqliteDatabase, handoffs: readonly KeptHandoff[]): void {
  for (const { key, updatedAt, state } of handoffs) {
    putHandoff(database, {
      key,
      expectedVersion: undefined,
      ofWindow: undefined,
      state: JSON.stringify(state),
      now: updatedAt,
    });
  }
}

type Row = Record<string, SQLOutputValue>;
type ReadRows = (sql: string) => Row[];

async function withReadableRows<T>(path: string, task: (rows: ReadRows) => T): Promise<T> {
  let database: DatabaseSync | undefined;
  try {
    database = await openReadOnly(path);
  } catch {
    return task(() => []);
  }
  try {
    return task((sql) => readableRows(database, sql));
  } finally {
    database.close();
  }
}

function readableRows(database: DatabaseSync, sql: string): Row[] {
  const rows: Row[] = [];
  try {
    for (const row of database.prepare(sql).iterate()) rows.push(row);
  } catch {
    // The rest of this table cannot be read.
  }
  return rows;
}

/** SQLite's flags for JSON text and for whole JSONB. */
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
    return isWhole ? [toWindow(row as unknown as WindowRow)] : [];
  } catch {
    return [];
  }
}
