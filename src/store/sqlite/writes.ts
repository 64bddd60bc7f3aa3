/**
 * Applies operations to the database. Operations that wait at the same time share one transaction. If one is refused,
 * each runs in a transaction of its own, so that only that one fails.
 */
import { faultPoint } from "../../base/faults.ts";
import { OPERATIONS, type WriteName } from "../operations.ts";
import type { StoreRows } from "../rows.ts";
import { type OnCommitted, markView } from "./changes.ts";
import type { SqliteDatabase } from "./database.ts";
import { sqliteRows } from "./rows.ts";
import { writeView } from "./view-file.ts";

/** A write to be applied. `Executor` guarantees that the arguments fit. */
export interface WriteCommand {
  name: WriteName | "markView";
  arguments: unknown;
}

interface WaitingWrite {
  command: WriteCommand;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Collects commands until the event loop is idle, then applies them together. */
export function createWriter(database: SqliteDatabase, onCommitted: OnCommitted) {
  const rows = sqliteRows(database);
  let waiting: WaitingWrite[] = [];

  const apply = ({ name, arguments: given }: WriteCommand): unknown => {
    if (name === "markView") return markView(database, given as { shown: number });
    return (OPERATIONS[name] as (rows: StoreRows, given: unknown) => unknown)(rows, given);
  };
  const commit = (batch: readonly WaitingWrite[]): void => {
    let phase = "begin" as "begin" | "apply" | "commit";
    const applyAll = (): unknown[] => {
      phase = "apply";
      const values = batch.map(({ command }) => apply(command));
      phase = "commit";
      return values;
    };
    try {
      const values = inWriteTransaction(database, applyAll);
      onCommitted(database.takeChanges());
      for (const [index, { resolve }] of batch.entries()) resolve(values[index]);
    } catch (error) {
      if (phase === "apply" && batch.length > 1) for (const write of batch) commit([write]);
      else for (const { reject } of batch) reject(error);
    }
  };
  const flush = (): void => {
    const batch = waiting;
    waiting = [];
    commit(batch);
  };
  const add = async (command: WriteCommand): Promise<unknown> =>
    await new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ command, resolve, reject });
    });

  return {
    add,
    /** Rewrites the view if it is outdated. */
    writeView: async (viewPath: string): Promise<void> => {
      const shown = await writeView(database.path, viewPath);
      if (shown !== undefined) await add({ name: "markView", arguments: { shown } });
    },
  };
}

function inWriteTransaction<T>(database: SqliteDatabase, task: () => T): T {
  const result = database.transaction(() => {
    faultPoint("sqlite.batch.begun");
    const value = task();
    faultPoint("sqlite.batch.applied");
    return value;
  });
  faultPoint("sqlite.batch.committed");
  return result;
}
