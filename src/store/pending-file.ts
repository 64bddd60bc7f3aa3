/**
 * Takes over `pending.sqlite`, in which earlier versions kept group history and system events. The file is removed only
 * after the store has its items, and every item has a mark, so a crash in between leads to the same result. A file that
 * cannot be read stays where it is and does not keep the agent from answering.
 */
import type { DatabaseSync } from "node:sqlite";
import { removeDatabase } from "../base/derived-database.ts";
import { fileExists } from "../base/files.ts";
import { parseJson } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import type { Logger } from "../base/log.ts";
import { openConnection } from "../base/sqlite.ts";
import type { PendingItem, PendingKind, PendingQueue, PendingQueues } from "./pending.ts";

export async function takeOverPendingFile(path: string, queues: PendingQueues, logger: Logger): Promise<void> {
  try {
    // The lock that earlier versions take when they open the file.
    await withFileLock(`${path}.lock`, {}, async () => {
      if (!(await fileExists(path))) return;
      await Promise.all(
        readQueues(path).map(async ({ kind, key, queue }) => await queues.change(kind, key, { do: "merge", queue })),
      );
      removeDatabase(path);
    });
  } catch (error) {
    logger.error("Group messages and events in pending.sqlite could not be read", { path, error });
  }
}

interface FoundQueue {
  kind: PendingKind;
  key: string;
  queue: PendingQueue;
}

function readQueues(path: string): FoundQueue[] {
  using database = openConnection(path, { pragmas: "PRAGMA synchronous = FULL", setUp: () => undefined });
  return database
    .prepare("SELECT kind, key, dropped, turn, epoch, up_to, told FROM queues")
    .all()
    .map((row) => {
      const { kind, key, dropped, turn, epoch, up_to: upTo, told } = row;
      const items = readItems(database, String(kind), String(key));
      const taken = items.filter(({ id }) => id <= Number(upTo)).length;
      const claim =
        turn === null ? undefined : { turn: String(turn), epoch: Number(epoch), taken, dropped: Number(told) };
      return {
        kind: kind === "history" ? "history" : "systemEvents",
        key: String(key),
        queue: { items: items.map(({ item }) => item), dropped: Number(dropped), claim },
      };
    });
}

function readItems(database: DatabaseSync, kind: string, key: string): { id: number; item: PendingItem }[] {
  const rows = database
    .prepare("SELECT id, mark, at, value FROM items WHERE kind = ? AND key = ? ORDER BY id")
    .all(kind, key);
  return rows.map(({ id, mark, at, value }) => ({
    id: Number(id),
    item: {
      at: Number(at),
      value: kind === "history" ? parseJson(String(value)) : String(value),
      mark: typeof mark === "string" ? mark : `pending.sqlite-${String(id)}`,
    },
  }));
}
