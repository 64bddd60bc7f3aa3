/**
 * Finds the transcripts that changed since the last refresh. It runs synchronously, because waiting for each of ten
 * thousand files takes longer than everything else, and keeps the figures of a folder in one array, because most of
 * them are only compared.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { errorMessage, systemErrorCode } from "../../base/errors.ts";
import { SESSION_FILE, SESSION_FOLDER, SUBAGENT_FILE, projectsFolder } from "../native/layout.ts";
import type { FolderLook, FolderMemory, IndexRows, KnownFile, TranscriptFile } from "./index-rows.ts";
import type { RefreshOptions, RefreshReport } from "./native-index.ts";
import type { FileStamp } from "./scan-job.ts";

/** A file that has to be read, in whole or in part. */
export interface ChangedFile {
  file: TranscriptFile;
  known?: KnownFile | undefined;
  bytes: number;
  withMessages: boolean;
  usageOnly: boolean;
}

export interface Changes {
  /** The number of transcripts. */
  files: number;
  changed: ChangedFile[];
  vanished: KnownFile[];
  /** Folders that differ from their memory. */
  looked: FolderLook[];
  /** Deleted folders. */
  gone: string[];
  failed: RefreshReport["failed"];
}

interface Comparison {
  changes: Changes;
  memories: ReadonlyMap<string, FolderMemory | undefined>;
  rows: IndexRows;
  usageOnly: boolean;
}

/** `onChanged` gets the changed files of each folder before the next folder is read. */
export function findChanges(
  claudeHome: string,
  memories: Comparison["memories"],
  rows: IndexRows,
  { usageOnly = false }: RefreshOptions,
  onChanged: (files: readonly ChangedFile[]) => void,
): Changes {
  const changes: Changes = { files: 0, changed: [], vanished: [], looked: [], gone: [], failed: [] };
  const comparison: Comparison = { changes, memories, rows, usageOnly };
  const projects = projectsFolder(claudeHome);
  const folders = listNames(projects, changes.failed);
  const seen = new Set<string>();
  for (const folder of folders ?? []) {
    seen.add(folder);
    const before = changes.changed.length;
    const look = lookAtFolder(folder, `${projects}/${folder}`, memories.get(folder), changes.failed);
    if (look !== undefined) compareFolder(comparison, look);
    if (changes.changed.length > before) onChanged(changes.changed.slice(before));
  }
  for (const folder of folders === undefined ? [] : memories.keys()) {
    if (seen.has(folder)) continue;
    changes.gone.push(folder);
    changes.vanished.push(...rows.filesIn(folder));
  }
  return changes;
}

const STAMP_FIGURES = 3;
const NO_ERROR = { throwIfNoEntry: false } as const;

/** Undefined when the folder cannot be listed. */
export function lookAtFolder(
  folder: string,
  root: string,
  memory: FolderMemory | undefined,
  failed: Changes["failed"],
): FolderLook | undefined {
  const place = statSync(root, NO_ERROR);
  const own = [place?.ino ?? 0, place?.mtimeMs ?? 0, place?.ctimeMs ?? 0];
  // Adding or removing a file changes the time of the folder; writing to a file does not.
  const isKnown = own.every((figure, index) => figure === memory?.stamps[index]);
  const entries = isKnown && memory !== undefined ? memory : listEntries(root, failed);
  if (entries === undefined) return undefined;
  const names: string[] = [];
  const stamps = new Float64Array((entries.names.length + 1) * STAMP_FIGURES);
  stamps.set(own);
  let filled = STAMP_FIGURES;
  for (const name of entries.names) {
    const stats = lstatSync(`${root}/${name}`, NO_ERROR);
    if (stats === undefined || !stats.isFile()) continue;
    names.push(name);
    stamps[filled] = stats.ino;
    stamps[filled + 1] = stats.size;
    stamps[filled + 2] = stats.mtimeMs;
    filled += STAMP_FIGURES;
  }
  return { folder, root, names, stamps: stamps.subarray(0, filled), sessionFolders: entries.sessionFolders };
}

function listEntries(
  root: string,
  failed: Changes["failed"],
): Pick<FolderLook, "names" | "sessionFolders"> | undefined {
  const entries = listNames(root, failed);
  if (entries === undefined) return undefined;
  return {
    names: entries.filter((entry) => SESSION_FILE.test(entry)).sort(),
    sessionFolders: entries.filter((entry) => SESSION_FOLDER.test(entry)),
  };
}

/** Empty when there is no such folder, undefined when it cannot be listed. */
export function listNames(folder: string, failed: Changes["failed"]): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    failed.push({ path: folder, reason: errorMessage(error) });
    return undefined;
  }
}

function compareFolder(comparison: Comparison, look: FolderLook): void {
  const { changes, memories, usageOnly } = comparison;
  const memory = memories.get(look.folder);
  if (memory !== undefined && (memory.isComplete || usageOnly) && isAsRemembered(look, memory)) {
    changes.files += memory.files;
  } else if (look.names.length + look.sessionFolders.length > 0 || memories.has(look.folder)) {
    compareFiles(comparison, look, memory);
  }
}

