/**
 * The files of a hook of a workspace, read once. The agent itself can write there, so what runs must be, to
 * the byte, what the person turned on: these bytes are compared with what was turned on, and the copy that
 * runs is written from these very bytes. Changing a file after the comparison changes nothing.
 */
import { constants } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileExists, temporaryPath } from "../base/files.ts";
import { printableLine } from "../base/printable.ts";
import { hookCopiesFolder } from "../config/layout.ts";

export interface HookContent {
  /** By path below the folder, sorted. */
  files: ReadonlyMap<string, Buffer>;
  /** SHA-256 over all names and contents. */
  digest: string;
}

const MAX_ENTRIES = 500;
const MAX_BYTES = 5 * 1024 * 1024;

/** Refuses what could not be compared: links, pipes, more than a hook should have. */
export async function readHookContent(folder: string): Promise<HookContent> {
  const files = new Map<string, Buffer>();
  try {
    await readBelow(folder, "", { files, bytes: 0, entries: 0 });
  } catch (error) {
    throw fileError(error, "read", folder);
  }
  const sorted = new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { files: sorted, digest: digestOf(sorted) };
}

interface ReadState {
  files: Map<string, Buffer>;
  bytes: number;
  /** Files and folders. */
  entries: number;
}

async function readBelow(folder: string, below: string, state: ReadState): Promise<void> {
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    state.entries += 1;
    if (state.entries > MAX_ENTRIES) throw refused(`it has more than ${MAX_ENTRIES} files and folders`);
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory()) {
      await readBelow(folder, path, state);
      continue;
    }
    if (!entry.isFile()) throw refused(`"${printableLine(path, 100)}" is no plain file`);
    const content = await readPlainFile(join(folder, path), MAX_BYTES - state.bytes);
    state.bytes += content.length;
    state.files.set(path, content);
  }
}

async function readPlainFile(path: string, maxBytes: number): Promise<Buffer> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile()) throw refused("a file in it was exchanged while it was read");
  if (stats.size > maxBytes) throw refused(`it has more than ${MAX_BYTES / 1024 / 1024} MB`);
  const buffer = Buffer.alloc(stats.size);
  const { bytesRead } = await handle.read(buffer, 0, stats.size, 0);
  return buffer.subarray(0, bytesRead);
}

function refused(reason: string): HoldfastError {
  return new HoldfastError("unsupported", "hook-content", reason, {
    hint: "A hook of a workspace is a folder of plain files, a few megabytes at most.",
  });
}

function digestOf(files: ReadonlyMap<string, Buffer>): string {
  const hash = nodeCrypto().createHash("sha256");
  for (const [path, content] of files) hash.update(`${path}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

/** The folder of a private copy, which nobody writes into once it is there. */
export async function keepCopy(home: string, { files, digest }: HookContent): Promise<string> {
  const copies = hookCopiesFolder(home);
  const folder = join(copies, digest);
  if (await fileExists(folder)) return folder;
  const unfinished = temporaryPath(folder);
  try {
    for (const [path, content] of files) await writePrivateFile(join(unfinished, path), content);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Another process was faster: the same digest is the same copy.
    if (!["ENOTEMPTY", "EEXIST"].includes(systemErrorCode(error) ?? ""))
      throw fileError(error, "copy a hook to", folder);
  }
  return folder;
}

async function writePrivateFile(path: string, content: Buffer): Promise<void> {
  await ensurePrivateFolder(dirname(path));
  await using handle = await open(path, "wx", PRIVATE_FILE);
  await handle.writeFile(content);
  await handle.sync();
}
