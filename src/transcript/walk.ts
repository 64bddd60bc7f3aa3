/**
 * The path from a leaf to the root, through the parents of forks. Files are read backward and only as far as needed. A
 * parent is the nearest earlier entry with its id, so the walk always moves towards the beginning and no cycle can trap
 * it.
 */
import { type FileHandle, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { isRecord } from "../base/json-record.ts";
import { ARCHIVE_FOLDER_NAME } from "../config/layout.ts";
import type { TranscriptEntry } from "./entries.ts";
import { isPlainName } from "./paths.ts";
import {
  type LocatedEntry,
  type OnProblem,
  leafOfWindow,
  openForReading,
  openIfPresent,
  scanEntriesBackward,
  scanTailWindow,
} from "./scan.ts";

export interface PathEntry extends LocatedEntry {
  /** The file of the entry: the transcript, or one from which it was forked. */
  file: string;
}

export interface WalkOptions {
  /** Default: the newest entry. */
  leafId?: string | undefined;
  onProblem: OnProblem;
}

/**
 * What `read` makes of the newest entries, oldest first: at most `limit`, and `maxChars` of text in all. Undefined skips
 * an entry. A transcript that does not exist has none.
 */
export async function readNewest<T extends { text: string }>(
  path: string,
  { limit, maxChars }: { limit: number; maxChars: number },
  read: (entry: TranscriptEntry) => T | undefined,
): Promise<{ found: T[]; isComplete: boolean }> {
  const newestFirst: T[] = [];
  let chars = 0;
  try {
    for await (const { entry } of walkPath(path, { onProblem: () => undefined })) {
      const one = read(entry);
      if (one === undefined) continue;
      chars += one.text.length;
      const isFull = newestFirst.length === limit || chars > maxChars;
      if (isFull) return { found: newestFirst.toReversed(), isComplete: false };
      newestFirst.push(one);
    }
  } catch (error) {
    if (!(error instanceof HoldfastError && error.kind === "not-found")) throw error;
  }
  return { found: newestFirst.toReversed(), isComplete: true };
}

export const FORK_TYPE = "holdfast.fork";

/** The first entry of a fork says where it continues. */
export interface ForkPoint {
  /** File name of the parent, in the same folder or its archive. */
  parentSession: string;
  parentSessionId: string;
  /** Missing if the parent had no entries. */
  leafId?: string | undefined;
  /** End of the leaf's line in the parent. */
  offset?: number | undefined;
}

export async function* walkPath(path: string, options: WalkOptions): AsyncGenerator<PathEntry> {
  const visited = new Set<string>();
  let segment: Segment | undefined = { file: path, leafId: options.leafId };
  while (segment !== undefined) {
    visited.add(basename(segment.file));
    const root: TranscriptEntry | undefined = yield* walkFile(segment, path, options.onProblem);
    const fork: ForkPoint | undefined = root === undefined ? undefined : forkPointOf(root);
    if (fork === undefined) return;
    if (visited.has(fork.parentSession)) {
      options.onProblem({ reason: `the forks lead back to ${fork.parentSession}`, file: segment.file });
      return;
    }
    segment = await findParent(dirname(path), fork, options.onProblem);
    visited.add(fork.parentSession);
  }
}

/** One file of the path: the leaf in it, and the end of its line if known. */
interface Segment {
  file: string;
  leafId: string | undefined;
  end?: number | undefined;
}

async function* walkFile(
  { file, leafId, end }: Segment,
  start: string,
  onProblem: OnProblem,
): AsyncGenerator<PathEntry, TranscriptEntry | undefined> {
  await using handle = await openForReading(file);
  const note: OnProblem = (problem) => onProblem(file === start ? problem : { ...problem, file });
  const leaf = leafId === undefined ? leafOfWindow(await scanTailWindow(handle)) : undefined;
  let wanted = leafId ?? leaf?.entry.id;
  if (wanted === undefined) return undefined;
  const from = end ?? leaf?.end;
  let last: TranscriptEntry | undefined;
  for await (const located of scanEntriesBackward(handle, {
    end: from,
    onProblem: note,
  })) {
    if (located.entry.id !== wanted) continue;
    yield { ...located, file };
    last = located.entry;
    if (last.parentId === null) return last;
    wanted = last.parentId;
  }
  if (last === undefined) throw noSuchEntry(file, wanted);
  note({ reason: await whyNoParent(handle, last.id, wanted) });
  return undefined;
}

async function whyNoParent(handle: FileHandle, id: string, parentId: string): Promise<string> {
  const comesLater = (await findEntry(handle, parentId)) !== undefined;
  return comesLater
    ? `parent ${parentId} of entry ${id} comes after it: the tree has a cycle`
    : `parent ${parentId} of entry ${id} is missing`;
}

export async function findEntry(handle: FileHandle, id: string): Promise<LocatedEntry | undefined> {
  for await (const located of scanEntriesBackward(handle)) if (located.entry.id === id) return located;
  return undefined;
}

export function forkPointOf(entry: TranscriptEntry): ForkPoint | undefined {
  if (entry.type !== "custom" || entry.customType !== FORK_TYPE || !isRecord(entry.data)) return undefined;
  const { parentSession, parentSessionId, leafId, offset } = entry.data;
  if (typeof parentSession !== "string") return undefined;
  return {
    parentSession,
    parentSessionId: typeof parentSessionId === "string" ? parentSessionId : "",
    ...(typeof leafId === "string" ? { leafId } : {}),
    ...(typeof offset === "number" ? { offset } : {}),
  };
}

/**
 * Finds the leaf of a fork in its parent. A line at the recorded position is preferred, in the parent and then in its
 * archives, because a compacted parent may have the leaf without the entries before it. Only then the files are
 * searched.
 */
async function findParent(folder: string, fork: ForkPoint, onProblem: OnProblem): Promise<Segment | undefined> {
  const { parentSession, leafId, offset } = fork;
  if (leafId === undefined) return undefined;
  if (!isPlainName(parentSession)) {
    onProblem({ reason: `the fork names a parent outside its folder: ${JSON.stringify(parentSession)}` });
    return undefined;
  }
  const files = await parentFiles(folder, parentSession);
  const attempts = [
    ...(offset === undefined ? [] : files.map((file) => async () => await leafAt(file, leafId, offset))),
    ...files.map((file) => async () => await leafAnywhere(file, leafId)),
  ];
  for (const attempt of attempts) {
    const segment = await attempt();
    if (segment !== undefined) return segment;
  }
  onProblem({
    reason: `entry ${leafId} of the parent ${parentSession} is missing; messages before the fork are not shown`,
  });
  return undefined;
}

/** The parent file, in use first, then archives of it, newest first. */
async function parentFiles(folder: string, name: string): Promise<string[]> {
  const root = basename(folder) === ARCHIVE_FOLDER_NAME ? dirname(folder) : folder;
  const folders = [root, join(root, ARCHIVE_FOLDER_NAME)];
  return [
    ...folders.map((place) => join(place, name)),
    ...(await Promise.all(folders.map(async (place) => await archivesOf(place, name)))).flat(),
  ];
}

/** Newest first. The names end in the time. */
async function archivesOf(folder: string, name: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names
    .filter((candidate) => candidate.startsWith(`${name}.bak.`))
    .toSorted()
    .toReversed()
    .map((candidate) => join(folder, candidate));
}

async function leafAt(file: string, leafId: string, end: number): Promise<Segment | undefined> {
  await using handle = await openIfPresent(file);
  if (handle === undefined || end > (await handle.stat()).size) return undefined;
  for await (const located of scanEntriesBackward(handle, { end })) {
    return located.entry.id === leafId && located.end === end ? { file, leafId, end } : undefined;
  }
  return undefined;
}

async function leafAnywhere(file: string, leafId: string): Promise<Segment | undefined> {
  await using handle = await openIfPresent(file);
  const located = handle && (await findEntry(handle, leafId));
  return located && { file, leafId, end: located.end };
}

export function noSuchEntry(path: string, id: string): HoldfastError {
  return new HoldfastError("not-found", "entry-missing", `${path} has no entry ${id}`, {
    hint: "Omit the id to start from the newest entry.",
    data: { path, id },
  });
}
