/**
 * A folder that stays the one that was checked. Between the check of a path and its use somebody may
 * replace a folder on the way by a link that leads elsewhere. Where the system shows open files as paths
 * (Linux), names are therefore looked up in the folder that is held open; elsewhere the place is checked
 * before and after, as closely as Node allows.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { isInside, outsideError } from "./workspace-path.ts";

export interface AnchoredFolder extends AsyncDisposable {
  /** To put before a name; not for people. */
  path: string;
  /** Fails when the folder is no longer where it was checked. Always true where names are looked up in it. */
  check(): Promise<void>;
}

const HAS_OPEN_FILES = process.platform === "linux";

/** `folder`: as `realpath` gave it. `said`: what an error calls it. */
export async function anchorFolder(root: string, folder: string, said: string): Promise<AnchoredFolder> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const anchored = `/proc/self/fd/${handle.fd}`;
  const check = async (): Promise<void> => {
    if (!(await isAt(handle, folder, root, anchored))) throw outsideError(said);
  };
  try {
    await check();
  } catch (error) {
    await handle.close();
    throw error;
  }
  return {
    path: HAS_OPEN_FILES ? anchored : folder,
    check: HAS_OPEN_FILES ? async () => undefined : check,
    [Symbol.asyncDispose]: async () => {
      await handle.close();
    },
  };
}

async function isAt(handle: FileHandle, folder: string, root: string, anchored: string): Promise<boolean> {
  if (HAS_OPEN_FILES) return isInside(root, await readlink(anchored));
  if ((await realpath(folder)) !== folder || !isInside(root, folder)) return false;
  const [held, found] = await Promise.all([handle.stat(), stat(folder)]);
  return held.ino === found.ino && held.dev === found.dev;
}
