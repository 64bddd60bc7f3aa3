/**
 * File access that cannot leave one folder. Links are followed only if their target is inside. Only plain
 * files are opened: a device or a pipe could block forever.
 */
import { type Dirent, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, readlink, stat } from "node:fs/promises";
import { basename, dirname, join, sep, isAbsolute, relative, normalize, resolve } from "node:path";
import { HoldfastError, fileError, systemErrorCode } from "../../base/errors.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER, syncFolder, writeFileDurable, isInside, decodeUtf8 } from "../../base/files.ts";
import { createKeyedMutex } from "../../base/async.ts";
import { printableLine } from "../../base/text.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { attachmentsOf } from "../../transcript/messages.ts";

export type ConfinedFiles = ReturnType<typeof createConfinedFiles>;

export function createConfinedFiles(folder: string) {
  const writes = createKeyedMutex();
  const naming = async <T>(action: string, said: string, run: (place: Place) => T | Promise<T>): Promise<T> => {
    try {
      const root = await realpath(folder);
      // A model may use the configured path of the workspace or its real path.
      const base = isInside(folder, said) ? folder : root;
      return await run({ root, said, name: workspacePath(base, said) });
    } catch (error) {
      throw readableError(error, action, said);
    }
  };
  return {
    root: async () => await naming("find", ".", ({ root }) => root),
    nameOf: async (said: string) => await naming("find", said, ({ name }) => name),
    openFile: async (said: string) => await naming("read", said, openForReading),
    listFolder: async (said: string) => await naming("list", said, list),
    /** Durable and atomic. Creates missing folders. */
    writeFile: async (said: string, content: string) =>
      await naming("write", said, (place) => writes.run(place.name, async () => await write(place, content))),
    /** Appends on a new line. Never touches existing content. */
    appendFile: async (said: string, content: string, maxBytes: number) =>
      await naming("write", said, (place) =>
        writes.run(place.name, async () => await append(place, content, maxBytes)),
      ),
  };
}

/** Opens one file outside any confined folder, by a trusted path. Does not follow a link at that path. */
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
  if (size + bytes.length > maxBytes) {
    const message = `"${place.said}" would be larger than ${maxBytes} bytes.`;
    throw new HoldfastError("usage", "file-too-large", message, { hint: "Write to another file." });
  }
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    // A full disk may have taken a part of it. Keep what others have appended since.
    if ((await handle.stat()).size < size + bytes.length) await handle.truncate(size).catch(() => undefined);
    throw error;
  }
  if (created) await syncFolder(folder.path);
  return { created };
}

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

/** Resolves links. Undefined: nothing is there. A dangling link is refused. */
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

/** Uses the path as the model wrote it: absolute paths of this machine stay private. */
function readableError(error: unknown, action: string, said: string): HoldfastError {
  if (error instanceof HoldfastError && !("path" in error.data && "system" in error.data)) return error;
  const cause = error instanceof HoldfastError ? error.cause : error;
  const code = systemErrorCode(cause);
  if (code === "ENOENT") return missingError(said);
  if (code === "ENOTDIR") {
    const message = `"${said}" is not a folder, or a part of it is a file.`;
    return new HoldfastError("usage", "not-a-folder", message, { hint: LIST_FIRST });
  }
  if (code === "EISDIR" || code === "ENXIO") return notAFileError(said);
  if (code === "ELOOP") return outsideError(said);
  const { kind, code: ownCode, hint } = fileError(cause, action, said);
  return new HoldfastError(kind, ownCode, `Cannot ${action} "${said}": ${code ?? "it failed"}.`, { hint, cause });
}

function missingError(said: string): HoldfastError {
  return new HoldfastError("not-found", "file-missing", `There is no "${said}" in the workspace.`, {
    hint: "Use list_files to see what is there.",
  });
}

function notAFileError(said: string): HoldfastError {
  return new HoldfastError("usage", "not-a-file", `"${said}" is not a plain file.`, { hint: LIST_FIRST });
}

const LIST_FIRST = "Use list_files to see which names are files and which are folders.";

