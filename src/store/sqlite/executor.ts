/**
 * Where a store's writes run. A process that runs one command commits in its own thread. So does a server, as long as
 * few writes wait at a time and commits are quick: most gateways answer one person, and a worker thread takes 20 MB.
 * After that a worker thread (`thread-client.ts`) commits, so that the event loop does not wait for the disk. All of
 * them commit waiting writes together.
 */
import { lazy } from "../../base/async.ts";
import { hasCode } from "../../base/errors.ts";
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

/** More writes at a time mean that several sessions are busy. */
const FEW_WRITES = 8;
/** How long the event loop may wait for a lock that another process holds. */
const LOCK_WAIT_MS = 20;
/** How long the event loop may wait for a commit, on average over the last few. */
const COMMIT_WAIT_MS = 25;
/** Writing the view of more entries keeps the event loop busy for too long. */
const FEW_ENTRIES = 200;

export function createServerExecutor(
  database: SqliteDatabase,
  onCommitted: OnCommitted,
  makeThread: () => Promise<Executor>,
): Executor {
  const thread = lazy(makeThread);
  let needsThread = false;
  let openWrites = 0;
  let commitMs = 0;
  const timed: SqliteDatabase = {
    ...database,
    transaction: (task) => {
      const startedAt = performance.now();
      const result = database.transaction(task, { waitMs: LOCK_WAIT_MS });
      commitMs += (performance.now() - startedAt - commitMs) / 8;
      if (commitMs > COMMIT_WAIT_MS) needsThread = true;
      return result;
    },
  };
  const inline = createInlineExecutor(timed, onCommitted);

  return {
    write: async (name, given) => {
      if (openWrites >= FEW_WRITES) needsThread = true;
      if (needsThread) return await (await thread.get()).write(name, given);
      openWrites += 1;
      try {
        return await inline.write(name, given);
      } catch (error) {
        if (!hasCode(error, "store-busy")) throw error;
        needsThread = true;
        return await (await thread.get()).write(name, given);
      } finally {
        openWrites -= 1;
      }
    },
    writeView: async (viewPath) => {
      needsThread ||= database.get("SELECT 1 FROM entries LIMIT 1 OFFSET ?", FEW_ENTRIES) !== undefined;
      await (needsThread ? await thread.get() : inline).writeView(viewPath);
    },
    close: async () => await (await thread.made())?.close(),
  };
}
