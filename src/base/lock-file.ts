/**
 * An exclusive lock between processes, as a file that other tools can see. Invariants:
 * - The file appears with its whole content (hard link of a finished file), so a lock whose
 *   holder is unknown is not one of ours, except where the file system has no hard links.
 * - A holder that is alive is never evicted, however slow it is; a dead one is evicted at once.
 *   A file that names no process, or one on another host, counts as abandoned by its age; a live
 *   holder therefore keeps its file young, also for tools that judge every lock by its age.
 * - A dead holder's file is removed only by whoever holds the claim named after that very
 *   acquisition. Its nonce never comes back, so two waiters cannot both evict, and a claim that
 *   outlived its purpose can evict nobody. A claim is itself such a lock, so a claimant's death
 *   is no special case.
 * - A task that waits for the lock it runs under would wait for ever; that is refused instead.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { link, open, readdir, unlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nodeCrypto } from "./builtin.ts";
import { type Clock, systemClock } from "./clock.ts";
import { HoldfastError, fileError, systemErrorCode } from "./errors.ts";
import { faultPoint } from "./faults.ts";
import { PRIVATE_FILE, isTemporaryName, temporaryPath } from "./files.ts";
import { createLockTurns } from "./lock-turns.ts";
import { createKeyedMutex } from "./mutex.ts";
import { type ProcessIdentity, currentProcess, processStartTime, processState } from "./processes.ts";

export interface FileLockOptions {
  /** How long to wait for other processes before giving up with kind `locked`. */
  timeoutMs?: number;
  pollIntervalMs?: number;
  /** Age after which a lock file whose process cannot be checked counts as abandoned. */
  staleMs?: number;
  /** Sleeps between two polls. Ages and timeouts are always real: the files of other processes are. */
  clock?: Clock;
}

type LockSettings = Required<FileLockOptions>;

const DEFAULTS: LockSettings = { timeoutMs: 10_000, pollIntervalMs: 25, staleMs: 30_000, clock: systemClock };

/** Tasks of this process queue here first, so that they do not poll against each other. */
const local = createKeyedMutex();
const turns = createLockTurns();
/** The locks under which the current asynchronous task runs, innermost first. */
const running = new AsyncLocalStorage<LockScope>();

interface LockScope {
  path: string;
  /** Turns false at the release: what was started under the lock may outlive it. */
  held: boolean;
  outer: LockScope | undefined;
}

export async function withFileLock<T>(path: string, options: FileLockOptions, task: () => Promise<T>): Promise<T> {
  if (isLockHeldHere(path)) throw lockReentered(path);
  const settings = { ...DEFAULTS, ...options };
  return await local.run(path, async () => {
    const nonce = await acquireInTurn(path, settings);
    const heartbeat = keepYoung(path, settings.staleMs);
    const scope: LockScope = { path, held: true, outer: running.getStore() };
    try {
      faultPoint("lock.created");
      return await running.run(scope, task);
    } finally {
      scope.held = false;
      clearInterval(heartbeat);
      await release(path, nonce);
      await turns.released(path, settings.pollIntervalMs);
    }
  });
}

/** Whether the caller itself runs under this lock, so that waiting for it could never end. */
export function isLockHeldHere(path: string): boolean {
  for (let scope = running.getStore(); scope !== undefined; scope = scope.outer) {
    if (scope.path === path && scope.held) return true;
  }
  return false;
}

/** Whether anybody has the lock. An abandoned one is free for the taking, and `withFileLock` takes it. */
export async function lockState(path: string): Promise<"free" | "held" | "abandoned"> {
  const holder = await readHolder(path);
  if (holder === undefined) return "free";
  return isAbandoned(holder, DEFAULTS.staleMs) ? "abandoned" : "held";
}

async function acquireInTurn(path: string, settings: LockSettings): Promise<string> {
  await turns.wait(path);
  try {
    return await acquire(path, path, settings);
  } finally {
    await turns.withdraw(path);
  }
}

/** `base` is the lock that is wanted in the end; `path` is it or one of the claims on the way to it. */
async function acquire(base: string, path: string, settings: LockSettings): Promise<string> {
  const nonce = nodeCrypto().randomBytes(8).toString("hex");
  const deadline = performance.now() + settings.timeoutMs;
  for (;;) {
    if (await tryCreate(path, nonce)) return nonce;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (isAbandoned(holder, settings.staleMs)) {
      await evict(base, path, holder, settings);
      if (path === base) await sweep(base, settings);
      continue;
    }
    if (performance.now() >= deadline) throw lockTimeout(path, holder, settings.timeoutMs);
    if (path === base) await turns.ask(path);
    await settings.clock.sleep(settings.pollIntervalMs);
  }
}

