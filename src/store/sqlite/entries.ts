/** The entries of a store: reading them, and changing one as a whole or not at all. */
import type { Clock } from "../../base/clock.ts";
import { createKeyedMutex } from "../../base/mutex.ts";
import { copyEntry } from "../entry-copy.ts";
import { entryFacets } from "../entry-facets.ts";
import { type SessionEntry, windowStateOf } from "../session-entry.ts";
import type { Mutate, UpdateOptions } from "../store.ts";
import { transcriptName } from "../window-moves.ts";
import { inWriteTransaction } from "./batch.ts";
import { packEntry } from "./content-rows.ts";
import type { SqliteDatabase } from "./database.ts";
import { type PutEntry, type StoredEntry, putEntry, readEntry } from "./entry-rows.ts";
import { toListing } from "./listing.ts";
import type { Executor, OnCommitted } from "./executor.ts";

/** How often another process may be faster before this one makes everybody else wait. */
const OPTIMISTIC_ATTEMPTS = 3;

export interface UpdateParts {
  /** The connection of this thread. */
  database: SqliteDatabase;
  executor: Executor;
  onCommitted: OnCommitted;
  clock: Clock;
}

export type UpdateEntry = (key: string, mutate: Mutate, options: UpdateOptions) => Promise<SessionEntry | undefined>;

/** The returned function takes canonical keys. */
export async function createUpdate({ database, executor, onCommitted, clock }: UpdateParts): Promise<UpdateEntry> {
  const { validateEntryChanges } = await import("../entry-schema.ts");
  const mutex = createKeyedMutex();

  return async (key, mutate, options) => {
    const prepare = (before: StoredEntry | undefined): PreparedUpdate => {
      const returned = mutate(before && copyEntry(before.entry));
      if (returned === undefined) return { entry: before?.entry, put: undefined };
      const entry = copyEntry(returned);
      validateEntryChanges(before?.entry, entry);
      return { entry, put: toPut(key, before, entry, options, clock.now()) };
    };

    return await mutex.run(key, async () => {
      for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
        const { entry, put } = prepare(readEntry(database, key));
        if (put === undefined || (await executor.write("putEntry", put))) return entry;
      }
      const updated = inWriteTransaction(database, () => {
        const { entry, put } = prepare(readEntry(database, key));
        if (put !== undefined) putEntry(database, put);
        return entry;
      });
      onCommitted(database.takeChanges());
      return updated;
    });
  };
}

interface PreparedUpdate {
  /** The entry as it will be. */
  entry: SessionEntry | undefined;
  /** Undefined when there is nothing to write. */
  put: PutEntry | undefined;
}

function toPut(
  key: string,
  before: StoredEntry | undefined,
  entry: SessionEntry,
  { lease, windowReason }: UpdateOptions,
  now: number,
): PutEntry {
  const facets = entryFacets(key, entry);
  return {
    key,
    expectedVersion: before?.version,
    packed: packEntry(entry),
    sessionId: entry.sessionId,
    updatedAt: entry.updatedAt,
    ...facets,
    listing: toListing(key, facets.kind, entry),
    labelChanged: before?.entry.label !== entry.label,
    transcript: transcriptName(entry),
    leaving:
      before === undefined || before.entry.sessionId === entry.sessionId ? undefined : windowStateOf(before.entry),
    windowReason,
    lease,
    now,
  };
}
