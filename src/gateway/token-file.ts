/**
 * The gateway's token: 32 random bytes in a file that only its owner can read. It does not change until the
 * file is deleted. A link, or a file of another user, is refused: they could know the token.
 */
import { constants } from "node:fs";
import { type FileHandle, link, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { nodeCrypto } from "../base/builtin.ts";
import { HoldfastError, fileError, systemErrorCode } from "../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, syncFolder, temporaryPath } from "../base/files.ts";
import type { Logger } from "../base/log.ts";

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

/** Undefined if there is no such file. */
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

/** Refuses the file of another user, and restricts permissions that are too wide. */
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
