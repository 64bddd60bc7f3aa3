/**
 * Searching what this agent may see from this repo: its memory, the linked conversation, and the native
 * sessions of the repo that it started or that no agent did. The index is opened by the first search and
 * brought up to date before each, for a second or so: a large first run goes on with the next search.
 */
import { basename, dirname } from "node:path";
import { createKeyedMutex } from "../base/mutex.ts";
import type { DiscoveredSession } from "../claude/discovered-session.ts";
import type { MemoryResult } from "../memory/search-memory.ts";
import type { SearchIndex } from "../memory/search-index.ts";
import { isBelow } from "../memory/list-sources.ts";
import type { SearchSources } from "../memory/sources.ts";
import type { SessionHit, SessionResult } from "../memory/search-sessions.ts";
import type { McpParts } from "./bridge-parts.ts";
import { findConversation } from "./linked-conversation.ts";

export interface BridgeSearch {
  memory(query: { text: string; maxResults: number; minScore: number }): Promise<MemoryResult>;
  sessions(query: SessionSearchQuery): Promise<SessionSearchResult>;
}

export interface SessionSearchQuery {
  text: string;
  limit: number;
  /** False: not the native sessions that no agent started. */
  includeNative: boolean;
  role?: "user" | "assistant" | undefined;
  /** In ms. */
  since?: number | undefined;
}

export interface SessionSearchResult extends Pick<SessionResult, "note"> {
  hits: SessionHit[];
  /** The native ones among those that were searched. */
  sessions: DiscoveredSession[];
}

const REFRESH_MS = 1500;
const LOCK = "index";
/** Folders outside of the repo, most of them worktrees, that one query can name. */
const MAX_ROOTS = 500;

export function createBridgeSearch(parts: McpParts): BridgeSearch {
  const mutex = createKeyedMutex();
  /** One at a time: two calls at once would bring the same files up to date. */
  const refreshed = async <T>(sources: SearchSources, search: (index: SearchIndex) => T): Promise<T> =>
    await mutex.run(LOCK, async () => {
      const index = await parts.openSearchIndex();
      const { failed } = await index.refresh({ sources, budgetMs: REFRESH_MS });
      for (const { path, reason } of failed) parts.logger.warn("not searchable", { path, reason });
      return search(index);
    });

  return {
    memory: async ({ text, maxResults, minScore }) => {
      const { searchMemory } = await import("../memory/search-memory.ts");
      const sources = await parts.searchSources({ memory: true });
      const query = { text, agentId: parts.agentId, maxResults, minScore };
      return await refreshed(sources, (index) => searchMemory(index, query));
    },
    sessions: async ({ text, limit, includeNative, role, since }) => {
      const [{ searchSessions }, { sessions }, chats] = await Promise.all([
        import("../memory/search-sessions.ts"),
        parts.claude.discover(parts.repoPath),
        chatWindows(parts),
      ]);
      const visible = sessions.filter(({ agentId }) =>
        agentId === undefined ? includeNative : agentId === parts.agentId,
      );
      const archived = visible.filter((session) => session.archived === true).map(({ sessionId }) => sessionId);
      const sources = await parts.searchSources({ nativeFolders: foldersOf(visible), archived });
      const query = {
        text,
        agentId: parts.agentId,
        limit,
        ...(role === undefined ? {} : { role }),
        ...(since === undefined ? {} : { since }),
      };
      // The filters are the sessions themselves: what lies in another repo or another chat is not even ranked.
      const repoRoots = outermost(visible.flatMap(({ cwds }) => cwds));
      const native = { kinds: ["native"], sessionIds: visible.map(({ sessionId }) => sessionId), repoRoots } as const;
      const own = { kinds: ["transcript"], sessionIds: chats } as const;
      return await refreshed(sources, (index) => {
        const results = [native, own].map((filter) => searchSessions(index, { ...query, ...filter }));
        const hits = results.flatMap((result) => result.sessions).sort((a, b) => b.score - a.score);
        const note = (results.find((result) => result.sessions.length > 0) ?? results[0])?.note;
        return { hits: hits.slice(0, limit), sessions: visible, ...(note === undefined ? {} : { note }) };
      });
    },
  };
}

/** Every stretch of the linked conversation; none when conversations are not to be shown. */
async function chatWindows(parts: McpParts): Promise<string[]> {
  if (!parts.claude.config.mcp.exposeConversation) return [];
  const link = await findConversation(parts);
  return link.linked ? (await link.agent.store.windows(link.key)).map(({ sessionId }) => sessionId) : [];
}

/** Without those that lie below another: a repo has many folders, and a query should name few. */
function outermost(folders: readonly string[]): string[] {
  const kept: string[] = [];
  for (const folder of [...new Set(folders)].toSorted((a, b) => a.length - b.length)) {
    if (!kept.some((root) => isBelow(folder, root))) kept.push(folder);
  }
  return kept.slice(0, MAX_ROOTS);
}

/** The names of the project folders that these sessions lie in. */
function foldersOf(sessions: readonly DiscoveredSession[]): string[] {
  const paths = sessions.flatMap((session) =>
    session.transcriptPath === undefined || session.archived === true ? [] : [session.transcriptPath],
  );
  return [...new Set(paths.map((path) => basename(dirname(path))))];
}
