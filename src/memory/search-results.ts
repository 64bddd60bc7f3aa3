/** Search results as tools return them: sessions with their best passages, and passages of memory files. */
import type { SearchQuery } from "./find-passages.ts";
import type { SearchIndex } from "./search-index.ts";
import type { SearchHit, SearchResult } from "./search.ts";
import type { SourceKind } from "./sources.ts";

export interface SessionQuery extends Omit<SearchQuery, "kinds" | "limit"> {
  /** Default: both. */
  kinds?: readonly Exclude<SourceKind, "memory">[] | undefined;
  /** Number of sessions. Default: 10. */
  limit?: number | undefined;
  /** Passages per session. Default: 3. */
  passages?: number | undefined;
}

export interface SessionHit {
  sessionId: string;
  kind: Exclude<SourceKind, "memory">;
  agentId?: string | undefined;
  path: string;
  archived?: true | undefined;
  repo?: string | undefined;
  /** Time of its newest match, in ms. */
  at?: number | undefined;
  score: number;
  /** Number of matches in this session. */
  found: number;
  passages: SessionPassage[];
}

export type SessionPassage = Pick<SearchHit, "entryId" | "subagentId" | "role" | "at" | "line" | "snippet" | "score">;

export interface SessionResult extends Pick<SearchResult, "matched" | "indexing" | "note"> {
  sessions: SessionHit[];
}

const SESSIONS = 10;
const PASSAGES = 3;
const PASSAGES_PER_SESSION_LOOKED_AT = 20;

export function searchSessions(index: SearchIndex, query: SessionQuery): SessionResult {
  const { limit = SESSIONS, passages = PASSAGES, kinds = ["transcript", "native"], ...rest } = query;
  const { hits, ...answer } = index.search({ ...rest, kinds, limit: limit * PASSAGES_PER_SESSION_LOOKED_AT });
  const sessions = new Map<string, SessionHit>();
  for (const hit of hits) {
    const { kind, sessionId } = hit;
    if (sessionId === undefined || kind === "memory") continue;
    // Ids are unique only within a kind.
    const key = `${kind} ${hit.agentId ?? ""} ${sessionId}`;
    const session = sessions.get(key);
    if (session === undefined) sessions.set(key, startSession(hit, kind, sessionId));
    else addPassage(session, hit, passages);
  }
  return { ...answer, sessions: [...sessions.values()].slice(0, limit) };
}

function startSession(hit: SearchHit, kind: SessionHit["kind"], sessionId: string): SessionHit {
  const { agentId, path, archived, repo, at, score } = hit;
  return {
    sessionId,
    kind,
    agentId,
    path,
    archived,
    repo,
    at,
    score,
    found: 1,
    passages: [toPassage(hit)],
  };
}

function addPassage(session: SessionHit, hit: SearchHit, limit: number): void {
  session.found += 1;
  if (hit.at !== undefined) session.at = Math.max(session.at ?? hit.at, hit.at);
  if (session.passages.length < limit) session.passages.push(toPassage(hit));
}

function toPassage({ entryId, subagentId, role, at, line, snippet, score }: SearchHit): SessionPassage {
  return { entryId, subagentId, role, at, line, snippet, score };
}

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
