/**
 * Hand-offs for somebody who has no time: the file is opened for reading only, nothing is migrated, and a lock of
 * another process is not waited for. Whoever wants to be sure opens the store.
 */
import { sqliteError } from "../../base/sqlite-error.ts";
import { openReadOnly } from "../../base/sqlite-reader.ts";
import { handoffFromJson } from "../handoff-state.ts";
import type { KeptHandoff } from "../store.ts";
import { STORE_ROLE } from "./store-role.ts";

export interface HandoffQuery {
  /** Only keys that begin with it. */
  prefix: string;
  limit: number;
  /** How long a lock is waited for. */
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
