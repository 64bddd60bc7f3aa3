/**
 * The index over memory files and the transcripts of Holdfast and Claude Code. It can be rebuilt from them at any
 * time. Secrets are redacted before anything is stored. A passage keeps its id while its text is indexed, and ids are
 * never reused, so that vectors can refer to them.
 *
 * An agent finds its own memory and transcripts, and native sessions of the given repos unless another agent started
 * them. It never sees data of another agent.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { isDamage, openIndexDatabase } from "./index-database.ts";
import { type RefreshOptions, type RefreshReport, refreshIndex } from "./refresh.ts";
import { type SearchResult, searchPassages } from "./search.ts";
import type { SearchQuery } from "./find-passages.ts";

export interface SearchIndex {
  /**
   * Brings the index up to date, newest files first, until done or out of time; later calls continue. Two processes
   * may refresh at the same time.
   */
  refresh(options: RefreshOptions): Promise<RefreshReport>;
  /** Only reads the index. Never throws because of the query's text. */
  search(query: SearchQuery): SearchResult;
  close(): void;
}

export interface SearchIndexOptions {
  path: string;
  clock: Clock;
  logger: Logger;
}

/** Replaces a damaged, older or foreign file by an empty index. */
export async function createSearchIndex({ path, clock, logger }: SearchIndexOptions): Promise<SearchIndex> {
  const database = await openIndexDatabase({ path, logger });
  let last: RefreshReport | undefined;
  let damage: unknown;

  return {
    refresh: async (options) => {
      await database.reopenIfReplaced();
      if (damage !== undefined) await database.mend(damage);
      damage = undefined;
      try {
        last = await refreshIndex(database, clock, options);
      } catch (error) {
        if (!(await database.mend(error))) throw error;
        last = await refreshIndex(database, clock, options);
      }
      return last;
    },
    search: (query) => {
      try {
        return searchPassages(database, query, last);
      } catch (error) {
        if (!isDamage(error)) throw error;
        damage = error;
        return unsearchable();
      }
    },
    close: () => database.close(),
  };
}

function unsearchable(): SearchResult {
  return {
    hits: [],
    matched: "none",
    indexing: { complete: false, pendingFiles: 0, pendingBytes: 0 },
    note: "The search index is damaged and will be rebuilt. Try again later.",
  };
}
