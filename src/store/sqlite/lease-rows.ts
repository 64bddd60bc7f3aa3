/** The rows of leases. */
import type { ProcessIdentity } from "../../base/processes.ts";
import type { Lease } from "../queues.ts";
import { leaseLost, leaseOfAnotherKey } from "../store-errors.ts";
import type { SqliteDatabase } from "./database.ts";

/** The newest lease of a key, in force or not. */
export interface StoredLease extends Lease {
  released: boolean;
}

export function readLease(database: SqliteDatabase, key: string): StoredLease | undefined {
  const row = database.get<LeaseRow>("SELECT * FROM leases WHERE key = ?", key);
  return row === undefined ? undefined : { ...toLease(row), released: row.released !== 0 };
}

/** Leases that were not released. */
export function listLeases(database: SqliteDatabase): Lease[] {
  return database.all<LeaseRow>("SELECT * FROM leases WHERE released = 0 ORDER BY key").map(toLease);
}

/** Throws, inside the transaction of a write, if the lease is not the newest one. */
export function assertLease(database: SqliteDatabase, lease: Lease, key: string): void {
  if (lease.key !== key) throw leaseOfAnotherKey(lease, key);
  if (!isNewest(readLease(database, key), lease)) throw leaseLost(lease);
}

function isNewest(stored: StoredLease | undefined, { epoch, holder }: Lease): boolean {
  return stored !== undefined && stored.epoch === epoch && stored.holder === holder && !stored.released;
}

export interface TakeLease {
  lease: Lease;
  /** The lease that was seen to be free. Undefined if the key never had one. */
  seen: Lease | undefined;
}

/** False if any process took or renewed the lease since it was seen. */
export function takeLease(database: SqliteDatabase, { lease, seen }: TakeLease): boolean {
  const { key, epoch, holder, process, expiresAt } = lease;
  const current = readLease(database, key);
  if (current?.epoch !== seen?.epoch || current?.expiresAt !== seen?.expiresAt) return false;
  database.run(
    "INSERT OR REPLACE INTO leases (key, epoch, holder, process, expires_at, released) VALUES (?, ?, ?, ?, ?, 0)",
    key,
    epoch,
    holder,
    JSON.stringify(process),
    expiresAt,
  );
  database.recordChange({ what: "lease", key });
  return true;
}

/** False if it was taken over or released. Listeners do not care about renewals, so this records no change. */
export function renewLease(database: SqliteDatabase, lease: Lease): boolean {
  const sql = "UPDATE leases SET expires_at = ? WHERE key = ? AND epoch = ? AND holder = ? AND released = 0";
  return database.run(sql, lease.expiresAt, lease.key, lease.epoch, lease.holder).changed > 0;
}

export function releaseLease(database: SqliteDatabase, lease: Lease): void {
  const sql = "UPDATE leases SET released = 1 WHERE key = ? AND epoch = ? AND holder = ? AND released = 0";
  const { changed } = database.run(sql, lease.key, lease.epoch, lease.holder);
  if (changed > 0) database.recordChange({ what: "lease", key: lease.key });
}

interface LeaseRow {
  key: string;
  epoch: number;
  holder: string;
  process: string;
  expires_at: number;
  released: number;
}

function toLease({ key, epoch, holder, process, expires_at: expiresAt }: LeaseRow): Lease {
  return { key, epoch, holder, process: JSON.parse(process) as ProcessIdentity, expiresAt };
}
