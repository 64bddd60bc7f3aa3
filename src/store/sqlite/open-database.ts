/**
 * Opens a store's file, or makes a new one where there is none. An unreadable store must never look
 * empty, and to SQLite a missing file and one of 0 bytes are empty databases. So before a file is
 * made or filled, this looks at what lies beside it: a write-ahead log, transcripts, or a
 * `sessions.json` that holds anything, are the traces of a store that was lost, and opening is
 * refused with kind `corrupt`.
 */
import { open, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { HoldfastError, fileError } from "../../base/errors.ts";
import { PRIVATE_FILE, ensurePrivateFolder, fileSize, readFolderIfPresent, syncFolder } from "../../base/files.ts";
import { type SqliteDatabase, connect } from "./database.ts";

export interface OpenDatabaseOptions {
  path: string;
  writer: string;
  /** Where transcripts and `sessions.json` would be. Left out: only the write-ahead log is looked for. */
  sessionsFolder?: string | undefined;
}

export async function openDatabase({ path, writer, sessionsFolder }: OpenDatabaseOptions): Promise<SqliteDatabase> {
  const size = await fileSize(path);
  if (size === undefined || size === 0) {
    await refuseIfLost(path, sessionsFolder, size);
    await createEmptyFile(path);
  }
  return connect(path, writer);
}

async function refuseIfLost(path: string, sessionsFolder: string | undefined, size: number | undefined): Promise<void> {
  const trace = await traceOfStore(path, sessionsFolder);
  // Another process may have made the store, and already used it, since its size was read.
  if (trace === undefined || (await fileSize(path)) !== size) return;
  throw new HoldfastError(
    "corrupt",
    "store-lost",
    `${path} is ${size === undefined ? "missing" : "empty"}, but ${trace} shows that there were sessions`,
    {
      hint: "Run `holdfast doctor --fix` to rebuild the store from transcripts and sessions.json. Nothing was changed.",
      data: { path, trace },
    },
  );
}

async function traceOfStore(path: string, sessionsFolder: string | undefined): Promise<string | undefined> {
  const log = `${path}-wal`;
  if (((await fileSize(log)) ?? 0) > 0) return log;
  return sessionsFolder === undefined ? undefined : await traceOfSessions(sessionsFolder);
}

export async function traceOfSessions(folder: string): Promise<string | undefined> {
  const names = (await readFolderIfPresent(folder)).map(({ name }) => name);
  if (names.includes("sessions.json") && !(await holdsNothing(join(folder, "sessions.json")))) {
    return join(folder, "sessions.json");
  }
  const transcript = names.find((name) => name.endsWith(".jsonl"));
  return transcript === undefined ? undefined : join(folder, transcript);
}

/** Whether it is the map without entries that a store without sessions leaves. */
async function holdsNothing(path: string): Promise<boolean> {
  try {
    const content = await readFile(path, "utf8");
    return /^\s*\{\s*\}\s*$/.test(content);
  } catch (error) {
    throw fileError(error, "read", path);
  }
}

/** SQLite would make the file readable by others; its other files take over the mode of this one. */
async function createEmptyFile(path: string): Promise<void> {
  await ensurePrivateFolder(dirname(path));
  try {
    await using _file = await open(path, "a", PRIVATE_FILE);
  } catch (error) {
    throw fileError(error, "create", path);
  }
  await syncFolder(dirname(path));
}
