/** Listing. The page and the total are read by one statement, so they fit together. */
import type { SessionKind } from "../../keys/session-key.ts";
import type { JsonQuery } from "../create-store.ts";
import type { SessionEntry } from "../session-entry.ts";
import { LISTED_FIELDS, searchWords } from "../store-rules.ts";
import type { JsonPage, ListPage, ListQuery, ListedSession } from "../store.ts";
import type { Value } from "./connection.ts";
import type { PostgresNode } from "./node.ts";

type Database = Pick<PostgresNode, "query">;

export async function listSessions({ query }: Database, agentId: string, asked: ListQuery): Promise<ListPage> {
  const { condition, page, values } = toSelection(agentId, asked);
  const fields = asked.fields && [...ALWAYS_LISTED, ...asked.fields];
  const isListed = fields?.every((field) => (LISTED_FIELDS as readonly string[]).includes(field)) === true;
  const rows = await query(
    `SELECT total, key, kind, value FROM (SELECT count(*) AS total FROM holdfast.entries WHERE ${condition}) AS counted
     LEFT JOIN LATERAL (SELECT key, kind, updated_at, ${isListed ? "'{' || listing" : "entry"} AS value
       FROM holdfast.entries WHERE ${condition} ${page}) AS listed ON true`,
    values,
    { isRepeatable: true },
  );
  const sessions = rows.flatMap(({ key, kind, value }): ListedSession[] => {
    if (key === null) return [];
    const entry = JSON.parse(String(value)) as SessionEntry;
    return [{ key: String(key), kind: kind as SessionKind, entry: fields === undefined ? entry : pick(entry, fields) }];
  });
  return { sessions, total: Number(rows[0]?.["total"]) };
}

/** The database joins the text of the list. */
export async function listAsJson({ query }: Database, agentId: string, asked: JsonQuery): Promise<JsonPage> {
  const { condition, page, values } = toSelection(agentId, asked);
  const now = `$${values.length + 1}::float8`;
  const [row] = await query(
    `SELECT (SELECT count(*) FROM holdfast.entries WHERE ${condition}) AS total, count(*) AS count,
       '[' || coalesce(string_agg('{"ageMs":' || trunc(greatest(0, ${now} - updated_at))::bigint || ',' || listing, ','), '')
         || ']' AS json
     FROM (SELECT updated_at, listing FROM holdfast.entries WHERE ${condition} ${page}) AS listed`,
    [...values, asked.now],
    { isRepeatable: true },
  );
  const { json, count, total } = row as { json: string; count: number; total: number };
  return { json: Buffer.from(json), count, total };
}

const ALWAYS_LISTED: readonly (keyof SessionEntry)[] = ["sessionId", "updatedAt"];

function pick(entry: SessionEntry, fields: readonly (keyof SessionEntry)[]): SessionEntry {
  const shown = fields.filter((field) => entry[field] !== undefined && entry[field] !== null);
  return Object.fromEntries(shown.map((field) => [field, entry[field]])) as unknown as SessionEntry;
}

function toSelection(agentId: string, query: ListQuery): { condition: string; page: string; values: Value[] } {
  const { activeSince, kind, exceptKinds = [], spawnedBy, channel, label, text, limit, offset } = query;
  const values: Value[] = [agentId, limit, offset ?? 0];
  const terms: [sql: string, value: Value][] = [
    ["updated_at >= ?", activeSince],
    ["kind = ?", kind],
    ...exceptKinds.map((other): [string, string] => ["kind <> ?", other]),
    ["spawned_by = ?", spawnedBy],
    ["channel = ?", channel],
    ["label = ?", label],
    ...searchWords(text).map((word): [string, string] => [
      "search LIKE ? ESCAPE '\\'",
      `%${word.replace(/[\\%_]/g, String.raw`\$&`)}%`,
    ]),
  ];
  const used = terms.flatMap(([sql, value]) => {
    return value === undefined ? [] : [sql.replace("?", `$${values.push(value)}`)];
  });
  const order = query.sort === "key" ? "key" : "updated_at DESC, key";
  return {
    condition: ["agent = $1", ...used].join(" AND "),
    page: `ORDER BY ${order} LIMIT $2 OFFSET $3`,
    values,
  };
}
