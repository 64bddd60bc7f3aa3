/**
 * Searches what this agent may see from this repo: its memory, the linked conversation, and the repo's native
 * sessions that it or a person started. The first search opens the index. Each search refreshes it for about a
 * second; a large first run continues with the next search.
 */
import { basename, dirname } from "node:path";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import { claudeLayout } from "../config/layout.ts";
import type { TranscriptFolders } from "../store/transcripts.ts";
import { isBelow } from "../memory/list-sources.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { McpParts } from "./bridge-parts.ts";
import { findConversation } from "./privacy.ts";
import { createKeyedMutex } from "../base/async.ts";

export type BridgeSearch = ReturnType<typeof createBridgeSearch>;

interface SessionSearchQuery {
  text: string;
  limit: number;
  /** False: skip native sessions that no agent started. */
  includeNative: boolean;
  role?: "user" | "assistant" | undefined;
  since?: number | undefined;
}

const REFRESH_MS = 1500;
const LOCK = "index";
/** Folders outside the repo, mostly worktrees, that one query can name. */
const MAX_ROOTS = 500;

export function createBridgeSearch(parts: McpParts) {
  const mutex = createKeyedMutex();
  /** One at a time: parallel calls would refresh the same files. */
  const refreshed = async <T>(sources: SearchSources, search: (index: SearchIndex) => Promise<T>): Promise<T> =>
    await mutex.run(LOCK, async () => {
      const index = await parts.openSearchIndex();
      const { failed } = await index.refresh({ sources, budgetMs: REFRESH_MS });
      for (const { path, reason } of failed) parts.logger.warn("not searchable", { path, reason });
      return await search(index);
    });

  return {
    memory: async ({ text, maxResults, minScore }: { text: string; maxResults: number; minScore: number }) => {
      const { searchMemory } = await import("../memory/search-results.ts");
      const sources = await parts.searchSources({ memory: true });
      const query = { text, agentId: parts.agentId, maxResults, minScore };
      return await refreshed(sources, async (index) => await searchMemory(index, query));
    },
    sessions: async ({ text, limit, includeNative, role, since }: SessionSearchQuery) => {
      const [{ sessions }, chats] = await Promise.all([parts.claude.discover(parts.repoPath), chatWindows(parts)]);
      const visible = sessions.filter(({ agentId }) =>
        agentId === undefined ? includeNative : agentId === parts.agentId,
      );
      const archived = visible.filter((session) => session.archived === true).map(({ sessionId }) => sessionId);
      const sources = await parts.searchSources({ nativeFolders: foldersOf(visible), archived });
      const query = { text, agentId: parts.agentId, limit, role, since };
      // Filter by session, so that other repos and chats are not even ranked.
      const repoRoots = outermost(visible.flatMap(({ cwds }) => cwds));
      const native = { kinds: ["native"], sessionIds: visible.map(({ sessionId }) => sessionId), repoRoots } as const;
      const own = { kinds: ["transcript"], sessionIds: chats } as const;
      return await refreshed(sources, async (index) => {
        const filters = [native, own];
        const results = await Promise.all(filters.map(async (filter) => await index.ask({ ...query, ...filter })));
        const hits = results.flatMap((result) => result.sessions).sort((a, b) => b.score - a.score);
        const note = (results.find((result) => result.sessions.length > 0) ?? results[0])?.note;
        return { hits: hits.slice(0, limit), sessions: visible, note };
      });
    },
  };
}

/** All windows of the linked conversation. Empty if conversations are not exposed. */
async function chatWindows(parts: McpParts): Promise<string[]> {
  if (!parts.claude.config.mcp.exposeConversation) return [];
  const link = await findConversation(parts);
  return link.linked ? (await link.agent.store.windows(link.key)).map(({ sessionId }) => sessionId) : [];
}

/** Drops folders below another one, to keep the query short. */
function outermost(folders: readonly string[]): string[] {
  const kept: string[] = [];
  for (const folder of [...new Set(folders)].toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((root) => isBelow(folder, root))) kept.push(folder);
  }
  return kept.slice(0, MAX_ROOTS);
}

function foldersOf(sessions: readonly DiscoveredSession[]): string[] {
  const paths = sessions.flatMap((session) =>
    session.transcriptPath === undefined || session.archived === true ? [] : [session.transcriptPath],
  );
  return [...new Set(paths.map((path) => basename(dirname(path))))];
}

export interface SearchPlaces extends Record<"home" | "openClawHome" | "claudeHome" | "agentId" | "workspace", string> {
  bringTranscripts(): Promise<TranscriptFolders>;
}

export async function searchSourcesOf(
  places: SearchPlaces,
  want: Parameters<McpParts["searchSources"]>[0],
): Promise<SearchSources> {
  const { home, agentId, workspace } = places;
  if ("memory" in want) return { agents: [{ agentId, workspace }] };
  const [{ listAllSessions }, { readArchive }] = await Promise.all([
    import("../claude/registry/registry.ts"),
    import("../claude/archive/catalogue.ts"),
  ]);
  const [registries, archive, transcripts] = await Promise.all([
    listAllSessions(places),
    readArchive(home),
    places.bringTranscripts(),
  ]);
  const sessions = want.archived.flatMap((id) => archive.get(id) ?? []);
  return {
    agents: [{ agentId, sessionsFolder: transcripts.sessions, archiveFolder: transcripts.archive }],
    native: {
      claudeHome: places.claudeHome,
      folders: want.nativeFolders,
      owners: new Map(registries.sessions.map(({ sessionId, agentId: owner }) => [sessionId, owner])),
      archive: { folder: claudeLayout(home).archiveFolder, sessions },
    },
  };
}
