/** The search tools: earlier sessions, and the agent's memory files. */
import { z } from "zod";
import { HoldfastError } from "../../base/errors.ts";
import type { DiscoveredSession } from "../../claude/discovered-session.ts";
import { countUpTo, defineTool, searchText } from "../bridge-tool.ts";
import { UNTRUSTED, taskOf } from "../model-text.ts";
import type { SessionHit } from "../../memory/search.ts";

const passage = z.object({
  role: z.string().optional(),
  at: z.string().optional(),
  snippet: z.string(),
  score: z.number(),
});

const foundSession = z.object({
  sessionId: z.string(),
  /** `chat`: the linked conversation. `claude-code`: a session of this repo. */
  kind: z.enum(["chat", "claude-code"]),
  agent: z.string().optional(),
  title: z.string().optional(),
  branch: z.string().optional(),
  lastModified: z.string().optional(),
  score: z.number(),
  passages: z.array(passage),
});

export const sessionSearch = defineTool({
  name: "openclaw_session_search",
  title: "Search sessions",
  description:
    "Full-text search over earlier Claude Code sessions of this repo (this agent's and those of people, not those of " +
    "other agents) and over the linked chat; by meaning where the words are not found. Returns sessions with their " +
    "best passages. Use it to find out why something was done, or whether it was tried before.",
  flag: "sessionListEnabled",
  input: z.strictObject({
    query: searchText,
    limit: countUpTo(20, 5, "How many sessions"),
    include_native: z.boolean().default(true).describe("Also sessions that no agent started (default true)"),
    role: z.enum(["user", "assistant"]).optional().describe("Only what people (user) or models (assistant) said"),
    since: z.string().max(40).optional().describe("Only messages since this date, e.g. 2026-11-01"),
  }),
  output: z.object({ sessions: z.array(foundSession), note: z.string() }),
  run: async ({ query, limit, include_native: includeNative, role, since }, { search }) => {
    const found = await search.sessions({ text: query, limit, includeNative, role, since: parseDate(since) });
    const rows = new Map(found.sessions.map((row) => [row.sessionId, row]));
    return { sessions: found.hits.map((hit) => toSession(hit, rows)), note: found.note ?? UNTRUSTED };
  },
});

function parseDate(since: string | undefined): number | undefined {
  if (since === undefined) return undefined;
  const at = Date.parse(since);
  if (!Number.isNaN(at)) return at;
  throw new HoldfastError("usage", "invalid-date", `since: ${JSON.stringify(since)} is not a date`, {
    hint: "Give an ISO date, e.g. 2026-11-01 or 2026-11-01T08:00:00Z.",
  });
}

function toSession(hit: SessionHit, rows: ReadonlyMap<string, DiscoveredSession>): z.input<typeof foundSession> {
  const row = hit.kind === "native" ? rows.get(hit.sessionId) : undefined;
  return {
    sessionId: hit.sessionId,
    kind: hit.kind === "native" ? "claude-code" : "chat",
    agent: hit.agentId,
    title: row === undefined ? undefined : taskOf(row),
    branch: row?.branch,
    lastModified: row?.lastModified.toISOString(),
    score: hit.score,
    passages: hit.passages.map(({ role, at, snippet, score }) => ({
      role,
      at: at === undefined ? undefined : new Date(at).toISOString(),
      snippet,
      score,
    })),
  };
}

export const memorySearch = defineTool({
  name: "openclaw_memory_search",
  title: "Search memory",
  description:
    "Searches what the agent has noted for later: AGENTS.md, MEMORY.md and memory/*.md of its workspace. Returns " +
    "passages with file and lines, best first. Use a few distinctive words; quotes find a phrase, -word excludes it.",
  flag: "exposeMemory",
  input: z.strictObject({
    query: searchText,
    maxResults: countUpTo(20, 6, "How many passages"),
    minScore: z.number().min(0).max(1).default(0).describe("Skip passages below this score, 0 to 1 (default 0)"),
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
