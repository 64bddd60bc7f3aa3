/** `memory_search`: what the agent has noted for later, in the shape that `openclaw_memory_search` has. */
import { HoldfastError } from "../../base/errors.ts";
import type { MemoryResult } from "../../memory/search-memory.ts";
import type { AgentTool } from "./agent-tool.ts";
import { toolSchema } from "./define-schema.ts";

const DEFAULT_RESULTS = 6;
const MAX_RESULTS = 20;

export type SearchMemory = (query: { text: string; maxResults: number; minScore: number }) => Promise<MemoryResult>;

export function createMemorySearch(searchMemory: SearchMemory): AgentTool {
  return {
    name: "memory_search",
    description:
      "Searches what you have noted for later: AGENTS.md, MEMORY.md and memory/*.md of your workspace. Returns passages " +
      "with file and lines, best first. Use a few distinctive words; quotes find a phrase, -word leaves out.",
    inputSchema: toolSchema({
      query: { type: "string", description: "What to look for" },
      "maxResults?": { type: "integer", description: `How many passages. Default: ${DEFAULT_RESULTS}` },
      "minScore?": { type: "number", description: "Leave out passages below this score, 0 to 1. Default: 0" },
    }),
    run: async ({ query, maxResults = DEFAULT_RESULTS, minScore = 0 }) => {
      const text = String(query).trim();
      if (text === "") throw emptyQuery();
      const limit = Math.min(MAX_RESULTS, Math.max(1, Number(maxResults)));
      const { results, note } = await searchMemory({ text, maxResults: limit, minScore: Number(minScore) });
      return JSON.stringify({ results, ...(note === undefined ? {} : { note }) }, undefined, 1);
    },
  };
}

function emptyQuery(): HoldfastError {
  return new HoldfastError("usage", "query-empty", "The query is empty.", { hint: "Say what to look for." });
}
