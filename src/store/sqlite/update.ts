/**
 * Atomic read-modify-write. The caller's function runs in this thread. The write compares versions; if another process
 * was faster, everything runs again. After a few failures it runs inside one write transaction, so that others wait.
 */
import { createKeyedMutex } from "../../base/async.ts";
import type { Modify } from "../create-store.ts";
import type { SqliteDatabase } from "./database.ts";
import type { Executor, OnCommitted } from "./executor.ts";
import { sqliteRows } from "./rows.ts";
import { createApplyWrite, inWriteTransaction } from "./writes.ts";

const OPTIMISTIC_ATTEMPTS = 3;

export function createModify(
  database: SqliteDatabase,
  { write: writePlain }: Pick<Executor, "write">,
  onCommitted: OnCommitted,
): Modify {
  const mutex = createKeyedMutex();
  const rows = sqliteRows(database);
  const apply = createApplyWrite(database);

  return async (name, key, prepare, write = (put) => writePlain(name, put)) =>
    await mutex.run(`${name} ${key}`, async () => {
      for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
        const { value, put } = prepare(rows);
        if (put === undefined || (await write(put))) return value;
      }
      const result = inWriteTransaction(database, () => {
        const { value, put } = prepare(rows);
        if (put !== undefined) apply({ name, arguments: put });
        return value;
      });
      onCommitted(database.takeChanges());
      return result;
    });
}
