/**
 * Writes the parts of files into the index. Each transaction leaves a usable index and checks that the rows of its files
 * are unchanged. If another process was faster, it keeps the file.
 */
import type { IndexDatabase } from "./index-database.ts";
import type { FilePart } from "./read-file.ts";
import { type SourceRow, addSource, addSteps, findSource, finishSource, removeSource } from "./source-rows.ts";
import { holderOf } from "./sources.ts";
import { createWordReader } from "./text-words.ts";
import { addVocabulary } from "./vocabulary.ts";

/** Incremented while parts are written. */
export interface ReadCounts {
  filesRead: number;
  bytesRead: number;
  damagedLines: number;
  skippedLines: number;
}

export interface IndexWriter {
  /** Parts of one file come in order. */
  add(part: FilePart): void;
  flush(): void;
}

/** Several small files share a transaction: committing each would take as long as reading them. */
const MAX_QUEUED = 100;
const QUEUED_CHARACTERS = 768 * 1024;

export function createIndexWriter(database: IndexDatabase, counts: ReadCounts): IndexWriter {
  const words = createWordReader();
  /** Files that are not read to their end yet. No row: another process was faster. */
  const unfinished = new Map<string, { row: SourceRow | undefined; bytesRead: number }>();
  let waiting: FilePart[] = [];
  let size = 0;

  /** Inside a transaction. */
  const write = (part: FilePart): void => {
    const { file, steps, isLast } = part;
    const key = JSON.stringify([file.path, holderOf(file)]);
    const before = unfinished.get(key);
    const row = rowFor(part, before);
    if (row === undefined) {
      unfinished.set(key, { row, bytesRead: 0 });
    } else {
      const next = addSteps(database, row, steps, { tail: part.tail, words });
      const bytesRead = (before?.bytesRead ?? 0) + next.offset - row.offset;
      unfinished.set(key, { row: next, bytesRead });
      if (isLast) finishSource(database, next, file);
      if (isLast && bytesRead > 0) counts.filesRead += 1;
      counts.bytesRead += next.offset - row.offset;
      counts.damagedLines += steps.filter(({ damaged }) => damaged).length;
      counts.skippedLines += steps.filter(({ skipped }) => skipped).length;
    }
    if (isLast) unfinished.delete(key);
  };
  /** The first part of a file that is read from its start also removes its old passages. */
  const rowFor = (
    { file, known, continues }: FilePart,
    before: { row: SourceRow | undefined } | undefined,
  ): SourceRow | undefined => {
    const current = findSource(database, file.path, holderOf(file));
    const expected = before === undefined ? known : before.row;
    if (before !== undefined && expected === undefined) return undefined;
    if (current?.id !== expected?.id || current?.offset !== expected?.offset) return undefined;
    if (before !== undefined || continues) return current;
    if (current !== undefined) removeSource(database, current);
    return addSource(database, file);
  };
  const flush = (): void => {
    const parts = waiting;
    [waiting, size] = [[], 0];
    if (parts.length === 0) return;
    database.transaction(() => {
      for (const part of parts) write(part);
      addVocabulary(database, [...parts.flatMap(({ vocabulary }) => vocabulary), ...words.takeVocabulary()]);
    });
  };
  return {
    add: (part) => {
      waiting.push(part);
      for (const { passages } of part.steps) for (const { text } of passages) size += text.length;
      if (size >= QUEUED_CHARACTERS || waiting.length >= MAX_QUEUED) flush();
    },
    flush,
  };
}
