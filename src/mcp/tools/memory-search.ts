/** `openclaw_memory_search`: the agent's memory files. */
import { z } from "zod";
import { defineTool } from "../bridge-tool.ts";
import { UNTRUSTED } from "../model-text.ts";
import { searchText } from "./arguments.ts";

const DEFAULT_RESULTS = 6;
const MAX_RESULTS = 20;

export const memorySearch = defineTool({
  name: "openclaw_memory_search",
  title: "Search memory",
  description:
    "Searches what the agent has noted for later: AGENTS.md, MEMORY.md and memory/*.md of its workspace. Returns " +
    "passages with file and lines, best first. Use a few distinctive words; quotes find a phrase, -word leaves out.",
  flag: "exposeMemory",
  input: z.strictObject({
    query: searchText,
    maxResults: z
      .int()
      .min(1)
      .max(MAX_RESULTS)
      .default(DEFAULT_RESULTS)
      .describe(`How many passages (default ${DEFAULT_RESULTS})`),
    minScore: z.number().min(0).max(1).default(0).describe("Leave out passages below this score, 0 to 1 (default 0)"),
  }),
  output: z.object({
    results: z.array(
      z.object({
        path: z.string(),
        startLine: z.number(),
        endLine: z.number(),
        snippet: z.string(),
        score: z.number(),
        source: z.literal("memory"),
      }),
    ),
    note: z.string(),
  }),
  run: async ({ query, maxResults, minScore }, { search }) => {
    const { results, note } = await search.memory({ text: query, maxResults, minScore });
    return { results, note: note ?? UNTRUSTED };
  },
});
