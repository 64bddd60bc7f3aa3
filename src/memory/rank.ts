/**
 * Ranks passages, and sessions by all their passages. Those with all terms come first, then those with some. A quoted
 * phrase must be there. Among equally good ones the newest comes first.
 */
import { type IndexDatabase, ABOUT_PLACE, PASSAGE_BITS, passageId, sourceOf } from "./index-database.ts";
import type { TermMatches } from "./match-terms.ts";
import type { SourceKind } from "./sources.ts";

/** `some`: nothing has all terms; these have some. `meaning`: these hardly have them, but are about the same. */
export type Matched = "all" | "some" | "meaning" | "none";

export interface PassageRow {
  id: number;
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

export interface RankedPassage {
  row: PassageRow;
  weight: number;
  hasAll: boolean;
}

/** How many more candidates than asked for are read, to put the newest of equals first. */
const CANDIDATES = 4;
const MIN_CANDIDATES = 50;

export function rankPassages(
  database: IndexDatabase,
  terms: readonly TermMatches[],
  { limit, similar }: PassageRanking,
): { found: RankedPassage[]; matched: Matched; instead: string[]; coverage: number } {
  const weighed = weighPassages(terms).filter(({ id, matches }) => !isAbout(id) && hasExact(terms, matches));
  const complete = weighed.filter(({ count }) => count === terms.length);
  const coverage = coverageOf(database, terms);
  if (similar !== undefined) {
    const known = new Set(weighed.map(({ id }) => id));
    for (const id of similar.keys()) if (!known.has(id)) weighed.push({ id, weight: 0, count: 0, matches: 0 });
    weighByMeaning(weighed, ({ id }) => similar.get(id), coverage);
  }
  const chosen = (complete.length > 0 ? complete : weighed)
    .sort((a, b) => b.weight - a.weight || b.id - a.id)
    .slice(0, Math.max(MIN_CANDIDATES, limit * CANDIDATES));
  const rows = readPassages(database, chosen);
  const found = chosen.flatMap(({ id, weight, count }) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, weight, hasAll: count === terms.length }];
  });
  const weigh = similar === undefined ? step : (weight: number) => weight;
  found.sort((a, b) => weigh(b.weight) - weigh(a.weight) || (b.row.at ?? 0) - (a.row.at ?? 0) || a.row.id - b.row.id);
  return {
    found: found.slice(0, limit),
    coverage: coverage(chosen[0]?.matches ?? 0),
    ...outcome(terms, found.length, complete.length),
  };
}

interface PassageRanking {
  limit: number;
  /** Ranks by this similarity, by id, and by words only beside it. */
  similar?: ReadonlyMap<number, number> | undefined;
}

/** How much a result with all words counts more than one that is only similar. */
const WORDS_BESIDE = 0.3;
/** The best result by words stays first if it has this share of them. */
const PINNED = 0.25;

/** Replaces the weights by words. */
function weighByMeaning<Result extends { weight: number; matches: number }>(
  results: readonly Result[],
  similarity: (result: Result) => number | undefined,
  coverage: (matches: number) => number,
): void {
  const byWords = results.toSorted((a, b) => b.weight - a.weight)[0];
  for (const result of results) {
    const share = coverage(result.matches);
    const isPinned = result === byWords && share >= PINNED;
    result.weight = (similarity(result) ?? 0) + (isPinned ? 1 : WORDS_BESIDE * share);
  }
}

/** Smaller differences count as equal. */
const STEP = 0.1;

function step(weight: number): number {
  return Math.round(weight / STEP);
}

function outcome(
  terms: readonly TermMatches[],
  found: number,
  complete: number,
): { matched: Matched; instead: string[] } {
  const matched = found === 0 ? "none" : complete > 0 ? "all" : "some";
  return { matched, instead: terms.flatMap(({ instead }) => instead) };
}

interface WeighedPassage {
  id: number;
  /** Sum over the terms. */
  weight: number;
  count: number;
  /** Which terms: bit per term. */
  matches: number;
}

