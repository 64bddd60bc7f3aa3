/**
 * Finds the passages of each term of a query, with a weight per passage. A term that no passage has is replaced: by
 * words that contain it, by words that differ by a typo, by the end of a path. Rare terms come first; a term that is
 * in very many passages is only looked up where a rarer one was found, or in the newest sessions.
 */
import type { IndexDatabase } from "./index-database.ts";
import { ABOUT_PLACE, PASSAGE_BITS, sourceOf } from "./index-database.ts";
import {
  type ParsedQuery,
  type QueryTerm,
  isWorthScanning,
  phrase,
  tellingTerms,
  termExpression,
  without,
  wordsOf,
} from "./query.ts";
import type { RowFilter } from "./source-filter.ts";
import { similarWords, splitWord, wordsContaining } from "./vocabulary.ts";

export interface TermMatches {
  term: QueryTerm;
  /** Passage id → weight, higher is better. */
  weights: Map<number, number>;
  /** Words that were found instead of the term, to be marked. */
  instead: string[];
}

/** Said, parts of words, tool calls, about the session. */
const TOOL_WEIGHT = 0.3;
const COLUMN_WEIGHTS = `1.0, 0.8, ${TOOL_WEIGHT}, 1.0`;
/** More passages than this: a common term. */
const COMMON = 3000;
/** Fewer passages than this: also look for words that contain the term. */
const FEW = 5;

export function matchTerms(database: IndexDatabase, parsed: ParsedQuery, filter: RowFilter): TermMatches[] {
  const terms = tellingTerms(parsed).map((term) => {
    const expression = termExpression(term);
    return { term, expression, count: expression === undefined ? 0 : countUpTo(database, expression, COMMON + 1) };
  });
  terms.sort((a, b) => a.count - b.count);
  /** Source → the best weight of its passages so far. */
  const sources = new Map<number, number>();
  const placesOf = ({ prefix }: QueryTerm) => ({
    sources: sources.size > 0 ? best(sources) : newestSources(database, filter),
    isPrefix: prefix,
  });
  const rareLookup = createLookup(database, parsed, filter);
  return terms.map(({ term, expression, count }) => {
    const lookup = count > COMMON ? commonLookup(database, parsed, filter, placesOf(term)) : rareLookup;
    const weights = expression === undefined ? new Map<number, number>() : lookup(expression, 1);
    const instead = weights.size < FEW && !term.exact ? addReplacements(database, term, weights, lookup) : [];
    if (weights.size === 0 && isWorthScanning(term)) scan(database, term, parsed, filter, weights);
    for (const [id, weight] of weights) sources.set(sourceOf(id), Math.max(weight, sources.get(sourceOf(id)) ?? 0));
    return { term, weights, instead };
  });
}

/** A common term is only looked up in this many sources: ranking it everywhere takes longer than everything else. */
const MAX_SOURCES = 200;

function best(sources: ReadonlyMap<number, number>): number[] {
  const ranked = [...sources].sort((a, b) => b[1] - a[1]);
  return ranked.slice(0, MAX_SOURCES).map(([id]) => id);
}

function newestSources(database: IndexDatabase, filter: RowFilter): number[] {
  const about = `((sources.id << ${PASSAGE_BITS}) + ${ABOUT_PLACE})`;
  const sql = `SELECT id FROM sources WHERE ${filter.sql(about)} ORDER BY last_at DESC LIMIT ${MAX_SOURCES}`;
  return database.all<{ id: number }>(sql, ...filter.values).map(({ id }) => id);
}

function countUpTo(database: IndexDatabase, expression: string, limit: number): number {
  const sql = "SELECT count(*) AS count FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)";
  return database.get<{ count: number }>(sql, expression, limit)?.count ?? 0;
}

type Lookup = (expression: string, share: number) => Map<number, number>;

function createLookup(database: IndexDatabase, { unwanted }: ParsedQuery, filter: RowFilter): Lookup {
  const sql = `
    SELECT rowid AS id, -bm25(words, ${COLUMN_WEIGHTS}) AS goodness FROM words
    WHERE words MATCH ? AND ${filter.sql("words.rowid")} ORDER BY goodness DESC LIMIT ${COMMON}`;
  return (expression, share) => {
    const values = [without(expression, unwanted), ...filter.values];
    const rows = database.all<{ id: number; goodness: number }>(sql, ...values);
    return new Map(rows.map(({ id, goodness }) => [id, share * (goodness + PRESENCE)]));
  };
}

/**
 * Looks into each of these sources by the range of its ids. bm25 would count all passages with the term first, so the
 * weight is what bm25 gives a passage of average length, as rare as the term is in these sources.
 */
