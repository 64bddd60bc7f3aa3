/**
 * Finds passages. Passages with all terms come first: as words, then as characters anywhere. If there are none,
 * passages with some of the terms count. Among equally good passages, the newest comes first.
 */
import type { SQLInputValue } from "node:sqlite";
import { type IndexDatabase, PASSAGE_BITS } from "./index-database.ts";
import { type ParsedQuery, fragmentsExpression, wordsExpression } from "./query.ts";
import { fragmentText } from "./source-rows.ts";
import type { SourceKind } from "./sources.ts";

export interface SearchQuery {
  text: string;
  /** The asking agent. Its own memory, transcripts and native sessions are searched. */
  agentId: string;
  /** Also search native sessions that no agent started and that worked in one of these folders or below. */
  repoRoots?: readonly string[] | undefined;
  /** Only passages written in this folder or below. */
  repo?: string | undefined;
  /** Default: all. */
  kinds?: readonly SourceKind[] | undefined;
  role?: "user" | "assistant" | undefined;
  /** In ms. */
  since?: number | undefined;
  sessionIds?: readonly string[] | undefined;
  /** Default: 20. */
  limit?: number | undefined;
  /** Length in characters. Default: 240, on one line. */
  snippet?: { length: number; keepLines: boolean } | undefined;
}

/** `some`: no passage has all terms; these have some. */
export type Matched = "all" | "some" | "none";

export interface FoundRow {
  id: number;
  /** Rank of the words. Null: only characters matched. */
  rank: number | null;
  kind: SourceKind;
  owner: string | null;
  session_id: string | null;
  subagent_id: string | null;
  path: string;
  name: string;
  entry_id: string | null;
  line: number;
  end_line: number;
  offset: number;
  role: string | null;
  at: number | null;
  folder: string | null;
  text: string;
}

export function findPassages(
  database: IndexDatabase,
  parsed: ParsedQuery,
  query: SearchQuery,
  limit: number,
): { found: FoundRow[]; matched: Matched } {
  const filter = sourceFilter(query);
  for (const join of ["AND", "OR"] as const) {
    if (join === "OR" && parsed.wanted.length < 2) break;
    const words = wordsExpression(parsed, join);
    const found = words === undefined ? [] : findWords(database, words, filter, limit).sort(byRank);
    const fragments = found.length >= limit ? undefined : fragmentsExpression(parsed, join);
    if (fragments !== undefined) {
      const known = new Set(found.map(({ id }) => id));
      const more = findFragments(database, fragments, filter, limit);
      // After all word matches: a whole word is a better answer than a part of one.
      found.push(...more.filter((row) => !known.has(row.id) && hasTerms(row.text, parsed, join)).sort(byRank));
    }
    if (found.length > 0) return { found, matched: join === "AND" ? "all" : "some" };
  }
  return { found: [], matched: "none" };
}

interface Filter {
  /** Conditions on `sources s`. */
  sources: string;
  /** Conditions on `passages p`. Empty: none. */
  passages: string;
  values: { sources: SQLInputValue[]; passages: SQLInputValue[] };
}

/**
 * Limits the search to sources that the agent may see. Checked per match, because listing all visible sources takes
 * longer than most searches.
 */
function sourceFilter(query: SearchQuery): Filter {
  const roots = query.repoRoots ?? [];
  const values: Filter["values"] = { sources: [query.agentId], passages: [] };
  let visible = "s.owner = ?";
  if (roots.length > 0) {
    const inRoots = folderCondition("f.folder", roots, values.sources);
    const worked = `EXISTS (SELECT 1 FROM source_folders f WHERE f.source_id = s.id AND ${inRoots})`;
    visible += ` OR (s.kind = 'native' AND s.owner IS NULL AND s.settled = 1 AND ${worked})`;
  }
  const conditions = [`(${visible})`];
  for (const [column, list] of [["s.kind", query.kinds] as const, ["s.session_id", query.sessionIds] as const]) {
    if (list === undefined) continue;
    conditions.push(`${column} IN (SELECT value FROM json_each(?))`);
    values.sources.push(JSON.stringify(list));
  }
  const passages: string[] = [];
  if (query.role !== undefined) {
    passages.push("p.role = ?");
    values.passages.push(query.role);
  }
  if (query.since !== undefined) {
    passages.push("p.at >= ?");
    values.passages.push(query.since);
  }
  if (query.repo !== undefined) passages.push(folderCondition("p.folder", [query.repo], values.passages));
  return { sources: conditions.join(" AND "), passages: passages.join(" AND "), values };
}

