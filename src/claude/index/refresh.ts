/**
 * Brings the index up to date. Every batch of results is one transaction, so a refresh that dies has lost
 * its last batch only. Whose the messages of forks are is settled at the end; until then the refresh has a
 * token in the index, and whoever finds the token of a dead one settles everything anew.
 */
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { randomIds } from "../../base/ids.ts";
import { projectsFolder } from "../native/layout.ts";
import { type ChangedFile, compareFolders } from "./compare-folders.ts";
import { type FileRows, createFileRows } from "./file-rows.ts";
import { findFolders } from "./find-files.ts";
import { type FolderMemory, type FolderRows, createFolderRows, isSameMemory, toMemory } from "./folder-rows.ts";
import type { GroupMember } from "./fork-groups.ts";
import type { RefreshOptions, RefreshReport } from "./native-index.ts";
import { createProgress } from "./progress.ts";
import type { ScanResult } from "./scan-job.ts";
import type { ScanPool, SizedJob } from "./scan-pool.ts";

export interface RefreshParts {
  database: DatabaseSync;
  claudeHome: string;
  threads?: number | undefined;
  clock: Pick<Clock, "now">;
}

/** How many results are written in one transaction. Fewer would write the same pages of the index more often. */
const BATCH_FILES = 2000;

export async function refreshIndex(parts: RefreshParts, options: RefreshOptions): Promise<RefreshReport> {
  const { database, claudeHome } = parts;
  options.signal?.throwIfAborted();
  const lookedAt = parts.clock.now();
  const rows = createFileRows(database);
  const folders = createFolderRows(database);
  const memories = folders.read();
  const found = findFolders(claudeHome, (folder) => memories.get(folder), options.folders);
  const { files, changed, vanished, looked, gone } = compareFolders(found, memories, rows);
  const report: RefreshReport = { files, filesRead: 0, bytesRead: 0, removed: vanished.length, failed: found.failed };
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

  const token = randomIds.uuid();
  runTransaction(database, () => {
    database.prepare("INSERT INTO unsettled VALUES (?)").run(token);
    for (const { id } of vanished) rows.remove(id);
    for (const folder of new Set(vanished.map(({ folder }) => folder))) folders.forget(folder);
  });
  // Most refreshes find nothing to read, and a list has no time to load what it does not need.
  const [{ createScanPool }, { createForkGroups }] = await Promise.all([
    import("./scan-pool.ts"),
    import("./fork-groups.ts"),
  ]);
  await using pool = createScanPool({ threads: parts.threads, signal: options.signal });
  const scanner = createScanning({ database, pool, rows, folders, report, onProgress: options.onProgress });
  await scanner.scan(changed);

  const groups = createForkGroups(database);
  const all = groups.find();
  const countAll = leftover.length > 0 || vanished.some(({ grouped }) => grouped);
  const needed = countAll ? all : all.filter((group) => group.some(({ id }) => scanner.written.has(id)));
  const alone = needed.flat().filter(({ grouped }) => grouped === 0);
  await scanner.scan(alone.map((member) => memberFile(claudeHome, member)));
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
  return { file, bytes: size, withMessages: true };
}

interface Scanning {
  /** Reads the files and writes what they say. */
  scan(files: readonly ChangedFile[]): Promise<void>;
  /** The rows that were written. */
  written: Set<number>;
}

interface ScanningParts {
  database: DatabaseSync;
  pool: ScanPool;
  rows: FileRows;
  folders: FolderRows;
  report: RefreshReport;
  onProgress: RefreshOptions["onProgress"];
}

function createScanning({ database, pool, rows, folders, report, onProgress }: ScanningParts): Scanning {
  const progress = createProgress(onProgress);
  const written = new Set<number>();

  const write = (files: readonly ChangedFile[], results: readonly ScanResult[]) => {
    const touched = new Set<string>();
    for (const result of results) {
      const changed = files[result.id];
      if (changed === undefined) continue;
      report.bytesRead += result.bytesRead;
      if (result.outcome === "failed") report.failed.push({ path: changed.file.path, reason: result.reason });
      if (result.outcome !== "scanned") continue;
      const id = rows.write(changed.file, result.file);
      if (result.file.messages !== undefined) rows.writeMessages(id, result.file);
      written.add(id);
      touched.add(changed.file.folder);
      report.filesRead += 1;
    }
    for (const folder of touched) folders.forget(folder);
  };

  return {
    written,
    async scan(files) {
      if (files.length === 0) return;
      progress.expect(files.length, sumBytes(files));
      const jobs = files.map((file, id) => toJob(file, id, rows));
      let pending: ScanResult[] = [];
      const flush = () => {
        runTransaction(database, () => write(files, inOrder(pending)));
        pending = [];
      };
      const receive = (results: readonly ScanResult[]) => {
        pending.push(...results);
        progress.add(results.length, sumBytes(results.map(({ id }) => files[id] ?? { bytes: 0 })));
        if (pending.length >= BATCH_FILES) flush();
      };
      await pool.scan(jobs, receive);
      flush();
      progress.report();
    },
  };
}

/** As the files lie in their folders: neighbours in the index are written together. */
function inOrder(results: readonly ScanResult[]): ScanResult[] {
  return results.toSorted((a, b) => a.id - b.id);
}

function toJob({ file, known, bytes, withMessages }: ChangedFile, id: number, rows: FileRows): SizedJob {
  return {
    id,
    path: file.path,
    bytes,
    withMessages,
    ...(known === undefined ? {} : { previous: rows.readScan(known.id) }),
  };
}

function sumBytes(files: readonly { bytes: number }[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function unsettledTokens(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT token FROM unsettled")
    .all()
    .map(({ token }) => String(token));
}

/** IMMEDIATE: a transaction that has begun cannot lose against another writer. */
function runTransaction(database: DatabaseSync, task: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    task();
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
