/**
 * The index over memory files, Holdfast's own transcripts and those of Claude Code. It is derived:
 * whoever deletes its file loses time, nothing else. What looks like a secret is redacted before
 * anything is stored. A passage keeps its id as long as its text is indexed, and an id is never used
 * for another text, so that vectors can be kept beside it.
 *
 * An agent finds its own memory and transcripts, and the native sessions of the repos that the caller
 * names unless another agent started them. Nothing here shows one agent what belongs to another.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { isDamage, openIndexDatabase } from "./index-database.ts";
import { type RefreshOptions, type RefreshReport, refreshIndex } from "./refresh.ts";
import { type SearchResult, searchPassages } from "./search.ts";
import type { SearchQuery } from "./search-query.ts";

export interface SearchIndex {
  /**
   * Brings the index up to date with the files, newest first, until it is done or its time is up; what
   * is left is done by later calls. Two processes may do so at once.
   */
  refresh(options: RefreshOptions): Promise<RefreshReport>;
  /** Reads the index only. Never throws because of the query's text. */
  search(query: SearchQuery): SearchResult;
  close(): void;
}

export interface SearchIndexOptions {
  path: string;
  clock: Clock;
  logger: Logger;
}

/** A damaged, older or foreign file is replaced by an empty index. */
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
    note: "The search index is damaged and will be built anew. Ask again in a moment.",
  };
}
