/**
 * Bringing the index up to date, in small steps: a process that is killed loses the lines it was just
 * reading, and the next one goes on where the last transaction ended.
 */
import type { Clock } from "../base/clock.ts";
import { HoldfastError, errorMessage } from "../base/errors.ts";
import type { IndexDatabase } from "./index-database.ts";
import { indexFile } from "./index-file.ts";
import { keyOf, reconcile } from "./reconcile.ts";
import { type SourceRow, allSources, findSource } from "./source-rows.ts";
import { listSources } from "./list-sources.ts";
import { type SearchSources, type SourceFile, holderOf, lengthOf } from "./sources.ts";

export interface RefreshOptions {
  sources: SearchSources;
  /** Stop after about this time and leave the rest to later calls. Left out: until done. */
  budgetMs?: number;
  signal?: AbortSignal;
  /** Called while files are read, at most a few times a second. */
  onProgress?: (progress: IndexingProgress) => void;
}

export interface IndexingProgress {
  filesDone: number;
  filesTotal: number;
  bytesDone: number;
  bytesTotal: number;
}

export interface RefreshReport {
  /** Whether everything is indexed as it was when the call began. */
  complete: boolean;
  files: number;
  filesRead: number;
  bytesRead: number;
  /** Left for a later call. */
  pendingFiles: number;
  pendingBytes: number;
  removed: number;
  /** Lines read in this call that are not readable, or too long to be held. */
  damagedLines: number;
  skippedLines: number;
  failed: { path: string; reason: string }[];
}

export async function refreshIndex(
  database: IndexDatabase,
  clock: Clock,
  options: RefreshOptions,
): Promise<RefreshReport> {
  const deadline = clock.now() + (options.budgetMs ?? Number.POSITIVE_INFINITY);
  const isOver = (): boolean => clock.now() >= deadline || options.signal?.aborted === true;
  // The rows come first: a file that another process adds meanwhile must not look as if it were gone.
  const rows = new Map(allSources(database).map((row) => [keyOf(row), row]));
  const listing = await listSources(options.sources, rows.values());
  const removed = reconcile(database, rows, listing);
  const pending = inOrder(listing.files.filter((file) => needsReading(rows.get(keyOf(file)), file)));

  const report = { ...EMPTY_REPORT, files: listing.files.length, removed, failed: listing.failed };
  const progress = createProgress(clock, options, pending, rows);
  for (const [index, file] of pending.entries()) {
    if (isOver()) return { ...report, complete: false, ...left(database, pending.slice(index)) };
    const before = report.bytesRead;
    try {
      const done = await indexFile(database, file, report, () => {
        progress.tell(index, report.bytesRead);
        return isOver();
      });
      if (!done) return { ...report, complete: false, ...left(database, pending.slice(index)) };
    } catch (error) {
      if (error instanceof HoldfastError && (error.kind === "corrupt" || error.code === "disk-full")) throw error;
      report.failed.push({ path: file.path, reason: errorMessage(error) });
    }
    if (report.bytesRead > before) report.filesRead += 1;
    progress.tell(index + 1, report.bytesRead);
  }
  progress.finish(report.bytesRead);
  return report;
}

const EMPTY_REPORT: RefreshReport = {
  complete: true,
  files: 0,
  filesRead: 0,
  bytesRead: 0,
  pendingFiles: 0,
  pendingBytes: 0,
  removed: 0,
  damagedLines: 0,
  skippedLines: 0,
  failed: [],
};

function needsReading(row: SourceRow | undefined, file: SourceFile): boolean {
  return row === undefined || row.inode !== file.inode || row.size !== file.size || row.modified_at !== file.modifiedAt;
}

/** Memory first, it is small and asked for most; then the newest. A session goes before its subagents. */
function inOrder(files: SourceFile[]): SourceFile[] {
  const newest = new Map<string, number>();
  for (const file of files) newest.set(group(file), Math.max(newest.get(group(file)) ?? 0, writtenAt(file)));
  const rank = (file: SourceFile): number =>
    file.kind === "memory" ? Number.POSITIVE_INFINITY : (newest.get(group(file)) ?? 0);
  return files.sort(
    (a, b) =>
      (rank(a) === rank(b) ? 0 : rank(b) - rank(a)) ||
      compare(group(a), group(b)) ||
      compare(a.subagentId ?? "", b.subagentId ?? ""),
  );
}

/** A copy is as old as its original. */
function writtenAt({ modifiedAt, copyOf }: SourceFile): number {
  return copyOf?.modifiedAt ?? modifiedAt;
}

function group(file: SourceFile): string {
  return file.kind === "native" ? (file.sessionId ?? file.path) : file.path;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function left(database: IndexDatabase, files: readonly SourceFile[]): { pendingFiles: number; pendingBytes: number } {
  let pendingBytes = 0;
  for (const [index, file] of files.entries()) {
    // Only the first of them can have been read in part just now.
    const offset = index === 0 ? (findSource(database, file.path, holderOf(file))?.offset ?? 0) : 0;
    pendingBytes += Math.max(0, lengthOf(file) - offset);
  }
  return { pendingFiles: files.length, pendingBytes };
}

const PROGRESS_INTERVAL_MS = 250;

function createProgress(
  clock: Clock,
  { onProgress }: RefreshOptions,
  pending: readonly SourceFile[],
  rows: ReadonlyMap<string, SourceRow>,
): { tell(filesDone: number, bytesDone: number): void; finish(bytesDone: number): void } {
  const sizes = pending.map((file) => Math.max(0, lengthOf(file) - (rows.get(keyOf(file))?.offset ?? 0)));
  const bytesTotal = sizes.reduce((sum, size) => sum + size, 0);
  let told = clock.now();
  const send = (filesDone: number, bytesDone: number): void =>
    onProgress?.({ filesDone, filesTotal: pending.length, bytesDone, bytesTotal });
  return {
    tell: (filesDone, bytesDone) => {
      if (clock.now() - told < PROGRESS_INTERVAL_MS) return;
      told = clock.now();
      send(filesDone, bytesDone);
    },
    finish: (bytesDone) => {
      if (pending.length > 0) send(pending.length, bytesDone);
    },
  };
}
