/**
 * Files that people attach to messages, and files that agents send: a part of the store contract. A file is known by
 * its path, which inbox, outbox and transcripts record.
 *
 * `test/contract/media-suite.ts` checks for every implementation:
 * - A kept file can be read by every process that shares the store.
 * - Later changes of the original do not change it, if the store is shared by several machines.
 */
import { fileExists } from "../base/files.ts";

export interface Media {
  /** Keeps a file before its message is stored. Resolves to the path to record. A missing file stays missing. */
  keep(path: string): Promise<string>;
  /** Where this machine has the file that another one may have recorded. A path that is not known stays as it is. */
  locate(path: string): Promise<string>;
  /** Whether every process that shares the store can read this path. */
  has(path: string): Promise<boolean>;
}

/** For a store of one machine: files are read where they are. */
export const LOCAL_MEDIA: Media = {
  keep: async (path) => path,
  locate: async (path) => path,
  has: fileExists,
};
