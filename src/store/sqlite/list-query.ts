/** Listing. JSON text is joined from the `listing` column, and single fields are extracted from the entries, by SQLite. */
import type { SQLInputValue } from "node:sqlite";
import type { JsonQuery } from "../create-store.ts";
import type { SessionEntry } from "../session-entry.ts";
import { searchWords } from "../store-rules.ts";
import type { JsonPage, ListPage, ListQuery, ListedSession } from "../store.ts";
import type { SqliteDatabase } from "./database.ts";
import { isEverLarge, readContent, readContents, unpackEntry } from "./entry-rows.ts";
import type { SessionKind } from "../../keys/session-key.ts";

export function listSessions(database: SqliteDatabase, query: ListQuery): ListPage {
  return database.snapshot(() => {
    const selection = toSelection(query);
    const sessions = select(database, selection, query.fields);
    return { sessions, total: totalOf(database, query, selection, sessions.length) };
  });
}

/** SQLite joins the text: creating 10,000 objects and serializing them again takes five times as long. */
export function listAsJson(database: SqliteDatabase, query: JsonQuery): JsonPage {
  return database.snapshot(() => {
    const selection = toSelection(query);
    const row = database.get<{ json: Uint8Array; count: number }>(
      `SELECT count(*) AS count,
         CAST('[' || coalesce(group_concat('{"ageMs":' || CAST(max(0, ? - updated_at) AS INTEGER) || ',' || listing), '')
           || ']' AS BLOB) AS json
       FROM (SELECT updated_at, listing FROM entries WHERE ${selection.condition} ${selection.page})`,
      query.now,
      ...selection.conditionValues,
      ...selection.pageValues,
    );
    const { json, count } = row ?? NOTHING;
    return { json, count, total: totalOf(database, query, selection, count) };
  });
}

const NOTHING = { json: Buffer.from("[]"), count: 0 };

function select(
  database: SqliteDatabase,
  selection: Selection,
  asked: readonly (keyof SessionEntry)[] | undefined,
): ListedSession[] {
  if (asked === undefined) return wholeEntries(database, selection);
  return someFields(database, selection, asked);
}

/** SQL of the matching entries and of their order. */
interface Selection {
  condition: string;
  conditionValues: SQLInputValue[];
  page: string;
  pageValues: SQLInputValue[];
}

function toSelection(query: ListQuery): Selection {
  const { activeSince, kind, exceptKinds = [], spawnedBy, channel, label, text, limit, offset } = query;
  const terms: [sql: string, value: SQLInputValue | undefined][] = [
    ["updated_at >= ?", activeSince],
    ["kind = ?", kind],
    ...exceptKinds.map((other): [string, string] => ["kind <> ?", other]),
    ["entry ->> 'spawnedBy' = ?", spawnedBy],
    ["channel = ?", channel],
    ["label = ?", label],
    ...searchWords(text).map((word): [string, string] => [
      "search LIKE ? ESCAPE '\\'",
      `%${word.replace(/[\\%_]/g, String.raw`\$&`)}%`,
    ]),
  ];
  const used = terms.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const order = query.sort === "key" ? "key" : "updated_at DESC, key";
  return {
    condition: ["TRUE", ...used.map(({ sql }) => sql)].join(" AND "),
    conditionValues: used.map(({ value }) => value),
    page: `ORDER BY ${order} LIMIT ? OFFSET ?`,
    pageValues: [limit ?? -1, offset ?? 0],
  };
}

/** The number of matching entries. `shown` of them were read. */
function totalOf(database: SqliteDatabase, query: ListQuery, selection: Selection, shown: number): number {
  if (query.limit === undefined && !query.offset) return shown;
  const sql = `SELECT count(*) AS n FROM entries WHERE ${selection.condition}`;
  return database.get<{ n: number }>(sql, ...selection.conditionValues)?.n ?? 0;
}

function wholeEntries(database: SqliteDatabase, selection: Selection): ListedSession[] {
  const rows = database.all<{ key: string; kind: SessionKind; entry: string }>(
    `SELECT key, kind, json(entry) AS entry FROM entries WHERE ${selection.condition} ${selection.page}`,
    ...selection.conditionValues,
    ...selection.pageValues,
  );
  return rows.map(({ key, kind, entry }) => ({
    key,
    kind,
    entry: unpackEntry({ lean: entry, large: readContents(database, key) }),
  }));
}

function someFields(
  database: SqliteDatabase,
  selection: Selection,
  asked: readonly (keyof SessionEntry)[],
): ListedSession[] {
  const fields = [...new Set([...ALWAYS_LISTED, ...asked])];
  const paths = fields.map((field) => `$.${JSON.stringify(field)}`);
  const row = database.get<{ sessions: string }>(
    `SELECT json_group_array(json_array(key, kind, json_extract(entry, ${paths.map(() => "?").join(", ")}))) AS sessions
     FROM (SELECT key, kind, entry FROM entries WHERE ${selection.condition} ${selection.page})`,
    ...paths,
    ...selection.conditionValues,
    ...selection.pageValues,
  );
  const found = JSON.parse(row?.sessions ?? "[]") as [key: string, kind: SessionKind, values: unknown[]][];
  const large = fields.filter((field) => isEverLarge(database, field));
  return found.map(([key, kind, values]) => {
    const entry = toEntry(fields, values);
    for (const field of large) {
      const value = readContent(database, key, field);
      if (value !== undefined) entry[field] = value;
    }
    return { key, kind, entry: entry as unknown as SessionEntry };
  });
}

/** Missing fields come as null. A plain loop, because this runs for every listed value. */
function toEntry(fields: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const entry: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index];
    const value = values[index];
    if (field !== undefined && value !== null) entry[field] = value;
  }
  return entry;
}

const ALWAYS_LISTED: readonly (keyof SessionEntry)[] = ["sessionId", "updatedAt"];