function weighPassages(terms: readonly TermMatches[]): WeighedPassage[] {
  const passages = new Map<number, WeighedPassage>();
  for (const [index, { weights }] of terms.entries()) {
    for (const [id, weight] of weights) {
      let passage = passages.get(id);
      if (passage === undefined) passages.set(id, (passage = { id, weight: 0, count: 0, matches: 0 }));
      passage.weight += weight;
      passage.count += 1;
      passage.matches |= 1 << index;
    }
  }
  return [...passages.values()];
}

function hasExact(terms: readonly TermMatches[], matches: number): boolean {
  return terms.every(({ term }, index) => !term.exact || (matches & (1 << index)) !== 0);
}

function isAbout(id: number): boolean {
  return id % (ABOUT_PLACE + 1) === ABOUT_PLACE;
}

/** A session with its subagents, or a memory file. */
export interface RankedSession {
  /** Empty for a memory file. */
  sessionId: string;
  kind: SourceKind;
  name: string;
  agentId?: string | undefined;
  path: string;
  folder?: string | undefined;
  branch?: string | undefined;
  title?: string | undefined;
  /** Of its newest message, in ms. */
  at?: number | undefined;
  weight: number;
  hasAll: boolean;
  /** Number of matching passages. */
  found: number;
  /** Best first. */
  passages: RankedPassage[];
}

const MAX_SOURCES = 400;
/** The best passage that has several terms counts beside the best passage of each term. */
const TOGETHER = 0.5;

export function rankSessions(
  database: IndexDatabase,
  terms: readonly TermMatches[],
  { limit, passages, similar }: SessionRanking,
): { found: RankedSession[]; total: number; matched: Matched; instead: string[]; coverage: number } {
  const bySource = Map.groupBy(weighPassages(terms), ({ id }) => sourceOf(id));
  const sources = [...bySource]
    .map(([id, members]) => ({ id, members, weight: sessionWeight(terms, members).weight }))
    .sort((a, b) => b.weight - a.weight || b.id - a.id)
    .slice(0, MAX_SOURCES);
  for (const id of similar?.keys() ?? []) if (!bySource.has(id)) sources.push({ id, members: [], weight: 0 });
  const ranked = groupBySession(database, sources)
    .map(({ main, members }) => ({ main, members, ...sessionWeight(terms, members) }))
    .filter(({ matches }) => hasExact(terms, matches));
  const coverage = coverageOf(database, terms);
  if (similar !== undefined) weighByMeaning(ranked, ({ main }) => similar.get(main.id), coverage);
  const complete = ranked.filter(({ count }) => count === terms.length).length;
  const weigh = similar === undefined ? step : (weight: number) => weight;
  ranked.sort((a, b) => weigh(b.weight) - weigh(a.weight) || (b.main.last_at ?? 0) - (a.main.last_at ?? 0));
  const found = ranked.slice(0, limit).map(({ main, members, weight, count }) => ({
    ...describe(database, main),
    weight,
    hasAll: count === terms.length,
    found: members.filter(({ id }) => !isAbout(id)).length,
    passages: bestPassages(database, members, terms.length, passages),
  }));
  return {
    found,
    total: ranked.length,
    coverage: coverage(ranked[0]?.matches ?? 0),
    ...outcome(terms, found.length, complete),
  };
}

/** The share of the terms that a session has. A term that many sources have counts less: it says little. */
function coverageOf(database: IndexDatabase, terms: readonly TermMatches[]): (matches: number) => number {
  const all = database.get<{ count: number }>("SELECT count(*) AS count FROM sources");
  const telling = terms.map(({ weights }) => {
    const sources = new Set([...weights.keys()].map(sourceOf)).size;
    return Math.log(1 + (all?.count ?? 0) / (1 + sources));
  });
  const total = telling.reduce((sum, weight) => sum + weight, 0);
  return (matches) => {
    const covered = telling.reduce((sum, weight, index) => ((matches & (1 << index)) === 0 ? sum : sum + weight), 0);
    return total === 0 ? 0 : covered / total;
  };
}

interface SessionRanking {
  limit: number;
  passages: number;
  /** Ranks by this similarity of sources, and by words only beside it. */
  similar?: ReadonlyMap<number, number> | undefined;
}

