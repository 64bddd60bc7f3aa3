/** What the index knows of single files: reading it, writing it, forgetting it. Callers bracket transactions. */
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { MessageUsage } from "../native/usage.ts";
import type { FileStamp, FoundFile } from "./find-files.ts";
import type { KnownScan, ScannedFile } from "./scan-job.ts";
import { joinCwds } from "./session-rows.ts";

export interface KnownFile {
  id: number;
  folder: string;
  name: string;
  session: string;
  agent: string | null;
  stamp: FileStamp;
  /** Whether its messages are kept one by one, because it shares some with another file. */
  grouped: boolean;
  /** Whether everything is known of it that lists show. */
  isComplete: boolean;
}

export interface FileRows {
  /** In the order of their names. */
  inFolder(folder: string): KnownFile[];
  readScan(id: number): KnownScan | undefined;
  /** Returns the row's id. What was read for usage alone never takes the place of a row that is there. */
  write(file: Omit<FoundFile, "stamp">, scanned: ScannedFile): number;
  writeMessages(id: number, scanned: ScannedFile): void;
  remove(id: number): void;
}

export function createFileRows(database: DatabaseSync): FileRows {
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
  const removals = ["files WHERE id = ?", "scans WHERE file = ?", "messages WHERE file = ?"].map((rows) =>
    database.prepare(`DELETE FROM ${rows}`),
  );
  const removeMessages = database.prepare("DELETE FROM messages WHERE file = ?");

  return {
    inFolder: (folder) =>
      (known.all(folder) as unknown as KnownRow[]).map(
        ([id, name, session, agent, inode, size, modifiedAt, grouped, hasScan]) => ({
          id,
          folder,
          name,
          session,
          agent,
          stamp: { inode, size, modifiedAt },
          grouped: grouped === 1,
          // Of a subagent lists show what it used and nothing else.
          isComplete: hasScan === 1 || agent !== null,
        }),
      ),
    readScan: (id) => scan.get(id) as unknown as KnownScan | undefined,
    write({ folder, name, sessionId, agentId }, scanned) {
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
      // Most are new, and the statement that can do both takes twice as long.
      const { changes, lastInsertRowid } = insertFile.run(...values);
      if (scanned.stored === undefined)
        return Number(changes === 0 ? findFile.get(folder, name)?.["id"] : lastInsertRowid);
      const id = Number(changes === 0 ? replaceFile.get(...values)?.["id"] : lastInsertRowid);
      insertScan.run(id, scanned.stored.shown, scanned.stored.state);
      return id;
    },
    writeMessages(id, { messages = [], fromStart }) {
      if (fromStart) removeMessages.run(id);
      for (const [messageId, usage] of messages) insertMessage.run(id, messageId, encodeMessage(usage), usage.output);
      markGrouped.run(id);
    },
    remove(id) {
      for (const removal of removals) removal.run(id);
    },
  };
}

type KnownRow = [
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

function encodeMessage(usage: MessageUsage): string {
  return JSON.stringify(usage);
}

export function decodeMessage(text: string): MessageUsage {
  return JSON.parse(text) as MessageUsage;
}
