/** Reads folders that may not exist. */
import type { Dirent } from "node:fs";
import { stat } from "node:fs/promises";
import { fileError, systemErrorCode } from "../base/errors.ts";
import { readFolderIfPresent } from "../base/files.ts";
import { sessionIdOfTranscript } from "../transcript/paths.ts";

/** In alphabetical order; empty if the folder does not exist. */
export async function listFolder(folder: string): Promise<Dirent[]> {
  const items = await readFolderIfPresent(folder);
  return items.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export async function listFiles(folder: string): Promise<string[]> {
  return (await listFolder(folder)).filter((item) => item.isFile()).map(({ name }) => name);
}

export async function listTranscripts(folder: string): Promise<string[]> {
  return (await listFiles(folder)).filter((name) => sessionIdOfTranscript(name) !== undefined);
}

/** Undefined if the file is gone. */
export async function lookAt(path: string): Promise<{ mode: number; modifiedAt: number } | undefined> {
  try {
    const { mode, mtimeMs } = await stat(path);
    return { mode: mode & 0o777, modifiedAt: mtimeMs };
  } catch (error) {
    if (systemErrorCode(error) === "ENOENT") return undefined;
    throw fileError(error, "look at", path);
  }
}

/** Runs a task for each item, 32 at a time; the results are in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_A_TIME) {
    results.push(...(await Promise.all(items.slice(start, start + AT_A_TIME).map(task))));
  }
  return results;
}

const AT_A_TIME = 32;
