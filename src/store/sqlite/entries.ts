/** The entries of a store: reading them, and changing one as a whole or not at all. */
import type { Clock } from "../../base/clock.ts";
import { copyEntry } from "../entry-copy.ts";
import { entryFacets } from "../entry-facets.ts";
import { type SessionEntry, windowStateOf } from "../session-entry.ts";
import type { Mutate, UpdateOptions } from "../store.ts";
import { transcriptName } from "../window-moves.ts";
import { packEntry } from "./content-rows.ts";
import { type PutEntry, type StoredEntry, readEntry } from "./entry-rows.ts";
import { toListing } from "./listing.ts";
import { type Prepared, type ReadModifyWriteParts, createReadModifyWrite } from "./read-modify-write.ts";

export interface UpdateParts extends ReadModifyWriteParts {
  clock: Clock;
}

/** With `write` the entry is written together with something else; false, with nothing changed, when it is stale. */
export type UpdateEntry = (
  key: string,
  mutate: Mutate,
  options: UpdateOptions,
  write?: (put: PutEntry) => Promise<boolean>,
) => Promise<SessionEntry | undefined>;

/** The returned function takes canonical keys. */
export async function createUpdate({ clock, ...parts }: UpdateParts): Promise<UpdateEntry> {
  const { validateEntryChanges } = await import("../entry-schema.ts");
  const change = createReadModifyWrite("putEntry", parts);

  return async (key, mutate, options, write) => {
    const prepare = (): Prepared<"putEntry", SessionEntry | undefined> => {
      const before = readEntry(parts.database, key);
      const returned = mutate(before && copyEntry(before.entry));
      if (returned === undefined) return { value: before?.entry, put: undefined };
      const entry = copyEntry(returned);
      validateEntryChanges(before?.entry, entry);
      return { value: entry, put: toPut(key, before, entry, options, clock.now()) };
    };
    return await change(key, prepare, write);
  };
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
