/**
 * The `sqlite` store: one file per agent, and the default. Small reads use a connection of this thread and never wait
 * for a writer. Writes and long reads go through an executor. `sessions.json` is kept as a view for other tools and
 * never read back.
 */
import { fileExists } from "../../base/files.ts";
import { dirname } from "node:path";
import { lazy } from "../../base/async.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Ids, randomIds } from "../../base/ids.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { type HistoryOptions, createGroupHistory, createSystemEvents } from "../pending.ts";
import { windowNotClosed } from "../store-errors.ts";
import { checkListQuery } from "../store-rules.ts";
import type { Store, StoreChange } from "../store.ts";
import { createChangeFeed } from "./changes.ts";
import { openDatabase } from "./database.ts";
import { readEntry } from "./entry-rows.ts";
import { type Executor, type OnCommitted, createGate, createInlineExecutor } from "./executor.ts";
import { createHandoffs, createInbox, createLeases, createOutbox, createPendingQueues } from "./parts.ts";
import { findWindows, readWindows } from "./session-rows.ts";
import type { ThreadOptions } from "./thread-client.ts";
import type { UpdateEntry } from "./update.ts";

export interface SqliteStoreOptions extends HistoryOptions {
  /** The database file. Created with its folder if missing. */
  path: string;
  agentId: string;
  /** Default: `main`. */
  mainKey?: string | undefined;
  /** Path of the view `sessions.json`. Default: no view. */
  viewPath?: string | undefined;
  /** The folder of transcripts, which tell a lost store from a new one. Default: the folder of the view. */
  sessionsFolder?: string | undefined;
  /** `thread` keeps disk waits off the event loop of a long-running process. Default: `inline`. */
  execution?: "inline" | "thread" | undefined;
  /** A `pending.sqlite` of an earlier version, whose items move into the store. Optional. */
  pendingFile?: string | undefined;
  clock?: Clock | undefined;
  ids?: Ids | undefined;
  logger?: Logger | undefined;
}

export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, agentId, mainKey, viewPath } = options;
  const { clock = systemClock, ids = randomIds, logger = silentLogger } = options;
  // Identifies the changes of this handle. Unique on one machine, and cheaper than a UUID.
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
  // A killed process may have left an outdated view.
  if (options.execution === "thread") view.touch();
  const context = { database, executor, gate, onCommitted, clock, ids };
  const queues = createPendingQueues(context);
  // Loaded with the first update, because many commands only read.
  const opened = lazy(async (): Promise<UpdateEntry> => {
    const { createUpdate } = await import("./update.ts");
    return await createUpdate(context);
  });
  const update: UpdateEntry = async (...given) => await (await opened.get())(...given);
  const close = async () => {
    await gate.close();
    feed.close();
    await view.flush();
    await executor.close();
    database.close();
  };
  let closing: Promise<void> | undefined;
  if (options.pendingFile !== undefined && (await fileExists(options.pendingFile))) {
    const { takeOverPendingFile } = await import("../pending-file.ts");
    await takeOverPendingFile(options.pendingFile, queues, { clock, logger });
  }

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

    leases: createLeases(context),
    inbox: createInbox(context, update),
    outbox: createOutbox(context),
    handoffs: createHandoffs(context),
    history: createGroupHistory(queues, clock, options),
    systemEvents: createSystemEvents(queues, clock),
    onChange: (listener) => feed.listen(listener),
    close: async () => await (closing ??= close()),
  };
}

/** Loaded on demand, because short commands need no threads. */
async function startThreads(options: ThreadOptions, onCommitted: OnCommitted): Promise<Executor> {
  const { createThreadExecutor } = await import("./thread-client.ts");
  return createThreadExecutor(options, onCommitted);
}

const SHORTEST_DELAY_MS = 300;
/** Rewriting takes at most this share of the time. */
const SHARE_OF_TIME = 1 / 20;

export interface View {
  /** Call it after a change of the store. */
  touch(): void;
  /** Writes the view now, if it is outdated. */
  flush(): Promise<void>;
}

const noView: View = { touch: () => undefined, flush: async () => undefined };

/** Many changes cause one rewrite, and a slow rewrite runs less often. A failing one is logged and blocks nothing. */
export function createView(write: () => Promise<void>, logger: Logger): View {
  let delay = SHORTEST_DELAY_MS;
  let timer: NodeJS.Timeout | undefined;
  let isStale = false;
  let writing: Promise<void> | undefined;

  const rewrite = async () => {
    isStale = false;
    const startedAt = performance.now();
    try {
      await write();
    } catch (error) {
      logger.warn("The view sessions.json could not be written and is outdated", { error });
    }
    delay = Math.max(SHORTEST_DELAY_MS, (performance.now() - startedAt) / SHARE_OF_TIME);
  };
  const begin = async () => {
    clearTimeout(timer);
    timer = undefined;
    writing = rewrite();
    await writing;
    writing = undefined;
    if (isStale) schedule();
  };
  const schedule = () => {
    if (timer !== undefined || writing !== undefined) return;
    timer = setTimeout(() => void begin(), delay).unref();
  };

  return {
    touch: () => {
      isStale = true;
      schedule();
    },
    flush: async () => {
      await writing;
      clearTimeout(timer);
      if (isStale) await begin();
    },
  };
}
