/**
 * Brings the index up to date in small transactions. A killed process loses only the lines it was reading; the next
 * one continues from the last transaction.
 */
import { lstatSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { FolderLook } from "../claude/index/index-rows.ts";
import { HoldfastError } from "../base/errors.ts";
import type { IndexDatabase } from "./index-database.ts";
import { listSources, type Listing, isBelow, isArchived, transcriptOfFile, transcriptOfRow } from "./list-sources.ts";
import {
  type FolderMemories,
  type NativeLook,
  expectFolders,
  lookAtArchive,
  lookAtNative,
  readMemories,
  rememberFolders,
} from "./native-folders.ts";
import type { Reading } from "./read-threads.ts";
import {
  type ListedRow,
  allSources,
  findSource,
  finishSource,
  moveSource,
  ownSources,
  removeSource,
  setOwners,
} from "./source-rows.ts";
import { type ArchiveSources, type SearchSources, type SourceFile, holderOf, lengthOf } from "./sources.ts";

export interface RefreshOptions {
  sources: SearchSources;
  /** Stop after about this time and leave the rest to later calls. Default: no limit. */
  budgetMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called at most a few times per second. Optional. */
  onProgress?: ((progress: IndexingProgress) => void) | undefined;
}

interface IndexingProgress {
  filesDone: number;
  filesTotal: number;
  bytesDone: number;
  bytesTotal: number;
}

export interface RefreshReport {
  /** True if everything is indexed as it was at the start of the call. */
  complete: boolean;
  files: number;
  filesRead: number;
  bytesRead: number;
  /** Left to later calls. */
  pendingFiles: number;
  pendingBytes: number;
  removed: number;
  /** Lines of this call that are unreadable, or too long. */
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
  database.waitForOthers(options.budgetMs ?? WAIT_MS);
  const lookedAt = clock.now();
  const memories = readMemories(database);
  const { rows, listing, unchanged, ...looked } = await findFiles(database, options.sources, memories);
  const report = { ...EMPTY_REPORT, files: listing.files.length + unchanged, failed: listing.failed };
  let isLocked = false;
  /** If another process writes for a long time, its files and ours are left to later calls. */
  const unlessLocked = (write: () => void): void => {
    if (isLocked) return;
    try {
      write();
    } catch (error) {
      if (!(error instanceof HoldfastError && error.kind === "locked")) throw error;
      isLocked = true;
    }
  };
  unlessLocked(() => {
    expectFolders(database, looked.looks, memories);
    report.removed = reconcile(database, rows, listing);
    setOwners(database, options.sources.native?.owners ?? new Map());
  });
  const pending = inOrder(listing.files.filter((file) => needsReading(rows.get(keyOf(file)), file)));
  const progress = createProgress(clock, options, pending, rows);
  const [started, done] = [new Set<SourceFile>(), new Set<SourceFile>()];
  if (pending.length > 0 && !isLocked && !isOver()) {
    // Loaded on demand: most searches find nothing to read.
    const [{ createIndexWriter }, { readHere, readInThreads }] = await Promise.all([
      import("./index-writer.ts"),
      import("./read-threads.ts"),
    ]);
    const writer = createIndexWriter(database, report);
    const jobs = pending.map((file) => {
      const isKnown = rows.has(keyOf(file));
      return { file, known: isKnown ? findSource(database, file.path, holderOf(file)) : undefined };
    });
    const isLarge = options.budgetMs === undefined && progress.bytesTotal >= THREADED_BYTES;
    const accept = ({ job, part, failed, isDone }: Reading): void => {
      const file = pending[job];
      if (file === undefined) return;
      started.add(file);
      if (part !== undefined) writer.add(part);
      if (failed !== undefined) report.failed.push({ path: file.path, reason: failed });
      if (isDone) done.add(file);
      progress.tell(done.size, report.bytesRead);
    };
    for await (const reading of isLarge ? readInThreads(jobs) : readHere(jobs)) {
      unlessLocked(() => accept(reading));
      if (isLocked || isOver()) break;
    }
    unlessLocked(() => writer.flush());
  }
  if (isLocked) done.clear();
  if (isLocked || done.size < pending.length) {
    const rest = pending.filter((file) => !done.has(file));
    return { ...report, complete: false, ...left(database, rest, started) };
  }
  unlessLocked(() => rememberFolders(database, looked, memories, lookedAt));
  progress.finish(report.bytesRead);
  return report;
}

interface FoundFiles extends Pick<NativeLook, "looks" | "unchanged"> {
  /** Of the files that were listed, and of those that should have been. */
  rows: Map<string, ListedRow>;
  listing: Listing;
  /** The archive's folder, if it was listed. */
  archive?: FolderLook | undefined;
}

/** Project folders that are as remembered are not listed. */
async function findFiles(
  database: IndexDatabase,
  sources: SearchSources,
  memories: FolderMemories,
): Promise<FoundFiles> {
  const { native } = sources;
  const archive = native?.archive && lookAtArchive(native.archive.folder, memories);
  if (archive === undefined) {
    const look = native === undefined ? NO_LOOK : lookAtNative(native, memories);
    // Read the rows first: a file that another process adds meanwhile must not look removed.
    const rows = byKey(
      ownSources(
        database,
        look.looks.map(({ root }) => root),
      ),
    );
    const listing = await listSources(sources, undefined, look);
    if (native?.archive === undefined || !mayConcernArchive(native.archive, rows, listing)) {
      return { rows, listing, looks: look.looks, unchanged: look.unchanged };
    }
  }
  // A copy replaces a transcript in whatever folder it was.
  const rows = byKey(allSources(database));
  const look = native === undefined ? NO_LOOK : lookAtNative(native, new Map());
  return { rows, listing: await listSources(sources, rows.values(), look), looks: look.looks, unchanged: 0, archive };
}

const NO_LOOK: NativeLook = { looks: [], unchanged: 0, failed: [] };

function byKey(rows: readonly ListedRow[]): Map<string, ListedRow> {
  return new Map(rows.map((row) => [keyOf(row), row]));
}

/** Whether a native transcript is gone, or one is back that has a copy. */
function mayConcernArchive(
  { sessions }: ArchiveSources,
  rows: ReadonlyMap<string, ListedRow>,
  { files }: Listing,
): boolean {
  if (sessions.length === 0) return false;
  const copied = new Set(sessions.map(({ sessionId }) => sessionId));
  const listed = new Set(files.map(keyOf));
  return (
    files.some((file) => !rows.has(keyOf(file)) && copied.has(file.sessionId ?? "")) ||
    [...rows].some(([key, { kind }]) => kind === "native" && !listed.has(key))
  );
}

/** How long a call without a time limit waits for another process that writes. */
const WAIT_MS = 10_000;
/** Below this size, starting threads takes longer than they save. */
const THREADED_BYTES = 32 * 1024 * 1024;

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

function needsReading(row: ListedRow | undefined, file: SourceFile): boolean {
  return row === undefined || row.inode !== file.inode || row.size !== file.size || row.modified_at !== file.modifiedAt;
}

/** Memory files first, because they are small and searched most; then the newest. A session precedes its subagents. */
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

/** A copy has the age of its original. */
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

function left(
  database: IndexDatabase,
  files: readonly SourceFile[],
  started: ReadonlySet<SourceFile>,
): { pendingFiles: number; pendingBytes: number } {
  let pendingBytes = 0;
  for (const file of files) {
    const offset = started.has(file) ? (findSource(database, file.path, holderOf(file))?.offset ?? 0) : 0;
    pendingBytes += Math.max(0, lengthOf(file) - offset);
  }
  return { pendingFiles: files.length, pendingBytes };
}

const PROGRESS_INTERVAL_MS = 250;

function createProgress(
  clock: Clock,
  { onProgress }: RefreshOptions,
  pending: readonly SourceFile[],
  rows: ReadonlyMap<string, ListedRow>,
): { bytesTotal: number; tell(filesDone: number, bytesDone: number): void; finish(bytesDone: number): void } {
  const sizes = pending.map((file) => Math.max(0, lengthOf(file) - (rows.get(keyOf(file))?.offset ?? 0)));
  const bytesTotal = sizes.reduce((sum, size) => sum + size, 0);
  let told = clock.now();
  const send = (filesDone: number, bytesDone: number): void =>
    onProgress?.({ filesDone, filesTotal: pending.length, bytesDone, bytesTotal });
  return {
    bytesTotal,
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

/** Applies what needs no reading: moved and removed files. Updates `rows`. Returns the number of removed files. */
function reconcile(database: IndexDatabase, rows: Map<string, ListedRow>, { files, covered }: Listing): number {
  moveToCopies(database, rows, files);
  const listed = new Set(files.map(keyOf));
  const gone = [...rows.values()].filter(
    (row) =>
      !listed.has(keyOf(row)) &&
      covered.some(({ kind, folder }) => kind === row.kind && isBelow(row.path, folder)) &&
      lstatSync(row.path, { throwIfNoEntry: false })?.isFile() !== true,
  );
  for (const file of files) {
    const moved = rows.has(keyOf(file)) ? undefined : gone.find((row) => isSameFile(row, file));
    if (moved !== undefined) {
      database.transaction(() => moveSource(database, moved, file));
      gone.splice(gone.indexOf(moved), 1);
      rows.delete(keyOf(moved));
      rows.set(keyOf(file), { ...moved, path: file.path });
    }
  }
  for (const row of gone) database.transaction(() => removeIfCurrent(database, row));
  return gone.length;
}

/**
 * Moves passages from a removed original to its copy, from a copy to a restored original, or to a newer copy. They
 * stay searchable until the first lines of the new file replace them, or for good if the copy is identical.
 */
function moveToCopies(database: IndexDatabase, rows: Map<string, ListedRow>, files: readonly SourceFile[]): void {
  // Most people have no archive.
  const hasCopies = files.some(({ copyOf }) => copyOf !== undefined);
  if (!hasCopies && ![...rows.values()].some(({ kind, path }) => kind === "native" && isArchived(path))) return;
  const known = Map.groupBy(
    [...rows.values()].filter(({ kind }) => kind === "native"),
    transcriptOfRow,
  );
  for (const file of files) {
    const own = rows.get(keyOf(file));
    const others = (known.get(transcriptOfFile(file)) ?? []).filter(
      (row) => row.path !== file.path && (file.copyOf !== undefined || isArchived(row.path)),
    );
    const [only] = others;
    if (file.kind !== "native" || only === undefined) continue;
    known.delete(transcriptOfFile(file));
    for (const row of others) rows.delete(keyOf(row));
    if (own === undefined && others.length === 1) {
      const moved = database.transaction(() => moveIfCurrent(database, only, file));
      if (moved !== undefined) rows.set(keyOf(file), moved);
      continue;
    }
    // Two processes have read both. Removing one also forgets the owner, so read the other again.
    rows.delete(keyOf(file));
    database.transaction(() => {
      for (const row of own === undefined ? others : [...others, own]) removeIfCurrent(database, row);
    });
  }
}

function moveIfCurrent(database: IndexDatabase, row: ListedRow, file: SourceFile): ListedRow | undefined {
  const current = findSource(database, row.path, row.holder);
  if (current?.id !== row.id || findSource(database, file.path, holderOf(file)) !== undefined) return undefined;
  moveSource(database, current, file);
  if (isWholeCopy(file, current)) finishSource(database, current, file);
  return findSource(database, file.path, holderOf(file));
}

function isWholeCopy({ copyOf }: SourceFile, { size, modified_at: modifiedAt, offset, path }: ListedRow): boolean {
  if (copyOf === undefined || !copyOf.isExact || isArchived(path)) return false;
  const { sizeBytes } = copyOf;
  return sizeBytes === size && sizeBytes === offset && copyOf.modifiedAt === modifiedAt;
}

function removeIfCurrent(database: IndexDatabase, row: ListedRow): void {
  const current = findSource(database, row.path, row.holder);
  if (current?.id === row.id) removeSource(database, current);
}

function isSameFile(row: ListedRow, file: SourceFile): boolean {
  return (
    row.inode === file.inode &&
    row.kind === file.kind &&
    row.holder === holderOf(file) &&
    row.session_id === (file.sessionId ?? null) &&
    row.subagent_id === (file.subagentId ?? null)
  );
}

/** Identifies a file: its path, and its agent if several may share it. */
function keyOf(file: SourceFile | ListedRow): string {
  return `${"holder" in file ? file.holder : holderOf(file)}\0${file.path}`;
}
