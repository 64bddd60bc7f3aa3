/** Memory as an agent's `memory_search` tool answers it, with the fields that OpenClaw's has. */
import type { SearchIndex } from "./search-index.ts";
import type { SearchResult } from "./search.ts";

export interface MemoryQuery {
  text: string;
  agentId: string;
  /** Left out: 6. */
  maxResults?: number;
  /** Left out: 0, everything that was found. */
  minScore?: number;
}

export interface MemoryHit {
  /** Below the agent's workspace. */
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

export function searchMemory(index: SearchIndex, query: MemoryQuery): MemoryResult {
  const { text, agentId, minScore = 0 } = query;
  const limit = query.maxResults ?? MAX_RESULTS;
  const { hits, ...rest } = index.search({ text, agentId, kinds: ["memory"], limit, snippet: SNIPPET });
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