/** Whether the folder is unchanged and none of its sessions needs a look at its subagents. */
export function isAsRemembered(look: FolderLook, memory: FolderMemory): boolean {
  const { stamps, quiet, sessionFolders } = memory;
  // The list includes the stamp of the folder itself, so equal lists also mean the same file names.
  return quiet.length === sessionFolders.length && isSameList(look.stamps, stamps);
}

function compareFiles({ changes, rows, usageOnly }: Comparison, look: FolderLook, memory?: FolderMemory): void {
  const { folder, root } = look;
  const known = new Map(rows.filesIn(folder).map((file) => [file.name, file]));
  const changedSessions = new Set<string>();
  const compareOne = (file: TranscriptFile, stamp: FileStamp): void => {
    const before = known.get(file.name);
    known.delete(file.name);
    changes.files += 1;
    if (before !== undefined && (before.isComplete || usageOnly) && isSame(before.stamp, stamp)) return;
    changedSessions.add(file.sessionId);
    const hasGrown = before?.isComplete === true && stamp.size >= before.stamp.size;
    changes.changed.push({
      file,
      known: before,
      bytes: hasGrown ? stamp.size - before.stamp.size : stamp.size,
      withMessages: before?.grouped ?? false,
      // A file that changed will change again; after one full scan, later changes cost only their new bytes.
      usageOnly: usageOnly && before === undefined,
    });
  };

  changes.looked.push(look);
  for (const [index, name] of look.names.entries()) {
    const sessionId = name.slice(0, -".jsonl".length);
    compareOne({ folder, name, path: `${root}/${name}`, sessionId }, stampAt(look.stamps, index));
  }
  for (const { session, agent } of known.values()) if (agent === null) changedSessions.add(session);
  const quiet = new Set(memory?.quiet);
  const skipped = new Set<string>();
  let isListed = true;
  for (const session of look.sessionFolders) {
    if (quiet.has(session) && !changedSessions.has(session)) skipped.add(session);
    else isListed = findSubagents(look, session, changes.failed, compareOne) && isListed;
  }
  for (const file of known.values()) {
    if (file.agent !== null && skipped.has(file.session)) changes.files += 1;
    else if (isListed) changes.vanished.push(file);
  }
}

export function stampAt(stamps: Float64Array, index: number): FileStamp {
  const from = (index + 1) * STAMP_FIGURES;
  return { inode: stamps[from] ?? 0, size: stamps[from + 1] ?? 0, modifiedAt: stamps[from + 2] ?? 0 };
}

function isSame(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.modifiedAt === b.modifiedAt && a.inode === b.inode;
}

/** Reports the transcripts of a session's subagents. Returns false when they cannot be listed. */
export function findSubagents(
  { folder, root }: FolderLook,
  sessionId: string,
  failed: Changes["failed"],
  report: (file: TranscriptFile, stamp: FileStamp) => void,
): boolean {
  if (lstatSync(`${root}/${sessionId}`, NO_ERROR)?.isDirectory() !== true) return true;
  const names = listNames(`${root}/${sessionId}/subagents`, failed);
  for (const entry of names ?? []) {
    const agentId = SUBAGENT_FILE.exec(entry)?.[1];
    if (agentId === undefined) continue;
    const name = `${sessionId}/subagents/${entry}`;
    const path = `${root}/${name}`;
    const stats = lstatSync(path, NO_ERROR);
    if (stats === undefined || !stats.isFile()) continue;
    const stamp = { inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
    report({ folder, name, path, sessionId, agentId }, stamp);
  }
  return names !== undefined;
}

/**
 * A subagent writes while its session works, and the session's own transcript changes when it is done. After this long
 * without a write, the next write is to the session's own transcript.
 */
const QUIET_MS = 3_600_000;
/** Some file systems keep times this coarse: a folder that just changed may change again with the same time. */
const COARSEST_TIME_MS = 2000;

type RememberedFile = Pick<KnownFile, "name" | "session" | "agent" | "stamp" | "isComplete">;

/** `files` are the rows of the folder, sorted by name. */
export function toMemory(look: FolderLook, files: readonly RememberedFile[], lookedAt: number): FolderMemory {
  const { sessionFolders } = look;
  const own = files.filter(({ agent }) => agent === null);
  const names = own.map(({ name }) => name);
  const stamps = new Float64Array((own.length + 1) * STAMP_FIGURES);
  const changedAt = look.stamps[STAMP_FIGURES - 1] ?? 0;
  // Without the stamp of the folder, transcripts that could not be read are tried again.
  if (isSameList(look.names, names) && changedAt < lookedAt - COARSEST_TIME_MS)
    stamps.set(look.stamps.subarray(0, STAMP_FIGURES));
  for (const [index, { stamp }] of own.entries()) {
    stamps.set([stamp.inode, stamp.size, stamp.modifiedAt], (index + 1) * STAMP_FIGURES);
  }
  const writtenAt = new Map<string, number>();
  if (sessionFolders.length > 0) {
    for (const { session, stamp } of files) {
      writtenAt.set(session, Math.max(stamp.modifiedAt, writtenAt.get(session) ?? 0));
    }
  }
  return {
    names,
    stamps,
    sessionFolders,
    quiet: sessionFolders.filter((session) => (writtenAt.get(session) ?? 0) < lookedAt - QUIET_MS),
    files: files.length,
    isComplete: files.every((file) => file.isComplete),
  };
}

function isSameList<T>(a: ArrayLike<T>, b: ArrayLike<T>): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}
