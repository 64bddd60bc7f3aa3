/** Entries: how they are changed, listed and removed. */
import type { SessionKind } from "../../keys/session-kind.ts";
import type { SessionEntry } from "../session-entry.ts";
import type { WriteOptions } from "./lease.ts";
import type { Window, WindowReason } from "./windows.ts";

export type Mutate = (entry: SessionEntry | undefined) => SessionEntry | undefined;

export interface UpdateOptions extends WriteOptions {
  /** Why a window opens, if one does. Left out: `initial` for a new key, `switch` for another session id. */
  windowReason?: WindowReason;
}

export interface DeleteOptions extends WriteOptions {
  /** What the session left for the next goes with it, in the same step. Left out: it stays. */
  withHandoff?: boolean;
}

export interface ListQuery {
  /** Only sessions changed at or after this instant (ms). */
  activeSince?: number;
  kind?: SessionKind;
  /** The entry's channel, else the one last used. */
  channel?: string;
  label?: string;
  /** Words that must all occur in key, label, display name, subject or group, whatever their case. */
  text?: string;
  /** `updatedAt`: newest first. `key`: alphabetical. Left out: `updatedAt`. */
  sort?: "updatedAt" | "key";
  limit?: number;
  offset?: number;
  /** Only these fields of each entry, beside `sessionId` and `updatedAt`. Left out: all of them. Null counts as missing. */
  fields?: readonly (keyof SessionEntry)[];
}

export interface ListPage {
  sessions: ListedSession[];
  /** How many sessions match without `limit` and `offset`. */
  total: number;
}

export interface ListedSession {
  key: string;
  kind: SessionKind;
  entry: SessionEntry;
}

export interface JsonPage {
  /**
   * A JSON array, in UTF-8, of objects with `key`, `kind`, `ageMs` and the fields of `LISTED_FIELDS`
   * that the entry has.
   */
  json: Uint8Array;
  count: number;
  total: number;
}

export interface DeletedSession {
  key: string;
  entry: SessionEntry;
  windows: Window[];
}
