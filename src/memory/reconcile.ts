/** What the index can take in without reading a file: that it moved, that it is gone, whose session it is. */
import { lstatSync } from "node:fs";
import type { IndexDatabase } from "./index-database.ts";
import { isArchived, transcriptOfFile, transcriptOfRow } from "./archive-sources.ts";
import { type SourceRow, findSource, finishSource, moveSource, removeSource, setSessionOwner } from "./source-rows.ts";
import { type Listing, isBelow } from "./list-sources.ts";
import { type SourceFile, holderOf } from "./sources.ts";

/** Changes `rows` along. Answers how many files were gone. */
export function reconcile(database: IndexDatabase, rows: Map<string, SourceRow>, { files, covered }: Listing): number {
  goOver(database, rows, files);
  const listed = new Set(files.map(keyOf));
  const gone = [...rows.values()].filter(
    (row) =>
      !listed.has(keyOf(row)) &&
      covered.some(({ kind, folder }) => kind === row.kind && isBelow(row.path, folder)) &&
      lstatSync(row.path, { throwIfNoEntry: false })?.isFile() !== true,
  );
  for (const file of files) {
    const moved = rows.has(keyOf(file)) ? undefined : gone.find((row) => isSameFile(row, file));
    if (moved !== undefined) {
      database.transaction(() => moveSource(database, moved, file));
      gone.splice(gone.indexOf(moved), 1);
      rows.delete(keyOf(moved));
      rows.set(keyOf(file), { ...moved, path: file.path });
    }
    const row = rows.get(keyOf(file));
    const { kind, owner, sessionId } = file;
    if (
      kind === "native" &&
      row !== undefined &&
      owner !== undefined &&
      sessionId !== undefined &&
      row.owner !== owner
    ) {
      database.transaction(() => setSessionOwner(database, sessionId, owner));
    }
  }
  for (const row of gone) database.transaction(() => removeIfCurrent(database, row));
  return gone.length;
}

/**
 * What is indexed of an original that is gone goes over to its copy, and of a copy to its original when
 * that is back or to a newer copy. It stays searchable under the new path until the first lines of the new
 * file replace it; if the copy has just what was read, it stays for good.
 */
function goOver(database: IndexDatabase, rows: Map<string, SourceRow>, files: readonly SourceFile[]): void {
  const known = Map.groupBy(
    [...rows.values()].filter(({ kind }) => kind === "native"),
    transcriptOfRow,
  );
  for (const file of files) {
    const own = rows.get(keyOf(file));
    const others = (known.get(transcriptOfFile(file)) ?? []).filter(
      (row) => row.path !== file.path && (file.copyOf !== undefined || isArchived(row.path)),
    );
    const [only] = others;
    if (file.kind !== "native" || only === undefined) continue;
    known.delete(transcriptOfFile(file));
    for (const row of others) rows.delete(keyOf(row));
    if (own === undefined && others.length === 1) {
      const moved = database.transaction(() => moveIfCurrent(database, only, file));
      if (moved !== undefined) rows.set(keyOf(file), moved);
      continue;
    }
    // Two processes have read both. Whose session it is was forgotten with the one, so the other is read anew.
    rows.delete(keyOf(file));
    database.transaction(() => {
      for (const row of own === undefined ? others : [...others, own]) removeIfCurrent(database, row);
    });
  }
}

function moveIfCurrent(database: IndexDatabase, row: SourceRow, file: SourceFile): SourceRow | undefined {
  const current = findSource(database, row.path, row.holder);
  if (current?.id !== row.id || findSource(database, file.path, holderOf(file)) !== undefined) return undefined;
  moveSource(database, current, file);
  if (isWholeCopy(file, current)) finishSource(database, current, file);
  return findSource(database, file.path, holderOf(file));
}

function isWholeCopy({ copyOf }: SourceFile, { size, modified_at: modifiedAt, offset, path }: SourceRow): boolean {
  if (copyOf === undefined || !copyOf.isExact || isArchived(path)) return false;
  const { sizeBytes } = copyOf;
  return sizeBytes === size && sizeBytes === offset && copyOf.modifiedAt === modifiedAt;
}

function removeIfCurrent(database: IndexDatabase, row: SourceRow): void {
  const current = findSource(database, row.path, row.holder);
  if (current?.id === row.id) removeSource(database, current);
}

function isSameFile(row: SourceRow, file: SourceFile): boolean {
  return (
    row.inode === file.inode &&
    row.kind === file.kind &&
    row.holder === holderOf(file) &&
    row.session_id === (file.sessionId ?? null) &&
    row.subagent_id === (file.subagentId ?? null)
  );
}

/** Under which a file is known: its path, and whose it is where several may have it. */
export function keyOf(file: SourceFile | SourceRow): string {
  return JSON.stringify([file.path, "holder" in file ? file.holder : holderOf(file)]);
}
