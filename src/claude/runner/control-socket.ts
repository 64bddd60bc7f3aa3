/** Where the control socket of a process lies. Its folder is 0700: nobody else can even look up the name. */
import { mkdtemp, rmdir, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { nodeCrypto } from "../../base/builtin.ts";
import { ensurePrivateFolder } from "../../base/files.ts";

/** Systems allow little over 100 bytes for the path of a socket. */
const MAX_PATH_BYTES = 100;
const PREFIX = "host-";
const FALLBACK_NAME = "holdfast-host.sock";

export async function newSocketPath(folder: string): Promise<string> {
  await ensurePrivateFolder(folder);
  const path = join(folder, `${PREFIX}${nodeCrypto().randomBytes(6).toString("hex")}.sock`);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  return join(await mkdtemp(join(tmpdir(), "holdfast-")), FALLBACK_NAME);
}

/** Removes nothing but what `newSocketPath` could have named. */
export async function removeSocket(folder: string, path: string): Promise<void> {
  const isHere = dirname(path) === folder && basename(path).startsWith(PREFIX);
  const isElsewhere = basename(path) === FALLBACK_NAME && dirname(dirname(path)) === tmpdir();
  if (isHere || isElsewhere) await unlink(path).catch(() => undefined);
  // Only when nothing else is in it.
  if (isElsewhere) await rmdir(dirname(path)).catch(() => undefined);
}
