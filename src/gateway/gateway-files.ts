/**
 * The files of a gateway. `gateway.json` says where it listens, for commands that look for it. A file left by a
 * killed gateway does no harm: it names the process with its start time, so a reused pid does not match.
 * `gateway.token` has 32 random bytes that only the owner can read. A link, or a file of another user, is refused:
 * they could know the token.
 */
import { type FSWatcher, watch, constants } from "node:fs";
import { rm, stat, type FileHandle, link, open, unlink } from "node:fs/promises";
import { dirname, basename } from "node:path";
import { systemErrorCode, HoldfastError, fileError } from "../base/errors.ts";
import {
  ensurePrivateFolder,
  readFileIfPresent,
  writeFileDurable,
  PRIVATE_FILE,
  syncFolder,
  temporaryPath,
} from "../base/files.ts";
import { isRecord, parseJson } from "../base/json-record.ts";
import { withFileLock } from "../base/lock-file.ts";
import { type ProcessIdentity, currentProcess, processState } from "../base/processes.ts";
import { gatewayLayout } from "../config/layout.ts";
import { nodeCrypto } from "../base/builtin.ts";
import type { Logger } from "../base/log.ts";
import { packageVersion } from "../base/package.ts";
import { type RpcClient, connectRpc } from "../rpc/client.ts";

export interface RunningGateway {
  url: string;
  port: number;
  version: string;
  startedAt: number;
  /** Command-line options, for `gateway restart`. */
  args?: readonly string[] | undefined;
  process: ProcessIdentity;
}

export async function findGateway(home: string): Promise<RunningGateway | undefined> {
  const running = await readRuntimeFile(home);
  return typeof running === "object" && processState(running.process) === "alive" ? running : undefined;
}

/** `elsewhere`: on another machine. `ended`: the file is left over. */
export async function gatewayState(home: string): Promise<"none" | "running" | "elsewhere" | "ended"> {
  const known = await readRuntimeFile(home);
  if (typeof known === "string") return known === "none" ? "none" : "ended";
  return STATES[processState(known.process)];
}

/** Whose file it is; `another` is a gateway that runs on this machine. */
async function runtimeFileOwner(home: string): Promise<"ours" | "none" | "another" | "unclear"> {
  const known = await readRuntimeFile(home);
  if (typeof known === "string") return known === "none" ? "none" : "unclear";
  const own = currentProcess();
  if (known.process.pid === own.pid && known.process.host === own.host) return "ours";
  return processState(known.process) === "alive" ? "another" : "unclear";
}

const STATES = { alive: "running", dead: "ended", unknown: "elsewhere" } as const;

/** False if another running gateway of this home has the file. */
export async function announceGateway(home: string, gateway: Omit<RunningGateway, "process">): Promise<boolean> {
  const { runtimeFile } = gatewayLayout(home);
  await ensurePrivateFolder(dirname(runtimeFile));
  // Of two gateways that start at the same time, the second must see the first.
  return await withFileLock(`${runtimeFile}.lock`, {}, async () => {
    const other = await findGateway(home);
    if (other !== undefined && other.process.pid !== process.pid) return false;
    const content: RunningGateway = { ...gateway, process: currentProcess() };
    await writeFileDurable(runtimeFile, `${JSON.stringify(content, undefined, 2)}\n`);
    return true;
  });
}

export async function withdrawGateway(home: string, url: string): Promise<void> {
  const known = await readRuntimeFile(home);
  const isOwn = typeof known === "object" && known.process.pid === process.pid && known.url === url;
  if (isOwn) await rm(gatewayLayout(home).runtimeFile, { force: true });
}

async function readRuntimeFile(home: string): Promise<RunningGateway | "none" | "invalid"> {
  const content = await readFileIfPresent(gatewayLayout(home).runtimeFile);
  if (content === undefined) return "none";
  const value = parseJson(content.toString("utf8"));
  if (!isRecord(value) || !isRecord(value["process"])) return "invalid";
  const { url, port, version, startedAt } = value;
  const { pid, startedAt: since, host } = value["process"];
  if (typeof url !== "string" || !isLoopback(url) || typeof port !== "number") return "invalid";
  if (typeof version !== "string" || typeof startedAt !== "number") return "invalid";
  if (typeof pid !== "number" || typeof since !== "string" || typeof host !== "string") return "invalid";
  const args = Array.isArray(value["args"]) ? value["args"].filter((arg) => typeof arg === "string") : undefined;
  return { url, port, version, startedAt, args, process: { pid, startedAt: since, host } };
}

/** Commands send the token to this address, so a changed file must not redirect it. */
function isLoopback(url: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url);
}

const CHECK_MS = 500;
/** How often in a row the file must be missing. A missing home counts at once. */
const CHECKS_WITHOUT_FILE = 3;

/**
 * Calls `onGone` once when the home is deleted, moved or replaced: the gateway would keep its port, answer from
 * deleted files, and create the folder again with the next message. Returns a function that ends the watch.
 */
