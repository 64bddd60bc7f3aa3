/** The index over Claude Code's transcripts; `native-index.ts` says what holds for it. */
import type { DatabaseSync } from "node:sqlite";
import { type Clock, systemClock } from "../../base/clock.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { LISTED, indexError, isDamagedIndex, openIndexDatabase } from "./index-database.ts";
import type { NativeIndex } from "./native-index.ts";
import { refreshIndex } from "./refresh.ts";
import { countSessions, listPlaces, listSessions, listTexts } from "./session-rows.ts";
import { reportUsage } from "./usage-report.ts";

export interface NativeIndexOptions {
  /** The index file; made when it is missing, replaced when it cannot be used. */
  path: string;
  claudeHome: string;
  logger?: Logger;
  /** Worker threads for much work. Left out: one per core. 0: none. */
  threads?: number;
  /** What counts as just now. */
  clock?: Pick<Clock, "now">;
}

export function createNativeIndex(options: NativeIndexOptions): NativeIndex {
  const { path, claudeHome, logger = silentLogger, threads, clock = systemClock } = options;
  let database: DatabaseSync = openIndexDatabase(path, claudeHome);

  const guarded = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      throw indexError(error, path);
    }
  };

  return {
    async refresh(refreshOptions = {}) {
      try {
        return await refreshIndex({ database, claudeHome, threads, clock }, refreshOptions);
      } catch (error) {
        if (!isDamagedIndex(error)) throw indexError(error, path);
        logger.warn("the index of Claude Code's sessions was damaged and is made anew", { path, error });
      }
      database.close();
      database = openIndexDatabase(path, claudeHome, { replace: true });
      return await refreshIndex({ database, claudeHome, threads, clock }, refreshOptions);
    },
    list: (query = {}) => guarded(() => listSessions(database, claudeHome, query)),
    texts: (query = {}) => guarded(() => listTexts(database, claudeHome, query)),
    get: (sessionId) => guarded(() => listSessions(database, claudeHome, { sessionIds: [sessionId], limit: 1 }).at(0)),
    count: () => guarded(() => countSessions(database)),
    places: () => guarded(() => listPlaces(database)),
    findByPrefix: (prefix, limit) =>
      guarded(() =>
        database
          .prepare(
            `SELECT DISTINCT session FROM files WHERE ${LISTED} AND substr(session, 1, length(?1)) = ?1
             ORDER BY session LIMIT ?2`,
          )
          .all(prefix, limit)
          .map(({ session }) => String(session)),
      ),
    usage: (query) => guarded(() => reportUsage(database, query)),
    close: () => database.close(),
  };
}
