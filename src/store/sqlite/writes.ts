/**
 * All writes of a store, as functions of plain data, so that a call can run in this thread or be sent to another one.
 * Writes that wait at the same moment share one transaction. A refused write is undone alone; if the commit fails, all
 * of them fail.
 */
import { faultPoint } from "../../base/faults.ts";
import type { StoreChange } from "../store.ts";
import { markView, newestChange, pruneChanges } from "./changes.ts";
import type { SqliteDatabase } from "./database.ts";
import { deleteEntry, putEntry } from "./entry-rows.ts";
import {
  admitMessage,
  claimItems,
  dropItems,
  finishItems,
  pruneInbox,
  requeueItems,
  takeLeaseAndItem,
} from "./inbox-rows.ts";
import { releaseLease, renewLease, takeLease } from "./lease-rows.ts";
import { enqueueDrafts, pruneOutbox, settleDelivery, startSending } from "./outbox-rows.ts";
import { changePending, deleteHandoff, putHandoff, putWindow, removeWindow } from "./session-rows.ts";

const WRITE_OPERATIONS = {
  putEntry,
  deleteEntry,
  putWindow,
  removeWindow,
  takeLease,
  takeLeaseAndItem,
  renewLease,
  releaseLease,
  admitMessage,
  claimItems,
  requeueItems,
  finishItems,
  dropItems,
  pruneInbox,
  enqueueDrafts,
  startSending,
  settleDelivery,
  pruneOutbox,
  putHandoff,
  deleteHandoff,
  changePending,
  markView,
};

type WriteOperations = typeof WRITE_OPERATIONS;
export type WriteName = keyof WriteOperations;
export type WriteArguments<Name extends WriteName> = Parameters<WriteOperations[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<WriteOperations[Name]>;

/** A write to be applied. */
export interface WriteCommand {
  name: WriteName;
  arguments: unknown;
}

/** `Executor.write` guarantees that the arguments fit the operation. */
export function applyWrite(database: SqliteDatabase, command: WriteCommand): unknown {
  const operation = WRITE_OPERATIONS[command.name] as (database: SqliteDatabase, given: unknown) => unknown;
  return operation(database, command.arguments);
}

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

function applyOne(database: SqliteDatabase, command: WriteCommand): WriteOutcome {
  try {
    return { value: database.part(() => applyWrite(database, command)) };
  } catch (error) {
    // After a severe failure there is no transaction left for the others.
    if (!database.inTransaction()) throw error;
    return { error };
  }
}
