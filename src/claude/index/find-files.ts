/**
 * Every transcript below Claude Code's `projects` folder with what a stat tells, in one synchronous go:
 * with ten thousand files, waiting for each of them would take longer than everything else together.
 * For the same reason a folder's figures stay together in one array; most of them are only compared.
 */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { errorMessage, systemErrorCode } from "../../base/errors.ts";
import { projectsFolder } from "../native/layout.ts";
import { SESSION_FILE, SESSION_FOLDER, SUBAGENT_FILE } from "../native/transcripts.ts";

export interface FoundFile {
  /** The name of the project folder. */
  folder: string;
  /** The path below it. */
  name: string;
  path: string;
  sessionId: string;
  /** Set for the transcript of a subagent. */
  agentId?: string | undefined;
  stamp: FileStamp;
}

/** As long as these stay the same, so does the content. */
export interface FileStamp {
  inode: number;
  size: number;
  /** In ms, with the fraction that the file system keeps. */
  modifiedAt: number;
}

/** A project folder without what lies in the folders of its sessions. */
export interface FolderLook {
  /** Its name. */
  folder: string;
  root: string;
  /** The transcripts in it. */
  names: string[];
  /** Three figures for the folder itself, then three for each transcript; `stampAt` reads those. */
  stamps: Float64Array;
  /** The sessions that have a folder of their own beside the transcript. */
  sessionFolders: string[];
}

/** What a folder had at an earlier look. Its own stamp says whether it still has the same. */
export type KnownEntries = Pick<FolderLook, "names" | "stamps" | "sessionFolders">;

export interface FoundFolders {
  /** Made while they are gone through, once, so that work on the first can begin before the last is found. */
  looks: Iterable<FolderLook>;
  /** What could not be listed. */
  failed: { path: string; reason: string }[];
  /** Whether a folder that was not among the looks is not there any more. */
  isGone(folder: string): boolean;
}

export const STAMP_FIGURES = 3;

export function findFolders(
  claudeHome: string,
  known: (folder: string) => KnownEntries | undefined,
  only?: readonly string[],
): FoundFolders {
  const projects = projectsFolder(claudeHome);
  const wanted = only === undefined ? undefined : new Set(only);
  const unlisted = new Set<string>();
  const failed: FoundFolders["failed"] = [];
  const folders = listNames(projects, failed);
  function* look(): Generator<FolderLook> {
    for (const folder of folders ?? []) {
      if (wanted?.has(folder) === false) continue;
      const root = `${projects}/${folder}`;
      const found = lookAtFolder(folder, root, known(folder), failed);
      if (found === undefined) unlisted.add(folder);
      else yield found;
    }
  }
  const isGone = (folder: string) => !unlisted.has(folder) && (wanted?.has(folder) ?? true);
  return { looks: look(), failed, isGone: folders === undefined ? () => false : isGone };
}

/** Undefined when the folder cannot be listed. */
function lookAtFolder(
  folder: string,
  root: string,
  known: KnownEntries | undefined,
  failed: FoundFolders["failed"],
): FolderLook | undefined {
  const place = statSync(root, NO_ERROR);
  const own = [place?.ino ?? 0, place?.mtimeMs ?? 0, place?.ctimeMs ?? 0];
  // Whatever comes into a folder or leaves it changes the folder's time. What is written into a file does not.
  const isKnown = own.every((figure, index) => figure === known?.stamps[index]);
  const entries = isKnown ? known : listEntries(root, failed);
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
  failed: FoundFolders["failed"],
): Pick<FolderLook, "names" | "sessionFolders"> | undefined {
  const entries = listNames(root, failed);
  if (entries === undefined) return undefined;
  return {
    names: entries.filter((entry) => SESSION_FILE.test(entry)).sort(),
    sessionFolders: entries.filter((entry) => SESSION_FOLDER.test(entry)),
  };
}

export function stampAt(stamps: Float64Array, index: number): FileStamp {
  const from = (index + 1) * STAMP_FIGURES;
  return { inode: stamps[from] ?? 0, size: stamps[from + 1] ?? 0, modifiedAt: stamps[from + 2] ?? 0 };
}

/** The transcripts of a session's subagents; undefined when they cannot be listed. */
export function findSubagents(
  { folder, root }: FolderLook,
  sessionId: string,
  failed: FoundFolders["failed"],
): FoundFile[] | undefined {
  if (lstatSync(`${root}/${sessionId}`, NO_ERROR)?.isDirectory() !== true) return [];
  const found: FoundFile[] = [];
  const names = listNames(`${root}/${sessionId}/subagents`, failed);
  for (const entry of names ?? []) {
    const agentId = SUBAGENT_FILE.exec(entry)?.[1];
    if (agentId === undefined) continue;
    const name = `${sessionId}/subagents/${entry}`;
    const path = `${root}/${name}`;
    const stats = lstatSync(path, NO_ERROR);
    if (stats === undefined || !stats.isFile()) continue;
    const stamp = { inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
    found.push({ folder, name, path, sessionId, agentId, stamp });
  }
  return names === undefined ? undefined : found;
}

const NO_ERROR = { throwIfNoEntry: false } as const;

/** Empty when there is no such folder, undefined when it cannot be listed. */
function listNames(folder: string, failed: FoundFolders["failed"]): string[] | undefined {
  try {
    return readdirSync(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    failed.push({ path: folder, reason: errorMessage(error) });
    return undefined;
  }
}
