/**
 * Reading one file into the index, from where the last reading ended if it still begins with what was
 * read then. Each transaction leaves a usable index, and looks whether the file's row still is as it was
 * when reading began: if another process was faster, the file is left to that one.
 */
import type { FileHandle } from "node:fs/promises";
import { nodeCrypto } from "../base/builtin.ts";
import { openNativeFile } from "../claude/native/layout.ts";
import type { IndexDatabase } from "./index-database.ts";
import { readSource } from "./read-source.ts";
import type { ReadStep } from "./read-step.ts";
import { type SourceRow, addSource, addSteps, findSource, finishSource, removeSource } from "./source-rows.ts";
import { type SourceFile, holderOf, lengthOf } from "./sources.ts";

/** Counts up while files are read. */
export interface ReadCounts {
  bytesRead: number;
  damagedLines: number;
  skippedLines: number;
}

const BATCH_CHARACTERS = 192 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_LINES = 5000;

/** False when it was told to stop before the end of the file. */
export async function indexFile(
  database: IndexDatabase,
  listed: SourceFile,
  counts: ReadCounts,
  shouldStop: () => boolean,
): Promise<boolean> {
  await using handle = await openNativeFile(listed.path);
  if (handle === undefined) return true;
  const stats = await handle.stat();
  const file = { ...listed, inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
  const known = findSource(database, file.path, holderOf(file));
  const goesOn = known !== undefined && (await continues(handle, known, file));
  // What was read of the file as it was before goes with the first transaction that replaces it.
  let row = goesOn ? known : undefined;
  let replaced = goesOn ? undefined : known;

  const commit = async (steps: ReadStep[], done: boolean): Promise<boolean> => {
    const end = steps.at(-1)?.end ?? row?.offset ?? 0;
    const tail = await tailOf(handle, file, end);
    const next = database.transaction(() => {
      const current = findSource(database, file.path, holderOf(file));
      const expected = row ?? replaced;
      if (current?.id !== expected?.id || current?.offset !== expected?.offset) return undefined;
      if (replaced !== undefined) removeSource(database, replaced);
      const after = addSteps(database, row ?? addSource(database, file), steps, tail);
      if (done) finishSource(database, after, file);
      return after;
    });
    counts.bytesRead += next === undefined ? 0 : next.offset - (row?.offset ?? 0);
    if (next === undefined) return false;
    counts.damagedLines += steps.filter(({ damaged }) => damaged).length;
    counts.skippedLines += steps.filter(({ skipped }) => skipped).length;
    row = next;
    replaced = undefined;
    return true;
  };

  let batch: ReadStep[] = [];
  let characters = 0;
  const from = {
    offset: row?.offset ?? 0,
    lines: row?.lines ?? 0,
    settled: row?.settled === 1,
    ...(row?.folder == null ? {} : { folder: row.folder }),
  };
  let batchStart = from.offset;
  for await (const step of readSource(handle, file, from)) {
    batch.push(step);
    for (const { text } of step.passages) characters += text.length;
    const isFull =
      characters >= BATCH_CHARACTERS || batch.length >= BATCH_LINES || step.end - batchStart >= BATCH_BYTES;
    if (!isFull) continue;
    if (!(await commit(batch, false))) return true;
    [batch, characters, batchStart] = [[], 0, step.end];
    if (shouldStop()) return false;
  }
  await commit(batch, true);
  return true;
}

/** Whether the file still begins with what was read of it. A memory file is written anew at will. */
async function continues(handle: FileHandle, row: SourceRow, file: SourceFile): Promise<boolean> {
  if (file.kind === "memory" || row.inode !== file.inode || row.offset > lengthOf(file)) return false;
  return row.offset === 0 || (await tailOf(handle, file, row.offset)) === row.tail;
}

/** A copy never grows: as long as it is the same file, what was read of it holds. */
async function tailOf(handle: FileHandle, file: SourceFile, end: number): Promise<string> {
  return file.copyOf === undefined ? await tailHash(handle, end) : `copy ${file.size} ${file.modifiedAt}`;
}

const TAIL_BYTES = 256;

/** A hash and not the bytes: they may hold a secret. */
async function tailHash(handle: FileHandle, end: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(TAIL_BYTES, end));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, end - bytes.length);
  return nodeCrypto().createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("base64url").slice(0, 22);
}
