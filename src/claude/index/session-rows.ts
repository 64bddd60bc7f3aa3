/** Answers queries to the index: sessions for lists, and sums of usage. Filters run in SQL; only results are decoded. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { projectsFolder } from "../native/layout.ts";
import type { SessionScan } from "../native/session-scan.ts";
import { type DayUsage, type MessageUsage, localDay } from "../native/usage.ts";
import { anthropicPrice } from "../../models/model-info.ts";
import { LISTED, splitCwds } from "./index-rows.ts";
import type {
  IndexQuery,
  IndexedFile,
  IndexedPlace,
  IndexedSession,
  IndexedText,
  UsageQuery,
  UsageRow,
} from "./native-index.ts";
import { restoreScan, transcriptFacts } from "./stored-scan.ts";

/** Rows are arrays: making thousands of objects would take as long as reading them. */
type FileRow = [
  session: string,
  folder: string,
  name: string,
  size: number,
  modified: number,
  entrypoint: string | null,
  cwds: string,
  usage: string,
  forkedFrom: string | null,
];

const FILE_COLUMNS = "session, folder, name, size, modified, entrypoint, cwds, usage, forked_from";

export function listSessions(database: DatabaseSync, claudeHome: string, query: IndexQuery): IndexedSession[] {
  if (query.sessionIds?.length === 0) return [];
  const rows = [...selectRows<[shown: string, state: string]>(database, query, "shown, state")];
  const subagents = findSubagents(database, query, rows);
  const projects = projectsFolder(claudeHome);
  return rows.flatMap((row) => {
    const scan = restoreScan({ shown: row[9], state: row[10] });
    return scan === undefined ? [] : [toSession(toFile(row, projects, subagents), scan)];
  });
}

export function* listTexts(database: DatabaseSync, claudeHome: string, query: IndexQuery): Generator<IndexedText> {
  // This reads all over the file, and a mapped page costs neither a call nor a copy.
  database.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  const subagents = findSubagents(database, query);
  const projects = projectsFolder(claudeHome);
  for (const row of selectRows<[marker: string | null, shown: string]>(database, query, "marker, shown")) {
    yield Object.assign(toFile(row, projects, subagents), { originMarker: row[9] ?? undefined, shown: row[10] });
  }
}

const MAPPED_BYTES = 256 * 1024 * 1024;

/** Newest first, in the order of an index: SQLite would sort whole rows with all their text. */
function selectRows<More extends unknown[]>(
  database: DatabaseSync,
  query: IndexQuery,
  more: string,
): Iterable<[...FileRow, ...More]> {
  const { where, values } = toCondition(query);
  const order = query.sessionIds === undefined ? "INDEXED BY files_modified" : "";
  const statement = database.prepare(
    `SELECT ${FILE_COLUMNS}, ${more} FROM files ${order} CROSS JOIN scans ON file = id
     WHERE ${LISTED} ${where} ORDER BY modified DESC, session LIMIT ?`,
  );
  statement.setReturnArrays(true);
  return statement.iterate(...values, query.limit ?? -1) as unknown as Iterable<[...FileRow, ...More]>;
}

export function countSessions(database: DatabaseSync): number {
  return Number(database.prepare(`SELECT count(*) AS count FROM files WHERE ${LISTED}`).get()?.["count"]);
}

export function listPlaces(database: DatabaseSync): IndexedPlace[] {
  const rows = database
    .prepare(`SELECT folder, cwds, count(*) AS sessions FROM files WHERE ${LISTED} GROUP BY folder, cwds`)
    .all() as { folder: string; cwds: string; sessions: number }[];
  return rows.map(({ cwds, ...row }) => ({ ...row, cwds: splitCwds(cwds) }));
}

function toCondition(query: IndexQuery): { where: string; values: SQLInputValue[] } {
  const conditions: string[] = [];
  const values: SQLInputValue[] = [];
  const oneOf = (column: string, items: readonly string[]) => {
    conditions.push(`AND ${column} IN (SELECT value FROM json_each(?))`);
    values.push(JSON.stringify(items));
  };
  if (query.sessionIds !== undefined) oneOf("session", query.sessionIds);
  if (query.folders !== undefined) oneOf("folder", query.folders);
  if (query.modifiedSince !== undefined) {
    conditions.push("AND modified >= ?");
    values.push(query.modifiedSince);
  }
  return { where: conditions.join(" "), values };
}

/** Usage of the subagents by `folder/session`; of all sessions, or only of `rows` when the query has a filter. */
function findSubagents(
  database: DatabaseSync,
  query: IndexQuery,
  rows?: readonly (readonly [session: string, ...unknown[]])[],
): Map<string, string[]> {
  const isAll = rows === undefined || Object.values(query).every((value) => value === undefined);
  const { where, values } = toCondition({ sessionIds: isAll ? undefined : rows.map(([session]) => session) });
  const found = database
    .prepare(`SELECT session, folder, usage FROM files WHERE agent IS NOT NULL ${where}`)
    .all(...values) as unknown as Omit<UsageFileRow, "cwds">[];
  const bySession = new Map<string, string[]>();
  for (const { session, folder, usage } of found) {
    const key = `${folder}/${session}`;
    const others = bySession.get(key);
    if (others === undefined) bySession.set(key, [usage]);
    else others.push(usage);
  }
  return bySession;
}

