/**
 * Files of this machine with the content of transcripts in the database. A copy only ever gets longer, until the
 * transcript gets another content: then it is replaced. A mark beside it names the content and the boot of the machine,
 * because a power failure may leave holes in a file that was not synced. A copy without its mark is made again.
 */
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lazy } from "../../base/async.ts";
import { PRIVATE_FILE, ensurePrivateFolder, replaceFile, statIfPresent, temporaryPath, writeFileDurable } from "../../base/files.ts";
import { currentProcess } from "../../base/processes.ts";
import { ARCHIVE_FOLDER_NAME } from "../../config/layout.ts";
import type { TranscriptFolder } from "../transcripts.ts";
import type { PostgresNode } from "./node.ts";

export interface StoredTranscript {
  content: number;
  size: number;
  parent: string | undefined;
}

export type Copies = ReturnType<typeof createCopies>;

/** Bytes that are read from the database at once. */
const READ_BYTES = 4 * 1024 * 1024;
