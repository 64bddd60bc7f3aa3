/** Sessions as lists show them, from the rows of their files. Filters run in SQL; only what is shown gets decoded. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { projectsFolder } from "../native/layout.ts";
import type { SessionScan } from "../native/session-scan.ts";
import type { DayUsage } from "../native/usage.ts";
import { LISTED } from "./index-database.ts";
import type { IndexQuery, IndexedFile, IndexedPlace, IndexedSession, IndexedText } from "./native-index.ts";
import { restoreScan, transcriptFacts } from "./stored-scan.ts";
import { type UsageTotal, addUsage, emptyTotal, totalCost } from "./usage-total.ts";

/** Rows as arrays: with thousands of them, making objects would take as long as reading them. */
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

interface SubagentRow {
  session: string;
  folder: string;
  usage: string;
}

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
  // Reads all over the file: mapped, a page costs neither a call nor a copy.
  database.exec(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  const subagents = findSubagents(database, query);
  const projects = projectsFolder(claudeHome);
  for (const row of selectRows<[marker: string | null, shown: string]>(database, query, "marker, shown")) {
    const text: IndexedText = Object.assign(toFile(row, projects, subagents), { shown: row[10] });
    if (row[9] !== null) text.originMarker = row[9];
    yield text;
  }
}

const MAPPED_BYTES = 256 * 1024 * 1024;

/** The newest first: in the order of an index, because SQLite would sort whole rows, with all their text. */
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
  if (query.under !== undefined) {
    conditions.push(
      `AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(cwds, char(10) || value || char(10)) > 0
         OR instr(cwds, char(10) || rtrim(value, '/') || '/') > 0)`,
    );
    values.push(JSON.stringify(query.under));
  }
  return { where: conditions.join(" "), values };
}

/** By `folder/session`. Of all sessions when none is left out, else of those that are shown. */
function findSubagents(
  database: DatabaseSync,
  query: IndexQuery,
  rows?: readonly (readonly [session: string, ...unknown[]])[],
): Map<string, string[]> {
  const isAll = rows === undefined || Object.keys(query).length === 0;
  const only = isAll ? undefined : JSON.stringify(rows.map(([session]) => session));
  const found = database
    .prepare(
      `SELECT session, folder, usage FROM files WHERE agent IS NOT NULL
       ${only === undefined ? "" : "AND session IN (SELECT value FROM json_each(?))"}`,
    )
    .all(...(only === undefined ? [] : [only])) as unknown as SubagentRow[];
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
  addUsages(total, usage);
  for (const other of others) addUsages(total, other);
  const file: IndexedFile = {
    sessionId,
    path: `${projects}/${folder}/${name}`,
    folder,
    sizeBytes,
    modifiedAt,
    cwds: splitCwds(cwds),
    tokens: { input: total.input, output: total.output, cacheRead: total.cacheRead, cacheWrite: total.cacheWrite },
    subagentCount: others.length,
  };
  const costUsd = totalCost(total);
  if (entrypoint !== null) file.entrypoint = entrypoint;
  if (costUsd !== undefined) file.costUsd = costUsd;
  if (forkedFrom !== null) file.forkedFrom = forkedFrom;
  return file;
}

function toSession(file: IndexedFile, scan: SessionScan): IndexedSession {
  return {
    ...file,
    ...transcriptFacts(scan),
    lines: scan.lines,
    unknownLines: scan.unknownLines,
    damaged: scan.damaged,
    compactions: scan.compactions,
    ...(scan.lastAt === undefined ? {} : { lastAt: scan.lastAt }),
  };
}

/** Between newlines, with one before and one behind, so that a search for a whole path finds nothing else. */
export function joinCwds(cwds: readonly string[]): string {
  return `\n${cwds.map((cwd) => cwd.replaceAll("\n", NEWLINE_STAND_IN)).join("\n")}\n`;
}

function splitCwds(cwds: string): string[] {
  if (cwds === "\n\n") return [];
  return cwds
    .slice(1, -1)
    .split("\n")
    .map((cwd) => cwd.replaceAll(NEWLINE_STAND_IN, "\n"));
}

/** A character that nobody has in the name of a folder; newlines some do. */
const NEWLINE_STAND_IN = "\u001e";

function addUsages(total: UsageTotal, usage: string): void {
  for (const sum of JSON.parse(usage) as DayUsage[]) addUsage(total, sum);
}
