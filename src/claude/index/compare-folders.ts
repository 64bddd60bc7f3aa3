/** What has to be read and what is gone: the folders as they are against what the index knows of them. */
import type { FileRows, KnownFile } from "./file-rows.ts";
import {
  type FileStamp,
  type FolderLook,
  type FoundFile,
  type FoundFolders,
  findSubagents,
  stampAt,
} from "./find-files.ts";
import { type FolderMemory, isAsRemembered } from "./folder-rows.ts";

/** A file that has to be read, whole or in part. */
export interface ChangedFile {
  file: Omit<FoundFile, "stamp">;
  known?: KnownFile | undefined;
  bytes: number;
  withMessages: boolean;
  /** Nothing but what it used is wanted. */
  usageOnly: boolean;
}

export interface Comparison {
  /** How many transcripts there are. */
  files: number;
  changed: ChangedFile[];
  vanished: KnownFile[];
  /** Folders that are not as remembered. */
  looked: FolderLook[];
  /** Folders that are not there any more. */
  gone: string[];
}

export interface CompareOptions {
  /** See `RefreshOptions`. */
  usageOnly: boolean;
  /** Hears of the files that have to be read, folder by folder, while others are still looked at. */
  onChanged: (files: readonly ChangedFile[]) => void;
}

export function compareFolders(
  found: FoundFolders,
  memories: ReadonlyMap<string, FolderMemory | undefined>,
  rows: FileRows,
  { usageOnly, onChanged }: CompareOptions,
): Comparison {
  const comparison: Comparison = { files: 0, changed: [], vanished: [], looked: [], gone: [] };
  const seen = new Set<string>();
  for (const look of found.looks) {
    seen.add(look.folder);
    const memory = memories.get(look.folder);
    if (memory !== undefined && (memory.isComplete || usageOnly) && isAsRemembered(look, memory)) {
      comparison.files += memory.files;
    } else if (look.names.length + look.sessionFolders.length > 0 || memories.has(look.folder)) {
      const before = comparison.changed.length;
      compareFiles(comparison, look, memory, rows, found.failed, usageOnly);
      onChanged(comparison.changed.slice(before));
    }
  }
  for (const folder of memories.keys()) {
    if (seen.has(folder) || !found.isGone(folder)) continue;
    comparison.gone.push(folder);
    comparison.vanished.push(...rows.inFolder(folder));
  }
  return comparison;
}

function compareFiles(
  comparison: Comparison,
  look: FolderLook,
  memory: FolderMemory | undefined,
  rows: FileRows,
  failed: FoundFolders["failed"],
  usageOnly: boolean,
): void {
  const { folder, root } = look;
  const known = new Map(rows.inFolder(folder).map((file) => [file.name, file]));
  const changedSessions = new Set<string>();
  const compareOne = (file: Omit<FoundFile, "stamp">, stamp: FileStamp): void => {
    const before = known.get(file.name);
    known.delete(file.name);
    comparison.files += 1;
    if (before !== undefined && (before.isComplete || usageOnly) && isSame(before.stamp, stamp)) return;
    changedSessions.add(file.sessionId);
    const hasGrown = before?.isComplete === true && stamp.size >= before.stamp.size;
    comparison.changed.push({
      file,
      known: before,
      bytes: hasGrown ? stamp.size - before.stamp.size : stamp.size,
      withMessages: before?.grouped ?? false,
      // A file that changes will change again: known as a whole, it costs only what was added.
      usageOnly: usageOnly && before === undefined,
    });
  };

  comparison.looked.push(look);
  for (const [index, name] of look.names.entries()) {
    const sessionId = name.slice(0, -".jsonl".length);
    compareOne({ folder, name, path: `${root}/${name}`, sessionId }, stampAt(look.stamps, index));
  }
  for (const { session, agent } of known.values()) if (agent === null) changedSessions.add(session);
  const quiet = new Set(memory?.quiet);
  const passedOver = new Set<string>();
  let isListed = true;
  for (const session of look.sessionFolders) {
    if (quiet.has(session) && !changedSessions.has(session)) {
      passedOver.add(session);
      continue;
    }
    const subagents = findSubagents(look, session, failed);
    for (const { stamp, ...file } of subagents ?? []) compareOne(file, stamp);
    isListed &&= subagents !== undefined;
  }
  for (const file of known.values()) {
    if (file.agent !== null && passedOver.has(file.session)) comparison.files += 1;
    else if (isListed) comparison.vanished.push(file);
  }
}

function isSame(a: FileStamp, b: FileStamp): boolean {
  return a.size === b.size && a.modifiedAt === b.modifiedAt && a.inode === b.inode;
}