async function tryCreate(path: string, nonce: string): Promise<boolean> {
  const temporary = temporaryPath(path);
  const content = JSON.stringify({ ...currentProcess(), nonce });
  try {
    await writeFile(temporary, content, { mode: PRIVATE_FILE, flag: "wx" });
    await linkOrCreate(temporary, path, content);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === "EEXIST") return false;
    throw fileError(error, "lock", path);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

async function linkOrCreate(temporary: string, path: string, content: string): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    if (!["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"].includes(systemErrorCode(error) ?? "")) throw error;
    await writeFile(path, content, { mode: PRIVATE_FILE, flag: "wx" });
  }
}

interface LockHolder {
  /** Unique to one acquisition. */
  nonce: string;
  /** Missing when another tool wrote the file in a form that names no process. */
  process: ProcessIdentity | undefined;
  /** When the file was written or last kept young (ms). */
  touchedAt: number;
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    await using handle = await open(path, "r");
    const { mtimeNs, ino } = await handle.stat({ bigint: true });
    const content = await handle.readFile("utf8");
    const parsed = parseHolder(content);
    const nonce = parsed?.nonce ?? shortHash(`${content}\n${mtimeNs}\n${ino}`);
    return { nonce, process: parsed?.process, touchedAt: Number(mtimeNs / 1_000_000n) };
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "read lock", path);
  }
}

function shortHash(text: string): string {
  return nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 16);
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

/** Start times are known to about a second. */
const START_TIME_TOLERANCE_MS = 2000;

function isAbandoned(holder: LockHolder, staleMs: number): boolean {
  const state = holder.process === undefined ? "unknown" : processState(holder.process);
  if (state === "dead") return true;
  const isOld = Date.now() - holder.touchedAt > staleMs;
  if (state === "unknown" || holder.process === undefined) return isOld;
  if (holder.process.startedAt !== "unknown") return false;
  // Only the pid is known: a process that began after the lock was taken has merely inherited it.
  const startedAt = processStartTime(holder.process.pid);
  return isOld && startedAt !== undefined && startedAt > holder.touchedAt + START_TIME_TOLERANCE_MS;
}

async function evict(base: string, path: string, holder: LockHolder, settings: LockSettings): Promise<void> {
  const claim = claimPath(base, holder.nonce);
  const nonce = await acquire(base, claim, settings);
  try {
    faultPoint("lock.takeover.claimed");
    const current = await readHolder(path);
    if (current?.nonce === holder.nonce) await unlinkIfPresent(path);
  } finally {
    await release(claim, nonce);
  }
}

/** Named after the lock itself even when a claim is being claimed, so that names do not grow. */
function claimPath(base: string, nonce: string): string {
  return `${base}.claim-${nonce}`;
}

/** Removes what processes left beside the lock when they died while taking it or taking it over. */
async function sweep(base: string, settings: LockSettings): Promise<void> {
  const prefix = `${basename(base)}.`;
  const names = (await readdir(dirname(base))).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const path = join(dirname(base), name);
    const isTemporary = isTemporaryName(name);
    if (!isTemporary && !name.startsWith(`${prefix}claim-`)) continue;
    const holder = await readHolder(path);
    if (holder === undefined || !isAbandoned(holder, settings.staleMs)) continue;
    // Nobody else ever uses a temporary name; a claim may be changing hands right now.
    if (isTemporary) await unlinkIfPresent(path);
    else await evict(base, path, holder, settings);
  }
}

function keepYoung(path: string, staleMs: number): NodeJS.Timeout {
  const touch = (): void => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  };
  return setInterval(touch, Math.max(10, staleMs / 3)).unref();
}

async function release(path: string, nonce: string): Promise<void> {
  const holder = await readHolder(path);
  if (holder?.nonce === nonce) await unlinkIfPresent(path);
}

async function unlinkIfPresent(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (systemErrorCode(error) !== "ENOENT") throw fileError(error, "unlock", path);
  }
}

function lockTimeout(path: string, holder: LockHolder, timeoutMs: number): HoldfastError {
  const who =
    holder.process === undefined ? "an unknown process" : `process ${holder.process.pid} on ${holder.process.host}`;
  return new HoldfastError("locked", "lock-timeout", `${path} has been held by ${who} for more than ${timeoutMs} ms`, {
    hint: "Wait for that process or stop it; a lock whose process has ended is removed by itself.",
    data: { path, ...holder.process },
  });
}

export function lockReentered(path: string): HoldfastError {
  return new HoldfastError("conflict", "lock-reentered", `${path} is already held by the task that asks for it`, {
    hint: "Make the change with what the outer call hands over, or after it has ended.",
    data: { path },
  });
}
