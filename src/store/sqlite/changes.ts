/**
 * The `changes` table tells a process what others did. It is read whenever SQLite reports that the file has changed. It
 * keeps the newest rows only; a reader that is further behind gets a change for every key.
 */
import type { StoreChange } from "../store.ts";
import type { ChangeSource } from "../change-feed.ts";
import type { SqliteDatabase } from "./database.ts";

/** Called after each commit of this process. */
export type OnCommitted = (changes: readonly StoreChange[]) => void;

/** `writer` is the store handle whose own changes are skipped in the table. */
export function createChangeSource(database: SqliteDatabase, writer: string): ChangeSource {
  let seenVersion = 0;
  let seenChange = 0;
  return {
    start: () => {
      seenVersion = dataVersion(database);
      seenChange = newestChange(database);
    },
    look: () => {
      const version = dataVersion(database);
      if (version === seenVersion) return [];
      const { newest, changes } = database.snapshot(() => ({
        newest: newestChange(database),
        changes: foreignChanges(database, seenChange, writer),
      }));
      seenVersion = version;
      seenChange = newest;
      return changes;
    },
  };
}

/** Differs once another connection has committed. */
function dataVersion(database: SqliteDatabase): number {
  return database.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
}

export function newestChange(database: SqliteDatabase): number {
  return database.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM changes")?.seq ?? 0;
}

/** The newest change of an entry, which the view must show. Without one, a number below all kept changes. */
export function newestEntryChange(database: SqliteDatabase): number {
  const entry = database.get<{ seq: number }>("SELECT seq FROM changes WHERE what = 'entry' ORDER BY seq DESC LIMIT 1");
  return entry?.seq ?? oldestChange(database) - 1;
}

export function shownByView(database: SqliteDatabase): number {
  return database.get<{ seq: number }>("SELECT seq FROM view_state")?.seq ?? 0;
}

/** Another process may have written and marked a newer view. */
export function markView(database: SqliteDatabase, { shown }: { shown: number }): void {
  database.run("UPDATE view_state SET seq = max(seq, ?)", shown);
}

/** Changes of other store handles after `seq`, oldest first. */
export function foreignChanges(database: SqliteDatabase, seq: number, writer: string): StoreChange[] {
  if (oldestChange(database) > seq + 1) return everything(database);
  const sql = "SELECT what, key FROM changes WHERE seq > ? AND writer <> ? ORDER BY seq";
  return database.all<StoreChange>(sql, seq, writer).map(({ what, key }) => ({ what, key }));
}

function oldestChange(database: SqliteDatabase): number {
  return database.get<{ seq: number | null }>("SELECT min(seq) AS seq FROM changes")?.seq ?? 1;
}

function everything(database: SqliteDatabase): StoreChange[] {
  const rows = database.all<StoreChange>(`
    SELECT 'entry' AS what, key FROM entries
    UNION SELECT 'lease', key FROM leases
    UNION SELECT 'inbox', key FROM inbox WHERE state IN ('queued', 'running')
    UNION SELECT 'outbox', key FROM outbox WHERE state IN ('pending', 'sending')
    UNION SELECT 'handoff', key FROM handoffs`);
  return rows.map(({ what, key }) => ({ what, key }));
}
