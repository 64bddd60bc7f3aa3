/**
 * The files that people sent in one conversation, for its tools. They share a folder with files of other
 * people, so only the exact path of an attachment is accepted. They can be read, never written.
 */
import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, normalize, resolve } from "node:path";
import type { TranscriptMessage } from "../../transcript/entries.ts";
import { openVouchedFile } from "./confined-files.ts";
import { attachmentsOf } from "../../transcript/messages.ts";

export type AttachedFiles = ReturnType<typeof createAttachedFiles>;

export function createAttachedFiles(context: readonly TranscriptMessage[]) {
  const paths = new Set(attachmentsOf(context).map(({ path }) => path));
  return {
    /** Undefined: not an attachment of this conversation. */
    open: async (said: string): Promise<FileHandle | undefined> => {
      const path = normalize(said);
      return paths.has(path) ? await openVouchedFile(path) : undefined;
    },
    listFolder: (said: string): string[] => {
      const folder = isAbsolute(said) ? resolve(said) : undefined;
      return [...paths].filter((path) => dirname(path) === folder).toSorted();
    },
  };
}