export async function watchHome(home: string, onGone: (reason: string) => void): Promise<() => void> {
  const first = await identityOf(home);
  const isAnnounced = (await runtimeFileOwner(home)) === "ours";
  let checksWithoutFile = 0;
  let isChecking = false;

  const findReason = async (): Promise<string | undefined> => {
    const current = await identityOf(home);
    if (current === "gone") return `The home ${home} was deleted or moved`;
    if (current !== "unknown" && first !== "unknown" && current !== first) return `Another folder is at ${home} now`;
    if (!isAnnounced) return undefined;
    const note = await runtimeFileOwner(home);
    // A new folder can reuse the inode of the deleted one; only the old one has this gateway's file.
    checksWithoutFile = note === "none" || note === "another" ? checksWithoutFile + 1 : 0;
    if (checksWithoutFile < CHECKS_WITHOUT_FILE) return undefined;
    if (note === "another") return `Another gateway has taken over the home ${home}`;
    return `The home ${home} was replaced, or its gateway.json was deleted: commands cannot find this gateway`;
  };
  const check = async (): Promise<void> => {
    if (isChecking) return;
    isChecking = true;
    const reason = await findReason().catch(() => undefined);
    isChecking = false;
    if (reason === undefined || timer === undefined) return;
    stop();
    onGone(reason);
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    watcher?.close();
  };
  let timer: NodeJS.Timeout | undefined = setInterval(() => void check(), CHECK_MS).unref();
  const watcher = watchParent(home, () => void check());
  return stop;
}

/**
 * Faster than the timer: without it the gateway writes into a folder that has replaced its home. Undefined where the
 * system cannot watch folders.
 */
function watchParent(home: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(home), { persistent: false }, (_event, name) => {
      if (name === basename(home)) onChange();
    });
    return watcher.on("error", () => watcher.close());
  } catch {
    return undefined;
  }
}

/** `unknown` if it cannot be read now, such as without file descriptors. */
async function identityOf(home: string): Promise<string> {
  try {
    const { dev, ino } = await stat(home, { bigint: true });
    return `${dev}:${ino}`;
  } catch (error) {
    const code = systemErrorCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "gone" : "unknown";
  }
}

const TOKEN_BYTES = 32;
/** 32 bytes in base64url, or longer if set by hand. */
const TOKEN = /^[A-Za-z0-9_-]{43,512}$/;
const MAX_BYTES = 1024;

/** Creates the file if missing; restricts its permissions if they are too wide, with a warning. */
export async function ensureToken(path: string, logger: Logger): Promise<string> {
  await ensurePrivateFolder(dirname(path));
  for (;;) {
    await using handle = await openTokenFile(path);
    if (handle === undefined) {
      await createTokenFile(path);
      continue;
    }
    const token = await tokenIn(handle, path);
    await protect(handle, path, logger);
    return token;
  }
}

export async function readToken(path: string): Promise<string | undefined> {
  await using handle = await openTokenFile(path);
  return handle === undefined ? undefined : await tokenIn(handle, path);
}

/** Does not block on a pipe. */
async function openTokenFile(path: string): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    if (systemErrorCode(error) === "ELOOP") throw notOurs(path, "is a link");
    throw fileError(error, "read", path);
  }
}

async function tokenIn(handle: FileHandle, path: string): Promise<string> {
  const { size } = await handle.stat();
  const text = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0).catch((error: unknown) => {
    throw fileError(error, "read", path);
  });
  const token = size > MAX_BYTES ? "" : text.buffer.toString("utf8", 0, text.bytesRead).trim();
  if (TOKEN.test(token)) return token;
  throw new HoldfastError("corrupt", "token-unreadable", `${path} does not contain a token`, {
    hint: "Delete the file: the next start of the gateway creates a new token, which links and clients then need.",
    data: { path },
  });
}

/** Writes a temporary file and links it: of two processes one wins, and neither reads half a token. */
async function createTokenFile(path: string): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await using handle = await open(temporary, "wx", PRIVATE_FILE);
    await handle.writeFile(`${nodeCrypto().randomBytes(TOKEN_BYTES).toString("base64url")}\n`);
    await handle.sync();
    await link(temporary, path);
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") throw fileError(error, "write", path);
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
  await syncFolder(dirname(path));
}

async function protect(handle: FileHandle, path: string, logger: Logger): Promise<void> {
  const { uid, mode } = await handle.stat();
  // Windows has no user ids.
  if (process.getuid !== undefined && uid !== process.getuid()) throw notOurs(path, "belongs to another user");
  if ((mode & 0o077) === 0) return;
  await handle.chmod(PRIVATE_FILE).catch((error: unknown) => {
    throw fileError(error, "protect", path);
  });
  logger.warn("others could read the gateway's token; the file is private now", {
    path,
    mode: (mode & 0o777).toString(8),
    hint: "If other people use this machine, delete the file and restart the gateway for a new token.",
  });
}

function notOurs(path: string, what: string): HoldfastError {
  return new HoldfastError("forbidden", "token-not-ours", `${path} ${what}: others may know the token in it`, {
    hint: "Remove it: the next start of the gateway creates a new token, which links and clients then need.",
    data: { path },
  });
}

export interface GatewayAccess extends RunningGateway {
  token: string;
}

export async function findGatewayAccess(home: string): Promise<GatewayAccess | undefined> {
  const running = await findGateway(home);
  const token = running && (await readToken(gatewayLayout(home).tokenFile));
  return running && token !== undefined ? { ...running, token } : undefined;
}

/** Fails with `gateway-not-running` (unavailable). */
export async function requireGateway(home: string): Promise<GatewayAccess> {
  const access = await findGatewayAccess(home);
  if (access !== undefined) return access;
  throw new HoldfastError("unavailable", "gateway-not-running", "No gateway is running for this home", {
    hint: "Start one with `holdfast gateway`.",
    data: { home },
  });
}

export async function connectToGateway(options: { home: string; name?: string | undefined }): Promise<RpcClient> {
  const { home, name = "cli" } = options;
  const { url, token } = await requireGateway(home);
  return await connectRpc({ url, token, client: { name, version: packageVersion() } });
}
