/**
 * An exclusive lock between processes, as a file that other tools can see. Invariants:
 * - The file appears with its whole content (a hard link to a complete file), so a lock without a known holder is not
 *   one of ours, except on file systems without hard links.
 * - A live holder is never evicted, however slow it is; a dead one is evicted at once. A file that names no process, or
 *   one on another host, counts as abandoned by its age, so a live holder keeps its file young.
 * - Evicting a dead holder requires a claim named after that very acquisition. Its nonce is never reused, so two
 *   waiters cannot both evict, and an outdated claim evicts no one. A claim is itself such a lock, so the death of a
 *   claimant needs no special handling.
 * - A task that waits for the lock that it holds would wait forever, so this is refused.
 * - Processes take turns. A waiter that polls rarely meets the moment between release and next acquisition of a busy
 *   holder, so a process that has used the lock for a while pauses for two polls.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { link, open, readdir, unlink, utimes, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createKeyedMutex } from "./async.ts";
import { nodeCrypto } from "./builtin.ts";
import { type Clock, systemClock } from "./clock.ts";
import { HoldfastError, fileError, isOutOfFiles, systemErrorCode } from "./errors.ts";
import { faultPoint } from "./faults.ts";
import { PRIVATE_FILE, removeFileIfPresent, isTemporaryName, sweepFolder, temporaryPath } from "./files.ts";
import { type ProcessIdentity, currentProcess, hasStartedSince, processState } from "./processes.ts";

export interface FileLockOptions {
  /** How long to wait before failing with kind `locked`. Default: 10 s. */
  timeoutMs?: number;
  pollIntervalMs?: number;
  /** Age at which a lock file without a verifiable process counts as abandoned. Default: 30 s. */
  staleMs?: number;
  /** Used for the sleep between two polls. Ages and timeouts use real time, as the files do. */
  clock?: Clock;
}

type LockSettings = Required<FileLockOptions>;

const DEFAULTS: LockSettings = { timeoutMs: 10_000, pollIntervalMs: 25, staleMs: 30_000, clock: systemClock };

/** Tasks of this process queue here, so that they do not poll against each other. */
const local = createKeyedMutex();
/** The locks that the current asynchronous task holds, innermost first. */
const running = new AsyncLocalStorage<LockScope>();

interface LockScope {
  path: string;
  /** False after the release: work started under the lock may outlive it. */
  held: boolean;
  outer: LockScope | undefined;
}

export async function withFileLock<T>(path: string, options: FileLockOptions, task: () => Promise<T>): Promise<T> {
  if (isLockHeldHere(path)) throw lockReentered(path);
  const settings = { ...DEFAULTS, ...options };
  return await local.run(path, async () => {
    await waitForTurn(path, settings.pollIntervalMs);
    const nonce = await acquire(path, path, settings);
    const heartbeat = keepYoung(path, settings.staleMs);
    const scope: LockScope = { path, held: true, outer: running.getStore() };
    try {
      faultPoint("lock.created");
      return await running.run(scope, task);
    } finally {
      scope.held = false;
      clearInterval(heartbeat);
      await release(path, nonce);
      endTurn(path);
    }
  });
}

/** True if the caller itself holds this lock, so that waiting for it would never end. */
export function isLockHeldHere(path: string): boolean {
  for (let scope = running.getStore(); scope !== undefined; scope = scope.outer) {
    if (scope.path === path && scope.held) return true;
  }
  return false;
}

/** `withFileLock` takes over an abandoned lock. */
export async function lockState(path: string): Promise<"free" | "held" | "abandoned"> {
  const holder = await readHolder(path);
  if (holder === undefined) return "free";
  return isAbandoned(holder, DEFAULTS.staleMs) ? "abandoned" : "held";
}

