/**
 * Where the work of a store is done. `inline` does it in this thread, which suits a process that
 * lives for one command; `thread` keeps every wait for the disk and every long query off the event
 * loop of a process that serves many sessions. Both commit together what waits at the same moment.
 */
import type { JsonPage, KeptHandoff, ListPage, ListQuery, StoreChange } from "../store.ts";
import type { WriteOutcome } from "./batch.ts";
import type { SqliteDatabase } from "./database.ts";
import { listHandoffs } from "./handoff-rows.ts";
import { type JsonQuery, listAsJson, listSessions } from "./list-query.ts";
import type { WriteArguments, WriteCommand, WriteName, WriteResult } from "./write-operations.ts";

export interface Executor {
  /** Durable once resolved. Rejects with what the operation refused, nothing being changed. */
  write<Name extends WriteName>(name: Name, given: WriteArguments<Name>): Promise<WriteResult<Name>>;
  list(query: ListQuery): Promise<ListPage>;
  listJson(query: JsonQuery): Promise<JsonPage>;
  listHandoffs(limit: number | undefined): Promise<KeptHandoff[]>;
  /** Brings the view up to date, if it is not. */
  writeView(viewPath: string): Promise<void>;
  close(): Promise<void>;
}

/** Called after each commit with what it changed. */
export type OnCommitted = (changes: readonly StoreChange[]) => void;

export function createInlineExecutor(database: SqliteDatabase, onCommitted: OnCommitted): Executor {
  let batcher: Promise<Batcher> | undefined;
  // Loaded with the first write: a command that only reads does without it.
  const openBatcher = async (): Promise<Batcher> => {
    const { applyBatch } = await import("./batch.ts");
    return createBatcher((commands) => {
      const { outcomes, changes } = applyBatch(database, commands);
      onCommitted(changes);
      return outcomes;
    });
  };
  const write: Executor["write"] = async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
    (await (await (batcher ??= openBatcher())).add({ name, arguments: given })) as WriteResult<Name>;
  return {
    write,
    list: async (query) => listSessions(database, query),
    listJson: async (query) => listAsJson(database, query),
    listHandoffs: async (limit) => listHandoffs(database, limit),
    writeView: async (viewPath) => {
      const { writeView } = await import("./view-file.ts");
      const shown = await writeView(database.path, viewPath);
      if (shown !== undefined) await write("markView", { shown });
    },
    close: async () => undefined,
  };
}

export interface Batcher {
  add(command: WriteCommand): Promise<unknown>;
}

/** Collects commands until the event loop has nothing else to do, then applies them together. */
export function createBatcher(apply: (commands: WriteCommand[]) => WriteOutcome[]): Batcher {
  let waiting: { command: WriteCommand; settle: (outcome: WriteOutcome) => void }[] = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    const outcomes = apply(batch.map(({ command }) => command));
    for (const [index, { settle }] of batch.entries()) settle(outcomes[index] ?? NO_OUTCOME);
  };
  return {
    add: async (command) =>
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
