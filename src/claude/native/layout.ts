/**
 * Where Claude Code keeps its files. Holdfast only reads there (but for the hooks that a person has it put into the
 * settings, see `hooks/claude-code/install.ts`), and only what is named here: other files of that folder may hold credentials. Nothing is opened through a symbolic link with such a name.
 */
import { type Dirent, type Stats, closeSync, constants, fstatSync, openSync } from "node:fs";
import { type FileHandle, open, readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { fileError, systemErrorCode } from "../../base/errors.ts";
import type { Environment } from "../../config/layout.ts";

/** `$CLAUDE_CONFIG_DIR`, else `~/.claude`. */
export function resolveClaudeHome(env: Environment = process.env): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured === undefined || configured === "" ? join(homedir(), ".claude") : resolve(configured);
}

export function projectsFolder(claudeHome: string): string {
  return join(claudeHome, "projects");
}

/** One file per living process. Also holds files that are none of our business. */
export function runningFolder(claudeHome: string): string {
  return join(claudeHome, "sessions");
}

export function historyFile(claudeHome: string): string {
  return join(claudeHome, "history.jsonl");
}

/** Of it only the number of days after which transcripts are deleted is looked at; the rest may hold secrets. */
export function settingsFile(claudeHome: string): string {
  return join(claudeHome, "settings.json");
}

/** The folder of the sessions that were started in `path`; symbolic links in the path are followed. */
export async function findProjectFolder(claudeHome: string, path: string): Promise<string> {
  const real = await realpath(path).catch(() => resolve(path));
  return join(projectsFolder(claudeHome), projectFolderName(real));
}

const MAX_FOLDER_NAME = 200;

/**
 * The folder name for a real path. Several paths can have the same name, so a name is never turned
 * back into a path: the lines of a transcript say where it was written.
 */
export function projectFolderName(realPath: string): string {
  const path = realPath.normalize("NFC");
  const name = path.replace(/[^A-Za-z0-9]/g, "-");
  return name.length <= MAX_FOLDER_NAME ? name : `${name.slice(0, MAX_FOLDER_NAME)}-${pathHash(path)}`;
}

function pathHash(path: string): string {
  let hash = 0;
  // Per UTF-16 unit and cut to 32 bits after each, because that is how Claude Code does it.
  for (let index = 0; index < path.length; index += 1) hash = (Math.imul(hash, 31) + path.charCodeAt(index)) | 0;
  return Math.abs(hash).toString(36);
}

/** The entries of a folder, none when there is no such folder. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw fileError(error, "list", folder);
  }
}

/** A regular file opened for reading; undefined when there is none, or something else has its name. */
export async function openNativeFile(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, READ_ONLY);
  } catch (error) {
    if (isAbsent(error) || isOtherThanFile(error)) return undefined;
    throw fileError(error, "read", path);
  }
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

export interface OpenFile extends Disposable {
  descriptor: number;
  stats: Stats;
}

/** The same for threads that do nothing else. */
export function openNativeFileSync(path: string): OpenFile | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, READ_ONLY);
  } catch (error) {
    if (isAbsent(error) || isOtherThanFile(error)) return undefined;
    throw fileError(error, "read", path);
  }
  const stats = fstatSync(descriptor);
  if (stats.isFile()) return { descriptor, stats, [Symbol.dispose]: () => closeSync(descriptor) };
  closeSync(descriptor);
  return undefined;
}

/** Without O_NONBLOCK a named pipe would keep us waiting for a writer. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

function isOtherThanFile(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === "ELOOP" || code === "ENXIO";
}

function isAbsent(error: unknown): boolean {
  const code = systemErrorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}
