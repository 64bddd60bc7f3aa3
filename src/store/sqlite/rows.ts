import type { StoreRows } from "../rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { entryRows } from "./entry-rows.ts";
import { endedRows, inboxRows, outboxRows } from "./queue-rows.ts";
import { handoffRows, leaseRows, pendingRows, windowRows } from "./session-rows.ts";

export function sqliteRows(database: SqliteDatabase): StoreRows {
  return {
    ...entryRows(database),
    ...windowRows(database),
    ...leaseRows(database),
    ...inboxRows(database),
    ...outboxRows(database),
    ...endedRows(database),
    ...handoffRows(database),
    ...pendingRows(database),
    recordChange: (change) => void database.recordChange(change),
  };
}
