/**
 * Everything that changes a store, as functions that take plain data: the same call can be applied
 * in this thread or sent to another one.
 */
import { markView } from "./change-rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { deleteEntry, putEntry } from "./entry-rows.ts";
import { deleteHandoff, putHandoff } from "./handoff-rows.ts";
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
import { putWindow, removeWindow } from "./window-rows.ts";

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
  markView,
};

type WriteOperations = typeof WRITE_OPERATIONS;
export type WriteName = keyof WriteOperations;
export type WriteArguments<Name extends WriteName> = Parameters<WriteOperations[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<WriteOperations[Name]>;

/** A write on its way to whoever applies it. */
export interface WriteCommand {
  name: WriteName;
  arguments: unknown;
}

/** The arguments must be those of the named operation: `Executor.write` sees to that. */
export function applyWrite(database: SqliteDatabase, command: WriteCommand): unknown {
  const operation = WRITE_OPERATIONS[command.name] as (database: SqliteDatabase, given: unknown) => unknown;
  return operation(database, command.arguments);
}
