/**
 * How `doctor` repairs the files of a store that cannot be opened. Each kind of store implements it. Nothing is
 * deleted: replaced files are set aside first.
 */
import { HoldfastError } from "../base/errors.ts";
import type { SessionEntry } from "./session-entry.ts";
import type { StoreKind, Window } from "./store.ts";

export interface StoreRepair {
  readonly kind: StoreKind;
  /** The file that holds the entries, or the URL of the database. */
  readonly path: string;
  /** Why the store cannot be opened. Undefined if it can, or if there never was one. */
  diagnose(): Promise<StoreDamage | undefined>;
  /** Until disposed, opening and closing the store changes none of its files. Absent if that is always so. */
  preserve?(): Promise<Disposable>;
  salvage(): Promise<SalvagedParts>;
  /**
   * Replaces the damaged store by one with these sessions, completely or not at all, and resolves to the paths of the
   * damaged files. Readable messages, replies, hand-offs, pending items and leases are taken over. After a crash the
   * store is still diagnosed as damaged, and this can be called again.
   */
  rebuild(sessions: readonly SalvagedSession[]): Promise<string[]>;
  /** Updates the view. Missing if the store has none. */
  rewriteView?(): Promise<void>;
}

export interface StoreDamage {
  message: string;
  /** What to do where `rebuild` would be wrong: a newer version, missing permissions. */
  hint: string | undefined;
  canRebuild: boolean;
}

/** Turns an error of opening a store into a diagnosis. Other errors are defects and are thrown again. */
export function toDamage(error: unknown): StoreDamage {
  if (!(error instanceof HoldfastError)) throw error;
  const canRebuild = error.kind === "corrupt";
  return { message: error.message, hint: canRebuild ? undefined : error.hint, canRebuild };
}

export interface SalvagedParts {
  /** By canonical key. */
  entries: ReadonlyMap<string, SessionEntry>;
  windows: readonly Window[];
  /** The highest epoch of each key's leases. */
  epochs: ReadonlyMap<string, number>;
}

export interface SalvagedSession {
  /** Canonical. */
  key: string;
  entry: SessionEntry;
  /** Oldest first. The last one belongs to the entry and has no `closedAt`. */
  windows: Window[];
  /** New leases must have a higher epoch, or their transcript lines would look outdated. */
  epoch: number;
}