/** `base` is the lock to acquire; `path` is this lock, or a claim needed on the way to it. */
async function acquire(base: string, path: string, settings: LockSettings): Promise<string> {
  const nonce = nodeCrypto().randomBytes(8).toString("hex");
  const deadline = performance.now() + settings.timeoutMs;
  for (;;) {
    if (await tryCreate(path, nonce)) return nonce;
    const holder = await readHolder(path);
    if (holder === undefined) continue;
    if (isAbandoned(holder, settings.staleMs)) {
      await evict(base, path, holder, settings);
      if (path === base) {
        await sweep(base, settings);
        // The dead process may have left a temporary file as well.
        await sweepFolder(dirname(base), basename(base, ".lock"));
      }
      continue;
    }
    if (performance.now() >= deadline) throw lockTimeout(path, holder, settings.timeoutMs);
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

type LockHolder = NonNullable<Awaited<ReturnType<typeof readHolder>>>;

/** `nonce` is unique to one acquisition. `process` is missing if another tool wrote the file without one. */
async function readHolder(path: string) {
  try {
    await using handle = await open(path, "r");
    const { mtimeNs, ino } = await handle.stat({ bigint: true });
    const content = await handle.readFile("utf8");
    const parsed = parseHolder(content);
    const text = `${content}\n${mtimeNs}\n${ino}`;
    const nonce = parsed?.nonce ?? nodeCrypto().createHash("sha256").update(text).digest("hex").slice(0, 16);
    return { nonce, process: parsed?.process, touchedAt: Number(mtimeNs / 1_000_000n) };
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
    // OpenClaw writes the pid and the time, but no start time and no host.
    const startedAt = nonce !== undefined && typeof value.startedAt === "string" ? value.startedAt : "unknown";
    const host = typeof value.host === "string" ? value.host : currentProcess().host;
    return { nonce, process: { pid: value.pid, startedAt, host } };
  } catch {
    return undefined;
  }
}

function isAbandoned(holder: LockHolder, staleMs: number): boolean {
  const state = holder.process === undefined ? "unknown" : processState(holder.process);
  if (state === "dead") return true;
  const isOld = Date.now() - holder.touchedAt > staleMs;
  if (state === "unknown" || holder.process === undefined) return isOld;
  if (holder.process.startedAt !== "unknown") return false;
  // Only the pid is known: a process that started after the lock was taken has merely reused it.
  return isOld && hasStartedSince(holder.process.pid, holder.touchedAt);
}

async function evict(base: string, path: string, holder: LockHolder, settings: LockSettings): Promise<void> {
  // Named after the lock itself, even for a claim on a claim, so that names do not grow.
  const claim = `${base}.claim-${holder.nonce}`;
  const nonce = await acquire(base, claim, settings);
  try {
    faultPoint("lock.takeover.claimed");
    const current = await readHolder(path);
    if (current?.nonce === holder.nonce) await removeFileIfPresent(path);
  } finally {
    await release(claim, nonce);
  }
}

/** Removes files of processes that died while they took the lock. */
async function sweep(base: string, settings: LockSettings): Promise<void> {
  const prefix = `${basename(base)}.`;
  const names = (await readdir(dirname(base))).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    const path = join(dirname(base), name);
    const isTemporary = isTemporaryName(name);
    if (!isTemporary && !name.startsWith(`${prefix}claim-`)) continue;
    const holder = await readHolder(path);
    if (holder === undefined || !isAbandoned(holder, settings.staleMs)) continue;
    // Only its creator uses a temporary name; a claim may be changing hands right now.
    if (isTemporary) await removeFileIfPresent(path);
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

/**
 * Without file descriptors, the holder cannot be read. The release is retried later; otherwise this live process would
 * count as the holder until it ends.
 */
async function release(path: string, nonce: string): Promise<void> {
  try {
    const holder = await readHolder(path);
    if (holder?.nonce === nonce) await removeFileIfPresent(path);
  } catch (error) {
    if (!isOutOfFiles(error)) throw error;
    setTimeout(() => void release(path, nonce).catch(() => undefined), RELEASE_AGAIN_MS).unref();
  }
}

const RELEASE_AGAIN_MS = 50;

function lockTimeout(path: string, holder: LockHolder, timeoutMs: number): HoldfastError {
  const who =
    holder.process === undefined ? "an unknown process" : `process ${holder.process.pid} on ${holder.process.host}`;
  return new HoldfastError("locked", "lock-timeout", `${path} has been held by ${who} for more than ${timeoutMs} ms`, {
    hint: "Wait for that process, or stop it. The lock of an ended process is removed automatically.",
    data: { path, ...holder.process },
  });
}

export function lockReentered(path: string): HoldfastError {
  return new HoldfastError("conflict", "lock-reentered", `${path} is already held by the same task`, {
    hint: "Make the change inside the outer call, or after it.",
    data: { path },
  });
}

/** How long one process may take the lock again and again before it pauses. */
const RUN_MS = 250;
/** Beyond this number all runs are forgotten, which only resets the turns. */
const MAX_RUNS = 1000;

const runs = new Map<string, { startedAt: number; releasedAt: number }>();

async function waitForTurn(path: string, pollIntervalMs: number): Promise<void> {
  const now = performance.now();
  const run = runs.get(path);
  const continues = run !== undefined && now - run.releasedAt < RUN_MS;
  const isLong = continues && now - run.startedAt >= RUN_MS;
  // After two polls, every waiter has looked at least once.
  if (isLong) await delay(2 * pollIntervalMs);
  if (runs.size > MAX_RUNS) runs.clear();
  runs.set(path, { startedAt: continues && !isLong ? run.startedAt : performance.now(), releasedAt: 0 });
}

function endTurn(path: string): void {
  const now = performance.now();
  runs.set(path, { startedAt: runs.get(path)?.startedAt ?? now, releasedAt: now });
}
