/**
 * Brings the index up to date: finds changed files, has them read, and decides which session each message of a fork
 * counts for. Until then the refresh has a token in the table `unsettled`; a refresh that finds the token of a dead one
 * decides for all forks again.
 *
 * A fork starts as a copy: same first message, same ids. Files that begin alike form a group, and within a group a
 * message counts for the oldest file that has it. Only files in groups have their messages stored one by one.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { nodeUtil } from "../../base/builtin.ts";
import type { Clock } from "../../base/clock.ts";
import { projectsFolder } from "../native/layout.ts";
import { type MessageUsage, sumByDay } from "../native/usage.ts";
import { type ChangedFile, type Changes, findChanges, toMemory } from "./find-changes.ts";
import { type FolderMemory, type IndexRows, createIndexRows } from "./index-rows.ts";
import type { RefreshOptions, RefreshReport } from "./native-index.ts";
import type { ScanIntake } from "./scan-intake.ts";
import { runTransaction } from "../../base/sqlite.ts";

export interface RefreshParts {
  database: DatabaseSync;
  claudeHome: string;
  threads?: number | undefined;
  clock: Pick<Clock, "now">;
}

export async function refreshIndex(parts: RefreshParts, options: RefreshOptions): Promise<RefreshReport> {
  const { database, claudeHome, threads } = parts;
  options.signal?.throwIfAborted();
  const lookedAt = parts.clock.now();
  const rows = createIndexRows(database);
  const memories = rows.readFolders();
  const report: RefreshReport = { files: 0, filesRead: 0, bytesRead: 0, removed: 0, failed: [] };
  await using stack = new AsyncDisposableStack();
  // Loaded on demand: most refreshes find nothing to read.
  const openIntake = async (): Promise<ScanIntake> => {
    const { createScanIntake } = await import("./scan-intake.ts");
    return stack.use(createScanIntake({ database, rows, report, threads }, options));
  };
  // A new index needs every file, so reading starts while files are still being found.
  const early = memories.size === 0 ? await openIntake() : undefined;
  const changes = findChanges(claudeHome, memories, rows, options, (files) => early?.add(files));
  const { changed, vanished, gone } = changes;
  report.files = changes.files;
  report.removed = vanished.length;
  report.failed.push(...changes.failed);
  const newMemories = () => changedMemories(changes, rows, lookedAt, memories);
  const dead = unsettledTokens(database);
  if (changed.length === 0 && vanished.length === 0 && dead.length === 0) {
    if (gone.length + newMemories().length > 0) runTransaction(database, () => noteFolders(rows, gone, newMemories()));
    return report;
  }

  const token = beginChanges(database, rows, vanished);
  const intake = early ?? (await openIntake());
  if (early === undefined) intake.add(changed);
  await intake.finish();

  const groups = findForkGroups(database);
  const countAll = dead.length > 0 || vanished.some(({ grouped }) => grouped);
  const affected = countAll ? groups : groups.filter((group) => group.some(({ id }) => intake.written.has(id)));
  const withoutMessages = affected.flat().filter(({ grouped }) => grouped === 0);
  intake.add(withoutMessages.map((member) => memberFile(claudeHome, member)));
  await intake.finish();
  runTransaction(database, () => {
    countForks(database, affected);
    dissolveGroups(database, groups);
    // Reading forgot the folders, so all memories are new.
    memories.clear();
    noteFolders(rows, gone, newMemories());
    for (const settled of [...dead, token]) database.prepare("DELETE FROM unsettled WHERE token = ?").run(settled);
  });
  return report;
}

function unsettledTokens(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT token FROM unsettled")
    .all()
    .map(({ token }) => String(token));
}

/** Returns the token of this refresh. */
function beginChanges(database: DatabaseSync, rows: IndexRows, vanished: Changes["vanished"]): string {
  const token = String(database.prepare("SELECT hex(randomblob(16)) AS token").get()?.["token"]);
  runTransaction(database, () => {
    database.prepare("INSERT INTO unsettled VALUES (?)").run(token);
    for (const { id } of vanished) rows.removeFile(id);
    for (const folder of new Set(vanished.map(({ folder }) => folder))) rows.forgetFolder(folder);
  });
  return token;
}

/** The folders whose current state differs from `memories`. */
function changedMemories(
  { looked }: Changes,
  rows: IndexRows,
  lookedAt: number,
  memories: ReadonlyMap<string, FolderMemory | undefined>,
): [folder: string, memory: FolderMemory][] {
  return looked
    .map((look): [string, FolderMemory] => [look.folder, toMemory(look, rows.filesIn(look.folder), lookedAt)])
    .filter(([folder, memory]) => !nodeUtil().isDeepStrictEqual(memory, memories.get(folder)));
}