function toFile(
  row: readonly [...FileRow, ...unknown[]],
  projects: string,
  subagents: ReadonlyMap<string, string[]>,
): IndexedFile {
  const [sessionId, folder, name, sizeBytes, modifiedAt, entrypoint, cwds, usage, forkedFrom] = row;
  const others = subagents.get(`${folder}/${sessionId}`) ?? [];
  const total = emptyTotal();
  for (const text of [usage, ...others]) for (const sum of JSON.parse(text) as DayUsage[]) addUsage(total, sum);
  return {
    sessionId,
    path: `${projects}/${folder}/${name}`,
    folder,
    sizeBytes,
    modifiedAt,
    cwds: splitCwds(cwds),
    tokens: { input: total.input, output: total.output, cacheRead: total.cacheRead, cacheWrite: total.cacheWrite },
    subagentCount: others.length,
    entrypoint: entrypoint ?? undefined,
    costUsd: total.pricedMessages === 0 ? undefined : total.costUsd,
    forkedFrom: forkedFrom ?? undefined,
  };
}

function toSession(file: IndexedFile, scan: SessionScan): IndexedSession {
  return {
    ...file,
    ...transcriptFacts(scan),
    lastAt: scan.lastAt,
    lines: scan.lines,
    unknownLines: scan.unknownLines,
    damaged: scan.damaged,
    compactions: scan.compactions,
  };
}

interface UsageFileRow {
  session: string;
  folder: string;
  cwds: string;
  usage: string;
}

/** Days in order, everything else by cost, most expensive first. */
export function reportUsage(database: DatabaseSync, query: UsageQuery): UsageRow[] {
  const { where, values } = toCondition({ sessionIds: query.sessionIds });
  const files = database
    .prepare(`SELECT session, folder, cwds, usage FROM files WHERE TRUE ${where} ORDER BY agent IS NOT NULL`)
    .all(...values) as unknown as UsageFileRow[];
  const [first, last] = [query.since, query.until].map((at) => (at === undefined ? undefined : localDay(at)));
  const places = new Map<string, string>();
  const totals = new Map<string, UsageTotal>();
  for (const file of files) {
    for (const usage of JSON.parse(file.usage) as DayUsage[]) {
      if ((first !== undefined && usage[0] < first) || (last !== undefined && usage[0] > last)) continue;
      const group = groupOf(query.by, file, usage, places);
      let total = totals.get(group);
      if (total === undefined) totals.set(group, (total = emptyTotal()));
      addUsage(total, usage);
    }
  }
  const rows = [...totals].map(([group, { pricedMessages, costUsd, ...total }]): UsageRow => {
    return { group, ...total, costUsd: pricedMessages === 0 ? undefined : costUsd };
  });
  return query.by === "day" ? rows.sort((a, b) => (a.group < b.group ? -1 : 1)) : rows.sort(mostExpensiveFirst);
}

/** A subagent counts for the folder of its session, whose file comes first. */
function groupOf(by: UsageQuery["by"], file: UsageFileRow, usage: DayUsage, places: Map<string, string>): string {
  if (by === "day") return usage[0];
  if (by === "model") return usage[1];
  if (by === "session") return file.session;
  const key = `${file.folder}/${file.session}`;
  const place = places.get(key) ?? (file.cwds.split("\n", 2)[1] || file.folder);
  places.set(key, place);
  return place;
}

type UsageTotal = ReturnType<typeof emptyTotal>;

/** Tokens of several days and models. The cost is known when `pricedMessages` is not 0. */
function emptyTotal() {
  const tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  return { ...tokens, messages: 0, costUsd: 0, pricedMessages: 0, unpricedTokens: 0 };
}

function addUsage(total: UsageTotal, usage: DayUsage): void {
  const [, model, input, output, cacheRead, cacheWrite, cacheWriteHour, messages] = usage;
  total.input += input;
  total.output += output;
  total.cacheRead += cacheRead;
  total.cacheWrite += cacheWrite;
  total.messages += messages;
  const cost = tokenCost(model, { input, output, cacheRead, cacheWrite, cacheWriteHour });
  if (cost === undefined) {
    total.unpricedTokens += input + output + cacheRead + cacheWrite;
  } else {
    total.costUsd += cost;
    total.pricedMessages += messages;
  }
}

/** In US dollars; undefined for a model without a known price. */
export function tokenCost(model: string, tokens: Omit<MessageUsage, "model" | "at">): number | undefined {
  const price = anthropicPrice(model);
  if (price === undefined) return undefined;
  const shortWrites = tokens.cacheWrite - tokens.cacheWriteHour;
  return (
    (tokens.input * price.input +
      tokens.output * price.output +
      tokens.cacheRead * price.cacheRead +
      shortWrites * price.cacheWrite +
      tokens.cacheWriteHour * price.cacheWriteHour) /
    1_000_000
  );
}

type Used = Pick<UsageRow, "input" | "output" | "cacheRead" | "cacheWrite" | "costUsd">;

/** By cost; with equal or unknown costs, by tokens. */
export function mostExpensiveFirst(a: Used, b: Used): number {
  return (b.costUsd ?? 0) - (a.costUsd ?? 0) || allTokens(b) - allTokens(a);
}

function allTokens({ input, output, cacheRead, cacheWrite }: Used): number {
  return input + output + cacheRead + cacheWrite;
}
