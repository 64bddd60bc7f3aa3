/**
 * Files of one folder, for somebody who must not get at anything else. Links are followed as long as
 * they lead to something inside. Only plain files are opened: a device or a pipe could block for ever.
 */
import { type Dirent, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFolder, writeFileDurable } from "../../base/files.ts";
import { createKeyedMutex } from "../../base/mutex.ts";
import { type AnchoredFolder, anchorFolder } from "./anchored-folder.ts";
import { isInside, outsideError, workspacePath } from "./workspace-path.ts";

export interface ConfinedFiles {
  /** Where the folder really is. */
  root(): Promise<string>;
  /** The path below the folder, in one form. */
  nameOf(said: string): Promise<string>;
  openFile(said: string): Promise<FileHandle>;
  listFolder(said: string): Promise<Dirent[]>;
  /** Durable and atomic; missing folders are made. Returns whether the file is new. */
  writeFile(said: string, content: string): Promise<{ created: boolean }>;
  /** At the end, on a line of its own; what is there is never touched. */
  appendFile(said: string, content: string, maxBytes: number): Promise<{ created: boolean }>;
}

export function createConfinedFiles(folder: string): ConfinedFiles {
  const writes = createKeyedMutex();
  const rootOf = async (): Promise<string> => await realpath(folder);
  const locate = async (said: string): Promise<Place> => {
    const root = await rootOf();
    // A model may name the workspace as it was told, or as it really is called.
    const base = isInside(folder, said) ? folder : root;
    return { root, said, name: workspacePath(base, said) };
  };
  const naming = async <T>(action: string, said: string, run: (place: Place) => Promise<T>): Promise<T> => {
    try {
      return await run(await locate(said));
    } catch (error) {
      throw readableError(error, action, said);
    }
  };
  return {
    root: async () => await naming("find", ".", async ({ root }) => await Promise.resolve(root)),
    nameOf: async (said) => await naming("find", said, async ({ name }) => await Promise.resolve(name)),
    openFile: async (said) => await naming("read", said, openForReading),
    listFolder: async (said) => await naming("list", said, list),
    writeFile: async (said, content) =>
      await naming("write", said, async (place) => {
        return await writes.run(place.name, async () => await write(place, content));
      }),
    appendFile: async (said, content, maxBytes) =>
      await naming("write", said, async (place) => {
        return await writes.run(place.name, async () => await append(place, content, maxBytes));
      }),
  };
}

/** One file outside of any folder's bounds, by the path that somebody vouches for. A link in its place is not followed. */
export async function openVouchedFile(path: string): Promise<FileHandle> {
  try {
    const parent = await realpath(dirname(path));
    await using folder = await anchorFolder(parent, parent, path);
    return await openPlain(folder, basename(path), constants.O_RDONLY, path);
  } catch (error) {
    throw readableError(error, "read", path);
  }
}

interface Place {
  root: string;
  /** Below the root. */
  name: string;
  said: string;
}

async function openForReading(place: Place): Promise<FileHandle> {
  const real = await realPlace(place);
  if (real === undefined) throw missingError(place.said);
  await using folder = await anchorFolder(place.root, dirname(real), place.said);
  return await openPlain(folder, basename(real), constants.O_RDONLY, place.said);
}

async function list(place: Place): Promise<Dirent[]> {
  const real = await realPlace(place);
  if (real === undefined) throw missingError(place.said);
  await using folder = await anchorFolder(place.root, real, place.said);
  const entries = await readdir(folder.path, { withFileTypes: true });
  await folder.check();
  return entries;
}

async function write(place: Place, content: string): Promise<{ created: boolean }> {
  const real = await placeToWrite(place);
  await using folder = await anchorFolder(place.root, dirname(real), place.said);
  const path = join(folder.path, basename(real));
  const before = await lstat(path).catch(ifMissing);
  if (before !== undefined && !before.isFile()) throw notAFileError(place.said);
  await writeFileDurable(path, content);
  await folder.check();
  if (before !== undefined && (before.mode & 0o777) !== PRIVATE_FILE) {
    await using handle = await openPlain(folder, basename(real), constants.O_RDONLY, place.said);
    await handle.chmod(before.mode & 0o777);
  }
  return { created: before === undefined };
}

