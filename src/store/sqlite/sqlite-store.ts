/**
 * The store `sqlite`: one file per agent, and the default. Small reads use a connection of this
 * thread and never wait for a writer; writes and long reads go through an executor. `sessions.json`
 * is kept beside it as a view for other tools and is never read back.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Ids, randomIds } from "../../base/ids.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { checkListQuery } from "../entry-facets.ts";
import { windowNotClosed } from "../store-errors.ts";
import type { Store, StoreChange } from "../store.ts";
import { createChangeFeed } from "./change-feed.ts";
import type { UpdateEntry } from "./entries.ts";
import { readEntry } from "./entry-rows.ts";
import { type Executor, type OnCommitted, createInlineExecutor } from "./executor.ts";
import { createGate } from "./gate.ts";
import { createHandoffs } from "./handoffs.ts";
import { createLeases } from "./leases.ts";
import { openDatabase } from "./open-database.ts";
import { createInbox, createOutbox } from "./queues.ts";
import type { ThreadOptions } from "./thread-client.ts";
import { createView, noView } from "./view.ts";
import { findWindows, readWindows } from "./window-rows.ts";

export interface SqliteStoreOptions {
  /** The file; made with its folder when it is not there. */
  path: string;
  agentId: string;
  /** Left out: `main`. */
  mainKey?: string | undefined;
  /** Where to keep `sessions.json` for other tools. Left out: nowhere. */
  viewPath?: string | undefined;
  /** Where transcripts lie: they tell a lost store from a new one. Left out: the folder of the view. */
  sessionsFolder?: string | undefined;
  /** `thread` keeps disk waits off the event loop of a long-running process. Left out: `inline`. */
  execution?: "inline" | "thread" | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, agentId, mainKey, viewPath } = options;
  const { clock = systemClock, ids = randomIds, logger = silentLogger } = options;
  // Tells the changes of this handle from those of others; unique on one machine, and cheaper than a UUID.
  const writer = `${process.pid}.${process.hrtime.bigint()}`;
  const sessionsFolder = options.sessionsFolder ?? (viewPath === undefined ? undefined : dirname(viewPath));

  const database = await openDatabase({ path, writer, sessionsFolder });
  const gate = createGate(path, { agentId, mainKey });
  const feed = createChangeFeed(database, writer, logger);
  const onCommitted = (changes: readonly StoreChange[]) => {
    if (changes.some(({ what }) => what === "entry")) view.touch();
    feed.tell(changes);
  };
  const executor =
    options.execution === "thread"
      ? await startThreads({ path, writer }, onCommitted)
      : createInlineExecutor(database, onCommitted);
  const view = viewPath === undefined ? noView : createView(() => executor.writeView(viewPath), logger);
  // A process that was killed may have left an old view behind.
  if (options.execution === "thread") view.touch();
  // Loaded with the first update: a command that only reads does without it.
  const update: UpdateEntry = async (...given) => await (await (openedUpdate ??= openUpdate()))(...given);
  const openUpdate = async (): Promise<UpdateEntry> => {
    const { createUpdate } = await import("./entries.ts");
    return await createUpdate({ database, executor, onCommitted, clock });
  };
  let openedUpdate: Promise<UpdateEntry> | undefined;
  const close = async () => {
    await gate.close();
    feed.close();
    await view.flush();
    await executor.close();
    database.close();
  };
  let closing: Promise<void> | undefined;

  return {
    kind: "sqlite",
    agentId,
    path,
    get: (key) => gate.withKey(key, (own) => readEntry(database, own)?.entry),
    list: (query = {}) =>
      gate.run(async () => {
        checkListQuery(query);
        return await executor.list(query);
      }),
    listJson: (query = {}) =>
      gate.run(async () => {
        checkListQuery(query);
        return await executor.listJson({ ...query, now: clock.now() });
      }),
    update: (key, mutate, updateOptions = {}) => gate.withKey(key, (own) => update(own, mutate, updateOptions)),
    delete: (key, { lease, withHandoff = false } = {}) =>
      gate.withKey(key, async (own) => await executor.write("deleteEntry", { key: own, lease, withHandoff })),

    windows: (key) => gate.withKey(key, (own) => readWindows(database, own)),
    findWindows: (prefix, limit) => gate.run(() => findWindows(database, prefix, limit)),
    putWindow: (window) =>
      gate.withKey(window.key, async (key) => {
        if (window.closedAt === undefined) throw windowNotClosed(window);
        await executor.write("putWindow", { ...window, key });
      }),
    removeWindow: (key, sessionId) =>
      gate.withKey(key, async (own) => await executor.write("removeWindow", { key: own, sessionId })),

    leases: createLeases({ database, executor, gate, clock, ids }),
    inbox: createInbox({ database, executor, gate, clock, update }),
    outbox: createOutbox({ database, executor, gate, clock }),
    handoffs: createHandoffs({ database, executor, onCommitted, gate, clock }),
    onChange: (listener) => feed.listen(listener),
    close: async () => await (closing ??= close()),
  };
}

/** Loaded when wanted: a command that lives for a moment needs no threads. */
async function startThreads(options: ThreadOptions, onCommitted: OnCommitted): Promise<Executor> {
  const { createThreadExecutor } = await import("./thread-executor.ts");
  return createThreadExecutor(options, onCommitted);
}
