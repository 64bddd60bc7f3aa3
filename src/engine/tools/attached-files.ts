/**
 * The files that people sent in one conversation, for its tools. They share a folder with files of other
 * people, so only the exact path of an attachment is accepted. They can be read, never written.
 */
import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, normalize, resolve } from "node:path";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { openVouchedFile } from "./confined-files.ts";
import { attachmentsOf } from "../../transcript/messages.ts";

export interface AttachedFiles {
  /** Undefined: not an attachment of this conversation. */
  open(said: string): Promise<FileHandle | undefined>;
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