function commonLookup(
  database: IndexDatabase,
  { unwanted }: ParsedQuery,
  filter: RowFilter,
  { sources, isPrefix }: { sources: readonly number[]; isPrefix: boolean },
): Lookup {
  const within = JSON.stringify(sources);
  // A prefix collects its words again for every range.
  const places = isPrefix
    ? `words LEFT JOIN passages ON passages.id = words.rowid
       WHERE (words.rowid >> ${PASSAGE_BITS}) IN (SELECT value FROM json_each(?))`
    : `json_each(?) AS s CROSS JOIN words LEFT JOIN passages ON passages.id = words.rowid
       WHERE words.rowid BETWEEN s.value << ${PASSAGE_BITS} AND (s.value << ${PASSAGE_BITS}) + ${ABOUT_PLACE}`;
  const sql = `
    SELECT words.rowid AS id, passages.role IS 'tool' AS is_tool FROM ${places}
      AND words MATCH ? AND ${filter.sql("words.rowid")}`;
  return (expression, share) => {
    const found = database.all<{ id: number; is_tool: number }>(
      sql,
      within,
      without(expression, unwanted),
      ...filter.values,
    );
    const count = "SELECT sum(passages + 1) AS count FROM sources WHERE id IN (SELECT value FROM json_each(?))";
    const all = database.get<{ count: number | null }>(count, within)?.count ?? 0;
    const rarity = Math.max(0, Math.log((all - found.length + 0.5) / (found.length + 0.5)));
    return new Map(found.map((row) => [row.id, share * (rarity * (row.is_tool === 1 ? TOOL_WEIGHT : 1) + PRESENCE)]));
  };
}

/** Added for every term that is there: in a small index the statistics of words say nothing. */
const PRESENCE = 0.25;

/** Ways to read a term that was not found as it was typed, each with its share of the weight. */
const SHARES = { split: 0.9, similar: 0.7, pathEnd: 0.7, together: 0.5, containing: 0.5 };

function addReplacements(
  database: IndexDatabase,
  term: QueryTerm,
  weights: Map<number, number>,
  lookup: Lookup,
): string[] {
  const words = wordsOf(term.text);
  const instead: string[] = [];
  const add = (phrases: readonly string[][], share: number): void => {
    if (phrases.length === 0) return;
    const before = weights.size;
    for (const [id, weight] of lookup(phrases.map(phrase).join(" OR "), share)) {
      weights.set(id, Math.max(weight, weights.get(id) ?? 0));
    }
    if (weights.size > before) instead.push(...phrases.flat());
  };
  /** The longest end of a path that is found. */
  const addPathEnd = (path: readonly string[]): void => {
    const before = weights.size;
    for (let from = 0; from < path.length - 1 && weights.size === before; from += 1) {
      add([path.slice(from)], SHARES.pathEnd);
    }
  };
  const [word] = words;
  if (LINE_NUMBER.test(term.text)) addPathEnd(wordsOf(term.text.replace(LINE_NUMBER, "")));
  if (words.length === 1 && word !== undefined) {
    const wasFound = weights.size > 0;
    if (!wasFound) add(splitWord(database, word), SHARES.split);
    add(
      wordsContaining(database, word).map((found) => [found]),
      SHARES.containing,
    );
    if (weights.size === 0)
      add(
        similarWords(database, word).map((found) => [found]),
        SHARES.similar,
      );
  } else if (words.length > 1 && weights.size === 0) {
    addPathEnd(words.slice(1));
    if (weights.size === 0) add(corrected(database, words), SHARES.similar);
    if (weights.size === 0) {
      for (const [id, weight] of lookup(words.map((each) => phrase([each])).join(" AND "), SHARES.together)) {
        weights.set(id, weight);
      }
    }
  }
  return instead;
}

/** `src/queue.ts:99:7`. The line is another one in each session. */
const LINE_NUMBER = /(?<=\.\w{1,8}):\d+(?::\d+)?$/;

const MAX_CORRECTIONS = 16;

/** The term with each unknown word replaced by words like it. */
function corrected(database: IndexDatabase, words: readonly string[]): string[][] {
  let phrases: string[][] = [[]];
  let isChanged = false;
  for (const word of words) {
    const isKnown = countUpTo(database, phrase([word]), 1) > 0;
    const choices = isKnown ? [] : [...similarWords(database, word), ...wordsContaining(database, word)].slice(0, 4);
    isChanged ||= choices.length > 0;
    const nexts = choices.length === 0 ? [word] : choices;
    phrases = phrases.flatMap((before) => nexts.map((next) => [...before, next])).slice(0, MAX_CORRECTIONS);
  }
  return isChanged ? phrases : [];
}

const MAX_SCANNED = 200;
/** A term that has words but is in no passage as words can only begin or end inside one; that is rarely meant. */
const SCANNED_PARTS = 10_000;

/** Looks for the characters themselves, where no word can match: `=>>`. */
function scan(
  database: IndexDatabase,
  term: QueryTerm,
  { unwanted }: ParsedQuery,
  filter: RowFilter,
  weights: Map<number, number>,
): void {
  const among =
    termExpression(term) === undefined
      ? "passages"
      : `(SELECT * FROM passages ORDER BY id DESC LIMIT ${SCANNED_PARTS})`;
  const sql = `SELECT id, text FROM ${among} AS passages
    WHERE instr(lower(text), lower(?)) > 0 AND ${filter.sql("passages.id")} ORDER BY id DESC LIMIT ${MAX_SCANNED}`;
  for (const { id, text } of database.all<{ id: number; text: string }>(sql, term.text, ...filter.values)) {
    if (!unwanted.some((other) => text.toLowerCase().includes(other.text.toLowerCase()))) weights.set(id, PRESENCE);
  }
}
