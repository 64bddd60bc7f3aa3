/**
 * Files that must survive a crash. A durable write is: temporary file beside the target, fsync,
 * rename over the target, fsync of the folder. A reader therefore sees the old content or the new,
 * never a mixture, and after a power cut the rename itself is still there.
 */
import type { Dirent } from "node:fs";
import { chmod, mkdir, open, readFile, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nodeCrypto } from "./builtin.ts";
import { fileStamp } from "./clock.ts";
import { fileError, systemErrorCode } from "./errors.ts";
import { faultPoint } from "./faults.ts";

export const PRIVATE_FOLDER = 0o700;
export const PRIVATE_FILE = 0o600;

/** Writes the whole file durably and atomically, in one piece or in many. The folder must exist. */
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

/** Moves a finished, synced file over the target and makes the move itself durable. */
export async function replaceFile(temporary: string, path: string): Promise<void> {
  try {
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw fileError(error, "replace", path);
  }
  faultPoint("file.renamed");
  await syncFolder(dirname(path));
}

const TEMPORARY_NAME = /\.(\d+)\.[0-9a-f]{12}\.tmp$/;

/** A name beside `path` that no other process uses, and no other call unless it gives the same number. */
export function temporaryPath(path: string, unique?: number): string {
  const mark = unique?.toString(16).padStart(12, "0") ?? nodeCrypto().randomBytes(6).toString("hex");
  return `${path}.${process.pid}.${mark}.tmp`;
}

/** Whether a file name is one that a crashed durable write left behind. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_NAME.test(name);
}

/** The pid of the process that chose a temporary name; undefined for other names. */
export function temporaryNameOwner(name: string): number | undefined {
  const pid = TEMPORARY_NAME.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}

/** Makes created, renamed and removed names in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    await using handle = await open(folder, "r");
    await handle.sync();
  } catch (error) {
    // Some network and Windows file systems cannot sync a folder; there is nothing better to do there.
    if (!["EINVAL", "ENOTSUP", "EISDIR", "EPERM"].includes(systemErrorCode(error) ?? "")) {
      throw fileError(error, "sync", folder);
    }
  }
}

/** Makes a folder and those above it that are missing, durably. */
export async function ensurePrivateFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
  } catch (error) {
    throw fileError(error, "create folder", folder);
  }
}

/**
 * Step by step: Node's recursive mkdir tries for ever where a folder cannot be made, as in /proc.
 * `ENOENT` with a parent in place may mean that another process made the parent just now.
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

/** The content, or undefined when there is no such file. Every other failure is an error. */
export async function readFileIfPresent(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read", path);
  }
}

/** What lies in the folder, in no particular order; nothing when there is no such folder. */
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

/** In bytes; undefined when there is no such file. */
export async function fileSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "look at", path);
  }
}

/** Moves a file out of the way under a name that tells why and when. Never overwrites anything. */
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

/** `<path>.<reason>-<time>`, with a counter when two things happen in one millisecond. */
export async function freeName(path: string, reason: string, at: number): Promise<string> {
  const base = join(dirname(path), `${basename(path)}.${reason}-${fileStamp(at)}`);
  for (let attempt = 0; ; attempt++) {
    const candidate = attempt === 0 ? base : `${base}-${attempt}`;
    if (!(await fileExists(candidate))) return candidate;
  }
}
