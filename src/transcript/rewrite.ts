/**
 * Replaces a whole transcript. The new file is complete and synced before the old one gets its second name
 * `<file>.bak.<time>`, and only then takes its place. So the path always names a complete transcript, and the old
 * content always has a name.
 * The old file may still grow: a writer that paused here and lost its lease can replace a file to which the new holder
 * has appended. So late bytes are copied after the replacement, and an appender that finds its file replaced writes
 * again (`log.ts`). One of the two always notices, and a line copied twice is recognized by its id.
 */
import { type FileHandle, constants, copyFile, link, open, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileStamp } from "../base/clock.ts";
import { systemErrorCode } from "../base/errors.ts";
import { faultPoint } from "../base/faults.ts";
import { PRIVATE_FILE, replaceFile, syncFolder, temporaryPath } from "../base/files.ts";
import type { TranscriptBacking } from "./appender.ts";
import { transcriptError } from "./scan.ts";

export type Write = (bytes: string | Uint8Array) => Promise<void>;

export interface Rewrite {
  path: string;
  original: FileHandle;
  at: number;
  /** `damaged`: keeps the original as `<file>.damaged-<time>`. Default: as `<file>.bak.<time>`. */
  keptAs?: "damaged" | undefined;
  backing?: TranscriptBacking | undefined;
}

/**
 * `produce` writes the new content and resolves to the position up to which it has read the original. Resolves to the
 * path of the archived original.
 */
export async function rewriteTranscript(
  { path, original, at, keptAs, backing }: Rewrite,
  produce: (write: Write) => Promise<number>,
): Promise<string> {
  const temporary = temporaryPath(path);
  try {
    let read = 0;
    await writeNewFile(temporary, async (write) => {
      read = await produce(write);
    });
    const archive = await archiveOriginal(path, `${keptAs === undefined ? "bak." : `${keptAs}-`}${fileStamp(at)}`);
    faultPoint("transcript.rewrite.archived");
    await backing?.replace(temporary, basename(archive));
    await replaceFile(temporary, path);
    faultPoint("transcript.rewrite.replaced");
    if (backing === undefined) await carryOver(original, read, path);
    return archive;
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw transcriptError(error, "rewrite", path);
  }
}

async function carryOver(original: FileHandle, read: number, path: string): Promise<void> {
  const { size } = await original.stat();
  if (size <= read) return;
  await using handle = await open(path, constants.O_WRONLY | constants.O_APPEND);
  await copyRange(original, read, size, async (bytes) => await handle.writeFile(bytes));
  await handle.sync();
}

/** Writes a new file and syncs it. Fails if it exists. */
export async function writeNewFile(path: string, produce: (write: Write) => Promise<void>): Promise<void> {
  await using handle = await open(path, "wx", PRIVATE_FILE);
  const { write, flush } = createBatchedWrite(handle);
  await produce(write);
  await flush();
  await handle.sync();
}

const BATCH_BYTES = 256 * 1024;

function createBatchedWrite(handle: FileHandle): { write: Write; flush: () => Promise<void> } {
  let parts: Uint8Array[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    await handle.writeFile(Buffer.concat(parts));
    parts = [];
    length = 0;
  };
  const write: Write = async (bytes) => {
    const part = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    parts.push(part);
    length += part.length;
    if (length >= BATCH_BYTES) await flush();
  };
  return { write, flush };
}

/** Copies bytes of an open file in chunks. */
export async function copyRange(source: FileHandle, start: number, end: number, write: Write): Promise<void> {
  for (let position = start; position < end;) {
    const { bytesRead, buffer } = await source.read({
      buffer: Buffer.allocUnsafe(Math.min(BATCH_BYTES, end - position)),
      position,
    });
    if (bytesRead === 0) throw new Error("the file became shorter while it was copied");
    await write(buffer.subarray(0, bytesRead));
    position += bytesRead;
  }
}

async function archiveOriginal(path: string, ending: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const archive = `${path}.${ending}${attempt === 0 ? "" : `-${attempt}`}`;
    try {
      await linkOrCopy(path, archive);
      await syncFolder(dirname(path));
      return archive;
    } catch (error) {
      if (systemErrorCode(error) !== "EEXIST") throw error;
    }
  }
}

const NO_LINKS: ReadonlySet<string | undefined> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

async function linkOrCopy(path: string, archive: string): Promise<void> {
  try {
    await link(path, archive);
  } catch (error) {
    if (!NO_LINKS.has(systemErrorCode(error))) throw error;
    await copyFile(path, archive, constants.COPYFILE_EXCL);
    await using handle = await open(archive, "r+");
    await handle.sync();
  }
}
