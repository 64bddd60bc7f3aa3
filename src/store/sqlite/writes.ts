/**
 * Applies operations to the database. Operations that wait at the same time share one transaction. A refused one is
 * undone alone; if the commit fails, all of them fail.
 */
import { faultPoint } from "../../base/faults.ts";
import { OPERATIONS, type WriteName } from "../operations.ts";
import type { StoreRows } from "../rows.ts";
import type { StoreChange } from "../store.ts";
import { markView, newestChange, pruneChanges } from "./changes.ts";
import type { SqliteDatabase } from "./database.ts";
import { sqliteRows } from "./rows.ts";

/** A write to be applied. `Executor` guarantees that the arguments fit. */
export interface WriteCommand {
  name: WriteName | "markView";
  arguments: unknown;
}

export type ApplyWrite = (command: WriteCommand) => unknown;

export function createApplyWrite(database: SqliteDatabase): ApplyWrite {
  const rows = sqliteRows(database);
  return ({ name, arguments: given }) => {
    if (name === "markView") return markView(database, given as { shown: number });
    return (OPERATIONS[name] as (rows: StoreRows, given: unknown) => unknown)(rows, given);
  };
}

export type WriteOutcome = { value: unknown } | { error: unknown };

interface BatchResult {
  outcomes: WriteOutcome[];
  changes: StoreChange[];
}

export function createApplyBatch(database: SqliteDatabase): (commands: readonly WriteCommand[]) => BatchResult {
  const apply = createApplyWrite(database);
  const applyOne = (command: WriteCommand): WriteOutcome => {
    try {
      return { value: database.part(() => apply(command)) };
    } catch (error) {
      // After a severe failure there is no transaction left for the others.
      if (!database.inTransaction()) throw error;
      return { error };
    }
  };
  return (commands) => {
    try {
      const outcomes = inWriteTransaction(database, () => commands.map(applyOne));
      return { outcomes, changes: database.takeChanges() };
    } catch (error) {
      return { outcomes: commands.map(() => ({ error })), changes: [] };
    }
  };
}

/** A write transaction with fault points and pruning. */
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
