/** Passages of memory files, and of a conversation's earlier windows, as the agents' tools return them. */
import type { SearchIndex } from "./search-index.ts";
import type { SearchResult } from "./search.ts";

export interface MemoryQuery {
  text: string;
  agentId: string;
  /** Default: 6. */
  maxResults?: number | undefined;
  /** Default: 0, all results. */
  minScore?: number | undefined;
}

export interface MemoryHit {
  /** Relative to the agent's workspace. */
  path: string;
  startLine: number;
  endLine: number;
  snippet: string;
  score: number;
  source: "memory";
}

export interface MemoryResult extends Pick<SearchResult, "matched" | "indexing" | "note"> {
  results: MemoryHit[];
}

const MAX_RESULTS = 6;
const SNIPPET = { length: 700, keepLines: true };

export async function searchMemory(index: SearchIndex, query: MemoryQuery): Promise<MemoryResult> {
  const { text, agentId, minScore = 0 } = query;
  const limit = query.maxResults ?? MAX_RESULTS;
  const { hits, ...rest } = await index.askPassages({ text, agentId, kinds: ["memory"], limit, snippet: SNIPPET });
  const results = hits
    .filter(({ score }) => score >= minScore)
    .map(({ name, line, endLine, snippet, score }) => ({
      path: name,
      startLine: line,
      endLine,
      snippet,
      score,
      source: "memory" as const,
    }));
  return { ...rest, results };
}

export interface RecallQuery extends MemoryQuery {
  /** Ids of the earlier windows of the session that asks. No other transcript is searched. */
  windows: readonly string[];
}

export interface WindowHit {
  source: "window";
  /** The window's session id. */
  window: string;
  /** Continues the window, in the chat. */
  command: string;
  entryId?: string | undefined;
  /** `user` or `assistant`. */
  role?: string | undefined;
  at?: string | undefined;
  snippet: string;
  score: number;
}

export interface RecallResult extends Pick<SearchResult, "matched" | "indexing" | "note"> {
  results: (MemoryHit | WindowHit)[];
}

/** Which of two outcomes the note is about. */
const CLOSENESS = { all: 0, some: 1, meaning: 2, none: 3 };
/** Enough to name a window of one session. */
const SHORT_ID = 8;

export async function searchRecall(index: SearchIndex, query: RecallQuery): Promise<RecallResult> {
  const { text, agentId, windows, minScore = 0 } = query;
  const limit = query.maxResults ?? MAX_RESULTS;
  const memory = await searchMemory(index, query);
  if (windows.length === 0) return memory;
  const filter = { kinds: ["transcript"], sessionIds: windows } as const;
  const said = await index.askPassages({ text, agentId, ...filter, limit, snippet: SNIPPET });
  const found = said.hits
    .filter(({ score, role }) => score >= minScore && role !== "tool")
    .map(({ sessionId = "", entryId, role, at, snippet, score }): WindowHit => {
      const short = sessionId.slice(0, SHORT_ID);
      const isUnique = windows.filter((id) => id.startsWith(short)).length === 1;
      return {
        source: "window",
        window: sessionId,
        command: `/back ${isUnique ? short : sessionId}`,
        entryId,
        role,
        at: at === undefined ? undefined : new Date(at).toISOString(),
        snippet,
        score,
      };
    });
  const better = [memory, said].toSorted((a, b) => CLOSENESS[a.matched] - CLOSENESS[b.matched])[0] ?? memory;
  const results = [...memory.results, ...found].sort((a, b) => b.score - a.score).slice(0, limit);
  return { matched: better.matched, indexing: better.indexing, note: better.note, results };
}
