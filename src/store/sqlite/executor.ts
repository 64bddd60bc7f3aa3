/**
 * Where a store's writes run: `inline` in this thread, for a process that runs one command; `thread` in a worker thread
 * (`thread-client.ts`), so that a server's event loop never waits for the disk. Both commit waiting writes together.
 */
import { lazy } from "../../base/async.ts";
import type { StoreContext } from "../create-store.ts";
import type { WriteArguments, WriteName, WriteResult } from "../operations.ts";
import type { OnCommitted } from "./changes.ts";
import type { SqliteDatabase } from "./database.ts";

export interface Executor extends Pick<StoreContext, "write" | "close"> {
  writeView(viewPath: string): Promise<void>;
}

export function createInlineExecutor(database: SqliteDatabase, onCommitted: OnCommitted): Executor {
  // Loaded with the first write, because many commands only read.
  const writer = lazy(async () => (await import("./writes.ts")).createWriter(database, onCommitted));
  return {
    write: async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
      (await (await writer.get()).add({ name, arguments: given })) as WriteResult<Name>,
    writeView: async (viewPath) => await (await writer.get()).writeView(viewPath),
    close: async () => undefined,
  };
}