/** Compares ranges, so that pattern characters in a path have no meaning. */
function folderCondition(column: string, folders: readonly string[], values: SQLInputValue[]): string {
  const conditions = folders.map((folder) => {
    const base = folder.length > 1 && folder.endsWith("/") ? folder.slice(0, -1) : folder;
    // "0" is the character after "/".
    const below = base === "/" ? ["/", "0"] : [`${base}/`, `${base}0`];
    values.push(base, ...below);
    return `${column} = ? OR (${column} >= ? AND ${column} < ?)`;
  });
  return `(${conditions.join(" OR ")})`;
}

/** How many more candidates than asked for are read, to put the newest of equals first. */
const CANDIDATES = 4;
const MAX_FRAGMENT_CANDIDATES = 2000;

function findWords(database: IndexDatabase, expression: string, filter: Filter, limit: number): FoundRow[] {
  const rank = "bm25(words, 1.0, 0.6)";
  return findIn(database, { table: "words", rank, expression, limit: Math.max(50, limit * CANDIDATES) }, filter);
}

function findFragments(database: IndexDatabase, expression: string, filter: Filter, limit: number): FoundRow[] {
  const candidates = Math.min(MAX_FRAGMENT_CANDIDATES, Math.max(200, limit * CANDIDATES * 2));
  return findIn(database, { table: "fragments", rank: "NULL", expression, limit: candidates }, filter);
}

function findIn(
  database: IndexDatabase,
  { table, rank, expression, limit }: { table: string; rank: string; expression: string; limit: number },
  filter: Filter,
): FoundRow[] {
  const onPassage =
    filter.passages === ""
      ? ""
      : `AND EXISTS (SELECT 1 FROM passages p WHERE p.id = ${table}.rowid AND ${filter.passages})`;
  const ids = `
    SELECT rowid AS id, ${rank} AS rank FROM ${table}
    WHERE ${table} MATCH ?
      AND EXISTS (SELECT 1 FROM sources s WHERE s.id = (${table}.rowid >> ${PASSAGE_BITS}) AND ${filter.sources})
      ${onPassage}
    ORDER BY ${table === "words" ? "rank" : "rowid DESC"} LIMIT ?`;
  return database.all<FoundRow>(
    `SELECT found.id, found.rank, s.kind, s.owner, s.session_id, s.subagent_id, s.path, s.name,
       p.entry_id, p.line, p.end_line, p.offset, p.role, p.at, p.folder, p.text
     FROM (${ids}) AS found JOIN passages p ON p.id = found.id JOIN sources s ON s.id = found.id >> ${PASSAGE_BITS}`,
    expression,
    ...filter.values.sources,
    ...filter.values.passages,
    limit,
  );
}

/** Fragments only suggest passages; this checks the text. */
function hasTerms(text: string, { wanted, unwanted }: ParsedQuery, join: "AND" | "OR"): boolean {
  const folded = fragmentText(text).toLowerCase();
  const has = (term: string): boolean => folded.includes(fragmentText(term).toLowerCase());
  if (unwanted.some((term) => has(term.text))) return false;
  return join === "AND" ? wanted.every((term) => has(term.text)) : wanted.some((term) => has(term.text));
}

/** SQLite's rank is lower for better passages. Smaller differences count as equal. */
const RANK_STEP = 0.1;

function byRank(a: FoundRow, b: FoundRow): number {
  const step = ({ rank }: FoundRow): number => Math.round((rank ?? 0) / RANK_STEP);
  return step(a) - step(b) || (b.at ?? 0) - (a.at ?? 0) || a.id - b.id;
}