/** Checks the text only; `realPlace` checks links. Returns a relative path without `.` and `..`, or "". */
function workspacePath(workspace: string, said: string): string {
  if (said.includes("\0") || said.length > 4096) throw outsideError(said);
  const path = isAbsolute(said) ? relative(workspace, said) : join(said);
  if (isAbsolute(path) || path === ".." || path.startsWith(`..${sep}`)) throw outsideError(said);
  const trimmed = path.endsWith(sep) ? path.slice(0, -1) : path;
  return trimmed === "." ? "" : trimmed;
}

function outsideError(said: string): HoldfastError {
  const path = printableLine(said, 200);
  return new HoldfastError("forbidden", "path-outside-workspace", `"${path}" is outside the workspace.`, {
    hint: "Use a path in the workspace, such as notes/today.md.",
    data: { path },
  });
}

/**
 * A folder that is held open after the check, so that replacing a part of its path by a link has no effect. On Linux,
 * names are resolved through the open folder. Elsewhere the path is checked before and after use.
 */
interface AnchoredFolder extends AsyncDisposable {
  /** Prefix for names in the folder. Not for display. */
  path: string;
  /** Throws if the folder has moved. Does nothing on Linux. */
  check(): Promise<void>;
}

const HAS_OPEN_FILES = process.platform === "linux";

/** `folder` must be a real path. `said` is its name in errors. */
async function anchorFolder(root: string, folder: string, said: string): Promise<AnchoredFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const anchored = `/proc/self/fd/${handle.fd}`;
  const check = async (): Promise<void> => {
    if (!(await isAt(handle, folder, root, anchored))) throw outsideError(said);
  };
  try {
    await check();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    path: HAS_OPEN_FILES ? anchored : folder,
    check: HAS_OPEN_FILES ? async () => undefined : check,
    [Symbol.asyncDispose]: async () => {
      await handle.close();
    },
  };
}

async function isAt(handle: FileHandle, folder: string, root: string, anchored: string): Promise<boolean> {
  if (HAS_OPEN_FILES) return isInside(root, await readlink(anchored));
  if ((await realpath(folder)) !== folder || !isInside(root, folder)) return false;
  const [held, found] = await Promise.all([handle.stat(), stat(folder)]);
  return held.ino === found.ino && held.dev === found.dev;
}

export async function readText(handle: FileHandle, said: string, maxBytes: number): Promise<string> {
  const { size } = await handle.stat();
  if (size > maxBytes) throw tooLarge(said, size, maxBytes);
  const bytes = await readAtMost(handle, maxBytes);
  if (bytes === undefined) throw tooLarge(said, size, maxBytes);
  const text = decode(bytes);
  if (text === undefined) throw binary(said);
  return text;
}

export function decode(bytes: Uint8Array): string | undefined {
  return bytes.subarray(0, 8192).includes(0) ? undefined : decodeUtf8(bytes);
}

/** Undefined: larger than `maxBytes`. Does not trust the size, since a file may grow or report size 0. */
export async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(65_536), 0, 65_536, total);
    if (bytesRead === 0) return Buffer.concat(pieces);
    total += bytesRead;
    if (total > maxBytes) return undefined;
    pieces.push(buffer.subarray(0, bytesRead));
  }
}

/** Quotes names with control characters, such as a newline. */
export function shownName(path: string): string {
  return /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(path) ? JSON.stringify(path) : path;
}

function tooLarge(said: string, size: number, maxBytes: number): HoldfastError {
  return new HoldfastError("usage", "file-too-large", `"${said}" has ${size} bytes; the limit is ${maxBytes}.`, {
    hint: "search_files finds lines in smaller files; ask the person about this one.",
    data: { size, maxBytes },
  });
}

function binary(said: string): HoldfastError {
  return new HoldfastError("unsupported", "file-is-binary", `"${said}" is not a text file.`, {
    hint: "Only UTF-8 text can be read.",
  });
}

export type AttachedFiles = ReturnType<typeof createAttachedFiles>;

export function createAttachedFiles(context: readonly TranscriptMessage[]) {
  const paths = new Set(attachmentsOf(context).map(({ path }) => path));
  return {
    open: async (said: string): Promise<FileHandle | undefined> => {
      const path = normalize(said);
      return paths.has(path) ? await openVouchedFile(path) : undefined;
    },
    listFolder: (said: string): string[] => {
      const folder = isAbsolute(said) ? resolve(said) : undefined;
      return [...paths].filter((path) => dirname(path) === folder).toSorted();
    },
  };
}
