/**
 * A fork is a new transcript that continues another one from one of its entries. Nothing is copied:
 * the first entry of the fork names the parent, and reading the context walks on into it.
 */
import { basename, dirname, resolve } from "node:path";
import { HoldfastError } from "../base/errors.ts";
import { fileExists, replaceFile, temporaryPath } from "../base/files.ts";
import { encodeEntry, encodeHeader } from "./codec.ts";
import { TRANSCRIPT_VERSION, type TranscriptEntry } from "./entries.ts";
import { type CreateTranscriptOptions, type TranscriptLog, createTranscript } from "./log.ts";
import { type OnProblem, type TranscriptProblem, addProblem, createProblemList } from "./problems.ts";
import { writeNewFile } from "./rewrite.ts";
import {
  type LocatedEntry,
  leafOfWindow,
  openForReading,
  scanEntriesBackward,
  scanHead,
  scanTailWindow,
} from "./scan.ts";
import { FORK_TYPE, type ForkPoint, type PathEntry, findEntry, forkPointOf, noSuchEntry, walkPath } from "./walk.ts";

export interface ForkOptions extends Omit<CreateTranscriptOptions, "parentSession" | "entries" | "after"> {
  /** Must lie in the folder of the new transcript. It is only read, so no lease on it is needed. */
  parentPath: string;
  /** The entry to continue from. Left out: the newest one. */
  leafId?: string | undefined;
}

export async function forkTranscript(options: ForkOptions): Promise<TranscriptLog> {
  const { parentPath, leafId, ...create } = options;
  if (dirname(resolve(parentPath)) !== dirname(resolve(options.path))) {
    throw new HoldfastError("usage", "fork-elsewhere", "A fork must lie in the folder of its parent", {
      hint: "Choose a path beside the parent: the fork names it by its file name alone.",
      data: { parentPath, path: options.path },
    });
  }
  const { sessionId, leaf } = await findForkLeaf(parentPath, leafId);
  const point: ForkPoint = {
    parentSession: basename(parentPath),
    parentSessionId: sessionId,
    ...(leaf === undefined ? {} : { leafId: leaf.entry.id, offset: leaf.end }),
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

export interface Materialized {
  entries: number;
  /** What could not be copied, for example because a parent is missing. */
  problems: TranscriptProblem[];
}

/**
 * Writes the whole way from root to leaf, parents included, into one file that needs no other.
 * Entries beside that way are not copied. Refuses a target that exists.
 */
export async function materializeFork(path: string, target: string): Promise<Materialized> {
  if (await fileExists(target)) {
    throw new HoldfastError("conflict", "target-exists", `${target} exists already`, {
      hint: "Choose another target, or move that file away.",
      data: { target },
    });
  }
  const list = createProblemList();
  const stops = await placesOnPath(path, (problem) => addProblem(list, problem));
  const temporary = temporaryPath(target);
  let entries = 0;
  await writeNewFile(temporary, async (write) => {
    await write(encodeHeader(await standaloneHeader(path)));
    const renamed = new Map<string, string>();
    let parentId: string | null = null;
    for await (const entry of entriesAt(stops)) {
      if (forkPointOf(entry) !== undefined) continue;
      const placed: TranscriptEntry = withFreshId({ ...entry, parentId }, renamed);
      await write(encodeEntry(placed));
      parentId = placed.id;
      entries++;
    }
  });
  await replaceFile(temporary, target);
  return { entries, problems: list.problems };
}

/** Only places are held, not entries, because the way is found from its end and written from its beginning. */
type Place = Pick<PathEntry, "file" | "offset" | "end">;

async function placesOnPath(path: string, onProblem: OnProblem): Promise<Place[]> {
  const places: Place[] = [];
  for await (const { file, offset, end } of walkPath(path, { onProblem })) places.push({ file, offset, end });
  return places.reverse();
}

async function* entriesAt(places: readonly Place[]): AsyncGenerator<TranscriptEntry> {
  for (const file of new Set(places.map((place) => place.file))) {
    await using handle = await openForReading(file);
    for (const { offset, end } of places.filter((place) => place.file === file)) {
      // From the newline before it: no more than the line itself is read.
      for await (const { entry } of scanEntriesBackward(handle, { start: Math.max(0, offset - 1), end })) {
        yield entry;
        break;
      }
    }
  }
}

async function standaloneHeader(path: string) {
  await using handle = await openForReading(path);
  const { header } = await scanHead(handle);
  if (header !== undefined) return { ...header, version: TRANSCRIPT_VERSION };
  throw new HoldfastError("corrupt", "no-header", `${path} has no header`, {
    hint: "Open it for writing once, for example with `holdfast doctor --fix`, and it gets one.",
  });
}

/** Two files may use the same id; in one file it must become another, wherever it is referred to later. */
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
