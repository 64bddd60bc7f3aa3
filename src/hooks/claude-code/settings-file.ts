/**
 * Reads and replaces Claude Code's settings.json. It may hold credentials, so it keeps its place, mode and owner, and
 * its content is never logged. The target of a link is replaced, not the link. Anything but a plain, writable file is
 * refused without a change.
 */
import type { Stats } from "node:fs";
import { access, constants, lstat, mkdir, open, readFile, realpath, rmdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import {
  PRIVATE_FILE,
  PRIVATE_FOLDER,
  fileExists,
  replaceFile,
  syncFolder,
  temporaryPath,
  sweepFolder,
} from "../../base/files.ts";

export interface SettingsPlace {
  /** The path that Claude Code uses. */
  path: string;
  /** The repo of a project file. Undefined: the person's own file. */
  within?: string | undefined;
}

export interface SettingsFile extends SettingsPlace {
  /** Real path, with links resolved. */
  target: string;
  /** Undefined: there is no file. */
  bytes: Buffer | undefined;
  /** Without a byte order mark. */
  text: string;
  stats: Stats | undefined;
}

const MAX_SIZE = 5 * 1024 * 1024;

export async function readSettings(place: SettingsPlace): Promise<SettingsFile> {
  const target = await findTarget(place);
  const stats = await statsOf(target);
  if (stats === undefined) return { ...place, target, bytes: undefined, text: "", stats };
  if (!stats.isFile()) throw refused(place.path, "it is not a file", "Move it away.");
  if (stats.size > MAX_SIZE) throw refused(place.path, "it is larger than 5 MiB", "Check what is in it.");
  const isWritable = (stats.mode & 0o222) !== 0 && (await isAllowed(target)) && (await isAllowed(dirname(target)));
  if (!isWritable) throw refused(place.path, "it is read-only", "Make it and its folder writable (chmod u+w).");
  const bytes = await readFile(target).catch((error: unknown) => {
    throw fileError(error, "read", target);
  });
  return { ...place, target, bytes, text: decoded(bytes, place.path), stats };
}

/** False: it has changed since it was read. `undefined` removes the file. */
export async function writeSettings(file: SettingsFile, bytes: Buffer | undefined): Promise<boolean> {
  const { target, stats } = file;
  if (bytes === undefined) return (await isAsRead(file)) && (await removed(target));
  const mode = stats === undefined ? (file.within === undefined ? PRIVATE_FILE : 0o644) : stats.mode & 0o7777;
  // Remove leftovers of a killed process: no other cleanup covers Claude Code's folder.
  await sweepFolder(dirname(target), basename(target));
  const temporary = temporaryPath(target);
  try {
    await using handle = await open(temporary, "wx", PRIVATE_FILE);
    await handle.writeFile(bytes);
    if (stats !== undefined && isOthers(stats)) await handle.chown(stats.uid, stats.gid);
    await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "write", target);
  }
  if (await isAsRead(file)) {
    await replaceFile(temporary, target);
    return true;
  }
  await unlink(temporary).catch(() => undefined);
  return false;
}

/** True: the folder was created. */
export async function makeFolderOf({ target, within }: SettingsFile): Promise<boolean> {
  try {
    await mkdir(dirname(target), { mode: within === undefined ? PRIVATE_FOLDER : 0o755 });
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw fileError(error, "create folder", dirname(target));
  }
}

/** Does nothing if the folder is not empty. */
export async function removeFolderOf({ target }: SettingsFile): Promise<void> {
  await rmdir(dirname(target)).catch(() => undefined);
}

/** Keeps an existing byte order mark. */
export function encoded({ bytes }: SettingsFile, text: string): Buffer {
  return Buffer.from(`${bytes?.subarray(0, 3).equals(MARK) === true ? "\uFEFF" : ""}${text}`);
}

const MARK = Buffer.from("\uFEFF");

function decoded(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refused(path, "it is not UTF-8 text", "Save it as UTF-8 in an editor.");
  }
}

async function findTarget({ path, within }: SettingsPlace): Promise<string> {
  const isThere = await lstat(path).then(
    () => true,
    (error: unknown) => {
      if (systemErrorCode(error) === "ENOENT") return false;
      throw fileError(error, "look at", path);
    },
  );
  const target = isThere ? await behindLinks(path) : await inRealFolder(path);
  if (within === undefined || isBelow(target, await realpath(within))) return target;
  throw refused(path, `it points outside the repo, to ${target}`, "Replace the link by a file of the repo.");
}

async function behindLinks(path: string): Promise<string> {
  return await realpath(path).catch((error: unknown) => {
    if (!["ENOENT", "ELOOP"].includes(systemErrorCode(error) ?? "")) throw fileError(error, "look at", path);
    throw refused(path, "it is a dangling link", "Remove the link, or create its target.");
  });
}

async function inRealFolder(path: string): Promise<string> {
  const folder = dirname(path);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => undefined,
  );
  if (isFolder === false) throw refused(path, `${folder} is not a folder`, "Move it away.");
  if (isFolder === true) return join(await realpath(folder), basename(path));
  if (await lstat(folder).catch(() => undefined)) {
    throw refused(path, `${folder} is a dangling link`, "Remove the link, or create its target.");
  }
  if (!(await fileExists(dirname(folder)))) {
    throw refused(path, `${dirname(folder)} does not exist`, "Check CLAUDE_CONFIG_DIR.");
  }
  return join(await realpath(dirname(folder)), basename(folder), basename(path));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "look at", path);
  }
}

async function isAllowed(path: string): Promise<boolean> {
  return await access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}

async function isAsRead({ target, bytes }: SettingsFile): Promise<boolean> {
  const now = await readFile(target).catch((error: unknown) => {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", target);
  });
  return now === undefined || bytes === undefined ? now === bytes : now.equals(bytes);
}

async function removed(target: string): Promise<true> {
  await unlink(target).catch((error: unknown) => {
    throw fileError(error, "remove", target);
  });
  await syncFolder(dirname(target));
  return true;
}

function isOthers({ uid, gid }: Stats): boolean {
  return uid !== process.geteuid?.() || gid !== process.getegid?.();
}

export function refused(path: string, reason: string, hint: string): HoldfastError {
  return new HoldfastError("conflict", "claude-settings-refused", `Cannot change ${path}: ${reason}`, {
    hint: `${hint} Nothing was changed.`,
    data: { path },
  });
}