function sessionWeight(
  terms: readonly TermMatches[],
  members: readonly WeighedPassage[],
): { weight: number; count: number; matches: number } {
  let weight = 0;
  let matches = 0;
  let together = 0;
  for (const passage of members) if (passage.weight > together) together = passage.weight;
  for (const [index, { weights }] of terms.entries()) {
    let best = 0;
    let times = 0;
    for (const { id, matches: has } of members) {
      if ((has & (1 << index)) === 0) continue;
      times += 1;
      best = Math.max(best, weights.get(id) ?? 0);
    }
    if (times === 0) continue;
    matches |= 1 << index;
    weight += best * (1 + OFTEN * Math.log(times));
  }
  return { weight: weight + TOGETHER * together, count: bitCount(matches), matches };
}

/** The bonus for a term that occurs in several passages. */
const OFTEN = 0.1;

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

interface SessionSource {
  id: number;
  kind: SourceKind;
  owner: string | null;
  session_id: string | null;
  subagent_id: string | null;
  path: string;
  name: string;
  folder: string | null;
  branch: string | null;
  title: string | null;
  last_at: number | null;
}

/** A session and its subagents are one result. */
function groupBySession(
  database: IndexDatabase,
  sources: readonly { id: number; members: WeighedPassage[] }[],
): { main: SessionSource; members: WeighedPassage[] }[] {
  const ids = JSON.stringify(sources.map(({ id }) => id));
  const rows = database.all<SessionSource>(
    `SELECT id, kind, owner, session_id, subagent_id, path, name, folder, branch, title, last_at FROM sources
     WHERE id IN (SELECT value FROM json_each(?))`,
    ids,
  );
  const members = new Map(sources.map((source) => [source.id, source.members]));
  const groups = Map.groupBy(rows, ({ kind, owner, session_id: id, path }) =>
    JSON.stringify([kind, owner, id ?? path]),
  );
  return [...groups.values()].flatMap((group) => {
    const main = group.find((row) => row.subagent_id === null) ?? group[0];
    return main === undefined ? [] : [{ main, members: group.flatMap(({ id }) => members.get(id) ?? []) }];
  });
}

const TITLE_LENGTH = 120;

function describe(
  database: IndexDatabase,
  main: SessionSource,
): Omit<RankedSession, "weight" | "hasAll" | "found" | "passages"> {
  return {
    sessionId: main.session_id ?? "",
    kind: main.kind,
    name: main.name,
    agentId: main.owner ?? undefined,
    path: main.path,
    folder: main.folder ?? undefined,
    branch: main.branch ?? undefined,
    title: main.title ?? firstPrompt(database, main.id),
    at: main.last_at ?? undefined,
  };
}

function firstPrompt(database: IndexDatabase, sourceId: number): string | undefined {
  const row = database.get<{ text: string }>(
    `SELECT substr(text, 1, ${TITLE_LENGTH * 2}) AS text FROM passages
     WHERE id BETWEEN ? AND ? AND role = 'user' ORDER BY id LIMIT 1`,
    passageId(sourceId, 0),
    passageId(sourceId, ABOUT_PLACE),
  );
  const line = row?.text.trim().split("\n")[0];
  return line === undefined || line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`;
}

function bestPassages(
  database: IndexDatabase,
  members: readonly WeighedPassage[],
  terms: number,
  limit: number,
): RankedPassage[] {
  const best = members
    .filter(({ id }) => !isAbout(id))
    .sort((a, b) => b.weight - a.weight || b.id - a.id)
    .slice(0, limit);
  const rows = readPassages(database, best);
  return best.flatMap(({ id, weight, count }) => {
    const row = rows.get(id);
    return row === undefined ? [] : [{ row, weight, hasAll: count === terms }];
  });
}

function readPassages(database: IndexDatabase, passages: readonly { id: number }[]): Map<number, PassageRow> {
  const rows = database.all<PassageRow>(
    `SELECT p.id, s.kind, s.owner, s.session_id, s.subagent_id, s.path, s.name,
       p.entry_id, p.line, p.end_line, p.offset, p.role, p.at, p.folder, p.text
     FROM passages p JOIN sources s ON s.id = p.id >> ${PASSAGE_BITS} WHERE p.id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(passages.map(({ id }) => id)),
  );
  return new Map(rows.map((row) => [row.id, row]));
}
