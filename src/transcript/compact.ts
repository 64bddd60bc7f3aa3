/**
 * Two ways to shorten a transcript. `appendCompaction` adds a summary: nothing is removed, and the context gets
 * shorter. `compactTranscript` reduces the file to its last entries and archives the original beside it. A log of the
 * file may stay open; its next append uses the new file.
 * The shortened file is a complete transcript: a header, a tree without missing parents, and the entries that later
 * ones depend on: the reference to a fork's parent, current settings, the name, and the newest summary unless a kept
 * compaction replaces it.
 */
import type { FileHandle } from "node:fs/promises";
import { type Clock, systemClock } from "../base/clock.ts";
import { HoldfastError } from "../base/errors.ts";
import { type Fence, type TranscriptBacking, withExclusiveAccess } from "./appender.ts";
import { encodeEntry, encodeHeader } from "./codec.ts";
import { type CompactionEntry, type TranscriptEntry, SESSION_MARK_TYPE } from "./entries.ts";
import type { TranscriptLog } from "./log.ts";
import { attachmentsOf, isFlushEntry } from "./messages.ts";
import { prepareForWrite } from "./prepare.ts";
import { type Write, copyRange, rewriteTranscript } from "./rewrite.ts";
import { type OnProblem, openForReading, scanEntriesBackward, scanLines } from "./scan.ts";
import { forkPointOf, walkPath } from "./walk.ts";

export type CompactionDraft = Pick<CompactionEntry, "summary" | "firstKeptEntryId" | "tokensBefore">;

/** Keeps the list of files that people sent, because a summary may mention them. */
export async function appendCompaction(log: TranscriptLog, draft: CompactionDraft): Promise<TranscriptEntry> {
  const attachments = attachmentsOf((await log.context()).messages).slice(-MAX_CARRIED_FILES);
  const carried = attachments.length === 0 ? {} : { details: { attachments } };
  const [entry] = await log.append([{ type: "compaction", ...draft, ...carried }]);
  if (entry === undefined) throw new Error("one draft gives one entry");
  return entry;
}

/** Limits the list in a conversation of many years. */
const MAX_CARRIED_FILES = 200;

export interface CompactOptions {
  maxEntries: number;
  /**
   * Keeps the newest turn whole, even beyond `maxEntries`. For a turn that has not ended: when it is repeated, it
   * must find its message and the results of its tools. Default: false.
   */
  keepLastTurn?: boolean | undefined;
  clock?: Clock | undefined;
  fence?: Fence | undefined;
  backing?: TranscriptBacking | undefined;
  onProblem?: OnProblem | undefined;
}

/** `archived` is the path of the original; `kept` counts no older entries that were carried over. */
export interface CompactResult {
  compacted: boolean;
  archived?: string | undefined;
  kept: number;
}

export async function compactTranscript(path: string, options: CompactOptions): Promise<CompactResult> {
  const { maxEntries, fence, backing, clock = systemClock } = options;
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
    throw new HoldfastError("usage", "invalid-entry-count", `Cannot keep ${maxEntries} entries`, {
      hint: "Give a whole number of at least 1.",
    });
  }
  return await withExclusiveAccess(path, { clock, fence }, async () => {
    await backing?.refresh();
    const header = await prepareForWrite(path, { clock, backing, onProblem: options.onProblem });
    await using handle = await openForReading(path);
    const { cut, kept } = await findCut(handle, options);
    if (cut === undefined) return { compacted: false, kept };
    const survey = await surveyPath(path, cut, options.onProblem ?? (() => undefined));
    await fence?.();
    const archived = await rewriteTranscript({ path, original: handle, at: clock.now(), backing }, async (write) => {
      await write(encodeHeader(header));
      const roots = await writeCarried(survey, write);
      return await writeKept(handle, cut, roots, survey, write);
    });
    return { compacted: true, archived, kept };
  });
}

/** Start of the kept lines. Undefined if there is nothing to remove. */
async function findCut(handle: FileHandle, { maxEntries, keepLastTurn = false }: CompactOptions) {
  let oldest: number | undefined;
  let kept = 0;
  let isInTurn = keepLastTurn;
  for await (const { entry, offset } of scanEntriesBackward(handle)) {
    if (kept >= maxEntries && !isInTurn) return { cut: oldest, kept };
    oldest = offset;
    kept++;
    if (isQuestion(entry)) isInTurn = false;
  }
  return { cut: undefined, kept };
}

/** The message that began a turn, not one that joined it or saved the agent's memory. */
function isQuestion(entry: TranscriptEntry): boolean {
  if (entry.type !== "message" || entry.message.role !== "user") return false;
  return entry.steered !== true && !isFlushEntry(entry);
}

