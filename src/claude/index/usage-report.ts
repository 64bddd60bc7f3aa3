/** Sums over all transcripts, from what the index keeps per file, day and model. */
import type { DatabaseSync } from "node:sqlite";
import { type DayUsage, localDay } from "../native/usage.ts";
import type { UsageQuery, UsageRow } from "./native-index.ts";
import { type UsageTotal, addUsage, emptyTotal, totalCost } from "./usage-total.ts";

interface FileRow {
  session: string;
  folder: string;
  cwds: string;
  agent: string | null;
  usage: string;
}

/** Days in their order, everything else by tokens, the most first. `since` and `until` count by whole days. */
export function reportUsage(database: DatabaseSync, query: UsageQuery): UsageRow[] {
  const only = query.sessionIds === undefined ? undefined : JSON.stringify(query.sessionIds);
  const files = database
    .prepare(
      `SELECT session, folder, cwds, agent, usage FROM files
       ${only === undefined ? "" : "WHERE session IN (SELECT value FROM json_each(?))"}
       ORDER BY agent IS NOT NULL`,
    )
    .all(...(only === undefined ? [] : [only])) as unknown as FileRow[];
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
  const rows = [...totals].map(([group, total]) => toRow(group, total));
  return query.by === "day"
    ? rows.sort((a, b) => (a.group < b.group ? -1 : 1))
    : rows.sort((a, b) => tokens(b) - tokens(a));
}

/** A subagent's work belongs to the folder of its session, which comes first. */
function groupOf(by: UsageQuery["by"], file: FileRow, usage: DayUsage, places: Map<string, string>): string {
  if (by === "day") return usage[0];
  if (by === "model") return usage[1];
  if (by === "session") return file.session;
  const key = `${file.folder}/${file.session}`;
  const place = places.get(key) ?? (file.cwds.split("\n", 2)[1] || file.folder);
  places.set(key, place);
  return place;
}

function toRow(group: string, total: UsageTotal): UsageRow {
  const { input, output, cacheRead, cacheWrite, messages, unpricedTokens } = total;
  const costUsd = totalCost(total);
  return {
    group,
    input,
    output,
    cacheRead,
    cacheWrite,
    messages,
    unpricedTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function tokens({ input, output, cacheRead, cacheWrite }: UsageRow): number {
  return input + output + cacheRead + cacheWrite;
}
