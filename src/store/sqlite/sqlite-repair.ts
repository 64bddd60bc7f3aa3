/**
 * Mending the files of a `sqlite` store. The new database is built in a folder of its own and moved
 * into place when it is complete. The order of the moves matters: the damaged database goes first
 * and its log after it, because a database without its log looks sound and is an older state. While
 * the file is missing, `openDatabase` refuses to make an empty one.
 */
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { HoldfastError } from "../../base/errors.ts";
import { faultPoint } from "../../base/faults.ts";
import { ensurePrivateFolder, fileExists, fileSize, setAside, syncFolder, temporaryPath } from "../../base/files.ts";
import { currentProcess } from "../../base/processes.ts";
import { sqliteError } from "../../base/sqlite-error.ts";
import { openReadOnly, quickCheck } from "../../base/sqlite-reader.ts";
import { entryFacets } from "../entry-facets.ts";
import type { KeptHandoff } from "../store.ts";
import { type SalvagedSession, type StoreDamage, type StoreRepair, toDamage } from "../store-repair.ts";
import { transcriptName } from "../window-moves.ts";
import { packEntry } from "./content-rows.ts";
import { type Queues, putHandoffs, putQueues, readHandoffs, readQueues, salvageParts } from "./damaged-database.ts";
import type { SqliteDatabase } from "./database.ts";
import { putEntry } from "./entry-rows.ts";
import { releaseLease, takeLease } from "./lease-rows.ts";
import { toListing } from "./listing.ts";
import { assertSupported } from "./migrations.ts";
import { openDatabase, traceOfSessions } from "./open-database.ts";
import { STORE_ROLE } from "./store-role.ts";
import { writeMarkedView } from "./view-file.ts";
import { putWindow } from "./window-rows.ts";

export interface SqliteRepairOptions {
  path: string;
  /** Where transcripts and `sessions.json` lie. */
  sessionsFolder: string;
  /** Left out: no view is kept. */
  viewPath?: string | undefined;
  clock: Clock;
}

export function createSqliteRepair({ path, sessionsFolder, viewPath, clock }: SqliteRepairOptions): StoreRepair {
  return {
    kind: "sqlite",
    path,
    diagnose: async () => {
      const size = await fileSize(path);
      if (size === undefined || size === 0) return await diagnoseNothing(path, sessionsFolder, size);
      try {
        await checkPages(path);
        return undefined;
      } catch (error) {
        return toDamage(error);
      }
    },
    // The last connection to be closed folds the log into the file, unless it may only read.
    preserve: async () => (((await fileSize(`${path}-wal`)) ?? 0) === 0 ? NOTHING_TO_KEEP : await openReader(path)),
    salvage: async () => await salvageParts(path),
    rebuild: async (sessions) => {
      const scratch = temporaryPath(path);
      const fresh = join(scratch, basename(path));
      await ensurePrivateFolder(scratch);
      await buildDatabase(fresh, sessions, await readQueues(path), await readHandoffs(path));
      faultPoint("doctor.rebuilt");
      const aside: string[] = [];
      for (const file of [path, ...LOG_ENDINGS.map((ending) => `${path}${ending}`)]) {
        if (await fileExists(file)) aside.push(await setAside(file, "corrupt", clock.now()));
        faultPoint("doctor.set-aside");
      }
      await rename(fresh, path);
      faultPoint("doctor.replaced");
      await syncFolder(dirname(path));
      await rm(scratch, { recursive: true });
      return aside;
    },
    ...(viewPath === undefined ? {} : { rewriteView: async () => await writeMarkedView(path, viewPath) }),
  };
}

const NOTHING_TO_KEEP: Disposable = { [Symbol.dispose]: () => undefined };

async function openReader(path: string): Promise<Disposable> {
  const reader = await openReadOnly(path);
  // A connection takes part in the log only once it has read something.
  reader.prepare("SELECT 1 FROM sqlite_schema").get();
  return { [Symbol.dispose]: () => reader.close() };
}

const LOG_ENDINGS = ["-wal", "-shm"];

async function diagnoseNothing(
  path: string,
  folder: string,
  size: number | undefined,
): Promise<StoreDamage | undefined> {
  const trace = await traceOfSessions(folder);
  if (trace === undefined) return undefined;
  const state = size === undefined ? "missing" : "empty";
  return {
    message: `${path} is ${state}, but ${trace} shows that there were sessions`,
    hint: undefined,
    canRebuild: true,
  };
}

/** Looks at every page, without changing anything. */
async function checkPages(path: string): Promise<void> {
  const database = await openReadOnly(path);
  try {
    assertSupported(database, path);
    const complaint = quickCheck(database);
    if (complaint !== undefined) {
      throw new HoldfastError("corrupt", "store-corrupt", `The store ${path} is damaged: ${complaint}`);
    }
  } catch (error) {
    throw sqliteError(error, path, STORE_ROLE);
  } finally {
    database.close();
  }
}

async function buildDatabase(
  path: string,
  sessions: readonly SalvagedSession[],
  queues: Queues,
  handoffs: readonly KeptHandoff[],
): Promise<void> {
  const database = await openDatabase({ path, writer: REBUILDER });
  try {
    database.transaction(() => {
      for (const session of sessions) putSession(database, session);
      putQueues(database, queues);
      putHandoffs(database, handoffs);
    });
  } finally {
    database.close();
  }
}

const REBUILDER = "doctor";

function putSession(database: SqliteDatabase, { key, entry, windows, epoch }: SalvagedSession): void {
  const current = windows.at(-1);
  const facets = entryFacets(key, entry);
  putEntry(database, {
    key,
    expectedVersion: undefined,
    packed: packEntry(entry),
    sessionId: entry.sessionId,
    updatedAt: entry.updatedAt,
    ...facets,
    listing: toListing(key, facets.kind, entry),
    labelChanged: true,
    transcript: transcriptName(entry),
    leaving: undefined,
    windowReason: current?.reason,
    lease: undefined,
    now: current?.openedAt ?? entry.updatedAt,
  });
  for (const window of windows) if (window !== current) putWindow(database, window);
  if (epoch > 0) putEpoch(database, key, epoch);
}

/** As if the lease of this epoch had been given back. */
function putEpoch(database: SqliteDatabase, key: string, epoch: number): void {
  const lease = { key, epoch, holder: REBUILDER, process: currentProcess(), expiresAt: 0 };
  takeLease(database, { lease, seen: undefined });
  releaseLease(database, lease);
}
