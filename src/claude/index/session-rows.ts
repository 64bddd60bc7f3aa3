/** Answers queries to the index: sessions for lists, and sums of usage. Filters run in SQL; only results are decoded. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { projectsFolder } from "../native/layout.ts";
import { type DayUsage, type MessageUsage, localDay } from "../native/usage.ts";
import { anthropicPrice } from "../../models/model-info.ts";
import { LISTED, splitCwds } from "./index-rows.ts";
import type {
  IndexQuery,
  IndexedPlace,
  IndexedSession,
  TranscriptDetails,
  UsageQuery,
  UsageRow,
} from "./native-index.ts";
import { type StoredScan, restoreScan } from "../native/session-scan.ts";

/** Rows are arrays: making thousands of objects would take as long as reading them. */
type SessionRow = [
  session: string,
  folder: string,
  name: string,
  size: number,
  modified: number,
  entrypoint: string | null,
  cwds: string,
  marker: string | null,
  usage: string,
  forkedFrom: string | null,
  shown: string,
  subagents: string,
];

const COLUMNS = `session, folder, name, size, modified, entrypoint, cwds, marker, usage, forked_from, shown,
  (SELECT json_group_array(json(helper.usage)) FROM files AS helper
   WHERE helper.session = files.session AND helper.folder = files.folder AND helper.agent IS NOT NULL)`;

const MAPPED_BYTES = 256 * 1024 * 1024;

/** Newest first, read in the order of an index: a sort would make SQLite copy whole rows with their text. */
export function* listSessions(
  database: DatabaseSync,
  claudeHome: string,
  query: IndexQuery,
): Generator<IndexedSession> {
  if (query.sessionIds?.length === 0) return;
  // A list of everything reads all over the file, and a mapped page costs neither a call nor a copy.
  if (query.limit === undefined) database.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  const projects = projectsFolder(claudeHome);
  const { where, values } = toCondition(query);
  const order = query.sessionIds === undefined ? "INDEXED BY files_modified" : "";
  const statement = database.prepare(
    `SELECT ${COLUMNS} FROM files ${order} CROSS JOIN scans ON file = id
     WHERE ${LISTED} ${where} ORDER BY modified DESC, session LIMIT ?`,
  );
  statement.setReturnArrays(true);
  const rows = statement.iterate(...values, query.limit ?? -1) as unknown as Iterable<SessionRow>;
  for (const row of rows) yield toSession(row, projects);
}

export function readDetails(database: DatabaseSync, sessionId: string): TranscriptDetails | undefined {
  const stored = database
    .prepare(
      `SELECT shown, state FROM files JOIN scans ON file = id
       WHERE ${LISTED} AND session = ? ORDER BY modified DESC LIMIT 1`,
    )
    .get(sessionId) as StoredScan | undefined;
  const scan = stored === undefined ? undefined : restoreScan(stored);
  if (scan === undefined) return undefined;
  const { lines, unknownLines, damaged, compactions } = scan;
  return { lines, unknownLines, damaged, compactions };
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

function toSession(row: SessionRow, projects: string): IndexedSession {
  const [sessionId, folder, name, sizeBytes, modifiedAt, entrypoint, cwds, marker, usage, forkedFrom] = row;
  const subagents = JSON.parse(row[11]) as DayUsage[][];
  const total = emptyTotal();
  for (const sums of [JSON.parse(usage) as DayUsage[], ...subagents]) for (const sum of sums) addUsage(total, sum);
  return {
    sessionId,
    path: `${projects}/${folder}/${name}`,
    folder,
    sizeBytes,
    modifiedAt,
    cwds: splitCwds(cwds),
    originMarker: marker ?? undefined,
    tokens: { input: total.input, output: total.output, cacheRead: total.cacheRead, cacheWrite: total.cacheWrite },
    subagentCount: subagents.length,
    entrypoint: entrypoint ?? undefined,
    costUsd: total.pricedMessages === 0 ? undefined : total.costUsd,
    forkedFrom: forkedFrom ?? undefined,
    shown: row[10],
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
