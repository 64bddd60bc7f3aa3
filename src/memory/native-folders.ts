/**
 * Finds the project folders of Claude Code that differ from what the index remembers of them, for one stat per
 * transcript. Most searches find none; then no row of a transcript is read. The index of Claude Code's sessions does the
 * same (`docs/adr/0005-native-index.md`).
 *
 * A memory is made from the rows of the folder, so it never says more than what is indexed. A folder with rows has a row
 * here too, without a memory while its files are being read.
 */
import { basename, dirname, join } from "node:path";
import { isAsRemembered, listNames, lookAtFolder, toMemory } from "../claude/index/find-changes.ts";
import { type FolderLook, type FolderMemory, memoryColumns, readMemory } from "../claude/index/index-rows.ts";
import { projectsFolder } from "../claude/native/layout.ts";
import { nodeUtil } from "../base/builtin.ts";
import type { IndexDatabase } from "./index-database.ts";
import { type ListedRow, rowsIn } from "./source-rows.ts";
import type { NativeSources } from "./sources.ts";

/** By path. Undefined: the folder has rows, but its state is unknown. */
export type FolderMemories = ReadonlyMap<string, FolderMemory | undefined>;

export interface NativeLook {
  /** Folders that differ from their memories. One that is gone has no names. */
  looks: FolderLook[];
  /** Number of transcripts in the others. */
  unchanged: number;
  failed: { path: string; reason: string }[];
}

export function readMemories(database: IndexDatabase): FolderMemories {
  const rows = database.all<{ path: string; memory: string | null; stamps: Uint8Array | null }>(
    "SELECT * FROM folders",
  );
  return new Map(rows.map(({ path, memory, stamps }) => [path, readMemory(memory, stamps)]));
}

export function lookAtNative({ claudeHome, folders }: NativeSources, memories: FolderMemories): NativeLook {
  const found: NativeLook = { looks: [], unchanged: 0, failed: [] };
  const projects = projectsFolder(claudeHome);
  const names = folders?.map((name) => basename(name)) ?? listNames(projects, found.failed);
  const seen = new Set<string>();
  for (const name of names ?? []) {
    const root = join(projects, name);
    const memory = memories.get(root);
    const look = lookAtFolder(name, root, memory, found.failed);
    seen.add(root);
    if (look === undefined) continue;
    if (memory !== undefined && isAsRemembered(look, memory)) found.unchanged += memory.files;
    else found.looks.push(look);
  }
  if (folders !== undefined || names === undefined) return found;
  for (const root of memories.keys()) {
    if (dirname(root) === projects && !seen.has(root)) found.looks.push({ ...NO_FILES, folder: basename(root), root });
  }
  return found;
}

const NO_FILES = { names: [], stamps: new Float64Array(3), sessionFolders: [] };

/** The archive has no transcripts by its own names, so the state of its folder is all there is to compare. */
export function lookAtArchive(folder: string, memories: FolderMemories): FolderLook | undefined {
  const memory = memories.get(folder);
  const look = lookAtFolder(basename(folder), folder, memory, []) ?? {
    ...NO_FILES,
    folder: basename(folder),
    root: folder,
  };
  return memory !== undefined && isAsRemembered(look, memory) ? undefined : look;
}

/** Call it before files of these folders are read. */
export function expectFolders(database: IndexDatabase, looks: readonly FolderLook[], memories: FolderMemories): void {
  const unknown = looks.filter(({ root, names }) => names.length > 0 && !memories.has(root)).map(({ root }) => root);
  if (unknown.length === 0) return;
  const sql = "INSERT OR IGNORE INTO folders (path) SELECT value FROM json_each(?)";
  database.transaction(() => database.run(sql, JSON.stringify(unknown)));
}

/** Call it when everything in these folders has been read. `lookedAt`: before the look. */
export function rememberFolders(
  database: IndexDatabase,
  { looks, archive }: { looks: readonly FolderLook[]; archive?: FolderLook | undefined },
  memories: FolderMemories,
  lookedAt: number,
): void {
  const remember = (): [root: string, memory: FolderMemory | undefined][] => {
    const known = looks.map((look): [string, FolderMemory | undefined] => [
      look.root,
      memoryOf(database, look, lookedAt),
    ]);
    if (archive === undefined) return known;
    const memory = toMemory(archive, [], lookedAt);
    // Too new for its times to tell a later change.
    return [...known, [archive.root, memory.stamps[0] === archive.stamps[0] ? memory : undefined]];
  };
  if (remember().every(([root, memory]) => nodeUtil().isDeepStrictEqual(memory, memories.get(root)))) return;
  database.transaction(() => {
    // Again, because another process may have changed rows.
    for (const [root, memory] of remember()) {
      if (memory === undefined) database.run("DELETE FROM folders WHERE path = ?", root);
      else database.run("REPLACE INTO folders (path, memory, stamps) VALUES (?, ?, ?)", root, ...memoryColumns(memory));
    }
  });
}

/** Undefined: the folder is gone, and so are its rows. */
function memoryOf(database: IndexDatabase, look: FolderLook, lookedAt: number): FolderMemory | undefined {
  const rows = rowsIn(database, [look.root]);
  if (rows.length === 0 && look.names.length === 0 && look.stamps[0] === 0) return undefined;
  return toMemory(
    look,
    rows.map((row) => toFile(look.root, row)),
    lookedAt,
  );
}

function toFile(root: string, { path, session_id: session, subagent_id: agent, ...row }: ListedRow) {
  const stamp = { inode: row.inode, size: row.size, modifiedAt: row.modified_at };
  return { name: path.slice(root.length + 1), session: session ?? "", agent, stamp, isComplete: true };
}
