/**
 * What a whole project folder looked like when its rows were last brought up to date, so that a folder in
 * which nothing happened costs one comparison instead of one per file. It is made from the rows of the
 * files, and whoever changes one of those forgets it in the same transaction: it never says anything else.
 */
import type { DatabaseSync } from "node:sqlite";
import type { KnownFile } from "./file-rows.ts";
import { type FolderLook, type KnownEntries, STAMP_FIGURES } from "./find-files.ts";

export interface FolderMemory extends KnownEntries {
  /** Those of `sessionFolders` that need no look as long as the transcript beside them stays the same. */
  quiet: string[];
  /** How many transcripts there are, those of subagents included. */
  files: number;
  /** Whether everything is known of them that lists show. */
  isComplete: boolean;
}

export interface FolderRows {
  /** Every folder that has rows; without a value when what it looked like is not known. */
  read(): Map<string, FolderMemory | undefined>;
  remember(folder: string, memory: FolderMemory): void;
  /** Its files changed. */
  forget(folder: string): void;
  /** It has no files any more. */
  remove(folder: string): void;
}

/**
 * A subagent writes while its session works, and when it is done the session's own transcript changes too. So
 * where nothing at all was written for this long, the next sign of life is in the session's own transcript.
 */
const QUIET_MS = 3_600_000;
/** File systems keep times as coarse as this: a folder that changed just now may change again without showing it. */
const COARSEST_TIME_MS = 2000;
const SEPARATOR = "\n";

export function createFolderRows(database: DatabaseSync): FolderRows {
  const all = database.prepare("SELECT name, names, stamps, sessions, quiet, files, complete FROM folders");
  all.setReturnArrays(true);
  const replace = database.prepare("REPLACE INTO folders VALUES (?, ?, ?, ?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM folders WHERE name = ?");
  return {
    read() {
      const memories = new Map<string, FolderMemory | undefined>();
      for (const [name, names, stamps, sessions, quiet, files, complete] of all.all() as unknown as FolderRow[]) {
        const memory =
          stamps === null
            ? undefined
            : {
                names: split(names),
                stamps: toFigures(stamps),
                sessionFolders: split(sessions),
                quiet: split(quiet),
                files,
                isComplete: complete === 1,
              };
        memories.set(name, memory);
      }
      return memories;
    },
    remember(folder, { names, stamps, sessionFolders, quiet, files, isComplete }) {
      const bytes = new Uint8Array(stamps.buffer, stamps.byteOffset, stamps.byteLength);
      const [ownNames, sessions, silent] = [names, sessionFolders, quiet].map((list) => list.join(SEPARATOR));
      replace.run(folder, ownNames ?? "", bytes, sessions ?? "", silent ?? "", files, isComplete ? 1 : 0);
    },
    forget: (folder) => void replace.run(folder, "", null, "", "", 0, 0),
    remove: (folder) => void remove.run(folder),
  };
}

type FolderRow = [
  name: string,
  names: string,
  stamps: Uint8Array | null,
  sessions: string,
  quiet: string,
  files: number,
  complete: number,
];

function split(text: string): string[] {
  return text === "" ? [] : text.split(SEPARATOR);
}

function toFigures(bytes: Uint8Array): Float64Array {
  const aligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  return new Float64Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / Float64Array.BYTES_PER_ELEMENT);
}

/** Whether the folder is as it was, and no session in it has to be looked at for its subagents. */
export function isAsRemembered(look: FolderLook, memory: FolderMemory): boolean {
  const { stamps, quiet, sessionFolders } = memory;
  // The folder's own stamp is among them: with it the names are the same.
  if (look.stamps.length !== stamps.length || quiet.length !== sessionFolders.length) return false;
  for (let index = 0; index < stamps.length; index += 1) if (look.stamps[index] !== stamps[index]) return false;
  return true;
}

/** `files` are the folder's rows in the order of their names. */
export function toMemory(look: FolderLook, files: readonly KnownFile[], lookedAt: number): FolderMemory {
  const own = files.filter(({ agent }) => agent === null);
  const names = own.map(({ name }) => name);
  const stamps = new Float64Array((own.length + 1) * STAMP_FIGURES);
  const changedAt = look.stamps[STAMP_FIGURES - 1] ?? 0;
  // A transcript that could not be read is tried again.
  const isAll = look.names.length === names.length && look.names.every((name, index) => name === names[index]);
  if (isAll && changedAt < lookedAt - COARSEST_TIME_MS) stamps.set(look.stamps.subarray(0, STAMP_FIGURES));
  for (const [index, { stamp }] of own.entries()) {
    stamps.set([stamp.inode, stamp.size, stamp.modifiedAt], (index + 1) * STAMP_FIGURES);
  }
  const writtenAt = new Map<string, number>();
  if (look.sessionFolders.length > 0) {
    for (const { session, stamp } of files) {
      writtenAt.set(session, Math.max(stamp.modifiedAt, writtenAt.get(session) ?? 0));
    }
  }
  const isQuiet = (session: string) => (writtenAt.get(session) ?? 0) < lookedAt - QUIET_MS;
  const { sessionFolders } = look;
  return {
    names,
    stamps,
    sessionFolders,
    quiet: sessionFolders.filter(isQuiet),
    files: files.length,
    isComplete: files.every((file) => file.isComplete),
  };
}

export function isSameMemory(a: FolderMemory, b: FolderMemory | undefined): boolean {
  if (b === undefined || a.files !== b.files || a.isComplete !== b.isComplete) return false;
  if (a.stamps.length !== b.stamps.length) return false;
  return (
    a.stamps.every((figure, index) => figure === b.stamps[index]) &&
    isSameList(a.names, b.names) &&
    isSameList(a.sessionFolders, b.sessionFolders) &&
    isSameList(a.quiet, b.quiet)
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
