/**
 * The rows of the index for single transcripts and for whole project folders. Callers bracket the transactions. The row
 * of a folder is derived from the rows of its files: a change to a file forgets the folder in the same transaction.
 */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { FileStamp, KnownScan, ScannedFile } from "./scan-job.ts";

export interface TranscriptFile {
  /** The name of the project folder. */
  folder: string;
  /** The path in the project folder. */
  name: string;
  path: string;
  sessionId: string;
  /** Only set for a subagent. */
  agentId?: string | undefined;
}

export interface KnownFile {
  id: number;
  folder: string;
  name: string;
  session: string;
  agent: string | null;
  stamp: FileStamp;
  /** It shares messages with another file, so its messages are stored one by one. */
  grouped: boolean;
  /** Lists can show it. False after a refresh for usage only. */
  isComplete: boolean;
}

/** A project folder, without the content of its session folders. */
export interface FolderLook {
  /** Its name. */
  folder: string;
  root: string;
  /** The transcripts, sorted. */
  names: string[];
  /** Three figures for the folder, then three for each transcript; `stampAt` reads those. */
  stamps: Float64Array;
  /** Sessions with a folder of their own. */
  sessionFolders: string[];
}

/** A folder as its rows describe it. A folder that did not change costs one comparison instead of one per file. */
export interface FolderMemory extends Pick<FolderLook, "names" | "stamps" | "sessionFolders"> {
  /** The `sessionFolders` to skip while the transcript next to them is unchanged. */
  quiet: string[];
  /** The number of transcripts, subagents included. */
  files: number;
  isComplete: boolean;
}

/** The rows that lists show: completely read sessions. */
export const LISTED = "agent IS NULL AND fingerprint IS NOT NULL";

export type IndexRows = ReturnType<typeof createIndexRows>;

export function createIndexRows(database: DatabaseSync) {
  return { ...fileRows(database), ...folderRows(database) };
}

type FileRow = [
  id: number,
  name: string,
  session: string,
  agent: string | null,
  inode: number,
  size: number,
  modifiedAt: number,
  grouped: number,
  hasScan: number,
];

