/**
 * Group commit: all writes that wait at the same moment share one transaction, and so one wait for
 * the disk. A write that is refused is undone alone; when the commit fails, all of them fail.
 */
import { faultPoint } from "../../base/faults.ts";
import type { StoreChange } from "../store.ts";
import { newestChange, pruneChanges } from "./change-rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { type WriteCommand, applyWrite } from "./write-operations.ts";

export type WriteOutcome = { value: unknown } | { error: unknown };

export interface BatchResult {
  /** In the order of the commands. */
  outcomes: WriteOutcome[];
  changes: StoreChange[];
}

export function applyBatch(database: SqliteDatabase, commands: readonly WriteCommand[]): BatchResult {
  try {
    const outcomes = inWriteTransaction(database, () => commands.map((command) => applyOne(database, command)));
    return { outcomes, changes: database.takeChanges() };
  } catch (error) {
    return { outcomes: commands.map(() => ({ error })), changes: [] };
  }
}

/** One transaction with everything that belongs to every one: fault points and tidying up. */
export function inWriteTransaction<T>(database: SqliteDatabase, task: () => T): T {
  const result = database.transaction(() => {
    faultPoint("sqlite.batch.begun");
    const before = newestChange(database);
    const value = task();
    pruneChanges(database, before, newestChange(database));
    faultPoint("sqlite.batch.applied");
    return value;
  });
  faultPoint("sqlite.batch.committed");
  return result;
}

function applyOne(database: SqliteDatabase, command: WriteCommand): WriteOutcome {
  try {
    return { value: database.part(() => applyWrite(database, command)) };
  } catch (error) {
    // After a grave failure there is no transaction left that the others could be part of.
    if (!database.inTransaction()) throw error;
    return { error };
  }
}
