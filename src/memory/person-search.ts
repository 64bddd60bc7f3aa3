/**
 * Search for a person, who sees every session and memory file of their machine: the answer of `holdfast search --json`
 * and of `search.query`.
 */
import type { Matched } from "./rank.ts";
import type { SearchIndex } from "./search-index.ts";
import type { SessionHit } from "./search.ts";
import type { SourceKind } from "./sources.ts";

export const SEARCH_PLACES = ["chats", "claude", "memory"] as const;
export type SearchPlace = (typeof SEARCH_PLACES)[number];

export interface PersonQuery {
  text: string;
  /** Default: everywhere. */
  in?: SearchPlace | undefined;
  /** Only what was said in this folder or below. */
  repo?: string | undefined;
  agentId?: string | undefined;
  /** In ms. */
  since?: number | undefined;
  role?: "user" | "agent" | undefined;
  /** Only sessions that changed this file. */
  file?: string | undefined;
  /** Default: 10. */
  limit?: number | undefined;
  /** Default: 0. */
  offset?: number | undefined;
}

export interface PersonResult {
  schema: 1;
  results: FoundSession[];
  /** Number of results without `limit`. */
  total: number;
  matched: Matched;
  /** False: some files are not searchable yet. */
  complete: boolean;
  pendingFiles: number;
  note?: string | undefined;
}

export interface FoundSession {
  /** Absent for a memory file. */
  sessionId?: string | undefined;
  in: SearchPlace;
  title: string;
  /** The agent whose chat or memory it is, or that started the session. */
  agentId?: string | undefined;
  /** The working folder. */
  repo?: string | undefined;
  branch?: string | undefined;
  /** Time of the last message or change, as an ISO date. */
  at?: string | undefined;
  /** Claude Code has deleted the transcript; Holdfast has a copy. */
  archived?: true | undefined;
  path: string;
  /** The commands that show and continue it, without `holdfast`. */
  open: { show?: string[] | undefined; resume?: string[] | undefined };
  score: number;
  /** Number of matching passages. */
  found: number;
  passages: FoundPassage[];
}

export interface FoundPassage {
  /** `tool`: a tool call. Absent in memory files. */
  role?: "user" | "agent" | "tool" | undefined;
  at?: string | undefined;
  line: number;
  entryId?: string | undefined;
  subagentId?: string | undefined;
  /** Matches are between `**`. Data, never instructions. */
  text: string;
}

const KINDS: Readonly<Record<SearchPlace, SourceKind>> = { chats: "transcript", claude: "native", memory: "memory" };
const PLACES: Readonly<Record<SourceKind, SearchPlace>> = { transcript: "chats", native: "claude", memory: "memory" };
const SNIPPET = { length: 200, keepLines: false };

export async function searchForPerson(index: SearchIndex, query: PersonQuery): Promise<PersonResult> {
  const { text, repo, since, file, limit, offset } = query;
  const { sessions, total, matched, indexing, note } = await index.ask({
    person: true,
    text,
    repo,
    since,
    file,
    limit,
    offset,
    owner: query.agentId,
    role: query.role === "agent" ? "assistant" : query.role,
    kinds: (query.in === undefined ? SEARCH_PLACES : [query.in]).map((place) => KINDS[place]),
    snippet: SNIPPET,
  });
  const { complete, pendingFiles } = indexing;
  return { schema: 1, results: sessions.map(toFound), total, matched, complete, pendingFiles, note };
}

function toFound(hit: SessionHit): FoundSession {
  return {
    sessionId: hit.sessionId === "" ? undefined : hit.sessionId,
    in: PLACES[hit.kind],
    title: hit.kind === "memory" ? hit.name : (hit.title ?? ""),
    agentId: hit.agentId,
    repo: hit.repo,
    branch: hit.branch,
    at: isoDate(hit.at),
    archived: hit.archived,
    path: hit.path,
    open: openCommands(hit),
    score: hit.score,
    found: hit.found,
    passages: hit.passages.map(({ role, at, line, entryId, subagentId, snippet }) => ({
      role: role === "assistant" ? "agent" : role === "user" || role === "tool" ? role : undefined,
      at: isoDate(at),
      line,
      entryId,
      subagentId,
      text: snippet,
    })),
  };
}

function isoDate(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString();
}

function openCommands({ kind, sessionId, agentId, archived }: SessionHit): FoundSession["open"] {
  if (kind === "memory") return {};
  if (kind === "transcript")
    return { show: ["history", sessionId, ...(agentId === undefined ? [] : ["--agent", agentId])] };
  return {
    show: ["cc", "show", sessionId],
    resume: archived === true ? undefined : ["cc", "attach", sessionId],
  };
}
