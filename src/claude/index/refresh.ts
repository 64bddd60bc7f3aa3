/**
 * Brings the index up to date: looks at the folders, has read what changed, and settles at the end whose the
 * messages of forks are. Until then the refresh has a token in the index, and whoever finds the token of a dead
 * one settles everything anew.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { projectsFolder } from "../native/layout.ts";
import { type ChangedFile, compareFolders } from "./compare-folders.ts";
import { createFileRows } from "./file-rows.ts";
import { findFolders } from "./find-files.ts";
import { type FolderMemory, type FolderRows, createFolderRows, isSameMemory, toMemory } from "./folder-rows.ts";
import type { GroupMember } from "./fork-groups.ts";
import { runTransaction } from "./index-database.ts";
import type { RefreshOptions, RefreshReport } from "./native-index.ts";
import type { ScanIntake } from "./scan-intake.ts";

export interface RefreshParts {
  database: DatabaseSync;
  claudeHome: string;
  threads?: number | undefined;
  clock: Pick<Clock, "now">;
}

export async function refreshIndex(parts: RefreshParts, options: RefreshOptions): Promise<RefreshReport> {
  const { database, claudeHome } = parts;
  options.signal?.throwIfAborted();
  const lookedAt = parts.clock.now();
  const rows = createFileRows(database);
  const folders = createFolderRows(database);
  const memories = folders.read();
  const report: RefreshReport = { files: 0, filesRead: 0, bytesRead: 0, removed: 0, failed: [] };
  await using stack = new AsyncDisposableStack();
  // Most refreshes find nothing to read, and a list has no time to load what it does not need.
  const openIntake = async (): Promise<ScanIntake> => {
    const { createScanIntake } = await import("./scan-intake.ts");
    return stack.use(createScanIntake({ database, rows, folders, report, threads: parts.threads }, options));
  };
  // A new index needs everything: reading begins while files are still looked for.
  const early = memories.size === 0 ? await openIntake() : undefined;
  const found = findFolders(claudeHome, (folder) => memories.get(folder), options.folders);
  const comparison = compareFolders(found, memories, rows, {
    usageOnly: options.usageOnly ?? false,
    onChanged: (files) => early?.add(files),
  });
  const { changed, vanished, looked, gone } = comparison;
  report.files = comparison.files;
  report.removed = vanished.length;
  report.failed.push(...found.failed);
  const leftover = unsettledTokens(database);
  /** What the folders look like now, where that is not what the index remembers. */
  const remember = () => {
    const news = looked.map((look): [string, FolderMemory] => [
      look.folder,
      toMemory(look, rows.inFolder(look.folder), lookedAt),
    ]);
    return news.filter(([folder, memory]) => !isSameMemory(memory, memories.get(folder)));
  };
  if (changed.length === 0 && vanished.length === 0 && leftover.length === 0) {
    if (gone.length + remember().length > 0) runTransaction(database, () => noteFolders(folders, gone, remember()));
    return report;
  }

  const token = String(database.prepare("SELECT hex(randomblob(16)) AS token").get()?.["token"]);
  runTransaction(database, () => {
    database.prepare("INSERT INTO unsettled VALUES (?)").run(token);
    for (const { id } of vanished) rows.remove(id);
    for (const folder of new Set(vanished.map(({ folder }) => folder))) folders.forget(folder);
  });
  const { createForkGroups } = await import("./fork-groups.ts");
  const intake = early ?? (await openIntake());
  if (early === undefined) intake.add(changed);
  await intake.finish();

  const groups = createForkGroups(database);
  const all = groups.find();
  const countAll = leftover.length > 0 || vanished.some(({ grouped }) => grouped);
  const needed = countAll ? all : all.filter((group) => group.some(({ id }) => intake.written.has(id)));
  const alone = needed.flat().filter(({ grouped }) => grouped === 0);
  intake.add(alone.map((member) => memberFile(claudeHome, member)));
  await intake.finish();
  runTransaction(database, () => {
    for (const group of needed) groups.count(group);
    groups.dissolve(all);
    // Compared with what was forgotten meanwhile, everything would be old.
    memories.clear();
    noteFolders(folders, gone, remember());
    for (const settled of [...leftover, token]) database.prepare("DELETE FROM unsettled WHERE token = ?").run(settled);
  });
  return report;
}

function noteFolders(folders: FolderRows, gone: readonly string[], looked: readonly [string, FolderMemory][]): void {
  for (const folder of gone) folders.remove(folder);
  for (const [folder, memory] of looked) folders.remember(folder, memory);
}

function memberFile(claudeHome: string, { folder, name, session, agent, size }: GroupMember): ChangedFile {
  const path = join(projectsFolder(claudeHome), folder, name);
  const file = { folder, name, path, sessionId: session, ...(agent === null ? {} : { agentId: agent }) };
  return { file, bytes: size, withMessages: true, usageOnly: false };
}

function unsettledTokens(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT token FROM unsettled")
    .all()
    .map(({ token }) => String(token));
}
