/**
 * Files that must survive a crash. A durable write is: temporary file beside the target, fsync, rename over the target,
 * fsync of the folder. So a reader sees the old content or the new one, never a mixture, and a power cut does not undo
 * the rename.
 */
import { type Dirent, realpathSync, rmSync, type Stats } from "node:fs";
import { chmod, mkdir, open, readFile, readdir, rename, rm, stat, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { nodeCrypto } from "./builtin.ts";
import { fileStamp } from "./clock.ts";
import { fileError, systemErrorCode } from "./errors.ts";
import { faultPoint } from "./faults.ts";
import { hasStartedSince, processState } from "./processes.ts";

export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** Writes the whole file durably and atomically. The folder must exist. */
export async function writeFileDurable(path: string, content: string | Uint8Array | Iterable<string>): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await using handle = await open(temporary, "wx", PRIVATE_FILE);
    await handle.writeFile(content);
    faultPoint("file.temp-written");
    await handle.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "write", path);
  }
  faultPoint("file.temp-synced");
  await replaceFile(temporary, path);
}

/** Moves a complete, synced file over the target, durably. */
export async function replaceFile(temporary: string, path: string): Promise<void> {
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "replace", path);
  }
  unfinished.delete(temporary);
  faultPoint("file.renamed");
  await syncFolder(dirname(path));
}

const TEMPORARY_NAME = /\.(\d+)\.[0-9a-f]{12}\.tmp$/;

/** A name beside `path` that no other process uses. Two calls with the same `unique` get the same name. */
export function temporaryPath(path: string, unique?: number): string {
  const mark = unique?.toString(16).padStart(12, "0") ?? nodeCrypto().randomBytes(6).toString("hex");
  const temporary = `${path}.${process.pid}.${mark}.tmp`;
  removeAtEnd(temporary);
  return temporary;
}

/** The newest temporary names of this process. Files that still exist are removed when the process ends. */
const unfinished = new Set<string>();
const MAX_UNFINISHED = 1000;
let isWatching = false;

function removeAtEnd(temporary: string): void {
  unfinished.add(temporary);
  for (const oldest of unfinished) {
    if (unfinished.size <= MAX_UNFINISHED) break;
    unfinished.delete(oldest);
  }
  if (isWatching) return;
  isWatching = true;
  process.once("exit", removeUnfinished);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // Prepended, because `listenerCount` no longer counts once-listeners that have already run.
    process.prependOnceListener(signal, () => {
      // Another listener handles the signal.
      if (process.listenerCount(signal) > 0) return;
      removeUnfinished();
      process.kill(process.pid, signal);
    });
  }
}

function removeUnfinished(): void {
  for (const temporary of unfinished) {
    try {
      rmSync(temporary, { recursive: true, force: true });
    } catch {
      // The next start sweeps it.
    }
  }
  unfinished.clear();
}

export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/** Makes created, renamed and removed names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, "r");
    await handle.sync();
  } catch (error) {
    // Some network and Windows file systems cannot sync a folder.
    if (!["EINVAL", "ENOTSUP", "EISDIR", "EPERM"].includes(systemErrorCode(error) ?? "")) {
      throw fileError(error, "sync", folder);
    }
  }
}

/** Creates a folder and its missing parents, durably. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw fileError(error, "create folder", folder);
  }
}

/**
 * Step by step, because Node's recursive mkdir never returns where a folder cannot be created, as in /proc. `ENOENT`
 * with an existing parent means that another process has just created the parent.
 */
async function makeFolder(folder: string, retries = 3): Promise<void> {
  try {
    await mkdir(folder, { mode: PRIVATE_FOLDER });
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "EEXIST" && (await stat(folder)).isDirectory()) return;
    if (code !== "ENOENT" || retries === 0) throw error;
    if (!(await fileExists(dirname(folder)))) await makeFolder(dirname(folder));
    await makeFolder(folder, retries - 1);
  }
  await syncFolder(dirname(folder));
}

export async function readFileIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

/** The items of the folder in no particular order. Empty if there is no such folder. */
export async function readFolderIfPresent(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return [];
    throw fileError(error, "read folder", folder);
  }
}

export async function fileExists(path: string): Promise<boolean> {
  return (await fileSize(path)) !== undefined;
}

/** In bytes. Undefined if there is no such file. */
export async function fileSize(path: string): Promise<number | undefined> {
  return (await statIfPresent(path))?.size;
}

export async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "look at", path);
  }
}

export async function removeFileIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw fileError(error, "remove", path);
  }
}

/** Renames a file so that the name says why and when. Never overwrites anything. */
export async function setAside(path: string, reason: string, at: number): Promise<string> {
  const target = await freeName(path, reason, at);
  try {
    await rename(path, target);
    await chmod(target, PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "set aside", path);
  }
  await syncFolder(dirname(path));
  return target;
}

/** `<path>.<reason>-<time>`, with a counter if that name is taken. */
export async function freeName(path: string, reason: string, at: number): Promise<string> {
  const base = join(dirname(path), `${basename(path)}.${reason}-${fileStamp(at)}`);
  for (let attempt = 0; ; attempt++) {
    const candidate = attempt === 0 ? base : `${base}-${attempt}`;
    if (!(await fileExists(candidate))) return candidate;
  }
}

/** The pid of the dead process that wrote this temporary file. Undefined for other files. */
export async function leftBy(path: string): Promise<number | undefined> {
  const pid = Number(TEMPORARY_NAME.exec(basename(path))?.[1]);
  if (Number.isNaN(pid)) return undefined;
  if (processState({ pid, startedAt: "unknown", host: hostname() }) === "dead") return pid;
  const written = await stat(path).catch(() => undefined);
  return written !== undefined && hasStartedSince(pid, written.mtimeMs) ? pid : undefined;
}

/** Removes temporary files of dead processes in one folder. `of`: only those for this file. */
export async function sweepFolder(folder: string, of?: string): Promise<string[]> {
  const removed: string[] = [];
  for (const { name } of await readFolderIfPresent(folder)) {
    if (of !== undefined && !name.startsWith(`${of}.`)) continue;
    const path = join(folder, name);
    if ((await leftBy(path)) === undefined) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(path);
  }
  return removed;
}

/** Folders of projects, which Holdfast does not write to. */
const NOT_OURS: ReadonlySet<string> = new Set(["workspace", "worktrees", "node_modules", ".git"]);
const MAX_DEPTH = 6;

/** The folder and its subfolders that Holdfast writes to. */
export async function foldersWithin(folder: string, depth = MAX_DEPTH): Promise<string[]> {
  if (depth === 0) return [];
  const items = await readFolderIfPresent(folder).catch((error: unknown) => {
    if (["EACCES", "EPERM", "ENOTDIR"].includes(systemErrorCode(error) ?? "")) return [];
    throw error;
  });
  const inner = items.filter((item) => item.isDirectory() && !NOT_OURS.has(item.name) && !isTemporaryName(item.name));
  const found = await Promise.all(inner.map(async ({ name }) => await foldersWithin(join(folder, name), depth - 1)));
  return [folder, ...found.flat()];
}

/** Compares the texts of the paths and resolves no links. True for the folder itself. */
export function isInside(folder: string, path: string): boolean {
  const steps = relative(folder, path);
  return steps !== ".." && !steps.startsWith(`..${sep}`) && !isAbsolute(steps);
}

/** The path with all links resolved. Undefined if it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Undefined if the bytes are not UTF-8 text. Drops a byte order mark. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
