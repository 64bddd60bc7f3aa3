/**
 * An exclusive lock between processes, as a file that other tools can see. Invariants:
 * - The file appears with its whole content (hard link of a finished file), so a lock whose
 *   holder is unknown cannot be one of ours.
 * - A holder that is alive is never evicted, however slow it is; a dead one is evicted at once.
 * - A dead holder's file is removed only by whoever holds the claim named after that very
 *   acquisition. Its nonce never comes back, so two waiters cannot both evict, and a claim that
 *   outlived its purpose can evict nobody. A claim is itself such a lock, so a claimant's death
 *   is no special case.
 */
import { randomBytes } from "node:crypto";
import { link, readFile, stat, unlink, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { type Clock, systemClock } from "./clock.ts";
import { HoldfastError, fileError, systemErrorCode } from "./errors.ts";
import { faultPoint } from "./faults.ts";
import { PRIVATE_FILE, temporaryPath } from "./files.ts";
import { type KeyedMutex, createKeyedMutex } from "./mutex.ts";
import { type ProcessIdentity, currentProcess, processState } from "./processes.ts";

export interface FileLockOptions {
  /** How long to wait for the lock before giving up with kind `locked`. */
  timeoutMs?: number;
  pollIntervalMs?: number;
  /** Age after which a lock file that names no process counts as abandoned. */
  staleMs?: number;
  clock?: Clock;
}

const DEFAULTS = { timeoutMs: 10_000, pollIntervalMs: 25, staleMs: 30_000 };

/** Tasks of this process queue here first, so that they do not poll against each other. */
const local: KeyedMutex = createKeyedMutex();

export async function withFileLock<T>(path: string, options: FileLockOptions, task: () => Promise<T>): Promise<T> {
  return await local.run(path, async () => {
    const nonce = await acquire(path, options);
    try {
      return await task();
    } finally {
      await release(path, nonce);
    }
  });
}

async function acquire(path: string, options: FileLockOptions): Promise<string> {
  const { timeoutMs, pollIntervalMs } = { ...DEFAULTS, ...options };
  const clock = options.clock ?? systemClock;
  const nonce = randomBytes(8).toString("hex");
  const startedAt = performance.now();
  for (;;) {
    if (await tryCreate(path, nonce)) return nonce;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (isAbandoned(holder, options)) {
      await evict(path, holder, options);
      continue;
    }
    if (performance.now() - startedAt >= timeoutMs) throw lockTimeout(path, holder, timeoutMs);
    await clock.sleep(pollIntervalMs);
  }
}

async function tryCreate(path: string, nonce: string): Promise<boolean> {
  const temporary = temporaryPath(path);
  try {
    const content = JSON.stringify({ ...currentProcess(), nonce });
    await writeFile(temporary, content, { mode: PRIVATE_FILE, flag: "wx" });
    await link(temporary, path);
    faultPoint("lock.created");
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw fileError(error, "lock", path);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

interface LockHolder {
  /** Unique to one acquisition. */
  nonce: string;
  /** Missing when another tool wrote the file in a form that names no process. */
  process: ProcessIdentity | undefined;
  ageMs: number;
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const [content, { mtimeMs, ino }] = await Promise.all([readFile(path, "utf8"), stat(path)]);
    const ageMs = Date.now() - mtimeMs;
    const parsed = parseHolder(content);
    const nonce =
      parsed?.nonce ?? createHash("sha256").update(`${content}\n${mtimeMs}\n${ino}`).digest("hex").slice(0, 16);
    return { nonce, process: parsed?.process, ageMs };
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read lock", path);
  }
}

function parseHolder(content: string): { nonce: string | undefined; process: ProcessIdentity } | undefined {
  try {
    const value = JSON.parse(content) as Partial<ProcessIdentity> & { nonce?: unknown };
    if (typeof value.pid !== "number") return undefined;
    const nonce = typeof value.nonce === "string" && /^[0-9a-f]{16}$/.test(value.nonce) ? value.nonce : undefined;
    // OpenClaw writes the pid and the time of locking, no start time and no host.
    const startedAt = nonce !== undefined && typeof value.startedAt === "string" ? value.startedAt : "unknown";
    const host = typeof value.host === "string" ? value.host : currentProcess().host;
    return { nonce, process: { pid: value.pid, startedAt, host } };
  } catch {
    return undefined;
  }
}

function isAbandoned(holder: LockHolder, options: FileLockOptions): boolean {
  const state = holder.process === undefined ? "unknown" : processState(holder.process);
  if (state !== "unknown") return state === "dead";
  return holder.ageMs > (options.staleMs ?? DEFAULTS.staleMs);
}

async function evict(path: string, holder: LockHolder, options: FileLockOptions): Promise<void> {
  await withFileLock(`${path}.claim-${holder.nonce}`, options, async () => {
    faultPoint("lock.takeover.claimed");
    const current = await readHolder(path);
    if (current?.nonce === holder.nonce) await unlink(path);
  });
}

async function release(path: string, nonce: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder?.nonce === nonce) await unlink(path);
}

function lockTimeout(path: string, holder: LockHolder, timeoutMs: number): HoldfastError {
  const who =
    holder.process === undefined ? "an unknown process" : `process ${holder.process.pid} on ${holder.process.host}`;
  return new HoldfastError("locked", "lock-timeout", `${path} has been held by ${who} for more than ${timeoutMs} ms`, {
    hint: "Wait for that process or stop it; a lock whose process has ended is removed by itself.",
    data: { path, ...holder.process },
  });
}
