/** Opens the search index for a person: every agent's chats and memory, and all native sessions. */
import { lazy, within } from "../base/async.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { type Logger, createLogger } from "../base/log.ts";
import { resolveClaudeHome } from "../claude/native/layout.ts";
import type { HoldfastConfig } from "../config/config.ts";
import {
  type Environment,
  agentLayout,
  cacheFolder,
  claudeLayout,
  resolveOpenClawHome,
  searchIndexFile,
} from "../config/layout.ts";
import type { PersonQuery, PersonResult } from "../memory/person-search.ts";
import type { RefreshOptions, RefreshReport } from "../memory/refresh.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { SearchParts } from "../rpc/rpc-parts.ts";
import { listAgentIds } from "./agent.ts";

export interface OpenSearchOptions {
  home: string;
  config: HoldfastConfig;
  env?: Environment | undefined;
  clock?: Clock | undefined;
  logger?: Logger | undefined;
}

export interface PersonSearch {
  index: SearchIndex;
  /** Brings the index up to date. */
  refresh(options: Omit<RefreshOptions, "sources">): Promise<RefreshReport>;
  query(query: PersonQuery): Promise<PersonResult>;
  close(): void;
}

export async function openPersonSearch(options: OpenSearchOptions): Promise<PersonSearch> {
  const { home, config, env = process.env, clock = systemClock } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const [{ createSearchIndex }, { searchForPerson }] = await Promise.all([
    import("../memory/search-index.ts"),
    import("../memory/person-search.ts"),
  ]);
  await ensurePrivateFolder(cacheFolder(home));
  const index = await createSearchIndex({ path: searchIndexFile(home), clock, logger });
  return {
    index,
    refresh: async (choice) => {
      const report = await index.refresh({ ...choice, sources: await allSources({ home, config, env }) });
      for (const { path, reason } of report.failed) logger.warn("not searchable", { path, reason });
      return report;
    },
    query: async (query) => await Promise.resolve(searchForPerson(index, query)),
    close: () => index.close(),
  };
}

export interface LiveSearch extends SearchParts {
  /** Indexes in the background from now on. */
  start(): void;
  close(): Promise<void>;
}

/** How long a query waits for the newest changes. */
const QUERY_REFRESH_MS = 150;
/** Queries that follow each other, as while somebody types, share one look at the files. */
const FRESH_MS = 2000;
const BACKGROUND_MS = 60_000;
const SLICE_MS = 2000;
const PAUSE_MS = 250;

/** Search in a long-running process. Opened at first use. */
export function createLiveSearch(options: OpenSearchOptions & { clock: Clock; logger: Logger }): LiveSearch {
  const { clock, logger } = options;
  const opening = lazy(async () => await openPersonSearch(options));
  const closing = new AbortController();
  let last: { at: number; report: RefreshReport } | undefined;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** One at a time: parallel calls would read the same files. */
  const refresh = async (): Promise<void> => {
    const opened = await opening.get();
    while (!closing.signal.aborted) {
      const report = await opened.refresh({ budgetMs: SLICE_MS, signal: closing.signal });
      last = { at: clock.now(), report };
      if (report.complete) return;
      await new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
    }
  };
  const refreshing = (): Promise<void> => {
    running ??= refresh()
      .catch((error: unknown) => logger.warn("the search index could not be updated", { error }))
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const isFresh = (): boolean => last !== undefined && last.report.complete && clock.now() - last.at < FRESH_MS;

  return {
    query: async (query) => {
      const opened = await opening.get();
      if (!isFresh()) await within(QUERY_REFRESH_MS, refreshing());
      return await opened.query(query);
    },
    status: async () => {
      const opened = await opening.get();
      if (last === undefined) await within(QUERY_REFRESH_MS, refreshing());
      const { complete = false, pendingFiles = 0, pendingBytes = 0 } = last?.report ?? {};
      return { ...opened.index.counts(), complete, pendingFiles, pendingBytes };
    },
    start: () => {
      timer ??= setInterval(() => void refreshing(), BACKGROUND_MS).unref();
    },
    close: async () => {
      clearInterval(timer);
      closing.abort();
      await running;
      (await opening.made())?.close();
    },
  };
}

async function allSources({
  home,
  config,
  env,
}: Required<Pick<OpenSearchOptions, "home" | "config" | "env">>): Promise<SearchSources> {
  const [{ listAllSessions }, { readArchive }] = await Promise.all([
    import("../claude/registry/registry.ts"),
    import("../claude/archive/catalogue.ts"),
  ]);
  const [agentIds, registries, archive] = await Promise.all([
    listAgentIds(home),
    listAllSessions({ home, openClawHome: resolveOpenClawHome(env) }),
    readArchive(home),
  ]);
  const agents = [...new Set([config.defaultAgent, ...Object.keys(config.agents), ...agentIds])];
  return {
    agents: agents.map((agentId) => {
      const { sessionsFolder, archiveFolder, workspace } = agentLayout(home, agentId);
      return { agentId, sessionsFolder, archiveFolder, workspace: config.agents[agentId]?.workspace ?? workspace };
    }),
    native: {
      claudeHome: resolveClaudeHome(env),
      owners: new Map(registries.sessions.map(({ sessionId, agentId }) => [sessionId, agentId])),
      archive: { folder: claudeLayout(home).archiveFolder, sessions: [...archive.values()] },
    },
  };
}
