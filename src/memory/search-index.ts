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
import { type FileEdit, findEdits } from "./blame.ts";
import { type IndexDatabase, isDamage, openIndexDatabase } from "./index-database.ts";
import { type Encoder, type MeaningStatus, meaningStatus, updateVectors } from "./meaning.ts";
import { type RefreshOptions, type RefreshReport, refreshIndex } from "./refresh.ts";
import {
  type SearchQuery,
  type SearchResult,
  type SessionQuery,
  type SessionResult,
  searchByMeaning,
  searchPassages,
  searchPassagesByMeaning,
  searchSessions,
} from "./search.ts";
import { createWordEncoder } from "./word-vectors.ts";

export interface SearchIndex {
  /**
   * Brings the index up to date, newest files first, until done or out of time; later calls continue. Two processes
   * may refresh at the same time.
   */
  refresh(options: RefreshOptions): Promise<RefreshReport>;
  /** Only reads the index. Never throws because of the query's text. */
  search(query: SearchQuery): SearchResult;
  /** The same for sessions, each with its best passages. Memory files have no session. */
  sessions(query: SessionQuery): SessionResult;
  /** The same, by meaning where the words do not lead anywhere. May take a second to encode new sessions. */
  ask(query: SessionQuery): Promise<SessionResult>;
  /** The same for passages, always with the shipped word vectors. */
  askPassages(query: SearchQuery): Promise<SearchResult>;
  /** Encodes new sessions by their meaning, until done or out of time. */
  encode(options: { budgetMs: number; signal?: AbortSignal | undefined }): Promise<MeaningStatus>;
  /** Uses the file that another process or thread has put in place of a damaged one. */
  renew(): Promise<void>;
  /** Changes of a file, newest first. For a person only. */
  edits(paths: readonly string[]): FileEdit[];
  /** What the index holds. */
  counts(): IndexCounts;
  close(): void;
}

export interface IndexCounts {
  /** Files: transcripts of sessions and subagents, and memory files. */
  files: number;
  passages: number;
  bytes: number;
}

export interface SearchIndexOptions {
  path: string;
  clock: Clock;
  logger: Logger;
  /** Default: the shipped word vectors. */
  encoder?: Encoder | undefined;
}

/** How long a question waits for the vectors of new sessions. */
const ENCODING_MS = 1000;

/** Replaces a damaged, older or foreign file by an empty index. */
export async function createSearchIndex(options: SearchIndexOptions): Promise<SearchIndex> {
  const { path, clock, logger } = options;
  const words = createWordEncoder();
  const encoder = options.encoder ?? words;
  const database = await openIndexDatabase({ path, logger });
  let last: RefreshReport | undefined;
  let damage: unknown;

  const attempt = <T>(task: () => T, unsearchable: T): T => {
    try {
      return task();
    } catch (error) {
      if (!isDamage(error)) throw error;
      damage = error;
      return unsearchable;
    }
  };

  const renew = async (): Promise<void> => {
    await database.reopenIfReplaced();
    if (damage !== undefined) await database.mend(damage);
    damage = undefined;
  };

  return {
    renew,
    refresh: async (options) => {
      await renew();
      try {
        last = await refreshIndex(database, clock, options);
      } catch (error) {
        if (!(await database.mend(error))) throw error;
        last = await refreshIndex(database, clock, options);
      }
      return last;
    },
    search: (query) => attempt(() => searchPassages(database, query, last), { ...UNSEARCHABLE, hits: [] }),
    sessions: (query) =>
      attempt(() => searchSessions(database, query, last), { ...UNSEARCHABLE, sessions: [], total: 0 }),
    ask: async (query) => {
      const deadline = clock.now() + ENCODING_MS;
      try {
        return await searchByMeaning(database, query, last, { encoder, isOver: () => clock.now() >= deadline });
      } catch (error) {
        logger.warn("searching by words only", { error });
        return attempt(() => searchSessions(database, query, last), { ...UNSEARCHABLE, sessions: [], total: 0 });
      }
    },
    askPassages: async (query) => {
      try {
        return await searchPassagesByMeaning(database, query, last, words);
      } catch (error) {
        logger.warn("searching by words only", { error });
        return attempt(() => searchPassages(database, query, last), { ...UNSEARCHABLE, hits: [] });
      }
    },
    encode: async ({ budgetMs, signal }) => {
      const deadline = clock.now() + budgetMs;
      const isOver = (): boolean => clock.now() >= deadline || signal?.aborted === true;
      await updateVectors(database, encoder, { isOver, signal });
      return meaningStatus(database, encoder.name);
    },
    edits: (paths) => attempt(() => findEdits(database, paths), []),
    counts: () => attempt(() => countAll(database), { files: 0, passages: 0, bytes: 0 }),
    close: () => database.close(),
  };
}

function countAll(database: IndexDatabase): IndexCounts {
  const counts = database.get<IndexCounts>(
    `SELECT (SELECT count(*) FROM sources) AS files, (SELECT coalesce(sum(passages), 0) FROM sources) AS passages,
       (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size()) AS bytes`,
  );
  return counts ?? { files: 0, passages: 0, bytes: 0 };
}

const UNSEARCHABLE = {
  matched: "none",
  indexing: { complete: false, pendingFiles: 0, pendingBytes: 0 },
  note: "The search index is damaged and will be rebuilt. Try again later.",
} as const;
