/**
 * The `sqlite` store: one file per agent, and the default. Reads use a connection of this thread and never wait for a
 * writer. Writes go through an executor. `sessions.json` is kept as a view for other tools and never read back.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Logger, silentLogger } from "../../base/log.ts";
import { createChangeFeed } from "../change-feed.ts";
import { type FileStoreOptions, createStore, modifyByVersion } from "../create-store.ts";
import { copyEntry } from "../store-rules.ts";
import type { Store, StoreChange } from "../store.ts";
import { createTranscriptFiles } from "../transcript-files.ts";
import { createChangeSource, newestEntryChange, shownByView } from "./changes.ts";
import { type SqliteDatabase, openDatabase } from "./database.ts";
import { createInlineExecutor, createServerExecutor } from "./executor.ts";
import { listAsJson, listSessions } from "./list-query.ts";
import { sqliteRows } from "./rows.ts";
import { listHandoffs } from "./session-rows.ts";

export interface SqliteStoreOptions extends FileStoreOptions {
  /** Path of the view `sessions.json`. Default: no view. */
  viewPath?: string | undefined;
  /** `thread`, for a server: under load, a worker thread waits for the disk. Default: `inline`. */
  execution?: "inline" | "thread" | undefined;
}

export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, viewPath, logger = silentLogger } = options;
  // Identifies the changes of this handle. Unique on one machine, and cheaper than a UUID.
  const writer = `${process.pid}.${process.hrtime.bigint()}`;
  const transcriptsFolder = options.transcriptsFolder ?? (viewPath === undefined ? undefined : dirname(viewPath));

  // The transcripts tell a lost store from a new one.
  const database = await openDatabase({ path, writer, sessionsFolder: transcriptsFolder });
  const rows = sqliteRows(database);
  const feed = createChangeFeed(createChangeSource(database, writer), logger);
  const onCommitted = (changes: readonly StoreChange[]) => {
    if (changes.some(({ what }) => what === "entry")) view.touch();
    feed.tell(changes);
  };
  const isServer = options.execution === "thread";
  const executor = isServer
    ? createServerExecutor(database, onCommitted, async () =>
        (await import("./thread-client.ts")).createThreadExecutor({ path, writer }, onCommitted),
      )
    : createInlineExecutor(database, onCommitted);
  const view = viewPath === undefined ? noView : createView(() => executor.writeView(viewPath), logger);
  // A killed process may have left an outdated view.
  if (isServer && viewPath !== undefined && !isViewCurrent(database, viewPath)) view.touch();

  return await createStore(options, {
    kind: "sqlite",
    location: path,
    read: async (task) => await task(rows),
    write: executor.write,
    modify: modifyByVersion(rows, executor.write),
    copyEntry,
    list: async (query) => listSessions(database, query),
    listJson: async (query) => listAsJson(database, query),
    listHandoffs: async (limit) => listHandoffs(database, limit),
    transcripts: createTranscriptFiles({ ...options, transcriptsFolder }),
    onChange: feed.listen,
    close: async () => {
      feed.close();
      await view.flush();
      await executor.close();
      database.close();
    },
  });
}

function isViewCurrent(database: SqliteDatabase, viewPath: string): boolean {
  return existsSync(viewPath) && shownByView(database) >= newestEntryChange(database);
}

const SHORTEST_DELAY_MS = 300;
/** Rewriting takes at most this share of the time. */
const SHARE_OF_TIME = 1 / 20;

const noView: ReturnType<typeof createView> = { touch: () => undefined, flush: async () => undefined };

/** Many changes cause one rewrite, and a slow rewrite runs less often. A failing one is logged and blocks nothing. */
export function createView(write: () => Promise<void>, logger: Logger) {
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
    /** Call it after a change of the store. */
    touch: (): void => {
      isStale = true;
      schedule();
    },
    /** Writes the view now, if it is outdated. */
    flush: async (): Promise<void> => {
      await writing;
      clearTimeout(timer);
      if (isStale) await begin();
    },
  };
}