function fileRows(database: DatabaseSync) {
  const known = database.prepare(
    "SELECT id, name, session, agent, inode, size, modified, grouped, fingerprint IS NOT NULL FROM files WHERE folder = ? ORDER BY name",
  );
  known.setReturnArrays(true);
  const scan = database.prepare(
    "SELECT inode, size, fingerprint, shown, state FROM files JOIN scans ON file = id WHERE id = ?",
  );
  const insert = `(folder, name, session, agent, inode, size, modified, fingerprint, root, first_message,
      opened_at, last_at, cwds, entrypoint, marker, usage)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const insertFile = database.prepare(`INSERT OR IGNORE INTO files ${insert}`);
  const replaceFile = database.prepare(`
    INSERT INTO files ${insert}
    ON CONFLICT (folder, name) DO UPDATE SET inode = excluded.inode, size = excluded.size,
      modified = excluded.modified, fingerprint = excluded.fingerprint, root = excluded.root,
      first_message = excluded.first_message, opened_at = excluded.opened_at, last_at = excluded.last_at,
      cwds = excluded.cwds, entrypoint = excluded.entrypoint, marker = excluded.marker, usage = excluded.usage
    RETURNING id`);
  const findFile = database.prepare("SELECT id FROM files WHERE folder = ? AND name = ?");
  const insertScan = database.prepare("INSERT OR REPLACE INTO scans (file, shown, state) VALUES (?, ?, ?)");
  const insertMessage = database.prepare(`
    INSERT INTO messages (file, id, usage, output) VALUES (?, ?, ?, ?)
    ON CONFLICT (file, id) DO UPDATE SET usage = excluded.usage, output = excluded.output
      WHERE excluded.output > output`);
  const markGrouped = database.prepare("UPDATE files SET grouped = 1 WHERE id = ?");
  const removeFile = database.prepare("DELETE FROM files WHERE id = ?");
  const removeScan = database.prepare("DELETE FROM scans WHERE file = ?");
  const removeMessages = database.prepare("DELETE FROM messages WHERE file = ?");

  return {
    /** Sorted by name. */
    filesIn: (folder: string): KnownFile[] =>
      (known.all(folder) as unknown as FileRow[]).map(
        ([id, name, session, agent, inode, size, modifiedAt, grouped, hasScan]) => ({
          id,
          folder,
          name,
          session,
          agent,
          stamp: { inode, size, modifiedAt },
          grouped: grouped === 1,
          // Of a subagent, lists show only the usage.
          isComplete: hasScan === 1 || agent !== null,
        }),
      ),
    readScan: (id: number) => scan.get(id) as unknown as KnownScan | undefined,
    /** Returns the id of the row. A scan for usage only never replaces an existing row. */
    writeFile({ folder, name, sessionId, agentId }: TranscriptFile, scanned: ScannedFile): number {
      const { inode, size, modifiedAt } = scanned.stamp;
      const values: SQLInputValue[] = [
        folder,
        name,
        sessionId,
        agentId ?? null,
        inode,
        size,
        modifiedAt,
        scanned.fingerprint ?? null,
        scanned.rootUuid ?? null,
        scanned.firstMessageId ?? null,
        scanned.openedAt ?? null,
        scanned.lastAt ?? null,
        joinCwds(scanned.cwds),
        scanned.entrypoint ?? null,
        scanned.originMarker ?? null,
        scanned.usage,
      ];
      // Most files are new, and a statement for both cases takes twice as long.
      const { changes, lastInsertRowid } = insertFile.run(...values);
      if (scanned.stored === undefined)
        return Number(changes === 0 ? findFile.get(folder, name)?.["id"] : lastInsertRowid);
      const id = Number(changes === 0 ? replaceFile.get(...values)?.["id"] : lastInsertRowid);
      insertScan.run(id, scanned.stored.shown, scanned.stored.state);
      return id;
    },
    writeMessages(id: number, { messages = [], fromStart }: ScannedFile): void {
      if (fromStart) removeMessages.run(id);
      for (const [messageId, usage] of messages) insertMessage.run(id, messageId, JSON.stringify(usage), usage.output);
      markGrouped.run(id);
    },
    removeFile(id: number): void {
      for (const removal of [removeFile, removeScan, removeMessages]) removal.run(id);
    },
  };
}

/** Encloses each path in newlines, so that a search for a whole path finds nothing else. */
function joinCwds(cwds: readonly string[]): string {
  return `\n${cwds.map((cwd) => cwd.replaceAll("\n", NEWLINE_STAND_IN)).join("\n")}\n`;
}

export function splitCwds(cwds: string): string[] {
  if (cwds === "\n\n") return [];
  return cwds
    .slice(1, -1)
    .split("\n")
    .map((cwd) => cwd.replaceAll(NEWLINE_STAND_IN, "\n"));
}

/** A folder name may contain a newline, but hardly this character. */
const NEWLINE_STAND_IN = "\u001e";

type FolderRow = [name: string, memory: string | null, stamps: Uint8Array | null];

/** The text and the bytes of a stored memory. */
export function memoryColumns({ stamps, ...memory }: FolderMemory): [memory: string, stamps: Uint8Array] {
  return [JSON.stringify(memory), new Uint8Array(stamps.buffer, stamps.byteOffset, stamps.byteLength)];
}

function folderRows(database: DatabaseSync) {
  const all = database.prepare("SELECT name, memory, stamps FROM folders");
  all.setReturnArrays(true);
  const replace = database.prepare("REPLACE INTO folders VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM folders WHERE name = ?");
  return {
    /** Every folder that has rows; undefined when its state is unknown. */
    readFolders: () =>
      new Map((all.all() as unknown as FolderRow[]).map(([name, ...row]) => [name, readMemory(...row)])),
    rememberFolder: (folder: string, memory: FolderMemory) => void replace.run(folder, ...memoryColumns(memory)),
    /** Call it when files of the folder changed. */
    forgetFolder: (folder: string) => void replace.run(folder, null, null),
    removeFolder: (folder: string) => void remove.run(folder),
  };
}

export function readMemory(memory: string | null, bytes: Uint8Array | null): FolderMemory | undefined {
  if (memory === null || bytes === null) return undefined;
  const aligned = bytes.byteOffset % Float64Array.BYTES_PER_ELEMENT === 0 ? bytes : bytes.slice();
  const count = aligned.byteLength / Float64Array.BYTES_PER_ELEMENT;
  const stamps = new Float64Array(aligned.buffer, aligned.byteOffset, count);
  return { ...(JSON.parse(memory) as Omit<FolderMemory, "stamps">), stamps };
}
