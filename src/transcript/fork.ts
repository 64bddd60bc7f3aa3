/**
 * A fork is a new transcript that continues another one from one of its entries. Nothing is copied: the first entry of
 * the fork names the parent, and reading continues there.
 */
import { basename, dirname, resolve } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { type TranscriptEntry, type TranscriptHeader, TRANSCRIPT_VERSION } from "./entries.ts";
import { type CreateTranscriptOptions, type TranscriptLog, createTranscript } from "./log.ts";
import { readTranscript } from "./reader.ts";
import {
  type LocatedEntry,
  type OnProblem,
  leafOfWindow,
  openForReading,
  scanEntriesBackward,
  scanHead,
  scanTailWindow,
} from "./scan.ts";
import { type ForkPoint, type PathEntry, FORK_TYPE, findEntry, forkPointOf, noSuchEntry, walkPath } from "./walk.ts";

export interface ForkOptions extends Omit<CreateTranscriptOptions, "parentSession" | "entries" | "after"> {
  /** Must be in the same folder as the new transcript. It is only read, so this needs no lease on it. */
  parentPath: string;
  /** The entry to continue from. Default: the newest one. */
  leafId?: string | undefined;
}

export async function forkTranscript(options: ForkOptions): Promise<TranscriptLog> {
  const { parentPath, leafId, ...create } = options;
  if (dirname(resolve(parentPath)) !== dirname(resolve(options.path))) {
    throw new HoldfastError("usage", "fork-elsewhere", "A fork must be in its parent's folder", {
      hint: "Choose a path next to the parent, because the fork refers to it by file name only.",
      data: { parentPath, path: options.path },
    });
  }
  const { sessionId, leaf } = await findForkLeaf(parentPath, leafId);
  const point: ForkPoint = {
    parentSession: basename(parentPath),
    parentSessionId: sessionId,
    leafId: leaf?.entry.id,
    offset: leaf?.end,
  };
  return await createTranscript({
    ...create,
    parentSession: parentPath,
    entries: [{ type: "custom", customType: FORK_TYPE, data: point }],
    after: leaf?.entry,
  });
}

async function findForkLeaf(
  path: string,
  leafId: string | undefined,
): Promise<{ sessionId: string; leaf: LocatedEntry | undefined }> {
  await using handle = await openForReading(path);
  const { header } = await scanHead(handle);
  const leaf = leafId === undefined ? leafOfWindow(await scanTailWindow(handle)) : await findEntry(handle, leafId);
  if (leafId !== undefined && leaf === undefined) throw noSuchEntry(path, leafId);
  return { sessionId: header?.id ?? "", leaf };
}

export type WholeItem = { kind: "header"; header: TranscriptHeader } | { kind: "entry"; entry: TranscriptEntry };

/**
 * The whole path from root to leaf, including parents, as one self-contained transcript. Entries off the path are left
 * out, unless the path is broken: then all readable entries of the file come in order.
 */
export async function* readWhole(path: string, onProblem: OnProblem): AsyncGenerator<WholeItem> {
  const header = await standaloneHeader(path);
  if (header !== undefined) yield { kind: "header", header };
  const { places, isBroken } = await placesOnPath(path, onProblem);
  const stops = isBroken ? await placesInFile(path) : places;
  const renamed = new Map<string, string>();
  let parentId: string | null = null;
  for await (const entry of entriesAt(stops)) {
    if (forkPointOf(entry) !== undefined) continue;
    const placed: TranscriptEntry = withFreshId({ ...entry, parentId }, renamed);
    yield { kind: "entry", entry: placed };
    parentId = placed.id;
  }
}

/** Holds positions instead of entries, because the path is found from its end and written from its beginning. */
type Place = Pick<PathEntry, "file" | "offset" | "end">;

async function placesOnPath(path: string, onProblem: OnProblem): Promise<{ places: Place[]; isBroken: boolean }> {
  const places: Place[] = [];
  let isBroken = false;
  for await (const { file, offset, end, entry } of walkPath(path, { onProblem })) {
    places.push({ file, offset, end });
    // True for the last one if its parent is missing.
    isBroken = file === path && entry.parentId !== null;
  }
  return { places: places.reverse(), isBroken };
}

async function placesInFile(path: string): Promise<Place[]> {
  const places: Place[] = [];
  for await (const { kind, offset, end } of readTranscript(path)) {
    if (kind === "entry") places.push({ file: path, offset, end });
  }
  return places;
}

async function* entriesAt(places: readonly Place[]): AsyncGenerator<TranscriptEntry> {
  for (const file of new Set(places.map((place) => place.file))) {
    await using handle = await openForReading(file);
    for (const { offset, end } of places.filter((place) => place.file === file)) {
      // From the newline before it, so that only this line is read.
      for await (const { entry } of scanEntriesBackward(handle, { start: Math.max(0, offset - 1), end })) {
        yield entry;
        break;
      }
    }
  }
}

async function standaloneHeader(path: string): Promise<TranscriptHeader | undefined> {
  await using handle = await openForReading(path);
  const { header } = await scanHead(handle);
  return header === undefined ? undefined : { ...header, version: TRANSCRIPT_VERSION };
}

/** Two files may use the same id. In one file it must be replaced, also in later references. */
function withFreshId(entry: TranscriptEntry, renamed: Map<string, string>): TranscriptEntry {
  const id = renamed.has(entry.id) ? freeId(entry.id, renamed) : entry.id;
  renamed.set(entry.id, id);
  renamed.set(id, id);
  const refer = (old: string): string => renamed.get(old) ?? old;
  if (entry.type === "compaction") return { ...entry, id, firstKeptEntryId: refer(entry.firstKeptEntryId) };
  if (entry.type === "label") return { ...entry, id, targetId: refer(entry.targetId) };
  return { ...entry, id };
}

function freeId(id: string, taken: ReadonlyMap<string, string>): string {
  for (let number = (Number.parseInt(id.slice(0, 8), 16) || 0) + 1; ; number++) {
    const candidate = (number % 2 ** 32).toString(16).padStart(8, "0");
    if (!taken.has(candidate)) return candidate;
  }
}
