/** Looking into folders that may not be there. */
import type { Dirent } from "node:fs";
import { stat } from "node:fs/promises";
import { fileError, systemErrorCode } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { sessionIdOfTranscript } from "../transcript/paths.ts";

/** In alphabetical order; empty when there is no such folder. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  const items = await readFolderIfPresent(folder);
  return items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export async function listTranscripts(folder: string): Promise<string[]> {
  const items = await listFolder(folder);
  return items
    .filter((item) => item.isFile() && sessionIdOfTranscript(item.name) !== undefined)
    .map(({ name }) => name);
}

export interface FileFacts {
  mode: number;
  modifiedAt: number;
}

/** Undefined when it is not there any more. */
export async function lookAt(path: string): Promise<FileFacts | undefined> {
  try {
    const { mode, mtimeMs } = await stat(path);
    return { mode: mode & 0o777, modifiedAt: mtimeMs };
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "look at", path);
  }
}

/** Runs a task for each item, several at a time; the results are in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(start, start + AT_A_TIME).map(task))));
  }
  return results;
}

const AT_A_TIME = 32;
