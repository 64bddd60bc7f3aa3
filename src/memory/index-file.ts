/**
 * Reads one file into the index, starting where the last read ended if the file still begins with the same text.
 * Each transaction leaves a usable index and checks that the rows of its files are unchanged. If another process was
 * faster, it keeps the file.
 */
import type { FileHandle } from "node:fs/promises";
import { nodeCrypto } from "../base/builtin.ts";
import { openNativeFile } from "../claude/native/layout.ts";
import type { IndexDatabase } from "./index-database.ts";
import { readSource } from "./read-source.ts";
import type { ReadStep } from "./read-step.ts";
import { type SourceRow, addSource, addSteps, findSource, finishSource, removeSource } from "./source-rows.ts";
import { type SourceFile, holderOf, lengthOf } from "./sources.ts";

/** Incremented while files are read. */
interface ReadCounts {
  filesRead: number;
  bytesRead: number;
  damagedLines: number;
  skippedLines: number;
}

const BATCH_CHARACTERS = 192 * 1024;
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_LINES = 5000;

/** False: stopped before the end of the file. */
export async function indexFile(
  database: IndexDatabase,
  listed: SourceFile,
  { counts, queue }: { counts: ReadCounts; queue: CommitQueue },
  shouldStop: () => boolean,
): Promise<boolean> {
  await using handle = await openNativeFile(listed.path);
  if (handle === undefined) return true;
  const stats = await handle.stat();
  const file = { ...listed, inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
  const known = findSource(database, file.path, holderOf(file));
  const goesOn = known !== undefined && (await continues(handle, known, file));
  // The first transaction also removes the passages of the file's old content.
  let row = goesOn ? known : undefined;
  let replaced = goesOn ? undefined : known;

  let bytesRead = 0;
  /** Inside a transaction. False: another process has read the file meanwhile. */
  const write = (steps: ReadStep[], tail: string, done: boolean): boolean => {
    const current = findSource(database, file.path, holderOf(file));
    const expected = row ?? replaced;
    if (current?.id !== expected?.id || current?.offset !== expected?.offset) return false;
    if (replaced !== undefined) removeSource(database, replaced);
    const next = addSteps(database, row ?? addSource(database, file), steps, tail);
    if (done) finishSource(database, next, file);
    bytesRead += next.offset - (row?.offset ?? 0);
    counts.bytesRead += next.offset - (row?.offset ?? 0);
    if (done && bytesRead > 0) counts.filesRead += 1;
    counts.damagedLines += steps.filter(({ damaged }) => damaged).length;
    counts.skippedLines += steps.filter(({ skipped }) => skipped).length;
    row = next;
    replaced = undefined;
    return true;
  };
  const tailAfter = async (steps: readonly ReadStep[]): Promise<string> =>
    await tailOf(handle, file, steps.at(-1)?.end ?? row?.offset ?? 0);

  let batch: ReadStep[] = [];
  let characters = 0;
  const from = {
    offset: row?.offset ?? 0,
    lines: row?.lines ?? 0,
    settled: row?.settled === 1,
    folder: row?.folder ?? undefined,
  };
  let batchStart = from.offset;
  for await (const step of readSource(handle, file, from)) {
    batch.push(step);
    for (const { text } of step.passages) characters += text.length;
    const isFull =
      characters >= BATCH_CHARACTERS || batch.length >= BATCH_LINES || step.end - batchStart >= BATCH_BYTES;
    if (!isFull) continue;
    const tail = await tailAfter(batch);
    queue.flush();
    const full = batch;
    if (!database.transaction(() => write(full, tail, false))) return true;
    [batch, characters, batchStart] = [[], 0, step.end];
    if (shouldStop()) return false;
  }
  const tail = await tailAfter(batch);
  queue.add(characters, () => void write(batch, tail, true));
  return true;
}

/** Writes several small files in one transaction. Committing each would take as long as reading them. */
export interface CommitQueue {
  add(characters: number, write: () => void): void;
  flush(): void;
}

const MAX_QUEUED = 100;
const QUEUED_CHARACTERS = 768 * 1024;

export function createCommitQueue(database: IndexDatabase): CommitQueue {
  let waiting: (() => void)[] = [];
  let size = 0;
  const flush = (): void => {
    const writes = waiting;
    [waiting, size] = [[], 0];
    if (writes.length === 0) return;
    database.transaction(() => {
      for (const write of writes) write();
    });
  };
  return {
    add: (characters, write) => {
      waiting.push(write);
      size += characters;
      if (size >= QUEUED_CHARACTERS || waiting.length >= MAX_QUEUED) flush();
    },
    flush,
  };
}

/** True if the file still begins with the text that was read. Memory files are always read again. */
async function continues(handle: FileHandle, row: SourceRow, file: SourceFile): Promise<boolean> {
  if (file.kind === "memory" || row.inode !== file.inode || row.offset > lengthOf(file)) return false;
  return row.offset === 0 || (await tailOf(handle, file, row.offset)) === row.tail;
}

/** A copy never grows, so its identity is enough. */
async function tailOf(handle: FileHandle, file: SourceFile, end: number): Promise<string> {
  return file.copyOf === undefined ? await tailHash(handle, end) : `copy ${file.size} ${file.modifiedAt}`;
}

const TAIL_BYTES = 256;

/** A hash, because the bytes may hold a secret. */
async function tailHash(handle: FileHandle, end: number): Promise<string> {
  const bytes = Buffer.alloc(Math.min(TAIL_BYTES, end));
  const { bytesRead } = await handle.read(bytes, 0, bytes.length, end - bytes.length);
  return nodeCrypto().createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("base64url").slice(0, 22);
}