async function append(place: Place, content: string, maxBytes: number): Promise<{ created: boolean }> {
  const real = await placeToWrite(place);
  await using folder = await anchorFolder(place.root, dirname(real), place.said);
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  const path = join(folder.path, basename(real));
  const created = (await lstat(path).catch(ifMissing)) === undefined;
  await using handle = await openPlain(folder, basename(real), O_RDWR | O_APPEND | O_CREAT, place.said);
  const { size } = await handle.stat();
  const bytes = Buffer.from((size > 0 && !(await endsInNewline(handle, size)) ? "\n" : "") + content);
  if (size + bytes.length > maxBytes) throw tooLargeError(place.said, maxBytes);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    // A disk that is full has taken a part of it, perhaps; others may have written behind that.
    if ((await handle.stat()).size < size + bytes.length) await handle.truncate(size).catch(() => undefined);
    throw error;
  }
  if (created) await syncFolder(folder.path);
  return { created };
}

/** Where a new file goes, or where the one that is there really is. */
async function placeToWrite(place: Place): Promise<string> {
  if (place.name === "") throw notAFileError(place.said);
  const real = await realPlace(place);
  if (real !== undefined) return real;
  return join(await makeFolders(place, dirname(place.name)), basename(place.name));
}

async function makeFolders({ root, said }: Place, folders: string): Promise<string> {
  let folder = root;
  for (const part of folders === "." ? [] : folders.split(sep)) {
    const real = await realPlace({ root, said, name: join(folder.slice(root.length), part) });
    if (real === undefined) {
      await using parent = await anchorFolder(root, folder, said);
      await mkdir(join(parent.path, part), { mode: PRIVATE_FOLDER }).catch((error: unknown) => {
        if (systemErrorCode(error) !== "EEXIST") throw error;
      });
      await syncFolder(parent.path);
    }
    folder = real ?? join(folder, part);
  }
  return folder;
}

/** Links resolved; undefined when nothing is there. A link to nothing is no place for a new file. */
async function realPlace({ root, name, said }: Place): Promise<string | undefined> {
  const path = join(root, name);
  const real = await realpath(path).catch(ifMissing);
  if (real === undefined) {
    if ((await lstat(path).catch(ifMissing)) === undefined) return undefined;
    throw outsideError(said);
  }
  if (!isInside(root, real)) throw outsideError(said);
  return real;
}

async function openPlain(folder: AnchoredFolder, name: string, flags: number, said: string): Promise<FileHandle> {
  const path = join(folder.path, name);
  const handle = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, PRIVATE_FILE);
  try {
    if (!(await handle.stat()).isFile()) throw notAFileError(said);
    await folder.check();
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function endsInNewline(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === 0x0a;
}

function ifMissing(error: unknown): undefined {
  if (systemErrorCode(error) === "ENOENT") return undefined;
  throw error;
}

/** In the words of whoever asked: paths of this machine are none of a model's business. */
function readableError(error: unknown, action: string, said: string): HoldfastError {
  if (error instanceof HoldfastError && !("path" in error.data && "system" in error.data)) return error;
  const cause = error instanceof HoldfastError ? error.cause : error;
  const code = systemErrorCode(cause);
  if (code === "ENOENT") return missingError(said);
  if (code === "ENOTDIR") return notAFolderError(said);
  if (code === "EISDIR" || code === "ENXIO") return notAFileError(said);
  if (code === "ELOOP") return outsideError(said);
  const { kind, code: ownCode, hint } = fileError(cause, action, said);
  return new HoldfastError(kind, ownCode, `Cannot ${action} "${said}": ${code ?? "it failed"}.`, { hint, cause });
}

function missingError(said: string): HoldfastError {
  return new HoldfastError("not-found", "file-missing", `There is no "${said}" in the workspace.`, {
    hint: "list_files shows what is there.",
  });
}

function notAFileError(said: string): HoldfastError {
  return new HoldfastError("usage", "not-a-file", `"${said}" is not a plain file.`, {
    hint: "list_files shows which names are files and which are folders.",
  });
}

function notAFolderError(said: string): HoldfastError {
  return new HoldfastError("usage", "not-a-folder", `"${said}" is not a folder, or a part of it is a file.`, {
    hint: "list_files shows which names are files and which are folders.",
  });
}

function tooLargeError(said: string, maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "file-too-large", `"${said}" would be larger than ${maxBytes} bytes.`, {
    hint: "Write to another file.",
  });
}
