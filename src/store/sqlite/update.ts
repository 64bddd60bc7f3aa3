/**
 * Atomic read-modify-write of one entry or hand-off. The caller's function runs in this thread. The write compares
 * versions; if another process was faster, everything runs again. After a few failures it runs inside one write
 * transaction, so that others wait.
 */
import { createKeyedMutex } from "../../base/async.ts";
import { type Mutate, type SessionEntry, windowStateOf } from "../session-entry.ts";
import { copyEntry, entryFacets, transcriptName } from "../store-rules.ts";
import type { UpdateOptions } from "../store.ts";
import { type PutEntry, type StoredEntry, packEntry, readEntry } from "./entry-rows.ts";
import type { StoreContext } from "./executor.ts";
import { toListing } from "./list-query.ts";
import { type WriteArguments, applyWrite, inWriteTransaction } from "./writes.ts";

const OPTIMISTIC_ATTEMPTS = 3;

/** Writes that return false and change nothing if the value has another version. */
type ComparingWrite = "putEntry" | "putHandoff";

export interface Prepared<Name extends ComparingWrite, Value> {
  /** The result of the change. */
  value: Value;
  /** Undefined if there is nothing to write. */
  put: WriteArguments<Name> | undefined;
}

/**
 * Reads with `prepare` and writes its result; `prepare` may run several times. `write` replaces the plain write of the
 * value.
 */
export type ReadModifyWrite<Name extends ComparingWrite> = <Value>(
  key: string,
  prepare: () => Prepared<Name, Value>,
  write?: (put: WriteArguments<Name>) => Promise<boolean>,
) => Promise<Value>;

export function createReadModifyWrite<Name extends ComparingWrite>(
  name: Name,
  { database, executor, onCommitted }: StoreContext,
): ReadModifyWrite<Name> {
  const mutex = createKeyedMutex();

  return async (key, prepare, write = async (put) => await executor.write(name, put)) =>
    await mutex.run(key, async () => {
      for (let attempt = 0; attempt < OPTIMISTIC_ATTEMPTS; attempt++) {
        const { value, put } = prepare();
        if (put === undefined || (await write(put))) return value;
      }
      const result = inWriteTransaction(database, () => {
        const { value, put } = prepare();
        if (put !== undefined) applyWrite(database, { name, arguments: put });
        return value;
      });
      onCommitted(database.takeChanges());
      return result;
    });
}

/**
 * `write` stores the entry together with other changes. It returns false and changes nothing if the entry is outdated.
 */
export type UpdateEntry = (
  key: string,
  mutate: Mutate,
  options: UpdateOptions,
  write?: (put: PutEntry) => Promise<boolean>,
) => Promise<SessionEntry | undefined>;

/** The returned function expects canonical keys. */
export async function createUpdate(context: StoreContext): Promise<UpdateEntry> {
  const { validateEntryChanges } = await import("../entry-schema.ts");
  const change = createReadModifyWrite("putEntry", context);

  return async (key, mutate, options, write) => {
    const prepare = (): Prepared<"putEntry", SessionEntry | undefined> => {
      const before = readEntry(context.database, key);
      const returned = mutate(before && copyEntry(before.entry));
      if (returned === undefined) return { value: before?.entry, put: undefined };
      const entry = copyEntry(returned);
      validateEntryChanges(before?.entry, entry);
      return { value: entry, put: toPutEntry(key, before, entry, options, context.clock.now()) };
    };
    return await change(key, prepare, write);
  };
}

/** `before`: the stored entry that the new one is based on. */
export function toPutEntry(
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
