/**
 * Tells listeners what changed. Own changes come at once after their commit; those of other
 * processes are looked for in the table of changes whenever SQLite says that the file has changed.
 */
import type { Logger } from "../../base/log.ts";
import type { StoreChange } from "../store.ts";
import { foreignChanges, newestChange } from "./change-rows.ts";
import type { SqliteDatabase } from "./database.ts";

const POLL_INTERVAL_MS = 250;

type ChangeListener = (change: StoreChange) => void;

export interface ChangeFeed {
  listen(listener: ChangeListener): () => void;
  /** Passes own changes on. */
  tell(changes: readonly StoreChange[]): void;
  close(): void;
}

/** `writer` names the store handle whose changes are told without looking. */
export function createChangeFeed(database: SqliteDatabase, writer: string, logger: Logger): ChangeFeed {
  const listeners = new Set<ChangeListener>();
  let timer: NodeJS.Timeout | undefined;
  let seenVersion = 0;
  let seenChange = 0;

  const tell = (changes: readonly StoreChange[]) => {
    for (const change of changes) {
      for (const listener of listeners) {
        try {
          listener({ ...change });
        } catch (error) {
          logger.error("A listener of the change feed failed.", { error });
        }
      }
    }
  };
  const look = () => {
    try {
      const version = dataVersion(database);
      if (version === seenVersion) return;
      const { newest, changes } = database.snapshot(() => ({
        newest: newestChange(database),
        changes: foreignChanges(database, seenChange, writer),
      }));
      seenVersion = version;
      seenChange = newest;
      tell(changes);
    } catch (error) {
      logger.warn("Changes of other processes could not be read; the next look may.", { error });
    }
  };
  const start = () => {
    seenVersion = dataVersion(database);
    seenChange = newestChange(database);
    timer = setInterval(look, POLL_INTERVAL_MS).unref();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    listen: (listener) => {
      // Wrapped, so that a function that listens twice is called twice and stopped one at a time.
      const own: ChangeListener = (change) => listener(change);
      listeners.add(own);
      if (timer === undefined) start();
      return () => {
        listeners.delete(own);
        if (listeners.size === 0) stop();
      };
    },
    tell,
    close: () => {
      listeners.clear();
      stop();
    },
  };
}

/** Differs from before when another connection has committed. */
function dataVersion(database: SqliteDatabase): number {
  return database.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0;
}
