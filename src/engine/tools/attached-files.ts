/**
 * The files that people sent in one conversation, for its tools. They lie where their channel put them,
 * beside those of other people, so a path is either one of them, exactly, or it is nothing. They can be
 * read and never written.
 */
import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, normalize, resolve } from "node:path";
import { attachmentsOf } from "../../transcript/attachments.ts";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { openVouchedFile } from "./confined-files.ts";

export interface AttachedFiles {
  /** Undefined for what is none of them. */
  open(said: string): Promise<FileHandle | undefined>;
  /** Those in a folder, with their paths. */
  listFolder(said: string): string[];
}

export function createAttachedFiles(context: readonly TranscriptMessage[]): AttachedFiles {
  const paths = new Set(attachmentsOf(context).map(({ path }) => path));
  return {
    open: async (said) => {
      const path = normalize(said);
      return paths.has(path) ? await openVouchedFile(path) : undefined;
    },
    listFolder: (said) => {
      const folder = isAbsolute(said) ? resolve(said) : undefined;
      return [...paths].filter((path) => dirname(path) === folder).toSorted();
    },
  };
}