function noteFolders(rows: IndexRows, gone: readonly string[], changed: readonly [string, FolderMemory][]): void {
  for (const folder of gone) rows.removeFolder(folder);
  for (const [folder, memory] of changed) rows.rememberFolder(folder, memory);
}

interface GroupMember {
  id: number;
  session: string;
  folder: string;
  name: string;
  agent: string | null;
  root: string | null;
  first_message: string | null;
  grouped: number;
  size: number;
  /** 1: nothing but its usage was read. */
  usage_only: number;
}

function memberFile(claudeHome: string, member: GroupMember): ChangedFile {
  const { folder, name, session, agent, size } = member;
  const path = join(projectsFolder(claudeHome), folder, name);
  const file = { folder, name, path, sessionId: session, agentId: agent ?? undefined };
  return { file, bytes: size, withMessages: true, usageOnly: member.usage_only === 1 };
}

/** Every group, its members oldest first. */
function findForkGroups(database: DatabaseSync): GroupMember[][] {
  const members = database
    .prepare(
      `SELECT id, session, folder, name, agent, root, first_message, grouped, size, fingerprint IS NULL AS usage_only
       FROM files
       WHERE root IN (SELECT root FROM files WHERE root IS NOT NULL GROUP BY root HAVING count(*) > 1)
         OR first_message IN
           (SELECT first_message FROM files WHERE first_message IS NOT NULL GROUP BY first_message HAVING count(*) > 1)
       ORDER BY opened_at, last_at, session, folder, name`,
    )
    .all() as unknown as GroupMember[];
  return joinByKeys(members);
}

/** Files are in one group when a chain of common keys connects them. Keeps their order. */
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

const SELECT_MESSAGES = "SELECT id, usage FROM messages WHERE file = ?";

/** Counts each shared message for the oldest file. Needs the messages of every member. */
function countForks(database: DatabaseSync, groups: readonly GroupMember[][]): void {
  const messages = database.prepare(SELECT_MESSAGES);
  const update = database.prepare("UPDATE files SET usage = ?, forked_from = ? WHERE id = ?");
  for (const group of groups) {
    const owners = new Map<string, string>();
    for (const member of group) {
      const own: MessageUsage[] = [];
      const sharedWith = new Map<string, number>();
      for (const row of messages.iterate(member.id) as unknown as Iterable<{ id: string; usage: string }>) {
        const owner = owners.get(row.id);
        if (owner === undefined) {
          owners.set(row.id, member.session);
          own.push(JSON.parse(row.usage) as MessageUsage);
        } else if (owner !== member.session) {
          sharedWith.set(owner, (sharedWith.get(owner) ?? 0) + 1);
        }
      }
      const origin = member.agent === null ? originOf(member, group, sharedWith) : undefined;
      update.run(JSON.stringify(sumByDay(own)), origin ?? null, member.id);
    }
  }
}

/** The session with the most shared messages. A fork without an answer comes from the oldest session. */
function originOf(
  member: GroupMember,
  [oldest]: readonly GroupMember[],
  sharedWith: ReadonlyMap<string, number>,
): string | undefined {
  let origin: string | undefined;
  let most = 0;
  for (const [session, count] of sharedWith) if (count > most) [origin, most] = [session, count];
  if (origin !== undefined) return origin;
  return oldest === undefined || oldest.session === member.session ? undefined : oldest.session;
}

/** Files that are no longer in a group count all their messages. */
function dissolveGroups(database: DatabaseSync, groups: readonly GroupMember[][]): void {
  const messages = database.prepare(SELECT_MESSAGES);
  const release = database.prepare("UPDATE files SET usage = ?, forked_from = NULL, grouped = 0 WHERE id = ?");
  const removeMessages = database.prepare("DELETE FROM messages WHERE file = ?");
  const kept = new Set(groups.flat().map(({ id }) => id));
  for (const { id } of database.prepare("SELECT id FROM files WHERE grouped = 1").all() as { id: number }[]) {
    if (kept.has(id)) continue;
    const own = (messages.all(id) as { usage: string }[]).map(({ usage }) => JSON.parse(usage) as MessageUsage);
    release.run(JSON.stringify(sumByDay(own)), id);
    removeMessages.run(id);
  }
}
