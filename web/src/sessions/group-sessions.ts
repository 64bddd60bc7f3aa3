/** The list by when each session was used last. */
import { daysAgo } from "../parts/time.ts";
import type { SessionRow } from "../state/state.ts";

export interface SessionGroup {
  name: string;
  rows: SessionRow[];
}

const month = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric" });

/** `rows` are newest first, and so are the groups. */
export function groupSessions(rows: readonly SessionRow[], now: number): SessionGroup[] {
  const groups: SessionGroup[] = [];
  for (const row of rows) {
    const name = groupName(row.updatedAt, now);
    const last = groups.at(-1);
    if (last?.name === name) last.rows.push(row);
    else groups.push({ name, rows: [row] });
  }
  return groups;
}

function groupName(at: number, now: number): string {
  const days = daysAgo(at, now);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "This week";
  if (days < 31) return "This month";
  return month.format(at);
}
