/**
 * Changing one value as a whole or not at all, with a function of the caller in the middle. It runs in
 * this thread, on what was read; the write compares versions and is refused when another process was
 * faster, and then it runs again. After some such defeats everybody else is made to wait.
 */
import { createKeyedMutex } from "../../base/mutex.ts";
import { inWriteTransaction } from "./batch.ts";
import type { SqliteDatabase } from "./database.ts";
import type { Executor, OnCommitted } from "./executor.ts";
import { type WriteArguments, applyWrite } from "./write-operations.ts";

/** How often another process may be faster before this one makes everybody else wait. */
const OPTIMISTIC_ATTEMPTS = 3;

export interface ReadModifyWriteParts {
  /** The connection of this thread. */
  database: SqliteDatabase;
  executor: Executor;
  onCommitted: OnCommitted;
}

/** Writes that are false, having changed nothing, when what they were made from is no longer there. */
type ComparingWrite = "putEntry" | "putHandoff";

export interface Prepared<Name extends ComparingWrite, Value> {
  /** What the change leads to. */
  value: Value;
  /** Undefined when there is nothing to write. */
  put: WriteArguments<Name> | undefined;
}

/**
 * Reads with `prepare` and writes what that gives; `prepare` may be called several times. `write` is left
 * out where that is all there is to write.
 */
export type ReadModifyWrite<Name extends ComparingWrite> = <Value>(
  key: string,
  prepare: () => Prepared<Name, Value>,
  write?: (put: WriteArguments<Name>) => Promise<boolean>,
) => Promise<Value>;

export function createReadModifyWrite<Name extends ComparingWrite>(
  name: Name,
  { database, executor, onCommitted }: ReadModifyWriteParts,
): ReadModifyWrite<Name> {
  const mutex = createKeyedMutex();

  return async (key, prepare, write = async (put) => await executor.write(name, put)) =>
    await mutex.run(key, async () => {
      for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
        const { value, put } = prepare();
        if (put === undefined || (await write(put))) return value;
      }
      const result = inWriteTransaction(database, () => {
        const { value, put } = prepare();
        if (put !== undefined) applyWrite(database, { name, arguments: put });
        return value;
      });
      onCommitted(database.takeChanges());
      return result;
    });
}
