/**
 * Databases that can be rebuilt from other files. A damaged one is replaced instead of repaired. Damage shows only when
 * the damaged page is read, so a file is checked before use, unless it looks exactly as the last process left it;
 * `<file>.left` records that.
 */
import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { errorMessage } from "./errors.ts";
import { PRIVATE_FILE } from "./files.ts";
import {
  createPrivateFile,
  isEmptyDatabase,
  openConnection,
  runTransaction,
  sqliteErrorCode,
  sqliteResultCode,
} from "./sqlite.ts";

export interface DerivedOptions {
  path: string;
  pragmas: string;
  create: (database: DatabaseSync) => void;
  /** Whether this version made the file, for this purpose. */
  isOurs: (database: DatabaseSync) => boolean;
  /** Describes damage, after reading everything. Called if the file changed since a process closed it. */
  check: (database: DatabaseSync) => string | undefined;
  /** The file is known to be unusable. Default: false. */
  replace?: boolean | undefined;
}

/**
 * Opens a database that can be rebuilt from other files. A damaged file, or one of another version or program, is
 * replaced by an empty one. A process that still has the old file open keeps it and does no harm.
 */
export function openDerived(options: DerivedOptions): DatabaseSync {
  const { path } = options;
  if (path === IN_MEMORY) return connectDerived(options, true);
  try {
    if (options.replace !== true && !isOccupied(path)) {
      createPrivateFile(path);
      const isKnown = isAsLeft(path);
      return connectDerived(options, isKnown);
    }
  } catch (error) {
    if (!(error instanceof UnusableDatabase) && !isDatabaseDamage(error)) throw error;
  }
  removeDatabase(path);
  createPrivateFile(path);
  return connectDerived(options, true);
}

/** Opens a file that is exactly as the last process left it. Undefined if it has to be checked, created or replaced. */
export function openAsLeft({ path, pragmas, isOurs }: DerivedOptions): DatabaseSync | undefined {
  if (!isAsLeft(path)) return undefined;
  try {
    const setUp = (database: DatabaseSync): void => {
      if (!isOurs(database)) throw new UnusableDatabase();
    };
    return openConnection(path, { pragmas, setUp });
  } catch {
    return undefined;
  }
}

/** The path of a database without a file, for a home that cannot be written. */
export const IN_MEMORY = ":memory:";

export function isForbidden(error: unknown): boolean {
  const { kind, code } = error as { kind?: unknown; code?: unknown };
  return kind === "forbidden" || code === "EACCES" || code === "EPERM" || code === "EROFS";
}

/** Whether a folder, a broken link or another thing that is not a file has the name. */
export function isOccupied(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false;
  return statSync(path, { throwIfNoEntry: false })?.isFile() !== true;
}

class UnusableDatabase extends Error {}

function connectDerived({ path, pragmas, create, isOurs, check }: DerivedOptions, isKnown: boolean): DatabaseSync {
  const setUp = (database: DatabaseSync): void => {
    if (isOurs(database)) {
      if (!isKnown && check(database) !== undefined) throw new UnusableDatabase();
      return;
    }
    runTransaction(database, () => {
      if (isEmptyDatabase(database)) create(database);
      else if (!isOurs(database)) throw new UnusableDatabase();
    });
  };
  return openConnection(path, { pragmas, setUp });
}

/** Whether the file is unchanged since a process closed it. Damage to the log does not matter: it has checksums. */
function isAsLeft(path: string): boolean {
  const now = fingerprint(path);
  try {
    return now !== undefined && readFileSync(`${path}.left`, "utf8") === now;
  } catch {
    return false;
  }
}

/** Call it after closing a derived database. The next process checks the file if it was damaged, or if this fails. */
export function noteAsLeft(path: string, { isDamaged }: { isDamaged: boolean }): void {
  const now = fingerprint(path);
  try {
    if (isDamaged) rmSync(`${path}.left`, { force: true });
    else if (now !== undefined && !isAsLeft(path)) writeFileSync(`${path}.left`, now, { mode: PRIVATE_FILE });
  } catch {
    // The disk may be full, or the folder read-only.
  }
}

function fingerprint(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

/** Reads the whole database. SQLite's first complaint, or undefined if it is in order. */
export function findDatabaseDamage(
  database: DatabaseSync,
  jsonColumns: Readonly<Record<string, string[]>> = {},
): string | undefined {
  try {
    const [first] = database.prepare("PRAGMA integrity_check(1)").all();
    const answer = String(first?.["integrity_check"]);
    if (answer !== "ok") return answer;
    for (const [table, columns] of Object.entries(jsonColumns)) {
      const isInvalid = columns.map((column) => `NOT json_valid(${column})`).join(" OR ");
      const found = database.prepare(`SELECT 1 FROM ${table} WHERE ${isInvalid} LIMIT 1`).get();
      if (found !== undefined) return `a row of ${table} cannot be read`;
    }
    return undefined;
  } catch (error) {
    if (isDatabaseDamage(error)) return errorMessage(error);
    throw error;
  }
}

export function removeDatabase(path: string): void {
  for (const ending of [".left", "-wal", "-shm", "-journal", ""]) {
    rmSync(`${path}${ending}`, { recursive: true, force: true });
  }
}

const SQL_ERROR = 1;
const CORRUPT = 11;
const TOO_BIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOT_A_DATABASE = 26;
const IO_SHORT_READ = 522;

/** Errors that only damage can cause in a file made by this version. A missing table or a duplicate row is one. */
const DAMAGE: ReadonlySet<number> = new Set([SQL_ERROR, CORRUPT, TOO_BIG, CONSTRAINT, MISMATCH, NOT_A_DATABASE]);

export function isDatabaseDamage(error: unknown): boolean {
  // Stored JSON that cannot be parsed.
  if (error instanceof SyntaxError) return true;
  const code = sqliteResultCode(error);
  return code !== undefined && (DAMAGE.has(code) || sqliteErrorCode(error) === IO_SHORT_READ);
}
