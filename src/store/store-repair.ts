/**
 * What `doctor` needs to know about the files of a store that cannot be opened as one. Each store
 * has its own implementation beside it. Nothing here ever deletes: files that are replaced are set
 * aside first.
 */
import { HoldfastError } from "../base/errors.ts";
import type { SessionEntry } from "./session-entry.ts";
import type { StoreKind, Window } from "./store.ts";

export interface StoreRepair {
  readonly kind: StoreKind;
  /** The file that holds the entries. */
  readonly path: string;
  /** Why the store cannot be opened; undefined when it can, or when there is none and never was. */
  diagnose(): Promise<StoreDamage | undefined>;
  /**
   * Until it is disposed of, opening and closing the store changes none of its files. Left out: it
   * never does.
   */
  preserve?(): Promise<Disposable>;
  /** What can still be read of the damaged files. */
  salvage(): Promise<SalvagedParts>;
  /**
   * Puts a store with these sessions in the place of the damaged one, all of it or nothing, and
   * resolves to where the damaged files went. Queued messages, replies, hand-offs and leases that can
   * still be read are taken over. After a crash on the way the store is still diagnosed as damaged, and this
   * can be called again.
   */
  rebuild(sessions: readonly SalvagedSession[]): Promise<string[]>;
  /** Brings the view up to date. Left out: the store keeps none. */
  rewriteView?(): Promise<void>;
}

export interface StoreDamage {
  message: string;
  /** What the person can do, where `rebuild` would be wrong: a newer version, missing rights. */
  hint: string | undefined;
  canRebuild: boolean;
}

/** What an error at opening a store says about its files. Anything else that was thrown is a defect. */
export function toDamage(error: unknown): StoreDamage {
  if (!(error instanceof HoldfastError)) throw error;
  const canRebuild = error.kind === "corrupt";
  return { message: error.message, hint: canRebuild ? undefined : error.hint, canRebuild };
}

export interface SalvagedParts {
  /** By canonical key. */
  entries: ReadonlyMap<string, SessionEntry>;
  windows: readonly Window[];
  /** Highest epoch that a lease of a key ever had. */
  epochs: ReadonlyMap<string, number>;
}

export interface SalvagedSession {
  /** Canonical. */
  key: string;
  entry: SessionEntry;
  /** Oldest first. The last one is that of the entry and has no `closedAt`. */
  windows: Window[];
  /** New leases of the key must have a higher one, or their lines would look stale. */
  epoch: number;
}
