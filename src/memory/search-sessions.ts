/** Sessions whose transcripts have what was asked for, the best first, each with its best passages. */
import type { SearchIndex } from "./search-index.ts";
import type { SearchHit, SearchResult } from "./search.ts";
import type { SearchQuery } from "./search-query.ts";
import type { SourceKind } from "./sources.ts";

export interface SessionQuery extends Omit<SearchQuery, "kinds" | "limit"> {
  /** Left out: both. */
  kinds?: readonly Exclude<SourceKind, "memory">[];
  /** Sessions. Left out: 10. */
  limit?: number;
  /** Passages of each session. Left out: 3. */
  passages?: number;
}

export interface SessionHit {
  sessionId: string;
  kind: Exclude<SourceKind, "memory">;
  agentId?: string;
  path: string;
  archived?: true;
  repo?: string;
  /** Of its newest passage among those found, in ms. */
  at?: number;
  score: number;
  /** How many of the passages that were looked at are this session's. */
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
    // Ids are unique within a kind; a window of ours may have the id of anything.
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
    ...(agentId === undefined ? {} : { agentId }),
    path,
    ...(archived === undefined ? {} : { archived }),
    ...(repo === undefined ? {} : { repo }),
    ...(at === undefined ? {} : { at }),
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
  return {
    ...(entryId === undefined ? {} : { entryId }),
    ...(subagentId === undefined ? {} : { subagentId }),
    ...(role === undefined ? {} : { role }),
    ...(at === undefined ? {} : { at }),
    line,
    snippet,
    score,
  };
}
