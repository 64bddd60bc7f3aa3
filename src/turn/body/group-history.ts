/**
 * What a group said since the agent's last reply, across restarts. Only messages that were not
 * addressed to the agent are kept; the addressed one is the turn itself. Messages of one key are to be
 * appended in their order, so by the lane of their session.
 */
import { isRecord } from "../../base/json-record.ts";
import { DEFAULT_GROUP_HISTORY_LIMIT, type HistoryEntry, MAX_HISTORY_KEYS } from "./history.ts";
import type { PendingDatabase } from "./pending-database.ts";
import { type TurnClaim, createPendingQueue } from "./pending-queue.ts";

export interface GroupHistory {
  /**
   * Kept once resolved, whatever becomes of this process; a power cut may take the last ones. An entry
   * with a message id that is there already is the same entry: false.
   */
  append(historyKey: string, entry: HistoryEntry): Promise<boolean>;
  /** What the turn is to know, oldest first. The same turn gets the same entries again. */
  take(historyKey: string, turn: TurnClaim): Promise<HistoryEntry[]>;
  /** After the reply: forgets what the turn took. What was said since then stays. */
  clear(historyKey: string, turnId: string): Promise<boolean>;
  /** Forgets everything of a key, for a session that is deleted. */
  forget(historyKey: string): Promise<void>;
}

export interface GroupHistoryOptions {
  database: PendingDatabase;
  now: () => number;
  /** Entries per key; 0 keeps none. Left out: 50. */
  limit?: number;
  /** Left out: 1000. */
  maxKeys?: number;
}

/** Longer than any message of Telegram or Discord; a longer one is cut, visibly. */
const MAX_BODY = 4096;

export function createGroupHistory(options: GroupHistoryOptions): GroupHistory {
  const { database, now, limit = DEFAULT_GROUP_HISTORY_LIMIT, maxKeys = MAX_HISTORY_KEYS } = options;
  const queue = createPendingQueue({ database, kind: "history", durability: "process", limit, maxKeys });
  return {
    append: async (historyKey, entry) => {
      if (limit <= 0) return false;
      const value = JSON.stringify({ ...entry, body: shortened(entry.body) });
      return await queue.add(historyKey, { at: entry.timestamp ?? now(), value, mark: entry.messageId });
    },
    take: async (historyKey, turn) => {
      const { items } = await queue.take(historyKey, turn);
      return items.flatMap(({ value }) => parseEntry(value));
    },
    clear: async (historyKey, turnId) => await queue.settle(historyKey, turnId),
    forget: async (historyKey) => await queue.forget(historyKey),
  };
}

function shortened(body: string): string {
  if (body.length <= MAX_BODY) return body;
  return `${body.slice(0, MAX_BODY).toWellFormed()}… (${body.length - MAX_BODY} more characters)`;
}

function parseEntry(json: string): HistoryEntry[] {
  const value: unknown = JSON.parse(json);
  return isRecord(value) && typeof value["body"] === "string" ? [value as unknown as HistoryEntry] : [];
}
