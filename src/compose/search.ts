/** Opens the search index for a person: every agent's chats and memory, and all native sessions. */
import { type Clock, systemClock } from "../base/clock.ts";
import { type Logger, createLogger } from "../base/log.ts";
import { readArchive } from "../claude/archive/catalogue.ts";
import { resolveClaudeHome } from "../claude/native/layout.ts";
import { listAllSessions } from "../claude/registry/registry.ts";
import type { HoldfastConfig } from "../config/config.ts";
import { type Environment, agentLayout, claudeLayout, resolveOpenClawHome, searchIndexFile } from "../config/layout.ts";
import { type PersonQuery, type PersonResult, searchForPerson } from "../memory/person-search.ts";
import type { RefreshOptions, RefreshReport } from "../memory/refresh.ts";
import { type SearchIndex, createSearchIndex } from "../memory/search-index.ts";
import type { AgentSources, SearchSources } from "../memory/sources.ts";
import { bringTranscripts, listAgentIds } from "./agent.ts";

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
  const { home, config, env = process.env } = options;
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const index = await openSearchIndex({ ...options, logger });
  return {
    index,
    refresh: async (choice) => {
      const report = await index.refresh({ ...choice, sources: await allSources({ home, config, env }) });
      for (const { path, reason } of report.failed) logger.warn("not searchable", { path, reason });
      return report;
    },
    query: async (query) => await searchForPerson(index, query),
    close: () => index.close(),
  };
}

/** With the configured embedding model, if there is one. */
export async function openSearchIndex(options: OpenSearchOptions & { logger: Logger }): Promise<SearchIndex> {
  const { home, config, clock = systemClock, logger } = options;
  const { embeddings } = config.search;
  const encoder = embeddings === undefined ? undefined : await openEncoder(options, embeddings);
  return await createSearchIndex({ path: searchIndexFile(home), clock, logger, encoder });
}

async function openEncoder({ config, env = process.env, clock = systemClock }: OpenSearchOptions, spec: string) {
  const { openEmbeddingModel } = await import("../models/embedding-model.ts");
  return openEmbeddingModel(spec, { providers: config.providers, models: config.models, env, clock });
}

async function allSources({
  home,
  config,
  env,
}: Required<Pick<OpenSearchOptions, "home" | "config" | "env">>): Promise<SearchSources> {
  const [agentIds, registries, archive] = await Promise.all([
    listAgentIds(home),
    listAllSessions({ home, openClawHome: resolveOpenClawHome(env) }),
    readArchive(home),
  ]);
  const agents = [...new Set([config.defaultAgent, ...Object.keys(config.agents), ...agentIds])];
  const ofAgent = async (agentId: string): Promise<AgentSources> => {
    const { workspace } = agentLayout(home, agentId);
    const { sessions, archive: archived } = await bringTranscripts({ home, config }, agentId);
    const own = config.agents[agentId]?.workspace ?? workspace;
    return { agentId, sessionsFolder: sessions, archiveFolder: archived, workspace: own };
  };
  return {
    agents: await Promise.all(agents.map(ofAgent)),
    native: {
      claudeHome: resolveClaudeHome(env),
      owners: new Map(registries.sessions.map(({ sessionId, agentId }) => [sessionId, agentId])),
      archive: { folder: claudeLayout(home).archiveFolder, sessions: [...archive.values()] },
    },
  };
}
