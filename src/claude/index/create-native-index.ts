/** Opens the index over Claude Code's transcripts, and rebuilds it when it is damaged. */
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type Clock, systemClock } from "../../base/clock.ts";
import { isDatabaseDamage, noteAsLeft } from "../../base/derived-database.ts";
import { HoldfastError, errorMessage } from "../../base/errors.ts";
import { type Logger, silentLogger } from "../../base/log.ts";
import { LISTED, indexError, openIndexDatabase } from "./index-database.ts";
import type { NativeIndex } from "./native-index.ts";
import { refreshIndex } from "./refresh.ts";
import { countSessions, listPlaces, listSessions, listTexts, reportUsage } from "./session-rows.ts";

export interface NativeIndexOptions {
  /** The index file. It is created when missing and replaced when unusable. */
  path: string;
  claudeHome: string;
  logger?: Logger | undefined;
  /** Worker threads for large refreshes. Default: one per core, at most four. */
  threads?: number | undefined;
  clock?: Pick<Clock, "now"> | undefined;
}

export function createNativeIndex(options: NativeIndexOptions): NativeIndex {
  const { path, claudeHome, logger = silentLogger, threads, clock = systemClock } = options;
  let database: DatabaseSync = openIndexDatabase(path, claudeHome);
  let inode = inodeOf(path);
  let isDamaged = false;
  const guarded = <T>(task: () => T): T => {
    try {
      return task();
    } catch (error) {
      isDamaged ||= isDatabaseDamage(error);
      throw isDamaged ? damagedInUse(path, error) : indexError(error, path);
    }
  };
  /** Keeps the file if another process has already replaced it. */
  const replaceDamaged = (): void => {
    logger.warn("rebuilding the damaged index of Claude Code's sessions", { path });
    database.close();
    database = openIndexDatabase(path, claudeHome, { replace: inodeOf(path) === inode });
    inode = inodeOf(path);
    isDamaged = false;
  };

  return {
    async refresh(refreshOptions = {}) {
      if (isDamaged) replaceDamaged();
      try {
        return await refreshIndex({ database, claudeHome, threads, clock }, refreshOptions);
      } catch (error) {
        if (!isDatabaseDamage(error)) throw indexError(error, path);
      }
      replaceDamaged();
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
    close: () => {
      database.close();
      noteAsLeft(path, { isDamaged });
    },
  };
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function damagedInUse(path: string, cause: unknown): HoldfastError {
  return new HoldfastError("unavailable", "index-damaged", `The index ${path} is damaged: ${errorMessage(cause)}`, {
    hint: "Try again; it is rebuilt from Claude Code's files.",
    data: { path },
    cause,
  });
}
