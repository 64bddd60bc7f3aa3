/**
 * Reads one file for the index, from where the last reading ended if the file still begins with the same text. Does not
 * need the database, so it can run in any thread.
 */
import { readSync } from "node:fs";
import { nodeCrypto } from "../base/builtin.ts";
import { openNativeFile, openNativeFileSync } from "../claude/native/layout.ts";
import { type ReadFrom, readSource } from "./read-source.ts";
import type { SourceRow } from "./source-rows.ts";
import { type ReadStep, type SourceFile, lengthOf } from "./sources.ts";
import type { WordReader } from "./text-words.ts";

export interface ReadJob {
  file: SourceFile;
  /** From the last reading. Undefined: the file is new. */
  known?: KnownFile | undefined;
}

type KnownFile = Pick<SourceRow, "id" | "inode" | "offset" | "tail" | "lines" | "settled" | "folder">;

export interface FilePart {
  /** As it was when it was opened. */
  file: SourceFile;
  /** The row that the reading started from. */
  known?: Pick<SourceRow, "id" | "offset"> | undefined;
  /** The first part continues the last reading. Else it replaces it. */
  continues: boolean;
  steps: ReadStep[];
  /** Words that no earlier part had. */
  vocabulary: string[];
  /** Identifies the text before the end of this part. */
  tail: string;
  isLast: boolean;
}

/** Yields nothing if the file is gone. */
export async function* readFileParts({ file, known }: ReadJob, words: WordReader): AsyncGenerator<FilePart> {
  if (file.copyOf !== undefined) {
    await using handle = await openNativeFile(file.path);
    if (handle === undefined) return;
    const { ino, size, mtimeMs } = await handle.stat();
    const opened = { ...file, inode: ino, size, modifiedAt: mtimeMs };
    // A copy never grows, so its identity is enough.
    const tailAt = (): string => `copy ${size} ${mtimeMs}`;
    yield* partsOf(opened, known, tailAt, (from) => readSource(handle, opened, from, words), words);
    return;
  }
  using source = openNativeFileSync(file.path);
  if (source === undefined) return;
  const { descriptor, stats } = source;
  const opened = { ...file, inode: stats.ino, size: stats.size, modifiedAt: stats.mtimeMs };
  const tailAt = (end: number): string => tailHash(descriptor, end);
  yield* partsOf(opened, known, tailAt, (from) => readSource(descriptor, opened, from, words), words);
}

async function* partsOf(
  file: SourceFile,
  known: KnownFile | undefined,
  tailAt: (end: number) => string,
  read: (from: ReadFrom) => AsyncGenerator<ReadStep[]>,
  words: WordReader,
): AsyncGenerator<FilePart> {
  const kept = known !== undefined && isContinued(file, known, tailAt) ? known : undefined;
  const continues = kept !== undefined;
  const from = {
    offset: kept?.offset ?? 0,
    lines: kept?.lines ?? 0,
    settled: kept?.settled === 1,
    folder: kept?.folder ?? undefined,
  };
  const base = known === undefined ? undefined : { id: known.id, offset: known.offset };
  let end = from.offset;
  let waiting: FilePart | undefined;
  for await (const steps of read(from)) {
    if (waiting !== undefined) yield waiting;
    end = steps.at(-1)?.end ?? end;
    waiting = {
      file,
      known: base,
      continues,
      steps,
      vocabulary: words.takeVocabulary(),
      tail: tailAt(end),
      isLast: false,
    };
  }
  if (waiting !== undefined) yield { ...waiting, isLast: true };
}

/** True if the file still begins with the text that was read. Memory files are always read again. */
function isContinued(file: SourceFile, known: KnownFile, tailAt: (end: number) => string): boolean {
  if (file.kind === "memory" || known.inode !== file.inode || known.offset > lengthOf(file)) return false;
  return known.offset === 0 || tailAt(known.offset) === known.tail;
}

const TAIL_BYTES = 256;

/** A hash, because the bytes may hold a secret. */
function tailHash(descriptor: number, end: number): string {
  const bytes = Buffer.alloc(Math.min(TAIL_BYTES, end));
  const bytesRead = readSync(descriptor, bytes, 0, bytes.length, end - bytes.length);
  return nodeCrypto().createHash("sha256").update(bytes.subarray(0, bytesRead)).digest("base64url").slice(0, 22);
}
