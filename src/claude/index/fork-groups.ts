/**
 * Which files share messages, and whose they are. A fork starts as a copy: same first message, same
 * ids. Files that begin alike form a group, and within it a message counts for the oldest file that has it.
 * Only files in groups have their messages kept one by one.
 */
import type { DatabaseSync } from "node:sqlite";
import { type MessageUsage, sumByDay } from "../native/usage.ts";
import { decodeMessage } from "./file-rows.ts";

export interface GroupMember {
  id: number;
  session: string;
  folder: string;
  name: string;
  agent: string | null;
  root: string | null;
  first_message: string | null;
  grouped: number;
  size: number;
}

export interface ForkGroups {
  /** Every group, its members oldest first. */
  find(): GroupMember[][];
  /** Settles whose the shared messages are. Needs the messages of every member. */
  count(group: readonly GroupMember[]): void;
  /** Files that are alone again count everything they have. */
  dissolve(groups: readonly GroupMember[][]): void;
}

const SHARED = `
  SELECT id, session, folder, name, agent, root, first_message, grouped, size FROM files
  WHERE root IN (SELECT root FROM files WHERE root IS NOT NULL GROUP BY root HAVING count(*) > 1)
    OR first_message IN
      (SELECT first_message FROM files WHERE first_message IS NOT NULL GROUP BY first_message HAVING count(*) > 1)
  ORDER BY opened_at, last_at, session, folder, name`;

export function createForkGroups(database: DatabaseSync): ForkGroups {
  const shared = database.prepare(SHARED);
  const messages = database.prepare("SELECT id, usage FROM messages WHERE file = ?");
  const update = database.prepare("UPDATE files SET usage = ?, forked_from = ? WHERE id = ?");
  const grouped = database.prepare("SELECT id FROM files WHERE grouped = 1");
  const release = database.prepare("UPDATE files SET usage = ?, forked_from = NULL, grouped = 0 WHERE id = ?");
  const forget = database.prepare("DELETE FROM messages WHERE file = ?");

  return {
    find: () => joinByKeys(shared.all() as unknown as GroupMember[]),
    count(group) {
      const owners = new Map<string, string>();
      for (const member of group) {
        const own: MessageUsage[] = [];
        const sharedWith = new Map<string, number>();
        for (const row of messages.iterate(member.id) as unknown as Iterable<{ id: string; usage: string }>) {
          const owner = owners.get(row.id);
          if (owner === undefined) {
            owners.set(row.id, member.session);
            own.push(decodeMessage(row.usage));
          } else if (owner !== member.session) {
            sharedWith.set(owner, (sharedWith.get(owner) ?? 0) + 1);
          }
        }
        const origin = member.agent === null ? originOf(member, group, sharedWith) : undefined;
        update.run(JSON.stringify(sumByDay(own)), origin ?? null, member.id);
      }
    },
    dissolve(groups) {
      const kept = new Set(groups.flat().map(({ id }) => id));
      for (const { id } of grouped.all() as { id: number }[]) {
        if (kept.has(id)) continue;
        const own = (messages.all(id) as { usage: string }[]).map(({ usage }) => decodeMessage(usage));
        release.run(JSON.stringify(sumByDay(own)), id);
        forget.run(id);
      }
    },
  };
}

/** Whoever gave it the most messages; a fork without any answer yet comes from the oldest. */
function originOf(
  member: GroupMember,
  group: readonly GroupMember[],
  sharedWith: ReadonlyMap<string, number>,
): string | undefined {
  let origin: string | undefined;
  let most = 0;
  for (const [session, count] of sharedWith) if (count > most) [origin, most] = [session, count];
  if (origin !== undefined) return origin;
  const [oldest] = group;
  return oldest === undefined || oldest.session === member.session ? undefined : oldest.session;
}

/** Files are in one group when a chain of common keys connects them. Keeps the order within each. */
function joinByKeys(members: readonly GroupMember[]): GroupMember[][] {
  const groupOf = new Map<string, GroupMember[]>();
  for (const member of members) {
    const joined = new Set(keysOf(member).flatMap((key) => groupOf.get(key) ?? []));
    const group = [...joined, member];
    for (const key of group.flatMap(keysOf)) groupOf.set(key, group);
  }
  const order = new Map(members.map((member, index) => [member.id, index]));
  const byAge = (a: GroupMember, b: GroupMember) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0);
  return [...new Set(groupOf.values())].filter((group) => group.length > 1).map((group) => group.toSorted(byAge));
}

function keysOf({ root, first_message: message }: GroupMember): string[] {
  return [...(root === null ? [] : [`root ${root}`]), ...(message === null ? [] : [`message ${message}`])];
}