interface Survey {
  /** Entries before the cut that the kept ones depend on, oldest first. */
  carried: TranscriptEntry[];
  /** Ids of the kept entries on the path from the leaf, newest first. */
  pathIds: Set<string>;
  /** Ids of removed entries on the path that are the first kept entry of a remaining compaction. */
  removedFirstKept: Set<string>;
}

async function surveyPath(path: string, cut: number, onProblem: OnProblem): Promise<Survey> {
  const survey: Survey = { carried: [], pathIds: new Set(), removedFirstKept: new Set() };
  const settled = new Set<string>();
  const firstKept = new Set<string>();
  for await (const { entry, file, offset } of walkPath(path, { onProblem })) {
    if (file !== path) break;
    const topic = topicOf(entry);
    const isKept = offset >= cut;
    const isCarried = !isKept && entry.type !== "message" && topic !== undefined && !settled.has(topic);
    if (isKept) survey.pathIds.add(entry.id);
    else if (firstKept.has(entry.id)) survey.removedFirstKept.add(entry.id);
    if (isCarried) survey.carried.push(entry);
    if (!isKept && !isCarried) continue;
    if (topic !== undefined) settled.add(topic);
    if (entry.type === "compaction") firstKept.add(entry.firstKeptEntryId);
  }
  survey.carried.reverse();
  return survey;
}

const TOPICS: ReadonlySet<string> = new Set(["compaction", "model_change", "thinking_level_change", "session_info"]);

/** The topic that an entry decides for later ones. Only the newest entry of a topic counts. */
function topicOf(entry: TranscriptEntry): string | undefined {
  if (entry.parentId === null && forkPointOf(entry) !== undefined) return "fork";
  if (entry.type === "custom" && entry.customType === SESSION_MARK_TYPE) return SESSION_MARK_TYPE;
  if (entry.type === "message" && entry.message.role === "assistant") return "model_change";
  return TOPICS.has(entry.type) ? entry.type : undefined;
}

type Roots = Awaited<ReturnType<typeof writeCarried>>;

/** Returns the parents of the oldest kept entry on the path, and of kept entries beside it that lost theirs. */
async function writeCarried({ carried, pathIds, removedFirstKept }: Survey, write: Write) {
  const oldestKept = [...pathIds].at(-1);
  let parentId: string | null = null;
  for (const entry of carried) {
    const placed = { ...entry, parentId };
    if (placed.type === "compaction" && removedFirstKept.has(placed.firstKeptEntryId)) {
      placed.firstKeptEntryId = oldestKept ?? placed.id;
    }
    await write(encodeEntry(placed));
    parentId = entry.id;
  }
  const fork = carried.find((entry) => forkPointOf(entry) !== undefined);
  return { onPath: parentId, beside: fork?.id ?? null };
}

/**
 * Copies unchanged lines byte for byte, even unreadable ones. Resolves to the position up to which the original was
 * read.
 */
async function writeKept(
  handle: FileHandle,
  cut: number,
  roots: Roots,
  { pathIds, removedFirstKept }: Survey,
  write: Write,
): Promise<number> {
  let end = cut;
  // Maps each kept entry to its oldest kept ancestor.
  const oldestOf = new Map<string, string>();
  for await (const { line, located } of scanLines(handle, { start: cut })) {
    const entry = located?.entry;
    end = line.end;
    if (entry === undefined) {
      await copyRange(handle, line.offset, line.end, write);
      continue;
    }
    const oldest = entry.parentId === null ? undefined : oldestOf.get(entry.parentId);
    oldestOf.set(entry.id, oldest ?? entry.id);
    const isOnPath = pathIds.has(entry.id);
    const root = isOnPath ? roots.onPath : roots.beside;
    const placed = { ...entry, parentId: oldest === undefined ? root : entry.parentId };
    if (placed.type === "compaction") {
      const { firstKeptEntryId } = placed;
      // On the path, an id that was not removed stays: it may belong to a fork's parent.
      const isRemoved = isOnPath ? removedFirstKept.has(firstKeptEntryId) : !oldestOf.has(firstKeptEntryId);
      if (isRemoved) placed.firstKeptEntryId = oldest ?? placed.id;
    }
    if (isUnchanged(placed, entry)) await copyRange(handle, line.offset, line.end, write);
    else await write(encodeEntry(placed));
  }
  return end;
}

function isUnchanged(placed: TranscriptEntry, entry: TranscriptEntry): boolean {
  if (placed.parentId !== entry.parentId) return false;
  return (
    placed.type !== "compaction" || entry.type !== "compaction" || placed.firstKeptEntryId === entry.firstKeptEntryId
  );
}
