/**
 * Where a store's operations run. Every operation passes the gate, which makes keys canonical, refuses keys of other
 * agents, and refuses everything once the store is closing. The executor runs writes and long reads: `inline` in this
 * thread, for a process that runs one command; `thread` in worker threads, so that a server's event loop never waits
 * for the disk. Both commit waiting writes together.
 */
import { lazy } from "../../base/async.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Lease, Leased } from "../queues.ts";
import { storeClosed } from "../store-errors.ts";
import { type KeyOwner, leaseKeyOf, ownSessionKey } from "../store-rules.ts";
import type { JsonPage, KeptHandoff, ListPage, ListQuery, StoreChange } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import { type JsonQuery, listAsJson, listSessions } from "./list-query.ts";
import { listHandoffs } from "./session-rows.ts";
import type { WriteArguments, WriteCommand, WriteName, WriteOutcome, WriteResult } from "./writes.ts";

/** The parts of an open store that its operations work with. */
export interface StoreContext {
  /** The connection of this thread. */
  database: SqliteDatabase;
  executor: Executor;
  gate: Gate;
  onCommitted: OnCommitted;
  clock: Clock;
  ids: Ids;
}

export interface Executor {
  /** Durable once resolved. Nothing changed if it rejects. */
  write<Name extends WriteName>(name: Name, given: WriteArguments<Name>): Promise<WriteResult<Name>>;
  list(query: ListQuery): Promise<ListPage>;
  listJson(query: JsonQuery): Promise<JsonPage>;
  listHandoffs(limit: number | undefined): Promise<KeptHandoff[]>;
  /** Updates the view, if necessary. */
  writeView(viewPath: string): Promise<void>;
  close(): Promise<void>;
}

/** Called after each commit with its changes. */
export type OnCommitted = (changes: readonly StoreChange[]) => void;

export function createInlineExecutor(database: SqliteDatabase, onCommitted: OnCommitted): Executor {
  // Loaded with the first write, because many commands only read.
  const batcher = lazy(async (): Promise<Batcher> => {
    const { applyBatch } = await import("./writes.ts");
    return createBatcher((commands) => {
      const { outcomes, changes } = applyBatch(database, commands);
      onCommitted(changes);
      return outcomes;
    });
  });
  const write: Executor["write"] = async <Name extends WriteName>(name: Name, given: WriteArguments<Name>) =>
    (await (await batcher.get()).add({ name, arguments: given })) as WriteResult<Name>;
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

/** Collects commands until the event loop is idle, then applies them together. */
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

type Task<T> = () => T | Promise<T>;

export interface Gate {
  run<T>(task: Task<T>): Promise<T>;
  /** Passes the canonical key to the task. */
  withKey<T>(key: string, task: (key: string) => T | Promise<T>): Promise<T>;
  /** Passes the key of the lease to the task. */
  withLeased<T>(leased: Leased, task: (key: string) => T | Promise<T>): Promise<T>;
  withLease<T>(lease: Lease, task: Task<T>): Promise<T>;
  /** Refuses new operations and waits for the running ones. */
  close(): Promise<void>;
}

/** A turn uses its key a dozen times. */
const KNOWN_KEYS = 1000;

export function createGate(path: string, owner: KeyOwner): Gate {
  const inside = new Set<Promise<unknown>>();
  let isClosed = false;

  const run = async <T>(task: Task<T>): Promise<T> => {
    if (isClosed) throw storeClosed(path);
    const operation = Promise.resolve().then(task);
    inside.add(operation);
    try {
      return await operation;
    } finally {
      inside.delete(operation);
    }
  };
  const known = new Map<string, string>();
  const ownKey = (key: string): string => {
    const found = known.get(key);
    if (found !== undefined) return found;
    const own = ownSessionKey(key, owner);
    if (known.size >= KNOWN_KEYS) known.clear();
    known.set(key, own);
    return own;
  };
  const withKey = <T>(key: string, task: (key: string) => T | Promise<T>) => run(() => task(ownKey(key)));
  const withLeased = <T>(leased: Leased, task: (key: string) => T | Promise<T>) =>
    run(() => task(leaseKeyOf(leased, { agentId: owner.agentId, ownKey })));

  return {
    run,
    withKey,
    withLeased,
    withLease: (lease, task) => withLeased(lease, task),
    close: async () => {
      isClosed = true;
      await Promise.allSettled(inside);
    },
  };
}
