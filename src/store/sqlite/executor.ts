/**
 * Where a store's writes and long reads run: `inline` in this thread, for a process that runs one command; `thread` in
 * worker threads (`thread-client.ts`), so that a server's event loop never waits for the disk. Both commit waiting
 * writes together.
 */
import { lazy } from "../../base/async.ts";
import type { StoreContext } from "../create-store.ts";
import type { WriteArguments, WriteName, WriteResult } from "../operations.ts";
import type { StoreChange } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import { listAsJson, listSessions } from "./list-query.ts";
import { listHandoffs } from "./session-rows.ts";
import type { WriteCommand, WriteOutcome } from "./writes.ts";

export interface Executor extends Pick<StoreContext, "write" | "list" | "listJson" | "listHandoffs" | "close"> {
  writeView(viewPath: string): Promise<void>;
}

export type OnCommitted = (changes: readonly StoreChange[]) => void;

export function createInlineExecutor(database: SqliteDatabase, onCommitted: OnCommitted): Executor {
  // Loaded with the first write, because many commands only read.
  const batcher = lazy(async () => {
    const { createApplyBatch } = await import("./writes.ts");
    const apply = createApplyBatch(database);
    return createBatcher((commands) => {
      const { outcomes, changes } = apply(commands);
      onCommitted(changes);
      return outcomes;
    });
  });
  const add = async (command: WriteCommand): Promise<unknown> => await (await batcher.get()).add(command);
  return {
    write: async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
      (await add({ name, arguments: given })) as WriteResult<Name>,
    list: async (query) => listSessions(database, query),
    listJson: async (query) => listAsJson(database, query),
    listHandoffs: async (limit) => listHandoffs(database, limit),
    writeView: async (viewPath) => {
      const { writeView } = await import("./view-file.ts");
      const shown = await writeView(database.path, viewPath);
      if (shown !== undefined) await add({ name: "markView", arguments: { shown } });
    },
    close: async () => undefined,
  };
}

/** Collects commands until the event loop is idle, then applies them together. */
export function createBatcher(apply: (commands: WriteCommand[]) => WriteOutcome[]) {
  let waiting: { command: WriteCommand; settle: (outcome: WriteOutcome) => void }[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    const outcomes = apply(batch.map(({ command }) => command));
    for (const [index, { settle }] of batch.entries()) settle(outcomes[index] ?? NO_OUTCOME);
  };
  return {
    add: async (command: WriteCommand): Promise<unknown> =>
      await new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        const settle = (outcome: WriteOutcome) => {
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.value);
        };
        waiting.push({ command, settle });
      }),
  };
}

const NO_OUTCOME: WriteOutcome = { error: new Error("A batch has fewer outcomes than commands") };
