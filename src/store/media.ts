/**
 * Files that people attach to messages, and files that agents send: a part of the store contract. A file is known by
 * its path, which inbox, outbox and transcripts record.
 *
 * `test/contract/media-suite.ts` checks for every implementation:
 * - A kept file can be read by every process that shares the store.
 * - Later changes of the original do not change it, if the store is shared by several machines.
 */
import { copyFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ensurePrivateFolder, fileExists, replaceFile, temporaryPath } from "../base/files.ts";

export interface Media {
  /** Keeps a file before its message is stored. Resolves to the path to record. A missing file stays missing. */
  keep(path: string): Promise<string>;
  /** Where this machine has the file that another one may have recorded. A path that is not known stays as it is. */
  locate(path: string): Promise<string>;
  /** Whether every process that shares the store can read this path. */
  has(path: string): Promise<boolean>;
  /** Keeps a copy of `file` under the path that a message of another store has recorded. */
  adopt(path: string, file: string): Promise<void>;
}

/** The SHA-256 in a path that a shared store has given to a file: `…/<sha256>/<name>`. */
export function hashIn(path: string): string | undefined {
  return /\/([0-9a-f]{64})\/[^/]+$/.exec(path)?.[1];
}

/**
 * For a store of one machine: files are read where they are. Those that came back from a shared store are in `folder`,
 * as `<sha256>/<name>`, because their path may be one of another machine.
 */
export function createLocalMedia(folder: string): Media {
  const copyOf = (path: string): string | undefined => {
    const hash = hashIn(path);
    return hash === undefined ? undefined : join(folder, hash, basename(path));
  };
  return {
    keep: async (path) => path,
    locate: async (path) => {
      const copy = copyOf(path);
      return copy !== undefined && (await fileExists(copy)) ? copy : path;
    },
    has: async (path) => await fileExists(copyOf(path) ?? path),
    adopt: async (path, file) => {
      const copy = copyOf(path);
      if (copy === undefined) return;
      await ensurePrivateFolder(dirname(copy));
      const temporary = temporaryPath(copy);
      await copyFile(file, temporary);
      await replaceFile(temporary, copy);
    },
  };
}
