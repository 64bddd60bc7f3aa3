/** Quick reads for commands that do not open the store. The file is opened for reading only and never migrated. */
import { openReadOnly, sqliteError } from "../../base/sqlite.ts";
import { programSessions } from "../session-entry.ts";
import { handoffFromJson } from "../store-rules.ts";
import type { KeptHandoff } from "../store.ts";
import { STORE_ROLE } from "./database.ts";

export interface HandoffQuery {
  prefix: string;
  limit: number;
  busyMs: number;
}

/** Newest first. */
export async function readHandoffs(path: string, { prefix, limit, busyMs }: HandoffQuery): Promise<KeptHandoff[]> {
  try {
    using database = await openReadOnly(path);
    database.exec(`PRAGMA busy_timeout = ${Math.max(0, Math.round(busyMs))}`);
    const rows = database
      .prepare(
        `SELECT key, updated_at AS updatedAt, state FROM handoffs
         WHERE key >= ? AND key < ? ORDER BY updated_at DESC, version DESC LIMIT ?`,
      )
      .all(prefix, `${prefix}\u{10ffff}`, limit);
    return rows.map(({ key, updatedAt, state }) => ({
      key: String(key),
      updatedAt: Number(updatedAt),
      state: handoffFromJson(String(state)),
    }));
  } catch (error) {
    throw sqliteError(error, path, STORE_ROLE);
  }
}

/** Maps sessions of other programs to session keys, also for earlier windows. */
export async function readProgramSessions(path: string): Promise<Map<string, string>> {
  try {
    using database = await openReadOnly(path);
    database.exec("PRAGMA busy_timeout = 2000");
    const rows = database
      .prepare(
        `SELECT key, json_object('sdkSessionId', entry ->> 'sdkSessionId',
             'claudeCliSessionId', entry ->> 'claudeCliSessionId', 'cliSessionIds', json(entry -> 'cliSessionIds')) AS ids
           FROM entries WHERE entry ->> 'sdkSessionId' IS NOT NULL OR entry ->> 'claudeCliSessionId' IS NOT NULL
             OR entry ->> 'cliSessionIds' IS NOT NULL
         UNION ALL SELECT key, state AS ids FROM windows WHERE json_valid(state) AND state LIKE '%SessionId%'`,
      )
      .all();
    return new Map(
      rows.flatMap(({ key, ids }) =>
        programSessions(JSON.parse(String(ids)) as object).map((id): [string, string] => [id, String(key)]),
      ),
    );
  } catch (error) {
    throw sqliteError(error, path, STORE_ROLE);
  }
}
